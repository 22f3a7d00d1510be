import Downloading
import Model
import TestKit
import Testing

/// A violation of HTTP by an origin, and the expected result of the download.
struct Misbehavior: Sendable, CustomTestStringConvertible {
    enum End: Sendable, Equatable {
        /// The download succeeds with this body.
        case body(String)
        /// The download fails with this code.
        case error(ErrorCode)
    }

    let testDescription: String
    let end: End
    let answer: OriginBehavior

    init(_ description: String, _ end: End, _ answer: OriginBehavior) {
        (testDescription, self.end, self.answer) = (description, end, answer)
    }

    /// A raw response; the connection closes after it.
    init(_ description: String, _ end: End, raw text: String) {
        self.init(description, end, .raw(Array(text.utf8)))
    }
}

/// Misbehaving origins beyond those of `FailureTests`: each download ends once, with a complete
/// body or a typed error, and the next one works.
@Suite struct MisbehavingOriginTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
    private static let plain = FailureTests.plain

    static let cases: [Misbehavior] = [
        // Lengths (RFC 9112 §6.3).
        Misbehavior(
            "a negative length", .error(.protocolBroken),
            raw: ok + "Content-Length: -5\r\n\r\n0123456789"),
        Misbehavior(
            "a length beyond all numbers", .error(.limitExceeded),
            raw: ok + "Content-Length: 99999999999999999999\r\n\r\n0123456789"),
        Misbehavior(
            "a length that is not a number", .error(.protocolBroken),
            raw: ok + "Content-Length: ten\r\n\r\n0123456789"),
        Misbehavior(
            "more than was announced", .body("01234"),
            raw: ok + "Content-Length: 5\r\n\r\n0123456789"),
        Misbehavior(
            "a length beside chunks", .body("0123456789"),
            raw: ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "a\r\n0123456789\r\n0\r\n\r\n"),
        Misbehavior(
            "no length at all", .body("0123456789"), raw: ok + "\r\n0123456789"),
        // Chunks (RFC 9112 §7.1). libcurl doesn't distinguish them from a lost connection.
        Misbehavior(
            "a chunk without a number", .error(.connectionBroken), raw: chunked + "xyz\r\nabc"),
        Misbehavior(
            "a chunk beyond all numbers", .error(.connectionBroken),
            raw: chunked + "FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n"),
        Misbehavior(
            "chunks without the last one", .error(.shortBody),
            raw: chunked + "a\r\n0123456789\r\n"),
        Misbehavior(
            "a chunk that is cut", .error(.shortBody), raw: chunked + "a\r\n01234"),
        Misbehavior(
            "a chunk that is longer than it said", .error(.connectionBroken),
            raw: chunked + "3\r\n0123456789\r\n0\r\n\r\n"),
        Misbehavior(
            "a trailer", .body("0123456789"),
            raw: chunked + "a\r\n0123456789\r\n0\r\nX: v\r\n\r\n"),
        Misbehavior(
            "a trailer without end", .error(.connectionBroken),
            raw: chunked + "a\r\n0123456789\r\n0\r\nX: "
                + String(repeating: "v", count: 300_000)),
        Misbehavior(
            "a transfer coding that nobody knows", .error(.protocolBroken),
            raw: ok + "Transfer-Encoding: rot13\r\n\r\n0123456789"),
        // Status lines and header lines (RFC 9112 §4 and §5).
        Misbehavior(
            "a status of one digit", .error(.protocolBroken), raw: "HTTP/1.1 2\r\n\r\nbody"),
        Misbehavior(
            "a status of letters", .error(.protocolBroken), raw: "HTTP/1.1 abc OK\r\n\r\nbody"),
        Misbehavior(
            "a version that was not asked for", .error(.protocolBroken),
            raw: "HTTP/7.3 200 OK\r\n\r\nbody"),
        Misbehavior(
            "a switch of protocols that nobody asked for", .error(.connectionBroken),
            raw: "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\nbody"),
        Misbehavior(
            "a NUL in a header", .error(.protocolBroken),
            raw: ok + "X: a\u{0}b\r\nContent-Length: 10\r\n\r\n0123456789"),
        Misbehavior(
            "a line without colon", .error(.protocolBroken),
            raw: ok + "no header\r\nContent-Length: 10\r\n\r\n0123456789"),
        Misbehavior(
            "lines that end with a line feed alone", .body("0123456789"),
            raw: "HTTP/1.1 200 OK\nContent-Length: 10\n\n0123456789"),
        Misbehavior(
            "a folded line", .body("0123456789"),
            raw: ok + "X: a\r\n b\r\nContent-Length: 10\r\n\r\n0123456789"),
        Misbehavior(
            "a head that is cut", .error(.connectionBroken), raw: ok + "Content-Le"),
        Misbehavior(
            "a thousand cookies", .body("0123456789"),
            plain.changed {
                $0.headers = (0..<1_000).map { ("Set-Cookie", "name\($0)=value") }
            }),
        // Fields that are kept, within the limits of a message.
        Misbehavior(
            "an entity tag of 8 KB", .body("0123456789"),
            plain.with(header: "ETag", "\"\(String(repeating: "e", count: 8_000))\"")),
        Misbehavior(
            "a type of 8 KB", .body("0123456789"),
            OriginBehavior.bytes(
                Array("0123456789".utf8), contentType: String(repeating: "t", count: 8_000))),
        Misbehavior(
            "bytes that are no text in fields that are kept", .body("0123456789"),
            .raw(
                Array((ok + "Content-Length: 10\r\nETag: \"").utf8) + [0xFF, 0xFE, 0x80]
                    + Array("\"\r\nContent-Type: \u{7F}\r\n\r\n0123456789".utf8))),
        // Content codings (RFC 9110 §8.4).
        Misbehavior(
            "a coding of megabytes in kilobytes", .error(.limitExceeded),
            .bytes(Self.bomb).with(header: "Content-Encoding", "gzip")),
        Misbehavior(
            "a coding that is cut", .error(.shortBody),
            .bytes(Array(Self.bomb.prefix(20))).with(header: "Content-Encoding", "gzip")),
        // Redirects (RFC 9110 §10.2.2).
        Misbehavior(
            "a redirect to nothing", .error(.invalidDownloadStatusCode), .redirect(to: "")),
        Misbehavior(
            "a redirect to half an address", .error(.protocolBroken), .redirect(to: "http://[::1")),
        Misbehavior(
            "a redirect to another scheme", .error(.unsupportedScheme),
            .redirect(to: "gopher://127.0.0.1/")),
        Misbehavior(
            "a redirect to an image in itself", .error(.protocolBroken),
            .redirect(to: "data:image/png;base64,AAAA")),
        Misbehavior(
            "a redirect to a forbidden address without scheme", .error(.addressForbidden),
            .redirect(to: "//10.255.255.1/")),
    ]

    /// 1 MiB of zeros compressed by `gzip -9n`.
    private static let bomb: [UInt8] =
        [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xed, 0xc1, 0x31,
            0x01, 0x00, 0x00, 0x00, 0xc2, 0xa0, 0xf5, 0x4f, 0x6d, 0x08, 0x5f, 0xa0,
        ] + Array(repeating: 0, count: 1_016)
        + [0x3e, 0x03, 0x1c, 0xea, 0x38, 0xa7, 0x00, 0x00, 0x10, 0x00]

    @Test(arguments: cases)
    func theDownloadEndsAndTheNextOneWorks(_ row: Misbehavior) async throws {
        let bench = try DownloadBench()
        bench.origin.route("/case", row.answer)
        bench.origin.route("/good", Self.plain)
        bench.start("/case", bodyBytesMax: 1_000)
        let outcome = try #require(await bench.outcome())
        switch row.end {
        case .body(let text):
            let body = try #require(outcome.body, "\(String(describing: outcome.failure))")
            #expect(bench.space.bytes(body.reference) == Array(text.utf8))
            #expect((body.etag ?? "").utf8.count <= 1_024)
            #expect((body.contentType ?? "").utf8.count <= 1_024)
            #expect(bench.space.liveCount == 1)
        case .error(let code):
            #expect(outcome.failure?.code == code, "\(outcome)")
            #expect(bench.space.liveCount == 0)
        }
        bench.start("/good", id: 2)
        let outcomes = try #require(await bench.outcomes.wait(count: 2))
        #expect(outcomes.count == 2 && outcomes[1].body != nil)
    }
}
