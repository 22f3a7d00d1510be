import Linux
import MicroHTTPD
import Model
import ProcessRuntime
import TestKit
import Testing
import WebGrammar

@testable import WebFront

/// Log lines and metrics of a front.
@Suite struct OperationTests {
    // MARK: - Paths in logs

    @Test(arguments: [
        (
            "/SIG_-signature/rs:fill:300:400/g:no/plain/https://a.example/b?token=1@png",
            "/rs:fill:300:400/g:no/…"
        ),
        ("/unsafe/w:300/aHR0cHM6Ly9hLmV4YW1wbGUvYj90b2tlbj0x.png", "/w:300/…"),
        ("/unsafe/w:300/wmu:aHR0cHM6Ly9hLmV4YW1wbGUvYj90/plain/http://a", "/w:300/…"),
        ("/unsafe/fit-in/300x200/smart/http://a.example/b?secret", "/fit-in/300x200/smart/…"),
        ("/unsafe/filters:watermark(http://u:p@a/b?t,0,0)/http://a", "/…"),
        ("/unsafe/https:/a.example/b", "/…"), ("/HMAC0123456789", "/"),
        ("/ready", "/ready"), ("/live?token=1", "/live"), ("/", "/"), ("", "/"), ("*", "/"),
    ])
    func aPathIsReducedToItsOptions(target: String, shown: String) {
        #expect(ReducedPath.text(of: target) == shown)
    }

    /// Only options of the grammar are shown, and neither sources nor long texts.
    @Test(arguments: [
        ("/?url=a.example/b&w=300&h=50%25&fit=cover&we&token=1", "?w=300&h=50%25&fit=cover&we"),
        ("/?w=300&filename=secretsecretsecret&default=a.example", "?w=300"),
        ("/?w=https://a.example", ""), ("/?url=w", ""), ("/", ""), ("/?=1&&w", "?w"),
    ])
    func aQueryIsReducedToItsOptions(target: String, shown: String) {
        let names = WeservGrammar.unsigned().queryOptions
        #expect(ReducedPath.query(of: target, names) == shown)
        #expect(ReducedPath.query(of: target, []).isEmpty)
    }

    @Test(arguments: [
        ("https://a.example/b.jpg?token=1#x", "https://a.example/b.jpg"),
        ("https://user:word@a.example:8443/b%3Fc", "https://a.example:8443/b%3Fc"),
        ("https://a.example?token=1", "https://a.example"), ("s3://bucket/key", "s3://bucket/key"),
        ("data:image/png;base64,AAAA", "data:…"), ("none", "…"), ("http://", "http://"),
    ])
    func aSourceIsShownWithoutWhoSignsInAndItsQuery(url: String, shown: String) {
        #expect(ReducedPath.source(url) == shown)
    }

    // MARK: - Log lines

