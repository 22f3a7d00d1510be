import Downloading
import Model
import TestKit
import Testing

/// Interrupted transfers that resume where they stopped (SEMANTICS §10.7).
@Suite struct ContinuationTests {
    private static let bytes = OriginBody.generatedBytes(count: 200_000)

    /// Serves the requested range and closes the connection after that many bytes of it.
    private static func origin(
        of whole: [UInt8] = ContinuationTests.bytes, etag: String? = "\"e\"",
        breakingAfter counts: [Int],
        _ change: @escaping @Sendable (OriginRequest, inout OriginResponse) -> Void = { _, _ in }
    ) -> OriginBehavior {
        let next = Monitor(counts)
        return OriginBehavior { request in
            var response = OriginResponse(whole, contentType: "image/png")
            if let range = request.header("range"), request.header("if-range") == etag {
                let first = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
                response = OriginResponse(Array(whole[first...]), status: 206)
                let (last, total) = (whole.count - 1, whole.count)
                response.headers.append(("Content-Range", "bytes \(first)-\(last)/\(total)"))
            }
            if let etag { response.headers.append(("ETag", etag)) }
            response.closesAfter = next.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            change(request, &response)
            return response
        }
    }

    @Test func aBodyThatBreaksOffGoesOnWhereItWas() async throws {
        let bench = try DownloadBench.started(
            "/a.png", Self.origin(breakingAfter: [100_000, 50_000]))
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == Self.bytes)
        #expect((body.httpStatus, body.contentType) == (200, "image/png"))
        #expect(body.account?.continuations == 2)
        let requests = bench.origin.requests("/a.png")
        #expect(requests.map { $0.header("range") } == [nil, "bytes=100000-", "bytes=150000-"])
        #expect(requests.map { $0.header("if-range") } == [nil, "\"e\"", "\"e\""])
        let last = try #require(bench.progress.values.last)
        #expect((last.received, last.expected) == (200_000, 200_000))
    }

    @Test func anotherBodyComesWhole() async throws {
        let other = OriginBody.generatedBytes(from: 7, count: 90_000)
        let whole = OriginBehavior.bytes(other, contentType: "image/gif")
            .with(header: "ETag", "\"f\"")
        let bench = try DownloadBench.started(
            "/a.png", .sequence([Self.origin(breakingAfter: [100_000]), whole]))
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == other)
        #expect((body.etag, body.contentType) == ("\"f\"", "image/gif"))
    }

    /// A range shorter than requested is followed by a request for the next, whether or not it
    /// repeats the total length.
    @Test(arguments: ["200000", "*"])
    func anOriginMaySendLessThanTheRest(total: String) async throws {
        let bench = try DownloadBench.started(
            "/a.png",
            Self.origin(breakingAfter: [60_000]) { request, response in
                guard request.header("range") == "bytes=60000-" else { return }
                response = OriginResponse(Array(Self.bytes[60_000..<120_000]), status: 206)
                response.headers.append(("Content-Range", "bytes 60000-119999/\(total)"))
            })
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == Self.bytes)
        #expect(bench.origin.newestRequest("/a.png")?.header("range") == "bytes=120000-")
    }

    // MARK: - Several interruptions

    /// The total length from a range is discarded when the body changes.
    @Test(arguments: [90_000, 250_000])
    func anotherBodyAfterAPartComesWhole(count: Int) async throws {
        let other = OriginBody.generatedBytes(from: 7, count: count)
        let parts = Self.origin(breakingAfter: [100_000, 50_000])
        let whole = OriginBehavior.bytes(other).with(header: "ETag", "\"f\"")
        let bench = try DownloadBench.started("/a.png", .sequence([parts, parts, whole]))
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == other)
        #expect(body.etag == "\"f\"" && body.account?.continuations == 2)
        let ranges = bench.origin.requests("/a.png").map { $0.header("range") }
        #expect(ranges == [nil, "bytes=100000-", "bytes=150000-"])
        #expect(bench.space.liveCount == 1)
    }

    /// The third interruption, after which the rest is requested for the last time. Bytes of the
    /// previous body don't count.
    @Test(arguments: [210_000, 60_000])
    func anotherBodyThatBreaksOffGoesOnByItsOwnTag(after count: Int) async throws {
        let other = OriginBody.generatedBytes(from: 7, count: 250_000)
        let parts = Self.origin(breakingAfter: [100_000, 50_000])
        let later = Self.origin(of: other, etag: "\"f\"", breakingAfter: [count])
        let bench = try DownloadBench.started("/a.png", .sequence([parts, parts, later]))
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == other)
        let tags = bench.origin.requests("/a.png").map { $0.header("if-range") }
        #expect(tags == [nil, "\"e\"", "\"e\"", "\"f\""])
        #expect(bench.origin.newestRequest("/a.png")?.header("range") == "bytes=\(count)-")
        let begun = bench.progress.values.first { $0.expected == 250_000 }
        #expect(begun?.received == 0)
        #expect(bench.space.liveCount == 1)
    }

    @Test func aBodyMayBreakOffThreeTimes() async throws {
        let bench = try DownloadBench.started(
            "/a.png", Self.origin(breakingAfter: [50_000, 50_000, 50_000]))
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == Self.bytes)
        #expect(body.account?.continuations == 3)
    }

    /// For a body of unknown length, the total from the first range applies to the next.
    @Test(arguments: [("*", true), ("199999", false)])
    func whatAPartSaidOfTheWholeCounts(total: String, isTaken: Bool) async throws {
        let bench = try DownloadBench.started(
            "/a.png",
            Self.origin(breakingAfter: [100_000, 20_000]) { request, response in
                switch request.header("range") {
                case nil: response.length = .chunked
                case "bytes=100000-"?: break
                default:
                    let last = total == "*" ? 199_999 : 199_998
                    response = OriginResponse(Array(Self.bytes[120_000...last]), status: 206)
                    let range = "bytes 120000-\(last)/\(total)"
                    response.headers.append(("Content-Range", range))
                }
            })
        let outcome = try #require(await bench.outcome())
        #expect(bench.origin.requestCount("/a.png") == 3)
        if isTaken {
            let body = try #require(outcome.body, "\(outcome)")
            #expect(bench.space.bytes(body.reference) == Self.bytes)
        } else {
            #expect(outcome.failure?.code == .shortBody)
            #expect(bench.space.liveCount == 0)
        }
    }

    /// A redirect in place of the rest means another image, of which nothing has been received.
    @Test func aRedirectInPlaceOfTheRestBeginsAnew() async throws {
        let bench = try DownloadBench()
        let other = OriginBody.generatedBytes(from: 7, count: 90_000)
        bench.origin.route(
            "/a.png", .sequence([Self.origin(breakingAfter: [100_000]), .redirect(to: "/b.png")]))
        bench.origin.route("/b.png", .bytes(other))
        bench.start("/a.png")
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == other)
        #expect(body.effectiveURL == bench.origin.url("/b.png"))
        let request = try #require(bench.origin.requests("/b.png").first)
        #expect(request.header("range") == nil && request.header("if-range") == nil)
        #expect(bench.space.liveCount == 1)
    }

    @Test func theRestIsAskedOfWhereARedirectLed() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/from", .redirect(to: "/a.png"))
        bench.origin.route("/a.png", Self.origin(breakingAfter: [100_000]))
        bench.start("/from")
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == Self.bytes)
        #expect(bench.origin.requestCount("/from") == 1)
        let ranges = bench.origin.requests("/a.png").map { $0.header("range") }
        #expect(ranges == [nil, "bytes=100000-"])
        #expect((body.account?.redirects, body.account?.continuations) == (1, 1))
    }

    // MARK: - Invalid continuations

    @Test(arguments: [nil, "W/\"e\"", "e"])
    func withoutAStrongTagNothingIsContinued(etag: String?) async throws {
        let bench = try DownloadBench.started(
            "/a.png", Self.origin(etag: etag, breakingAfter: [100_000]))
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a.png") == 1)
        #expect(bench.space.liveCount == 0)
    }

    @Test func anOriginWithoutRangesIsNotAskedForOne() async throws {
        let bench = try DownloadBench.started(
            "/a.png", Self.origin(breakingAfter: [100_000]).with(header: "Accept-Ranges", "none"))
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a.png") == 1)
    }

    /// Each of these would put bytes at the wrong offset or beyond the end.
    @Test(arguments: [
        "bytes 0-199999/200000", "bytes 100001-199999/200000", "bytes 100000-199999/200001",
        "bytes 100000-99999/200000", "bytes */200000", "chars 100000-199999/200000", "",
        "bytes 100000-200000/200000",
    ]) func anotherPartIsRefused(range: String) async throws {
        let bench = try DownloadBench.started(
            "/a.png",
            Self.origin(breakingAfter: [100_000]) { request, response in
                guard request.header("range") != nil else { return }
                response = OriginResponse(Array(Self.bytes[100_000...]), status: 206)
                response.headers.append(("Content-Range", range))
            })
        let failure = try #require(await bench.failure())
        #expect(failure.code == .shortBody && failure.retryable)
        #expect(bench.space.liveCount == 0)
    }

    /// Without a total length, this part may or may not be the last.
    @Test func aPartOfAnUnknownWholeIsRefused() async throws {
        let bench = try DownloadBench.started(
            "/a.png",
            Self.origin(breakingAfter: [100_000]) { request, response in
                response.length = .chunked
                guard request.header("range") != nil else { return }
                response = OriginResponse(Array(Self.bytes[100_000..<150_000]), status: 206)
                response.headers.append(("Content-Range", "bytes 100000-149999/*"))
            })
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a.png") == 2)
        #expect(bench.space.liveCount == 0)
    }

    @Test func aPartOfAnotherBodyIsRefused() async throws {
        let bench = try DownloadBench.started(
            "/a.png",
            Self.origin(breakingAfter: [100_000]) { request, response in
                guard request.header("range") != nil else { return }
                response.headers.removeAll { $0.name == "ETag" }
                response.headers.append(("ETag", "\"f\""))
            })
        #expect(await bench.failure()?.code == .shortBody)
    }

    /// The origin rejects the range: the body is no longer the interrupted one.
    @Test func aRefusedRangeIsAShortBody() async throws {
        let bench = try DownloadBench.started(
            "/a.png", .sequence([Self.origin(breakingAfter: [100_000]), .status(416)]))
        let failure = try #require(await bench.failure())
        #expect(failure.code == .shortBody && failure.retryable)
        #expect(bench.origin.requestCount("/a.png") == 2)
        #expect(bench.space.liveCount == 0)
    }

    /// Its bytes don't continue the body received so far.
    @Test func aPartInACodingIsRefused() async throws {
        let bench = try DownloadBench.started(
            "/a.png",
            Self.origin(breakingAfter: [100_000]) { request, response in
                guard request.header("range") != nil else { return }
                response.headers.append(("Content-Encoding", "gzip"))
            })
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.space.liveCount == 0)
    }

    @Test func aStatusInPlaceOfTheRestIsTold() async throws {
        let bench = try DownloadBench.started(
            "/a.png", .sequence([Self.origin(breakingAfter: [100_000]), .status(404)]))
        let failure = try #require(await bench.failure())
        #expect(failure.details["httpStatus"] == "404")
        #expect(bench.space.liveCount == 0)
    }

    @Test func whoNeverSendsItAllIsAskedFourTimes() async throws {
        let bench = try DownloadBench.started(
            "/a.png", Self.origin(breakingAfter: [1_000, 1_000, 1_000, 1_000, 1_000]))
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a.png") == 4)
        #expect(bench.space.liveCount == 0)
    }

    @Test func whoSendsNothingMoreIsNotAskedAgain() async throws {
        let bench = try DownloadBench.started(
            "/a.png", Self.origin(breakingAfter: [1_000, 0, 1_000]))
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a.png") == 2)
    }

    @Test func theLimitCountsAllParts() async throws {
        let bench = try DownloadBench.started(
            "/a.png",
            Self.origin(breakingAfter: [100_000]) { request, response in
                if request.header("range") == nil { response.length = .chunked }
            }, bodyBytesMax: 150_000)
        #expect(await bench.failure()?.code == .limitExceeded)
        #expect(bench.space.liveCount == 0)
    }
}
