/// Drawings and documents that demand excessive resources, by name.
enum HostileDrawings {
    private static let size = "width='100' height='100'"

    /// References to external resources: none may be opened or drawn.
    static func references(to origin: OriginServer) -> [(name: String, bytes: [UInt8])] {
        let targets = [
            "file:///etc/passwd", "/etc/passwd", origin.url("/secret/a"), "../../etc/passwd",
        ]
        return targets.enumerated().flatMap { number, target in
            [
                ("image", "<image width='100' height='100' xlink:href='\(target)'/>"),
                ("use", "<use xlink:href='\(target)#a'/>"),
                (
                    "fill",
                    "<rect width='100' height='100' fill='url(\(target)#a)' opacity='1'/>"
                ),
                (
                    "filter",
                    "<filter id='f'><feImage xlink:href='\(target)'/></filter>"
                        + "<rect width='100' height='100' filter='url(#f)'/>"
                ),
                ("style", "<style>@import url('\(target)');</style>"),
                (
                    "include",
                    "<text y='80' font-size='60'><xi:include xmlns:xi="
                        + "'http://www.w3.org/2001/XInclude' href='\(target)' parse='text'/></text>"
                ),
            ].map { ("\($0)-\(number)", Drawings.svg(size, $1)) }
        } + [
            (
                "entity",
                Array(
                    "<!DOCTYPE svg [<!ENTITY x SYSTEM '\(origin.url("/secret/e"))'>]>".utf8)
                    + Drawings.svg(size, "<text y='80' font-size='60'>&x;</text>")
            )
        ]
    }

    /// Those that exhaust the CPU time of a drawing, or much memory: they end their process.
    static let slow: Set<String> = ["uses", "masks", "morphology", "forms", "states"]

    /// SVGs that demand unbounded time or memory.
    static let svg: [(name: String, bytes: [UInt8])] = [
        ("uses", uses), ("entities", entities), ("patterns", patterns),
        (
            "blur",
            filtered("<feGaussianBlur stdDeviation='100000000'/>")
        ),
        ("morphology", filtered("<feMorphology operator='dilate' radius='1000000'/>")),
        (
            "offset", filtered(String(repeating: "<feOffset dx='1e9' dy='1e9'/>", count: 2_000))
        ),
        (
            "region",
            filtered("<feFlood/><feTile/>", region: "x='-1e6' y='-1e6' width='1e9' height='1e9'")
        ),
        (
            "masks",
            Drawings.svg(
                size,
                (0..<500).map { number in
                    "<mask id='m\(number)'><rect width='100' height='100' fill='white' "
                        + "mask='url(#m\(number + 1))'/></mask>"
                }.joined() + "<rect width='100' height='100' mask='url(#m0)'/>")
        ),
        (
            "dashes",
            Drawings.svg(
                size,
                "<path d='M0 0L1e9 1e9' stroke='#000' stroke-dasharray='.001' "
                    + "stroke-width='1'/>")
        ),
        (
            "letters",
            Drawings.svg(size, "<text y='90' font-size='100000000'>I</text>")
        ),
        (
            "page", Drawings.svg("width='1e9' height='1e9'", "<rect width='1e9' height='1e9'/>")
        ),
    ]

    /// Noise with a billion octaves, which no decoder ever finishes.
    static let endless = filtered(
        String(repeating: "<feTurbulence numOctaves='1000000000'/>", count: 20))

    private static func filtered(_ filter: String, region: String = "") -> [UInt8] {
        Drawings.svg(
            size,
            "<filter id='f' \(region)>\(filter)</filter>"
                + "<rect width='100' height='100' filter='url(#f)'/>")
    }

    /// Ten copies of ten copies, ten levels deep.
    private static var uses: [UInt8] {
        let groups = (0..<10).map { number in
            let copies = String(repeating: "<use xlink:href='#g\(number - 1)'/>", count: 10)
            return "<g id='g\(number)'>\(number == 0 ? "<rect width='9' height='9'/>" : copies)</g>"
        }
        return Drawings.svg(size, "<defs>\(groups.joined())</defs><use xlink:href='#g9'/>")
    }

    private static var entities: [UInt8] {
        let names = Array("abcdefghij")
        let entities = zip(names, names.dropFirst()).map { inner, outer in
            "<!ENTITY \(outer) \"" + String(repeating: "&\(inner);", count: 10) + "\">"
        }
        let start = "<!DOCTYPE svg [<!ENTITY a \"aaaaaaaaaa\">\(entities.joined())]>"
        return Array(start.utf8) + Drawings.svg(size, "<text>&j;</text>")
    }

    /// Each tile of a pattern is filled with the next pattern, a tenth as large.
    private static var patterns: [UInt8] {
        let patterns = (0..<8).map { number in
            "<pattern id='p\(number)' width='1' height='1' patternUnits='userSpaceOnUse' "
                + "patternTransform='scale(.1)'><rect width='1' height='1' "
                + "fill='url(#p\(number + 1))'/></pattern>"
        }
        return Drawings.svg(
            size,
            "<defs>\(patterns.joined())</defs><rect width='100' height='100' fill='url(#p0)'/>")
    }

    /// PDFs that demand the same.
    static let pdf: [(name: String, bytes: [UInt8])] = [
        ("page", Drawings.pdf(width: 100_000_000, height: 100_000_000, pages: ["0 0 9 9 re f"])),
        ("forms", forms),
        ("circle", document("/X0 Do", ["\(form)/Resources<</XObject<</X0 5 0 R>>>>", "/X0 Do"])),
        ("image", image(width: 100_000, height: 100_000)),
        ("strip", image(width: 2_000_000_000, height: 1)),
        (
            "states",
            Drawings.pdf(
                width: 100, height: 100, pages: [String(repeating: "q ", count: 500_000)])
        ),
        (
            "dashes",
            Drawings.pdf(
                width: 100, height: 100, pages: ["[.00001] 0 d 0 0 m 1000000 1000000 l S"])
        ),
    ]

    private static let form = "<</Type/XObject/Subtype/Form/BBox[0 0 100 100]"

    /// A document with one page of 100 points, its content, and its first object, number 5, with
    /// its stream.
    private static func document(
        _ page: String, _ object: [String], more: [String] = []
    ) -> [UInt8] {
        Drawings.pdf(
            objects: [
                "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Contents 4 0 R"
                    + "/Resources<</XObject<</X0 5 0 R>>>>>>",
                stream("<<", page), stream(object[0], object[1]),
            ] + more)
    }

    private static func stream(_ dictionary: String, _ content: String) -> String {
        "\(dictionary)/Length \(content.utf8.count)>>stream\n\(content)\nendstream"
    }

    /// Ten forms of ten forms, ten levels deep: 10¹⁰ rectangles.
    private static var forms: [UInt8] {
        let copies = String(repeating: "/X0 Do ", count: 10)
        let inner = (6..<15).map { number in
            number == 14
                ? stream(form, "0 0 9 9 re f")
                : stream("\(form)/Resources<</XObject<</X0 \(number + 1) 0 R>>>>", copies)
        }
        return document(
            "/X0 Do", ["\(form)/Resources<</XObject<</X0 6 0 R>>>>", copies], more: inner)
    }

    /// An image that announces many pixels and has none.
    private static func image(width: Int, height: Int) -> [UInt8] {
        document(
            "100 0 0 100 0 0 cm /X0 Do",
            [
                "<</Type/XObject/Subtype/Image/Width \(width)/Height \(height)"
                    + "/ColorSpace/DeviceRGB/BitsPerComponent 8", "abc",
            ])
    }
}
