import Model
import Testing

@Suite struct SourceURLTests {
    @Test(
        arguments: [
            ("https://h/a.png", "https", nil, "h", "https://h/a.png"),
            ("HTTPS://Host:443/A", "https", nil, "Host", "HTTPS://Host:443/A"),
            ("http://u:p@h:80/a?b@c", "http", "u:p", "h", "http://h:80/a?b@c"),
            ("http://a@b@c/", "http", "a@b", "c", "http://c/"),
            ("http://@h/", "http", "", "h", "http://h/"),
            ("http://h?x@y", "http", nil, "h", "http://h?x@y"),
            ("http://h#x@y", "http", nil, "h", "http://h#x@y"),
            ("http://[::1]:8080/a", "http", nil, "[::1]", "http://[::1]:8080/a"),
            ("http://u@[fe80::1]/", "http", "u", "[fe80::1]", "http://[fe80::1]/"),
            (
                "http://[fe80::1%25eth0]/", "http", nil, "[fe80::1%25eth0]",
                "http://[fe80::1%25eth0]/"
            ),
            (
                "http://[::FFFF:1.2.3.4]:1", "http", nil, "[::FFFF:1.2.3.4]",
                "http://[::FFFF:1.2.3.4]:1"
            ),
            ("http://h:65535", "http", nil, "h", "http://h:65535"),
            ("http://a_b-c.%C3%A9.:80/", "http", nil, "a_b-c.%C3%A9.", "http://a_b-c.%C3%A9.:80/"),
            ("file:///tmp/a.png", "file", nil, "", "file:///tmp/a.png"),
            ("data:image/png;base64,AA==", "data", nil, "", "data:image/png;base64,AA=="),
            ("svn+ssh://h/", "svn+ssh", nil, "h", "svn+ssh://h/"),
        ] as [(String, String, String?, String, String)])
    func aURLIsTakenApart(
        text: String, scheme: String, userInfo: String?, host: String, rest: String
    ) throws {
        let url = try SourceURL(text)
        #expect(url.scheme == scheme)
        #expect(url.userInfo == userInfo)
        #expect(url.host == host)
        #expect(url.withoutUserInfo == rest)
    }

    @Test(arguments: [
        "", " ", "a.png", "/a.png", "//h/a.png", "://h/", "1http://h/", "ht tp://h/", "http:",
        "http:/h/a", "http://", "https:///a.png", "http://:80/", "http://u@/a", "http://?a",
        "http://[::1]x", "http://[::1", "http://[::1/", "http://a:b@[::1]:80x/", "http://[]/",
        "http://[x]/", "http://[1]:80/", "http://[::1%]/", "http://]/",
        "http://h]/", "http://[::1]]/", "http://[[::1]]/", "http://a[::1]/", "http://h:80x/",
        "http://h:x/", "http://h:0/", "http://h:65536/", "http://h:-1/", "http://h:+1/",
        "http://h:80:80/", "http://::1/", "http://h\\g/", "http://h,g/", "http://h'/",
        "https://u@:443/", "http://u:p@", "http://h/a b", "http://h/a\n", "http://h/\0",
        "http://h/\u{7F}", "-x:y",
    ])
    func whatIsNoURLIsRefused(text: String) {
        let error = #expect(throws: ImageError.self) { try SourceURL(text) }
        #expect(error?.code == .invalidURL)
    }

    @Test func aURLHas8192BytesAtMost() throws {
        let start = "http://h/"
        let longest = start + String(repeating: "a", count: 8_192 - start.utf8.count)
        #expect(try SourceURL(longest).host == "h")
        #expect(throws: ImageError.self) { try SourceURL(longest + "a") }
    }

    @Test func charactersBeyondASCIIArePercentEncodedInARequest() {
        #expect(
            ImageRequest(url: "https://h/é→.png?ü").url == "https://h/%C3%A9%E2%86%92.png?%C3%BC")
        var request = ImageRequest(url: "https://h/%C3%A9")
        #expect(request.url == "https://h/%C3%A9")
        request.url = "https://h/é"
        #expect(request == ImageRequest(url: "https://h/%C3%A9"))
    }

    @Test(arguments: [
        ("http://Example.ORG/a.jpg", "example.org:80"), ("https://example.org", "example.org:443"),
        ("https://u:p@example.org:8443/a?b:1", "example.org:8443"),
        ("http://[::1]/a", "[::1]:80"), ("http://[::1]:8080?x", "[::1]:8080"),
        ("http://example.org:/a", "example.org:80"), ("ftp://example.org/a", "example.org"),
        ("file:///a", ""), ("data:,x", ""),
    ])
    func theAuthorityNamesThePort(text: String, authority: String) throws {
        #expect(try SourceURL(text).authority == authority)
    }

    @Test(arguments: [
        ("https://u:p@Example.org:8443/a/b?sig=1#x", "https://Example.org:8443/a/b"),
        ("http://a@b@host/p", "http://host/p"), ("http://host?u=http://x:y@z/", "http://host"),
        ("http://u:p@[::1]:80/x#?", "http://[::1]:80/x"),
        ("file:///srv/a.png", "file:///srv/a.png"),
        ("data:image/png;base64,AAAA", "data:"), ("upload:0123", "upload:"),
        ("odd:u:p@host/path?x", "odd:"),
    ])
    func logsShowSchemeHostAndPath(_ text: String, _ shown: String) throws {
        #expect(try SourceURL(text).forLogs == shown)
    }
}
