/// Invalid request targets: none of them is signed or matches a grammar.
extension HostileRequest {
    static let targets: [HostileRequest] = [
        .init(target: "http://a/live", 200), .init(target: "https://a/live", 200),
        .init(target: "HTTP://127.0.0.1:1/unsafe/plain/ftp://a/b", 400),
        .init(target: "a:80", 400), .init(target: "*", 400), .init(target: "live", 400),
        .init(target: "?/live", 400), .init(target: "#/live", 400), .init(target: "\\live", 400),
        .init(target: "/", 200), .init(target: "//", 400), .init(target: "/?", 200),
        .init(target: "//live", 400), .init(target: "/live/", 400), .init(target: "/LIVE", 400),
        .init(target: "/live/..", 400), .init(target: "/./live", 400),
        .init(target: "/../live", 400), .init(target: "/../../etc/passwd", 400),
        .init(target: "/%2e%2e/%2e%2e/etc/passwd", 400), .init(target: "/..%2f..%2fetc", 400),
        .init(target: "/..\\..\\etc/passwd", 400), .init(target: "/live%00", 400),
        .init(target: "/%6cive", 400), .init(target: "/unsafe%2fplain%2fhttp:%2f%2fa%2fb", 400),
        .init(target: "/%75nsafe/plain/ftp://a/b", 400),
        .init(target: "/UNSAFE/plain/ftp://a/b", 400),
        .init(target: "//unsafe/plain/http://a/b", 400),
        .init(target: "/unsafe", 400), .init(target: "/unsafe/", 400),
        .init(target: "/unsafe//", 400), .init(target: "/unsafe/plain", 400),
        .init(target: "/unsafe/plain/", 400), .init(target: "/unsafe/plain//", 400),
        .init(target: "/unsafe/plain/..", 400), .init(target: "/unsafe/plain/../a", 400),
        .init(target: "/unsafe/plain/%", 400), .init(target: "/unsafe/plain/%2", 400),
        .init(target: "/unsafe/plain/%zz", 400), .init(target: "/unsafe/plain/%u0041", 400),
        .init(target: "/unsafe/plain/http://%00/", 400),
        .init(target: "/unsafe/plain/http://%0d%0aHost:%20b/", 400),
        .init(target: "/unsafe/plain/http%3a//%0a/", 400),
        .init(target: "/unsafe/plain/%c0%af%c0%af", 400),
        .init(target: "/unsafe/plain/http://%e0%80%af/", 400),
        .init(target: "/unsafe/plain/http://%ff%fe/", 400),
        .init(target: "/unsafe/plain/http:///b", 400),
        .init(target: "/unsafe/plain/file:///etc/passwd", 400),
        .init(target: "/unsafe/plain/gopher://127.0.0.1:1/_x", 400),
        .init(target: "/unsafe/plain/data:,", 400),
        .init(target: "/unsafe/plain/http://a/b@exe", 400),
        .init(target: "/unsafe/w:%/plain/http://a/b", 400),
        .init(target: "/unsafe/w:-1/plain/http://a/b", 400),
        .init(target: "/unsafe/w:99999999999999999999/plain/http://a/b", 400),
        .init(target: "/unsafe/w:1e9/plain/http://a/b", 400),
        .init(target: "/unsafe/w:0x10/plain/http://a/b", 400),
        .init(target: "/unsafe/w:NaN/plain/http://a/b", 400),
        .init(target: "/unsafe/bl:inf/plain/http://a/b", 400),
        .init(target: "/unsafe/bl:nan/plain/http://a/b", 400),
        .init(target: "/unsafe/%77:1/plain/http://a/b", 400),
        .init(target: "/unsafe/enc/AAAA", 501),
        .init(target: "/unsafe/" + String(repeating: "w:1/", count: 65) + "plain/http://a/b", 400),
        .init(target: "/unsafe/" + String(repeating: "/", count: 4_000), 400),
        .init(target: "/" + String(repeating: "%", count: 8_000), 400),
        .init(target: "/unsafe/" + String(repeating: "A", count: 8_000), 400),
        .init(target: "/" + String(repeating: "u", count: 8_192), 414),
        .init(target: "/live?" + String(repeating: "q", count: 8_192), 414),
        .init("64 KB", line: "GET /" + String(repeating: "u", count: 65_536) + " HTTP/1.1", [414]),
        .init(
            "a query of 64 KB",
            line: "GET /live?" + String(repeating: "q", count: 65_536)
                + " HTTP/1.1", [414]),
        .init("a control byte", line: "GET /live\u{1} HTTP/1.1", [400]),
        .init("a delete", line: "GET /live\u{7F} HTTP/1.1", [400]),
        .init("a tab", line: "GET /live\t HTTP/1.1", [400]),
        .init("a bare CR", line: "GET /live\r HTTP/1.1", [400]),
        .init("UTF-8", line: "GET /unsafe/plain/http://\u{C3}\u{A4}/ HTTP/1.1", [400]),
        .init("overlong UTF-8", line: "GET /\u{C0}\u{AE}\u{C0}\u{AE}/ HTTP/1.1", [400]),
        .init("bytes that are no UTF-8", line: "GET /\u{FF}\u{FE} HTTP/1.1", [400]),
    ]