    /// The line of a request from 127.0.0.1 for a source with secrets.
    private func written(
        method: String = "GET",
        target: String = "/secret-signature/w:300/plain/https://a.example/b?token=hidden",
        status: UInt16? = 200, _ change: (OpenRequest) throws -> Void = { _ in }
    ) throws -> String {
        let request = OpenRequest(
            begun: .now(), peer: try #require(PeerAddress(text: "127.0.0.1")))
        request.source = "https://me:hidden@a.example/b?token=hidden"
        try change(request)
        let pipe = try FileDescriptor.pipe()
        AccessLog(log: Log(program: "gateway", format: .json, descriptor: pipe.writeEnd.number))
            .write(
                request, method, target, status: status, bytes: 1_234, microseconds: 5_600)
        let reading = try pipe.readEnd.duplicate()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { buffer.deallocate() }
        let count = try reading.read(into: buffer)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    @Test func aLineIsOneObjectWithoutSignatureAndQuery() throws {
        let text = try written()
        #expect(text.hasSuffix("}\n") && text.dropLast().allSatisfy { $0 != "\n" })
        let object = try JSONValue(parsing: Array(text.utf8))
        #expect(object["path"]?.text == "/w:300/…")
        #expect(object["source"]?.text == "https://a.example/b")
        #expect(object["status"]?.integer == 200 && object["bytes"]?.integer == 1_234)
        #expect(object["milliseconds"] == .number(5.6) && object["peer"]?.text == "127.0.0.1")
        #expect(object["client"]?.text == "127.0.0.1", "the peer, if not behind a proxy")
        for absent in ["error", "cache", "requestId", "trace", "token"] {
            #expect(object[absent] == nil)
        }
        for hidden in ["signature", "token", "hidden"] { #expect(!text.contains(hidden)) }
    }

    @Test func aLineSaysWhoAskedAndWhatBecameOfIt() throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let text = try written { request in
            request.client = "2001:db8::1"
            (request.error, request.cache, request.token) = ("badImageData", .stale, 2)
            request.ids = LogContext(
                trace: TraceContext(text: trace), requestID: RequestID(text: "r-1"))
        }
        let object = try JSONValue(parsing: Array(text.utf8))
        #expect(object["client"]?.text == "2001:db8::1" && object["peer"]?.text == "127.0.0.1")
        #expect(object["error"]?.text == "badImageData" && object["cache"]?.text == "stale")
        #expect(object["requestId"]?.text == "r-1")
        #expect(object["trace"]?.text == "0af7651916cd43dd8448eb211c80319c")
        #expect(object["token"]?.integer == 2)
    }

    @Test func aLineIsShortWhateverStrangersSay() throws {
        let text = try written(
            method: String(repeating: "M", count: 30_000),
            target: "/s/" + String(repeating: "w:300/", count: 5_000), status: nil
        ) { $0.source = "https://a/" + String(repeating: "\u{1}é", count: 5_000) }
        #expect(text.utf8.count <= 4_096)
        let object = try JSONValue(parsing: Array(text.utf8))
        #expect(object["method"]?.text == String(repeating: "M", count: 16) + "…")
        #expect(object["status"]?.text == "left")
    }

    // MARK: - Metrics

    @Test func figuresAreWhatWasCounted() throws {
        var counters = RequestCounters()
        let begin = Instant(nanoseconds: 1_000_000_000)
        for (status, bytes, milliseconds) in [
            (200, 10, 1), (206, 5, 2), (304, 0, 3), (404, 7, 400),
        ] {
            counters.begin()
            counters.answered(
                UInt16(status), bytes: bytes, from: begin,
                to: begin.adding(milliseconds: milliseconds))
        }
        counters.begin()
        counters.begin()
        counters.left()
        #expect(counters.answeredCount == 4 && counters.inProgress == 1)
        let text = FrontMetrics(
            requests: counters, connections: 9, refusedConnections: 5,
            unread: UnreadAnswersTests.refusing(), slowReaders: 6
        ).text
        let samples = try PrometheusParser.samples(text)
        func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
            samples.first {
                $0.name == "imagebus_gateway_\(name)" && $0.labels == labels
            }?.value
        }
        for status in ["200", "206", "304", "404"] {
            #expect(value("requests_total", ["status": status]) == 1)
        }
        #expect(value("requests_total", ["status": "500"]) == nil, "no such response was sent")
        #expect(value("refused_connections_total") == 5 && value("slow_readers_total") == 6)
        #expect(value("unread_bytes") == 100)
        #expect(value("refused_answers_total", ["limit": "client"]) == 1)
        #expect(value("refused_answers_total", ["limit": "all"]) == 2)
        #expect(value("not_modified_total") == 1 && value("abandoned_total") == 1)
        #expect(value("sent_bytes_total") == 22)
        #expect(value("in_flight") == 1 && value("connections") == 9)
        #expect(value("request_duration_seconds_count") == 4)
        #expect(value("request_duration_seconds_bucket", ["le": "+Inf"]) == 4)
        #expect(value("request_duration_seconds_sum").map { abs($0 - 0.406) < 0.001 } == true)
    }

    @Test func aStrangeStatusCountsAsTheNearest() {
        var counters = RequestCounters()
        for status in [999, 600, 99, 0] as [UInt16] {
            counters.begin()
            counters.answered(
                status, bytes: -1, from: Instant(nanoseconds: 5), to: Instant(nanoseconds: 1))
        }
        #expect(counters.answeredCount == 4 && counters.inProgress == 0 && counters.bytes == 0)
        #expect(counters.byStatus.map(\.status) == [100, 599])
    }
}
