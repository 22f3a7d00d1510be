import Downloading
import ImageModel
import Messages
import TestKit
import Testing

/// Transfers that break off and go on where they were (SEMANTICS §10.7).
@Suite struct ContinuationTests {
    private static let bytes = OriginBody.generatedBytes(count: 200_000)

    /// Sends what is asked for, and closes the connection after so many bytes of it.
    private static func origin(
        etag: String? = "\"e\"", breakingAfter counts: [Int],
        _ change: @escaping @Sendable (OriginRequest, inout OriginResponse) -> Void = { _, _ in }
    ) -> OriginBehaviour {
        let next = Monitor(counts)
        return OriginBehaviour { request in
            var response = OriginResponse(Self.bytes, contentType: "image/png")
            if let range = request.header("range"), request.header("if-range") == etag {
                let first = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
                response = OriginResponse(Array(Self.bytes[first...]), status: 206)
                let (last, total) = (Self.bytes.count - 1, Self.bytes.count)
                response.headers.append(("Content-Range", "bytes \(first)-\(last)/\(total)"))
            }
            if let etag { response.headers.append(("ETag", etag)) }
            response.closesAfter = next.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            change(request, &response)
            return response
        }
    }

    @Test func aBodyThatBreaksOffGoesOnWhereItWas() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/a.png", Self.origin(breakingAfter: [100_000, 50_000]))
        bench.start("/a.png")
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
        let bench = try DownloadBench()
        let other = OriginBody.generatedBytes(from: 7, count: 90_000)
        let whole = OriginBehaviour.bytes(other, contentType: "image/gif")
            .with(header: "ETag", "\"f\"")
        bench.origin.route(
            "/a.png",
            .sequence([Self.origin(breakingAfter: [100_000]), whole]))
        bench.start("/a.png")
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == other)
        #expect((body.etag, body.contentType) == ("\"f\"", "image/gif"))
    }

    /// A part that is shorter than what was asked for is followed by the next.
    @Test func anOriginMaySendLessThanTheRest() async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a.png",
            Self.origin(breakingAfter: [60_000]) { request, response in
                guard request.header("range") == "bytes=60000-" else { return }
                response = OriginResponse(Array(Self.bytes[60_000..<120_000]), status: 206)
                response.headers.append(("Content-Range", "bytes 60000-119999/200000"))
            })
        bench.start("/a.png")
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == Self.bytes)
        #expect(bench.origin.newestRequest("/a.png")?.header("range") == "bytes=120000-")
    }

    @Test(arguments: [nil, "W/\"e\"", "e"])
    func withoutAStrongTagNothingIsContinued(etag: String?) async throws {
        let bench = try DownloadBench()
        bench.origin.route("/a.png", Self.origin(etag: etag, breakingAfter: [100_000]))
        bench.start("/a.png")
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a.png") == 1)
        #expect(bench.space.liveCount == 0)
    }

    @Test func anOriginWithoutRangesIsNotAskedForOne() async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a.png",
            Self.origin(breakingAfter: [100_000]).with(header: "Accept-Ranges", "none"))
        bench.start("/a.png")
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a.png") == 1)
    }

    /// Each of these would put bytes where they do not belong.
    @Test(arguments: [
        "bytes 0-199999/200000", "bytes 100001-199999/200000", "bytes 100000-199999/200001",
        "bytes 100000-99999/200000", "bytes */200000", "chars 100000-199999/200000", "",
    ]) func anotherPartIsRefused(range: String) async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a.png",
            Self.origin(breakingAfter: [100_000]) { request, response in
                guard request.header("range") != nil else { return }
                response = OriginResponse(Array(Self.bytes[100_000...]), status: 206)
                response.headers.append(("Content-Range", range))
            })
        bench.start("/a.png")
        let failure = try #require(await bench.failure())
        #expect(failure.code == .shortBody && failure.retryable)
        #expect(bench.space.liveCount == 0)
    }

    /// Nobody says how long the whole is: the part may be the last one or not.
    @Test func aPartOfAnUnknownWholeIsRefused() async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a.png",
            Self.origin(breakingAfter: [100_000]) { request, response in
                response.length = .chunked
                guard request.header("range") != nil else { return }
                response = OriginResponse(Array(Self.bytes[100_000..<150_000]), status: 206)
                response.headers.append(("Content-Range", "bytes 100000-149999/*"))
            })
        bench.start("/a.png")
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a.png") == 2)
        #expect(bench.space.liveCount == 0)
    }

    @Test func aPartOfAnotherBodyIsRefused() async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a.png",
            Self.origin(breakingAfter: [100_000]) { request, response in
                guard request.header("range") != nil else { return }
                response.headers.removeAll { $0.name == "ETag" }
                response.headers.append(("ETag", "\"f\""))
            })
        bench.start("/a.png")
        #expect(await bench.failure()?.code == .shortBody)
    }

    @Test func aStatusInPlaceOfTheRestIsTold() async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a.png", .sequence([Self.origin(breakingAfter: [100_000]), .status(404)]))
        bench.start("/a.png")
        let failure = try #require(await bench.failure())
        #expect(failure.details["httpStatus"] == "404")
        #expect(bench.space.liveCount == 0)
    }

    @Test func whoNeverSendsItAllIsAskedFourTimes() async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a.png", Self.origin(breakingAfter: [1_000, 1_000, 1_000, 1_000, 1_000]))
        bench.start("/a.png")
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a.png") == 4)
        #expect(bench.space.liveCount == 0)
    }

    @Test func whoSendsNothingMoreIsNotAskedAgain() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/a.png", Self.origin(breakingAfter: [1_000, 0, 1_000]))
        bench.start("/a.png")
        #expect(await bench.failure()?.code == .shortBody)
        #expect(bench.origin.requestCount("/a.png") == 2)
    }

    @Test func theLimitCountsAllParts() async throws {
        let bench = try DownloadBench()
        bench.origin.route(
            "/a.png",
            Self.origin(breakingAfter: [100_000]) { request, response in
                if request.header("range") == nil { response.length = .chunked }
            })
        bench.start("/a.png", bodyBytesMax: 150_000)
        #expect(await bench.failure()?.code == .limitExceeded)
        #expect(bench.space.liveCount == 0)
    }
}