    /// Malicious and malformed header fields.
    static let fields: [HostileRequest] = [
        .init("no Host", raw: "GET /live HTTP/1.1\r\n\r\nSMUGGLED", [400]),
        .init("two Hosts", fields: "Host: b", body: "SMUGGLED", [400]),
        .init("the same Host twice", fields: "Host: a", [400]),
        .init(
            "two Hosts of HTTP/1.0", raw: "GET /live HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
            [400]),
        host("", [200]), host("a:80", [200]), host("[::1]:80", [200]), host("127.0.0.1 ", [200]),
        host("a b", [400]), host("a/b", [400]), host("u@a", [400]), host("http://a", [400]),
        host("a?b", [400]), host("a#b", [400]), host("a\\b", [400]), host("<a>", [400]),
        host("a\"", [400]), host("\u{E4}", [400]),
        .init("1,000 fields", fields: lines(1_000) { "X\($0): a" }, [431]),
        .init("50,000 fields", fields: lines(50_000) { "X\($0): a" }, [431]),
        .init("1,000 cookies", fields: "Cookie: " + lines(1_000, "; ") { "a\($0)=b" }, [431]),
        .init(
            "one field of 60,000 bytes", fields: "X: " + String(repeating: "a", count: 60_000),
            [431]),
        .init(
            "a name of 60,000 bytes", fields: String(repeating: "a", count: 60_000) + ": b", [431]),
        .init(
            "one field of 20,000 bytes", fields: "X: " + String(repeating: "a", count: 20_000),
            [200, 200]),
        .init(
            "a field of blanks", fields: "X: " + String(repeating: " ", count: 10_000), [200, 200]),
        .init(
            "Upgrade to h2c",
            fields:
                "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk",
            [200, 200]),
        .init(
            "Upgrade to WebSocket", fields: "Connection: Upgrade\r\nUpgrade: websocket",
            [200, 200]),
        .init(
            "a Connection that names Host", fields: "Connection: Host, Content-Length", [200, 200]),
        .init("a method in a field", fields: "X-HTTP-Method-Override: DELETE", [200, 200]),
        .init(
            "a path in a field",
            fields: "X-Original-URL: /unsafe/plain/http://a/b\r\nX-Rewrite-URL: /x", [200, 200]),
    ]

    private static func host(_ text: String, _ statuses: [Int]) -> HostileRequest {
        HostileRequest(
            "Host: \(text)",
            raw: "GET /live HTTP/1.1\r\nHost: \(text)\r\nConnection: close\r\n\r\n", statuses)
    }

    private static func lines(
        _ count: Int, _ separator: String = "\r\n", _ line: (Int) -> String
    ) -> String {
        (0..<count).map(line).joined(separator: separator)
    }

    static let all = framing + lines + targets + fields
}
