import Model
import StageKit
import TestKit
import Testing

/// Drawings that reference anything outside themselves, or are too complex: refused, or rendered
/// without it.
@Suite struct HostileDrawingTests {
    private static let size = "width='100' height='100'"
    private let folder = TemporaryDirectory()

    /// An image file beside the drawing, under each of its names.
    @Test func whatIsOutsideOfADrawingIsNotThere() throws {
        let path = folder.write(try ExternalFiles.png(), to: "a.png")
        for name in ["file://\(path)", path, "http://127.0.0.1:9/a.png", "a.png"] {
            let content = "<image width='100' height='100' xlink:href='\(name)'/>"
            let decoded = try decode(Drawings.svg(Self.size, content), by: .vector)
            #expect(decoded.samples.allSatisfy { $0 == 0 }, "\(name)")
        }
    }

    @Test func styleSheetsAndTextsOutsideAreNotThere() throws {
        let sheet = folder.write(Array("rect { fill: #0f0 }".utf8), to: "a.css")
        let styled = Drawings.svg(
            Self.size,
            "<style>@import url('file://\(sheet)');</style>"
                + "<rect width='100' height='100'/>")
        #expect(try decode(styled, by: .vector).pixel(50, 50) == [0, 0, 0, 255])
        let text = folder.write(Array("MMMM".utf8), to: "a.txt")
        let included = Drawings.svg(
            Self.size + " xmlns:xi='http://www.w3.org/2001/XInclude'",
            "<text y='80' font-size='80'><xi:include href='file://\(text)' parse='text'/></text>")
        #expect(try decode(included, by: .vector).samples.allSatisfy { $0 == 0 })
        let entity =
            Array("<!DOCTYPE svg [<!ENTITY x SYSTEM 'file://\(text)'>]>".utf8)
            + Drawings.svg(Self.size, "<text y='80' font-size='80'>&x;</text>")
        #expect(failure(entity, by: .vector)?.code == .badImageData)
    }

    @Test func entitiesOfEntitiesAreRefused() {
        let names = Array("abcdefghij")
        let entities = zip(names, names.dropFirst()).map { inner, outer in
            "<!ENTITY \(outer) \"" + String(repeating: "&\(inner);", count: 10) + "\">"
        }
        let start = "<!DOCTYPE svg [<!ENTITY a \"aaaaaaaaaa\">\(entities.joined())]>"
        let bytes = Array(start.utf8) + Drawings.svg(Self.size, "<text>&j;</text>")
        #expect(failure(bytes, .header, by: .vector)?.code == .badImageData)
    }

    /// A billion rectangles in a kilobyte.
    @Test func copiesOfCopiesAreCounted() {
        let groups = (0..<10).map { number in
            let copies = String(repeating: "<use xlink:href='#g\(number - 1)'/>", count: 10)
            return "<g id='g\(number)'>\(number == 0 ? "<rect width='9' height='9'/>" : copies)</g>"
        }
        let bytes = Drawings.svg(
            Self.size, "<defs>\(groups.joined())</defs><use xlink:href='#g9'/>")
        #expect(failure(bytes, by: .vector)?.code == .badImageData)
    }

    @Test func elementsInElementsAreCounted() {
        let content =
            String(repeating: "<g>", count: 10_000) + String(repeating: "</g>", count: 10_000)
        #expect(failure(Drawings.svg(Self.size, content), by: .vector)?.code == .badImageData)
    }

    /// The parser's message quotes the drawing.
    @Test(arguments: [
        "<NoMemory></svg>", "<g xmlns:a='out of memory'></NoMemory>", "<g/>&NoMemory;",
        "<g xmlns='Memory allocation failed'></a>",
    ])
    func damageThatSpeaksOfMemoryIsBadData(content: String) {
        let bytes = Drawings.svg(Self.size, content)
        #expect(failure(bytes, .header, by: .vector)?.code == .badImageData)
    }

    @Test func whatEndsEarlyIsBadData() {
        for bytes in [Drawings.svgQuarters(), Drawings.pdfQuarters()] {
            for part in [0.2, 0.5] {
                let cut = Array(bytes.prefix(Int(Double(bytes.count) * part)))
                #expect(failure(cut, by: .vector)?.code == .badImageData, "\(part)")
            }
        }
    }

    @Test(arguments: [
        (Drawings.svgQuarters(), "SVG drawings"), (Drawings.pdfQuarters(), "PDF documents"),
    ])
    func decodersOfImagesRefuseADrawingAndSayWhoDrawsIt(bytes: [UInt8], title: String) throws {
        // The size of an SVG is known without rendering it.
        let isMarkup = title == "SVG drawings"
        if isMarkup { #expect(try decode(bytes, .header).image.info.format == .svg) }
        for need in isMarkup ? [DecodeNeed.full] : [.header, .full] {
            let error = failure(bytes, need)
            #expect(error?.code == .unsupportedFormat)
            #expect(
                error?.message
                    == "\(title) are decoded by the pool 'vector', which is disabled by "
                    + "default: enable it with 'serve --vector 1'")
        }
    }

    @Test func thoseThatDrawOpenNoImage() throws {
        #expect(failure(try ExternalFiles.png(), by: .vector)?.code == .badImageData)
        #expect(failure([0x42, 0x4D, 0, 0], by: .vector)?.code == .badImageData)
        #expect(failure(Array("8BPS\0\u{1}".utf8), by: .vector)?.code == .unsupportedFormat)
    }

    @Test(arguments: FormatFamily.allCases)
    func aPackedSVGIsRefusedByName(family: FormatFamily) {
        let error = failure([0x1F, 0x8B, 8, 0, 0, 0, 0, 0], by: family)
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.message.contains(".svgz") == true)
    }
}
