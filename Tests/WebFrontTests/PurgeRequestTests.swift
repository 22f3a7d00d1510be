import Model
import Testing

@testable import WebFront
@testable import WebGrammar

/// Removals by an operator.
@Suite struct PurgeRequestTests {
    private func settings(prefix: String = "") throws -> OperatorSettings {
        let tokens = try #require(BearerTokens([Array("0123456789abcdef".utf8)]))
        return OperatorSettings(
            tokens: tokens, grammar: try ImgproxyGrammar.unsigned(), pathPrefix: prefix)
    }

    private func meaning(
        _ method: String, _ target: String, _ body: String = "", type: String? = nil,
        prefix: String = ""
    ) throws -> PurgeRequest {
        let head = IncomingRequest(method, target) { $0 == "Content-Type" ? type : nil }
        return try PurgeRequest(head, body: Array(body.utf8), try settings(prefix: prefix))
    }

    private func fault(
        _ method: String, _ target: String, _ body: String = "", type: String? = nil
    ) throws -> PurgeError {
        let error = #expect(throws: PurgeError.self) {
            try meaning(method, target, body, type: type)
        }
        return try #require(error)
    }

    private static let source = "https://example.com/a.jpg"

    /// Neither the signature nor the expiry of a path counts, nor its processing options.
    @Test(arguments: [
        "/unsafe/plain/\(source)", "/AbCd/rs:fill:30:40/exp:1/plain/\(source)@webp",
        "/_/w:10/aHR0cHM6Ly9leGFtcGxlLmNvbS9hLmpwZw", "/info/_/plain/\(source)",
        "/img/_/plain/\(source)", "/img/info/_/plain/\(source)", "http://h/img/_/plain/\(source)",
    ])
    func aTargetStandsForItsSource(target: String) throws {
        #expect(try meaning("PURGE", target, prefix: "/img") == .url(Self.source))
    }

    @Test(arguments: [
        (#"{"url": "https://example.com/a.jpg"}"#, PurgeRequest.url(source)),
        (
            #"{"url": "https://bücher.example/ä b.jpg"}"#,
            .url("https://xn--bcher-kva.example/%C3%A4%20b.jpg")
        ),
        (
            #"{"prefix": "https://bücher.example/shop/"}"#,
            .prefix("https://xn--bcher-kva.example/shop/")
        ),
        (#"{"tag": "product:17"}"#, .tag("product:17")),
    ])
    func jsonNamesWhatIsMeant(body: String, wanted: PurgeRequest) throws {
        let type = "application/json; charset=utf-8"
        #expect(try meaning("POST", "/-/purge", body, type: type) == wanted)
    }

    @Test func formsAndQueriesNameItToo() throws {
        let pair = "url=https%3A%2F%2Fexample.com%2Fa.jpg"
        #expect(try meaning("POST", "/-/purge?\(pair)") == .url(Self.source))
        let type = "application/x-www-form-urlencoded"
        #expect(try meaning("POST", "/-/purge", pair, type: type) == .url(Self.source))
        #expect(try meaning("POST", "/-/purge?tag=a%3Ab") == .tag("a:b"))
        #expect(try meaning("POST", "/-/purge?prefix=http://h/a+b") == .prefix("http://h/a b"))
    }

    @Test(arguments: [
        ("GET", "/-/purge", UInt16(405)), ("POST", "/", 404), ("POST", "/-/purge", 400),
        ("POST", "/-/purge?url=", 400), ("POST", "/-/purge?url=a&url=b", 400),
        ("POST", "/-/purge?url=http://h/&tag=a", 400), ("POST", "/-/purge?older=1", 400),
        ("POST", "/-/purge?url=no%20url", 400), ("POST", "/-/purge?tag=a%20b", 400),
        ("POST", "/-/purge?prefix=%00", 400), ("POST", "/-/purge?url=%zz", 400),
        ("PURGE", "/", 400), ("PURGE", "/_/w:x/plain/http://h/a", 400),
        ("PURGE", "/_/plain/ftp://h/a", 400),
    ])
    func whatMeansNothingIsRefused(method: String, target: String, status: UInt16) throws {
        #expect(try fault(method, target).status == status)
    }

    @Test func aBodyIsWhatItsTypeSays() throws {
        let body = #"{"url": "https://example.com/a.jpg"}"#
        for type in [nil, "text/plain", "application/x-www-form-urlencoded"] {
            #expect(try fault("POST", "/-/purge", body, type: type).status == 400)
        }
        for body in ["[]", "{", #"{"url": 1}"#, #"{"url": "http://h/", "tag": "a"}"#, "{}"] {
            let fault = try fault("POST", "/-/purge", body, type: "application/json")
            #expect(fault.status == 400 && fault.name == "invalidRequest", "\(body)")
        }
    }
}

extension PurgeRequest {
    fileprivate static func url(_ text: String) -> PurgeRequest { .init(kind: .url, text: text) }
    fileprivate static func tag(_ text: String) -> PurgeRequest { .init(kind: .tag, text: text) }
    fileprivate static func prefix(_ text: String) -> PurgeRequest {
        .init(kind: .prefix, text: text)
    }
}
