import Model
import Testing

@testable import WebFront
@testable import WebGrammar

/// How images are encoded if the URL doesn't specify it, in any grammar.
@Suite struct OutputDefaultsTests {
    private func output(
        _ grammar: any URLGrammar, _ target: String, accept: String? = nil,
        _ change: (inout WebFrontSettings) -> Void = { _ in }
    ) throws -> OutputOptions {
        var settings = WebFrontSettings(grammar: grammar)
        settings.output.quality = 70
        settings.output.qualities = [.webp: 60]
        settings.output.progressive = [.jpeg]
        settings.output.efforts = [.webp: 6, .avif: 2]
        change(&settings)
        let verdict = settings.verdict(on: target, accept.map { ["Accept": $0] } ?? [:])
        return try #require(verdict.plan, "\(verdict)").request.image.output
    }

    private static let target = "/_/plain/https://h/a.jpg"

    @Test func theyHoldForEachGrammar() throws {
        let iiif = IIIFGrammar.Settings(source: "https://h/{id}")
        let all: [(any URLGrammar, String)] = [
            (try ImgproxyGrammar.unsigned(), Self.target),
            (try ThumborGrammar.unsigned(), "/unsafe/h/a.jpg"),
            (try IIIFGrammar(iiif), "/a.jpg/full/max/0/default.jpg"),
            (WeservGrammar.unsigned(), "/?url=h/a.jpg"),
        ]
        for (grammar, target) in all {
            let output = try output(grammar, target, accept: "image/jpeg")
            #expect(output.quality == 70 && output.isProgressive && output.effort == nil)
        }
    }

    @Test(
        arguments: [
            ("", "image/webp", .webp, 60, 6, false), ("", "image/avif", .avif, 70, 2, false),
            ("q:33/", "image/webp", .webp, 33, 6, false),
            ("fq:webp:44/", "image/webp", .webp, 44, 6, false),
            ("f:webp/", nil, .webp, 60, 6, false), ("f:png/", nil, .png, 70, nil, false),
            ("f:jpg/q:9/", nil, .jpeg, 9, nil, true),
        ] as [(String, String?, ImageFormat, Int, Int?, Bool)])
    func whatURLsSayCountsFirst(
        options: String, accept: String?, format: ImageFormat, quality: Int, effort: Int?,
        isProgressive: Bool
    ) throws {
        let output = try output(
            ImgproxyGrammar.unsigned(), "/_/\(options)plain/https://h/a.jpg", accept: accept)
        #expect(output.format == format && output.quality == quality)
        #expect(output.effort == effort && output.isProgressive == isProgressive)
        #expect(throws: Never.self) { try output.check() }
    }

    /// Without a format, the name of the source determines the likely format.
    @Test func aPNGIsNotInterlacedWhereOnlyJPEGIsProgressive() throws {
        let grammar = try ImgproxyGrammar.unsigned()
        for (name, isProgressive) in [("a.png", false), ("a.jpeg", true), ("a", true)] {
            let output = try output(
                grammar, "/_/plain/https://h/\(name)", accept: "image/jpeg,image/png")
            #expect(output.isProgressive == isProgressive, "\(name)")
        }
    }

    /// weserv's `il`, which formats that can't be progressive ignore.
    @Test(
        arguments: [
            ("a.png", true), ("a.jpg", true), ("a.webp", false), ("a.png&output=webp", false),
            ("a.webp&output=gif", true),
        ])
    func progressiveOutputIsAskedForByURLs(text: String, isProgressive: Bool) throws {
        let grammar = WeservGrammar.unsigned()
        let output = try output(grammar, "/?il&url=h/\(text)") { $0.output.progressive = [] }
        #expect(output.isProgressive == isProgressive)
        #expect(throws: Never.self) { try output.check() }
        let usual = try self.output(grammar, "/?url=h/\(text)") { $0.output.progressive = [] }
        #expect(!usual.isProgressive)
    }

    /// Without negotiation no field is examined, and `Vary` is empty.
    @Test func withoutNegotiationAcceptSaysNothing() throws {
        let settings = try WebFrontSettings.unsigned { $0.offered = [] }
        let verdict = settings.verdict(on: Self.target, ["Accept": "image/webp"])
        let plan = try #require(verdict.plan)
        #expect(plan.request.image.output.format == nil && plan.accept == nil)
        #expect(plan.varies.isEmpty && plan.request.image.output.accepted.isEmpty)
    }

    @Test func anotherFormatHasItsOwn() throws {
        var plan = RequestPlan(
            try ImgproxyGrammar.unsigned().read(Array(Self.target.utf8), now: 0))
        var defaults = OutputDefaults()
        (defaults.efforts, defaults.progressive) = ([.avif: 2, .webp: 5], [.jpeg])
        plan.negotiate("image/avif", offered: [.avif], defaults)
        plan.complete(by: defaults)
        #expect(plan.request.image.output.format == .avif)
        #expect(plan.request.image.output.effort == 2)
        for (format, effort) in [(.webp, 5), (.jpeg, nil)] as [(ImageFormat, Int?)] {
            let output = plan.asking(for: format).request.image.output
            #expect(output.effort == effort && output.isProgressive == (format == .jpeg))
            #expect(throws: Never.self) { try output.check() }
        }
    }

    @Test func pathsBehindAPrefixAndHostsAreRead() throws {
        let target = Self.target
        let settings = try WebFrontSettings.unsigned {
            ($0.pathPrefix, $0.hosts) = ("/img", ["img.example.com"])
        }
        func status(_ target: String, _ host: String) -> UInt16? {
            settings.verdict(on: target, ["Host": host]).answer?.status
        }
        #expect(status("/img\(target)", "img.example.com:8080") == nil)
        #expect(status("/img\(target)", "IMG.example.com") == nil)
        #expect(status(target, "img.example.com") == 404)
        #expect(status("/imgs\(target)", "img.example.com") == 404)
        #expect(status("/img\(target)", "example.com") == 421)
        #expect(status("/img\(target)", "") == 421)
    }
}
