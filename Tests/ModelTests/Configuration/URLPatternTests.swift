import Testing

@testable import Model

/// Which URLs a pattern matches.
@Suite struct URLPatternTests {
    private func matches(_ pattern: String, _ url: String) throws -> Bool {
        let pattern = try #require(URLPattern(pattern))
        return pattern.matches(URLTarget(try SourceURL(url)))
    }

    @Test(arguments: [
        ("https://img.example.com/a/*", "https://img.example.com/a/b/c.png?x=1"),
        ("https://*.example.com/*", "https://img.example.com/"),
        ("https://*.example.com/*", "https://a.b.example.com/x"),
        ("https://*.example.com", "https://img.example.com/a"),
        ("HTTPS://IMG.Example.com/*", "https://img.EXAMPLE.com/A"),
        ("*://h/*", "http://h/a"),
        ("https://h:443/*", "https://h/a"),
        ("https://h/*", "https://h:443/a"),
        ("http://127.0.0.1:*/*", "http://127.0.0.1:8080/a"),
        ("https://h/*.png?*", "https://h/a/b.png?w=1"),
        ("https://h/a*a*b", "https://h/aaaab"),
        ("https://h/", "https://h"),
        ("https://h/a/*", "https://user:secret@h/a/b"),
        ("https://h/b/*", "https://h/a/../b/c"),
        ("https://h/a/*", "https://h/%2e%2E/a/./c"),
        ("*", "https://h/a"),
        ("https://h/v0/o/*", "https://h/v0/o/photos%2F2026%2Fa.jpg"),
        ("https://h/v0/o/photos%2F*", "https://h/v0/o/photos%2fa.jpg"),
        ("https://h/fetch/https://o/*", "https://h/fetch/https://o/a.jpg"),
        ("https://h/a%20b/*", "https://h/a%20b/c%20d.jpg"),
        ("https://h/a/*", "https://h/%61/b"),
        ("https://h/a/*", "https://h/a/100%25.jpg"),
        ("https://h/a/*", "https://h/a/b;v=1/c"),
        ("https://h/a/*", "https://h/a/what%3F%23.jpg"),
    ])
    func theseAreMeant(pattern: String, url: String) throws {
        #expect(try matches(pattern, url))
    }

    @Test(arguments: [
        ("https://*.example.com/*", "https://evil.org/x.example.com/"),
        ("https://*.example.com/*", "https://evil.org?x.example.com/"),
        ("https://*.example.com/*", "https://evil.org#.example.com/"),
        ("https://*.example.com/*", "https://x.example.com@evil.org/"),
        ("https://*.example.com/*", "https://example.com/"),
        ("https://*.example.com/*", "https://x.example.com:8443/"),
        ("https://h/*", "http://h/a"),
        ("https://h/A", "https://h/a"),
        ("https://h/a/*", "https://h/a/../b"),
        ("https://h/a/*", "https://h/a/.%2e/b"),
        ("https://h/a*b", "https://h/a"),
        ("https://h/ab*b", "https://h/ab"),
        ("https://h/a/*", "https://h/a/..%2fb"),
        ("https://h/a/*", "https://h/a%2f..%2Fb"),
        ("https://h/a/*", "https://h/a/..%5cb"),
        ("https://h/a/*", #"https://h/a/..\b"#),
        ("https://h/a/*", "https://h/a/..%252fb"),
        ("https://h/a/*", "https://h/a/%252e%252e/b"),
        ("https://h/a/*", "https://h/a/..%2fb/..%252fa/c"),
        ("https://h/a/*", "https://h/a//..%2f..%2fb"),
        ("https://h/a/*", "https://h/a//../../b"),
        ("https://h/a/*", "https://h/a/..;/b"),
        ("https://h/a/*", "https://h/a/..%3bx/b"),
    ])
    func theseAreNot(pattern: String, url: String) throws {
        #expect(try !matches(pattern, url))
    }

    /// An origin may cut the path at a NUL byte, and the meaning of repeated encoding is unknown.
    @Test(arguments: [
        "https://h/a/%00/b", "https://h/a/%2500", "https://h/a/%25252525252fb",
        "https://h/a/..%2Fb%3F%2F..%2Fa%2Fx", "https://h/a/..%2Fb%2523%2F..%2Fa%2Fx",
    ])
    func theseArePermittedByNothing(url: String) throws {
        let patterns = [try #require(URLPattern("*")), try #require(URLPattern("https://h/a/*"))]
        #expect(try !URLPattern.permits(SourceURL(url), patterns))
    }

    @Test(arguments: [
        ("https://h/a/*", "https://h/b/..%2fa/c", true),
        ("https://h/a/*", "https://h/a/..%2fb", true),
        ("https://h/a/*", "https://h/b/..%2fc", false),
        ("https://h/a/*", "https://h/a/b%2fc", false),
        ("https://h/a/*", "https://other/a/..%2fb", false),
        ("https://h/*", "https://h/a/..%2fb", false),
    ])
    func itIsInDoubtWhereReadingsDiffer(pattern: String, url: String, isAmbiguous: Bool) throws {
        let pattern = try #require(URLPattern(pattern))
        #expect(pattern.isAmbiguous(URLTarget(try SourceURL(url))) == isAmbiguous)
    }

    @Test(arguments: [
        "", "h", "/a", "https://", "https:///a", "https://u@h/", "https://h/ a", "é://h/",
    ])
    func whatIsNoPatternIsNone(text: String) {
        #expect(URLPattern(text) == nil)
    }

    @Test func aLongTextTakesNoLongerThanItHasBytes() throws {
        let url = "https://h/" + String(repeating: "a", count: 8_000)
        let pattern =
            "https://h/*" + String(repeating: "a", count: 450) + "b*"
            + String(repeating: "a", count: 450) + "b*"
        let began = ContinuousClock.now
        for _ in 0..<20 { #expect(try !matches(pattern, url)) }
        #expect(ContinuousClock.now - began < .seconds(5))
    }
}
