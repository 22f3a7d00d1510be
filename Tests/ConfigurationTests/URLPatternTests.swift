import ImageModel
import Testing

@testable import Configuration

/// Which URLs a pattern means.
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
    ])
    func theseAreNot(pattern: String, url: String) throws {
        #expect(try !matches(pattern, url))
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
