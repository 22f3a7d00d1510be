import Model
import TestKit
import Testing

@testable import Downloading

/// Successful downloads.
@Suite struct FetchTests {
    @Test func aBodySaysHowItCame() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/from", .redirect(to: "/to"))
        bench.origin.route("/to", .bytes(Array(repeating: 7, count: 1_000)))
        bench.start("/from")
        let account = try #require(await bench.body()?.account)
        #expect((account.bytes, account.httpVersion) == (1_000, "1.1"))
        #expect(account.address == bench.origin.authority)
        #expect((account.redirects, account.continuations) == (1, 0))
        #expect(account.isReused, "the redirect leads to the same host")
        #expect((account.connect, account.tls) == (0, 0))
        #expect(account.firstByte > 0 && account.total >= account.firstByte)
        bench.start(bench.origin.url("/to"), id: 2)
        let second = try #require(await bench.outcomes.wait(count: 2)?.last?.body?.account)
        #expect(second.redirects == 0 && second.isReused)
    }

    @Test func aBodyArrivesWithWhatTheOriginSaid() async throws {
        let bench = try DownloadBench.started(
            "/a.png",
            .bytes(Array("image".utf8), contentType: "image/png; q=1")
                .with(header: "ETag", "\"e\"").with(header: "Last-Modified", "yesterday")
                .with(header: "Cache-Control", "max-age=1").with(header: "Vary", "Accept")
                .with(header: "Vary", "Cookie"), headers: [HTTPHeader(name: "X-Mine", value: "1")])
        let body = try #require(await bench.body())
        #expect(bench.space.bytes(body.reference) == Array("image".utf8))
        #expect(body.httpStatus == 200)
        #expect(body.contentType == "image/png; q=1")
        #expect(body.etag == "\"e\"")
        #expect(body.lastModified == "yesterday")
        #expect(body.cacheControl == "max-age=1")
        #expect(body.vary == "Accept, Cookie")
        #expect(body.effectiveURL == bench.origin.url("/a.png"))
        let request = try #require(bench.origin.requests("/a.png").first)
        #expect(request.header("user-agent") == "Imagebus/test")
        #expect(request.header("x-mine") == "1")
    }

    @Test func userInfoAuthenticatesAndIsNotRepeated() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/a", .bytes([1]))
        bench.start("http://user:secret@\(bench.origin.authority)/a")
        #expect(await bench.body()?.effectiveURL == bench.origin.url("/a"))
        let request = try #require(bench.origin.requests("/a").first)
        #expect(request.header("authorization") == "Basic dXNlcjpzZWNyZXQ=")
    }

    @Test func aRedirectNamesItsLastLocation() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/from", .redirect(to: "/to"))
        bench.origin.route("/to", .bytes([1]))
        bench.start("/from")
        #expect(await bench.body()?.effectiveURL == bench.origin.url("/to"))
    }

    @Test func aLargeBodyOfUnknownLengthGrowsByDoubling() async throws {
        let count = 3_000_000
        let bench = try DownloadBench.started(
            "/big", .generated(count: count).changed { $0.length = .chunked })
        let body = try #require(await bench.body())
        let bytes = try #require(bench.space.bytes(body.reference))
        #expect(bytes.count == count)
        #expect(bytes == OriginBody.generatedBytes(count: count))
        let steps = bench.space.reservations
        #expect(steps == (0..<steps.count).map { 65536 << $0 })
        #expect(bench.space.liveCount == 1)
    }

    @Test func aBodyOfKnownLengthTakesNoMoreThanItsLength() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/small", .generated(count: 1000))
        bench.origin.route("/large", .generated(count: 200_000))
        bench.start("/small", id: 1)
        #expect(await bench.outcomes.wait(count: 1) != nil)
        #expect(bench.space.reservations == [1000])
        bench.start("/large", id: 2)
        #expect(await bench.outcomes.wait(count: 2) != nil)
        #expect(bench.space.reservations == [1000, 65536, 131_072, 200_000])
    }

    @Test func anAnnouncedLengthReservesNothingBeforeBytesArrive() async throws {
        let turnstile = Turnstile()
        let bench = try DownloadBench.started(
            "/lie",
            .stepped(Array(repeating: 7, count: 100_000), chunk: 1000, by: turnstile)
                .changed { $0.length = .declared(900_000_000) }
        ) { $0.publishing.interval = 0 }
        turnstile.admit(70)
        let arrived = await bench.progress.wait(until: { $0.received == 70_000 })
        #expect(arrived)
        #expect(bench.space.usedBytesMax <= 65536 + 131_072)
        bench.downloader.cancel(JobID(1))
        #expect(await bench.failure()?.code == .cancelled)
        #expect(bench.space.liveCount == 0)
    }

    @Test func twoHundredTransfersRunAtOnce() async throws {
        let bench = try DownloadBench()
        let gate = Gate()
        bench.origin.route("/n/*", .hang(until: gate, then: Array("body".utf8)))
        for number in 1...200 {
            bench.start("/n/\(number)", id: UInt64(number))
        }
        for number in 1...200 {
            #expect(await bench.origin.waitForRequest("/n/\(number)"))
        }
        #expect(bench.outcomes.values.isEmpty)
        gate.open()
        let outcomes = try #require(await bench.outcomes.wait(count: 200))
        #expect(Set(outcomes.map(\.id.value)) == Set(1...200))
        #expect(outcomes.allSatisfy { $0.body.flatMap { bench.space.bytes($0.reference) } != nil })
        bench.downloader.stop()
        #expect(bench.outcomes.values.count == 200)
    }

    @Test func hundredsOfTransfersUseFewConnectionsOneAfterAnother() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/a", .bytes([1]))
        for number in 1...300 {
            bench.start("/a", id: UInt64(number))
            #expect(await bench.outcomes.wait(count: number) != nil)
        }
        #expect(bench.origin.acceptedConnectionCount == 1)
    }
}
