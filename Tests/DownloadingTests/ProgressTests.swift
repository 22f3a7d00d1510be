import Model
import TestKit
import Testing

@testable import Downloading

/// Progress reports while bytes arrive.
@Suite struct ProgressTests {
    @Test func theFirstReportHasNoBytesAndTheLastHasAll() async throws {
        let bench = try DownloadBench.started("/a", .generated(count: 500_000)) {
            $0.publishing.interval = 3_600_000
        }
        #expect(await bench.outcome() != nil)
        let reports = bench.progress.values
        #expect(reports.first?.received == 0)
        #expect(reports.allSatisfy { $0.expected == 500_000 })
        #expect(reports.last?.received == 500_000)
        #expect(reports.count <= 3)
    }

    @Test func anUnknownLengthIsReportedAsZero() async throws {
        let bench = try DownloadBench.started("/a", .chunked([1, 2, 3]))
        #expect(await bench.outcome() != nil)
        #expect(bench.progress.values.allSatisfy { $0.expected == 0 })
        #expect(bench.progress.values.last?.received == 3)
    }

    @Test func everyReportIsSentWithoutAnInterval() async throws {
        let turnstile = Turnstile()
        let bench = try DownloadBench.started(
            "/a", .stepped(Array(repeating: 1, count: 5), chunk: 1, by: turnstile)
        ) { $0.publishing.interval = 0 }
        for count in 1...5 {
            turnstile.admit()
            #expect(await bench.progress.wait(until: { $0.received == UInt64(count) }))
        }
        #expect(await bench.outcome() != nil)
        #expect(bench.progress.values.map(\.received) == [0, 1, 2, 3, 4, 5])
    }

    @Test func nothingIsReportedWhereNobodyListens() async throws {
        let bench = try DownloadBench.started(
            "/a", .generated(count: 300_000), wantsProgress: false
        ) { $0.publishing.interval = 0 }
        #expect(await bench.outcome() != nil)
        #expect(bench.progress.values.isEmpty)
    }

    @Test func whoListensLaterHearsAtOnceHowFarItIs() async throws {
        let gate = Gate()
        let bench = try DownloadBench.started(
            "/a", .hangBody(until: gate, then: [1, 2]), wantsProgress: false
        ) { $0.publishing.interval = 3_600_000 }
        bench.start("/a", id: 2)
        #expect(await bench.progress.wait(until: { $0.id == JobID(2) }))
        bench.listen(to: JobID(1))
        #expect(await bench.progress.wait(until: { $0.id == JobID(1) }))
        // A listener that is already subscribed gets no duplicate reports.
        bench.listen(to: JobID(1))
        bench.listen(to: JobID(3))
        gate.open()
        #expect(await bench.outcomes.wait(count: 2) != nil)
        let reports = bench.progress.values.filter { $0.id == JobID(1) }
        #expect(reports.map(\.received) == [0, 2])
        #expect(reports.allSatisfy { $0.expected == 2 })
    }

    @Test func nothingIsReportedAfterTheOutcome() async throws {
        let events = Recorder<String>()
        let origin = OriginServer()
        origin.route("/n/*", .generated(count: 300_000))
        var configuration = DownloadConfiguration(version: "test")
        configuration.allowedAddresses = [origin.authority]
        configuration.publishing.interval = 0
        let space = HeapSpace()
        let downloader = try Downloader(
            configuration, into: space, onProgress: { events.append("p\($0.id.value)") },
            onOutcome: { events.append("o\($0.id.value)") })
        for number in 1...20 {
            let work = FetchWork(
                url: origin.url("/n/\(number)"), headers: [], bodyBytesMax: 1 << 20)
            downloader.start(
                Job(
                    id: JobID(UInt64(number)), attempt: 1, work: .fetch(work),
                    millisecondsLeft: 60_000, priority: .normal, wantsProgress: true))
        }
        let ended = await events.wait(until: { $0 == "o20" })
        #expect(ended)
        downloader.stop()
        for number in 1...20 {
            let own = events.values.filter { $0.dropFirst() == "\(number)" }
            #expect(own.last == "o\(number)")
            #expect(own.filter { $0.hasPrefix("o") }.count == 1)
        }
    }
}
