import Curl
import Model
import TestKit
import Testing

@testable import Downloading

/// One cause of a failed download, and the error that callers get.
struct FailureCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: ErrorCode
    var retryable = false
    var details: [String: String] = [:]
    let behavior: OriginBehavior
}

/// Every row of the table of failures.
@Suite struct FailureTests {
    static let plain = OriginBehavior.bytes(Array("0123456789".utf8))
    static let cases: [FailureCase] = [
        FailureCase(
            testDescription: "not found", code: .invalidDownloadStatusCode,
            details: ["httpStatus": "404"], behavior: .status(404)),
        FailureCase(
            testDescription: "too many requests", code: .invalidDownloadStatusCode,
            retryable: true, details: ["httpStatus": "429"], behavior: .status(429)),
        FailureCase(
            testDescription: "unavailable", code: .invalidDownloadStatusCode, retryable: true,
            details: ["httpStatus": "503"], behavior: .status(503)),
        FailureCase(
            testDescription: "redirect without location", code: .invalidDownloadStatusCode,
            details: ["httpStatus": "302"], behavior: .status(302)),
        FailureCase(
            testDescription: "not modified, without having been asked",
            code: .invalidDownloadStatusCode, details: ["httpStatus": "304"],
            behavior: .status(304)),
        FailureCase(
            testDescription: "a part, without having been asked",
            code: .invalidDownloadStatusCode, details: ["httpStatus": "206"],
            behavior: plain.with(header: "Content-Range", "bytes 0-9/100")
                .changed { $0.status = 206 }),
        FailureCase(
            testDescription: "a header line without end", code: .protocolBroken,
            behavior: plain.with(header: "X", String(repeating: "v", count: 300_000))),
        FailureCase(
            testDescription: "a status line without end", code: .protocolBroken,
            behavior: .raw(Array("HTTP/1.1 200 \(String(repeating: "v", count: 300_000))".utf8))),
        FailureCase(
            testDescription: "header lines without end", code: .protocolBroken,
            behavior: plain.changed { $0.headers = Array(repeating: ("X", "v"), count: 50_000) }),
        FailureCase(
            testDescription: "interim answers without end", code: .protocolBroken,
            behavior: .raw(
                Array(repeating: Array("HTTP/1.1 103 Early\r\nX: v\r\n\r\n".utf8), count: 50_000)
                    .flatMap(\.self))),
        FailureCase(testDescription: "empty", code: .badImageData, behavior: .bytes([])),
        FailureCase(testDescription: "no content", code: .badImageData, behavior: .status(204)),
        FailureCase(
            testDescription: "short body", code: .shortBody, retryable: true,
            behavior: .lying(length: 100, Array("short".utf8))),
        FailureCase(
            testDescription: "closed in the body", code: .shortBody, retryable: true,
            behavior: .closing(after: 5, of: Array("0123456789".utf8))),
        FailureCase(
            testDescription: "closed without answer", code: .connectionBroken, retryable: true,
            behavior: .closing),
        FailureCase(
            testDescription: "unknown encoding", code: .protocolBroken,
            behavior: plain.with(header: "Content-Encoding", "rot13")),
        FailureCase(
            testDescription: "broken encoding", code: .badEncoding,
            behavior: plain.with(header: "Content-Encoding", "gzip")),
        FailureCase(
            testDescription: "redirect circle", code: .tooManyRedirects,
            behavior: .redirect(to: "/case")),
        FailureCase(
            testDescription: "redirect to a file", code: .unsupportedScheme,
            behavior: .redirect(to: "file:///etc/hostname")),
        FailureCase(
            testDescription: "redirect to a private address", code: .addressForbidden,
            behavior: .redirect(to: "http://10.255.255.1/")),
        FailureCase(
            testDescription: "redirect to an overlong location", code: .protocolBroken,
            behavior: .sequence([
                .redirect(to: "/case?" + String(repeating: "x", count: 10_000)), plain,
            ])),
        FailureCase(
            testDescription: "no HTTP", code: .protocolBroken,
            behavior: .raw(Array("hello\r\n\r\n".utf8))),
        FailureCase(
            testDescription: "over the limit by its word", code: .limitExceeded,
            details: ["limit": "1000"], behavior: .generated(count: 1001)),
        FailureCase(
            testDescription: "over the limit by count", code: .limitExceeded,
            details: ["limit": "1000"],
            behavior: .generated(count: 1001).changed { $0.length = .chunked }),
        FailureCase(
            testDescription: "silent", code: .timedOut, retryable: true,
            behavior: .hang(until: Gate())),
    ]

