import Model
import Testing
import WebGrammar

/// Targets generated for `imagebus url`.
@Suite struct SignedTargetTests {
    private static let url = "https://example.com/a b.jpg?x=1@2&y=100%25#top"

    /// imgproxy's own example.
    @Test func imgproxysVectorIsMade() throws {
        var settings = ImgproxyGrammar.Settings()
        settings.keys = [SigningKey(hexKey: "736563726574", hexSalt: "68656C6C6F")]
            .compactMap { $0 }
        let path =
            "rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
        #expect(
            try ImgproxyGrammar(settings).target(ofPath: path)
                == "/oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8/\(path)")
    }

    @Test(arguments: SignedByLibthumbor.good)
    func whatLibthumborSignsIsSignedTheSame(row: GoodRow) throws {
        var settings = ThumborGrammar.Settings()
        settings.keys = [SigningKey(key: Array(SignedByLibthumbor.key.utf8))].compactMap { $0 }
        let path = row.text.dropFirst().drop { $0 != "/" }.dropFirst()
        #expect(try ThumborGrammar(settings).target(ofPath: String(path)) == row.text)
    }

    private static func grammars(
        unsigned: Bool
    ) throws -> [(grammar: any URLGrammar, options: String)] {
        var imgproxy = ImgproxyGrammar.Settings()
        var thumbor = ThumborGrammar.Settings()
        var weserv = WeservGrammar.Settings()
        (imgproxy.permitsUnsigned, thumbor.permitsUnsigned) = (unsigned, unsigned)
        weserv.permitsUnsigned = unsigned
        return [
            (try ImgproxyGrammar(imgproxy), "w:30"), (try ThumborGrammar(thumbor), "30x0"),
            (WeservGrammar(weserv), "w=30"),
            (try IIIFGrammar(IIIFGrammar.Settings(source: "{id}")), "full/30,/0/default.png"),
        ]
    }

    /// Any source URL survives generating and parsing a target.
    @Test func aSourceIsReadAgainAsItWas() throws {
        for (grammar, options) in try Self.grammars(unsigned: true) {
            for options in ["", options] {
                let path = grammar.path(options: options, source: Self.url)
                let read = try grammar.read(Array(grammar.target(ofPath: path).utf8), now: 0)
                #expect(
                    read.image.url == "https://example.com/a%20b.jpg?x=1@2&y=100%25#top", "\(path)")
                #expect(read.image.steps.isEmpty == options.isEmpty, "\(path)")
            }
        }
    }

    @Test func withoutKeysAndUnsignedPathsThereIsNoTarget() throws {
        for (grammar, options) in try Self.grammars(unsigned: false).prefix(3) {
            let error = #expect(throws: GrammarError.self) {
                try grammar.target(ofPath: grammar.path(options: options, source: Self.url))
            }
            #expect(error?.kind == .signature)
        }
    }
}
