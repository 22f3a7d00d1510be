import Model
import Testing

@testable import WebGrammar

/// Non-ASCII host names.
@Suite struct HostNameTests {
    private func url(_ source: String) throws -> String {
        try SourceRules().url(Array(source.utf8))
    }

    @Test(arguments: [
        ("https://bücher.example/a.jpg", "https://xn--bcher-kva.example/a.jpg"),
        (
            "https://BÜCHER.Example:8443/ä.jpg?ü#x",
            "https://xn--bcher-kva.example:8443/%C3%A4.jpg?%C3%BC#x"
        ),
        ("http://u:p@bu\u{308}cher.example", "http://u:p@xn--bcher-kva.example"),
        ("https://faß.de/", "https://xn--fa-hia.de/"),
        ("https://βόλος.com/", "https://xn--nxasmm1c.com/"),
        ("https://例え。テスト/a", "https://xn--r8jz45g.xn--zckzah/a"),
        ("https://пример.испытание/", "https://xn--e1afmkfd.xn--80akhbyknj4f/"),
        ("https://हिन्दी.भारत/", "https://xn--j2bd4cyah0f.xn--h2brj9c/"),
        ("https://Straße.straße.Example/", "https://xn--strae-oqa.xn--strae-oqa.example/"),
        // URLs without a host keep their characters.
        ("local:///ä.jpg", "local:///%C3%A4.jpg"),
        ("https://example.com/ä", "https://example.com/%C3%A4"),
        ("https://Example.COM/a", "https://Example.COM/a"),
    ])
    func hostsBecomeThoseOfDNS(source: String, wanted: String) throws {
        #expect(try url(source) == wanted)
    }

    @Test(arguments: [
        // Symbols, full-width letters, joiners, a lone combining mark, hyphens and long labels.
        "https://☃.example/", "https://ｂ.example/", "https://नी\u{200D}.example/",
        "https://\u{308}a.example/", "https://ü-.example/", "https://aü--c.example/",
        "https://a bü.example/", "https://\u{1100}\u{1161}\u{11A8}.example/",
        "https://\(String(repeating: "ü", count: 60)).example/", "https://l·l.example/",
    ])
    func whatNeedsMoreIsRefusedByName(source: String) {
        let error = #expect(throws: GrammarError.self) { try url(source) }
        #expect(error?.status == 400)
    }

    @Test func theRefusalNamesTheCharacter() {
        let error = #expect(throws: GrammarError.self) { try url("https://☃.example/") }
        #expect(error?.message.contains("U+2603") == true, "\(error?.message ?? "none")")
        let bytes = Array("https://".utf8) + [0xFC] + Array(".example/".utf8)
        #expect(throws: GrammarError.self) { try SourceRules().url(bytes) }
    }

    @Test func allowedSourcesAreComparedInTheSameForm() throws {
        let patterns = try SourcePattern.list("https://*.bücher.example/")
        #expect(SourcePattern.permit(patterns, "https://img.xn--bcher-kva.example/a.jpg"))
        #expect(!SourcePattern.permit(patterns, "https://img.xn--other.example/a.jpg"))
    }
}