    @Test(arguments: cases) func hasItsCode(_ row: FailureCase) async throws {
        let bench = try DownloadBench {
            if row.code == .timedOut { $0.transfer.lowSpeedSeconds = 1 }
        }
        bench.origin.route("/case", row.behavior)
        bench.start("/case", bodyBytesMax: 1000)
        let failure = try #require(await bench.failure())
        #expect(failure.code == row.code)
        #expect(failure.retryable == row.retryable)
        for (name, value) in row.details { #expect(failure.details[name] == value) }
        #expect(!failure.message.isEmpty)
        #expect(bench.space.liveCount == 0)
        bench.downloader.stop()
        #expect(bench.outcomes.values.count == 1)
    }

    @Test(
        arguments: [
            (503, "7", "7"), (429, "120", "120"), (503, "9999999999", "4294967295"),
            (503, "0", nil), (503, "-5", nil), (503, "soon", nil), (503, "", nil),
            (503, "Wed, 21 Oct 2015 07:28:00 GMT", nil), (500, "7", nil), (404, "7", nil),
        ] as [(Int, String, String?)])
    func aRetryAfterIsTold(_ status: Int, _ field: String, _ seconds: String?) async throws {
        let bench = try DownloadBench.started(
            "/a", .status(status).with(header: "Retry-After", field))
        let failure = try #require(await bench.failure())
        #expect(failure.details["httpStatus"] == "\(status)")
        #expect(failure.details["retryAfter"] == seconds)
    }

    @Test func aRetryAfterMayBeADate() async throws {
        let date = "Fri, 01 Jan 2100 00:00:00 GMT"
        let bench = try DownloadBench.started("/a", .status(503).with(header: "Retry-After", date))
        let seconds = await bench.failure()?.details["retryAfter"].flatMap { Int($0) }
        // Counted from now, which is between 2026 and 2099.
        #expect((1...2_335_219_200).contains(seconds ?? 0))
    }

    static let urls: [(String, ErrorCode)] = [
        ("", .invalidURL), ("http://", .invalidURL), ("no scheme", .invalidURL),
        ("http://exa mple/", .invalidURL), ("http://[::1/", .invalidURL),
        ("http://host:99999/", .invalidURL), ("ftp://127.0.0.1/a", .unsupportedScheme),
        ("file:///etc/passwd", .unsupportedScheme), ("data:image/png,x", .unsupportedScheme),
        ("x:y", .unsupportedScheme), ("http://no-such-host.invalid/", .nameNotResolved),
        ("http://[::1]x", .invalidURL), ("http://h:0/", .invalidURL),
        ("http://168.63.129.16/metadata/", .addressForbidden),
        ("http://127.0.0.1:9/", .addressForbidden), ("http://localhost:9/", .addressForbidden),
        ("http://[::1]:9/", .addressForbidden), ("http://169.254.169.254/", .addressForbidden),
        ("http://2130706433/", .addressForbidden), ("https://0.0.0.0/", .addressForbidden),
    ]

    @Test(arguments: urls) func aURLHasItsCode(_ url: String, _ code: ErrorCode) async throws {
        let bench = try DownloadBench()
        bench.start(url)
        #expect(await bench.failure()?.code == code)
    }

    @Test func aRedirectToAForbiddenPortMakesNoConnectionThere() async throws {
        let forbidden = OriginServer()
        let bench = try DownloadBench.started("/from", .redirect(to: forbidden.url("/inside")))
        #expect(await bench.failure()?.code == .addressForbidden)
        #expect(forbidden.acceptedConnectionCount == 0)
    }

    @Test func aClosedPortIsAFailedConnection() async throws {
        let bench = try DownloadBench()
        bench.origin.stop()
        bench.start("/a")
        let failure = await bench.failure()
        #expect(failure?.code == .connectionFailed)
        #expect(failure?.details["errno"] == "111")
    }

    @Test func aPlainPortFailsTLS() async throws {
        let bench = try DownloadBench()
        bench.start("https://\(bench.origin.authority)/")
        #expect(await bench.failure()?.code == .tlsFailed)
    }

    @Test func aFullArenaEndsTheTransfer() async throws {
        let bench = try DownloadBench.started("/big", .generated(count: 150_000), bytesMax: 200_000)
        let failure = await bench.failure()
        #expect(failure?.code == .arenaFull)
        #expect(failure?.retryable == true)
        #expect(bench.space.liveCount == 0)
    }

    @Test(arguments: [
        HTTPHeader(name: "Content-Length", value: "50"),
        HTTPHeader(name: "transfer-encoding", value: "chunked"),
        HTTPHeader(name: "Range", value: "bytes=0-9"), HTTPHeader(name: "if-range", value: "x"),
        HTTPHeader(name: "Connection", value: "close"), HTTPHeader(name: "Bad Name", value: "x"),
        HTTPHeader(name: "X", value: "a\r\nHost: b"),
    ])
    func aHeaderThatCannotBeSentIsRefused(_ header: HTTPHeader) async throws {
        let bench = try DownloadBench()
        bench.start("/a", headers: [header])
        #expect(await bench.failure()?.code == .invalidRequest)
        #expect(bench.origin.totalRequestCount == 0)
    }

    @Test func workOfAnotherStageIsADefect() async throws {
        let bench = try DownloadBench()
        let query = QueryWork(key: "k", tiers: [], destination: .results, promotes: false)
        bench.downloader.start(
            Job(
                id: JobID(1), attempt: 1, work: .query(query), millisecondsLeft: 1000,
                priority: .normal))
        #expect(await bench.failure()?.code == .internalError)
    }

    @Test func anAllowedAddressWithoutPortIsRefused() {
        #expect(throws: ImageError.self) {
            try DownloadBench { $0.allowedAddresses = ["127.0.0.1"] }
        }
    }

    @Test func privateNetworksMayBeAllowedAsAWhole() async throws {
        let bench = try DownloadBench {
            $0.allowedAddresses = []
            $0.allowsPrivateNetworks = true
        }
        bench.origin.route("/a", .bytes([1]))
        bench.start("/a")
        #expect(await bench.body() != nil)
    }
}
