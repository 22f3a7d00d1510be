import Model
import Testing
import WebGrammar

/// Signatures, with values computed by Python's `hmac`.
@Suite struct ImgproxySignatureTests {
    private static let path = "/rs:fit:300:400/plain/https://img.example.org/a.jpg@webp"
    private static let byOrchid = "B8Zf-iDMcOKGPFmNxIxJNQkOJjsNlzAmU5-EdGPSX4E"
    private static let bySecond = "ex0oaAPTDUwWHmM_oj-yL7CPc9xUzkodw2S0m3ieJ48"

    private func grammar(
        _ keys: [(String, String)], bytes: Int = 32, unsigned: Bool = false
    ) throws -> ImgproxyGrammar {
        var settings = ImgproxyGrammar.Settings()
        settings.keys = try keys.map {
            try #require(SigningKey(key: Array($0.0.utf8), salt: Array($0.1.utf8)))
        }
        settings.signatureBytes = bytes
        settings.permitsUnsigned = unsigned
        return try ImgproxyGrammar(settings)
    }

    /// imgproxy's own example: the options of the path are only parsed after its signature has been
    /// verified.
    @Test func imgproxysVectorIsSigned() throws {
        let path =
            "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
        let signature = "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8"
        let grammar = try grammar([("secret", "hello")])
        let extent = RelativeSize(width: .pixels(300), height: .pixels(400))
        #expect(
            try grammar.read("/\(signature)\(path)").image.steps
                == [
                    .resize(PixelSize(300, 400), .cover, enlarges: false),
                    .cropTo(extent, .attention),
                ])
        #expect(try grammar.refusal("/p\(signature.dropFirst())\(path)").status == 403)
        #expect(
            try self.grammar([("secret", "hallo")]).refusal("/\(signature)\(path)").status == 403)
    }

    @Test func anyOfSeveralKeysSigns() throws {
        let grammar = try grammar([("orchid", "pepper"), ("second", "grain")])
        let first = try grammar.read("/\(Self.byOrchid)\(Self.path)")
        #expect(first == (try grammar.read("/\(Self.bySecond)\(Self.path)?x=1")))
        #expect(try grammar.read("/\(Self.byOrchid)=\(Self.path)") == first)
        let one = try self.grammar([("second", "grain")])
        #expect(try one.refusal("/\(Self.byOrchid)\(Self.path)").status == 403)
        let swapped = try self.grammar([("orchid", "grain"), ("second", "pepper")])
        #expect(try swapped.refusal("/\(Self.byOrchid)\(Self.path)").status == 403)
    }

    /// Exactly that number of bytes, neither fewer nor all of them.
    @Test func aSignatureMayBeCutOff() throws {
        let grammar = try grammar([("orchid", "pepper")], bytes: 8)
        #expect(try grammar.read("/B8Zf-iDMcOI\(Self.path)").image.steps.count == 1)
        #expect(try grammar.refusal("/\(Self.byOrchid)\(Self.path)").status == 403)
        #expect(try grammar.refusal("/B8Zf-iDMcA\(Self.path)").status == 403)
        #expect(throws: GrammarError.self) { try self.grammar([], bytes: 7) }
        #expect(throws: GrammarError.self) { try self.grammar([], bytes: 33) }
    }

    /// Every bit of the path and of the signature counts.
    @Test func aChangedPathIsNotSigned() throws {
        let grammar = try grammar([("orchid", "pepper")])
        let target = Array("/\(Self.byOrchid)\(Self.path)".utf8)
        for place in 1..<target.count {
            var changed = target
            changed[place] ^= 1
            let refusal = #expect(throws: GrammarError.self) {
                try grammar.read(changed, now: someMoment)
            }
            #expect(refusal.map { [403, 400].contains($0.status) } == true)
            let isOfPath = place > Self.byOrchid.utf8.count + 1
            #expect(!isOfPath || refusal?.status == 403 || changed[place] == UInt8(ascii: "?"))
        }
    }

    /// A signed path as normalized by proxies; the query isn't signed.
    @Test func aNormalizedPathIsSigned() throws {
        let signature = "-HRzYyX9dRe5vgmc6UlhGaq-ID0HZSjMdC34iNQS4fM"
        let grammar = try grammar([("orchid", "pepper")])
        let wanted = try grammar.read("/\(signature)/w:300/plain/https://img.example.org/a.jpg")
        for path in [
            "/w%3A300/plain/https://img.example.org/a.jpg",
            "/w:300/plain/https:/img.example.org/a.jpg",
            "/w%3a300/plain/https:/img.example.org/a.jpg?q",
        ] {
            #expect(try grammar.read("/\(signature)\(path)") == wanted)
        }
    }

    @Test(arguments: ["unsafe", "_", "insecure", "Unsafe", "rs:fit:1:1", "*", "%5F"])
    func unsignedPathsAreReadOnlyWhereThatIsSaid(word: String) throws {
        #expect(try grammar([("orchid", "pepper")]).refusal("/\(word)\(Self.path)").status == 403)
        let keyless = try grammar([]).refusal("/\(word)\(Self.path)")
        #expect(keyless.status == 403 && keyless.message.contains("has no keys"))
        let open = try grammar([("orchid", "pepper")], unsigned: true)
        #expect(try open.read("/\(Self.byOrchid)\(Self.path)").image.steps.count == 1)
        // Any signature is accepted then, as in imgproxy without keys.
        #expect(try open.read("/\(word)\(Self.path)").image.steps.count == 1)
    }

    @Test func keysAreReadFromHexadecimalDigits() throws {
        let key = try #require(SigningKey(hexKey: "736563726574", hexSalt: "68656C6C6F"))
        #expect(key == SigningKey(key: Array("secret".utf8), salt: Array("hello".utf8)))
        for digits in ["", "7", "7g", "0x", "é1"] {
            #expect(SigningKey(hexKey: digits, hexSalt: "68") == nil)
        }
    }
}
