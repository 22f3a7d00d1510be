import FoundationEssentials
import ImagebusFoundation
import Model
import TestKit
import Testing

@Suite struct RequestTests {
    /// Python's `urllib` resolves a URL against its base according to RFC 3986.
    @Test(arguments: [
        ("https://example.org/a/b.png?x=1#y", ""), ("../c.png", "https://example.org/a/b/d"),
        ("//other.example/e", "http://example.org/a"), ("?q", "http://example.org/a/b"),
    ])
    func aURLIsAskedInItsAbsoluteForm(text: String, base: String) throws {
        let url = try #require(URL(string: text, relativeTo: URL(string: base)))
        let joined = try Tool.run([
            "python3", "-c", "import sys, urllib.parse as u; print(u.urljoin(*sys.argv[1:]))",
            base, text,
        ])
        let request = ImageRequest(url: url)
        #expect(request.url + "\n" == String(decoding: joined, as: UTF8.self))
        #expect(request == ImageRequest(url: request.url))
    }

    @Test(arguments: [
        (1.5, 1_500), (0.000_1, 1), (30, 30_000), (3_600, 3_600_000), (0, 0), (-1, 0),
        (.nan, 0), (.infinity, 3_600_001), (1e300, 3_600_001), (-.infinity, 0),
    ])
    func secondsAreMilliseconds(seconds: Double, milliseconds: Int) {
        var request = ImageRequest(url: "")
        request.timeoutInterval = seconds
        #expect(request.timeoutMilliseconds == milliseconds)
        #expect(request.timeoutInterval == Double(milliseconds) / 1_000)
    }
}
