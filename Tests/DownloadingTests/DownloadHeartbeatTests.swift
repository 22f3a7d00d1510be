import Model
import TestKit
import Testing

@testable import Downloading

/// How the heartbeat shows the state of the downloader's only thread.
@Suite struct DownloadHeartbeatTests {
    @Test func aThreadThatStandsNamesTheJobAtWhichItStands() async throws {
        let origin = OriginServer()
        origin.route("/hang", .hang(until: Gate()))
        origin.route("/body", .bytes([UInt8](repeating: 7, count: 10_000)))
        var configuration = DownloadConfiguration(version: "test")
        configuration.allowedAddresses = [origin.authority]
        configuration.publishing.interval = 0
        let (stands, gate) = (Gate(), Gate())
        let outcomes = Recorder<JobOutcome>()
        let downloader = try Downloader(
            configuration, into: HeapSpace(),
            onProgress: { _ in
                stands.open()
                _ = gate.wait(timeout: defaultTimeout)
            }, onOutcome: { outcomes.append($0) })
        func start(_ path: String, _ id: UInt64) {
            let work = FetchWork(url: origin.url(path), headers: [], bodyBytesMax: 1 << 20)
            downloader.start(
                Job(
                    id: JobID(id), attempt: 1, work: .fetch(work), millisecondsLeft: 60_000,
                    priority: .normal, wantsProgress: true))
        }
        start("/hang", 1)
        #expect(await origin.waitForRequest("/hang"))
        start("/body", 2)
        #expect(await stands.wait())
        let standing = downloader.heartbeat
        #expect(!standing.isWaiting)
        #expect(standing.job == JobID(2), "of two jobs, the one whose bytes are handled")
        #expect(downloader.heartbeat == standing)
        gate.open()
        #expect(await outcomes.wait()?.first?.id == JobID(2))
        #expect(downloader.heartbeat.job != JobID(2) || downloader.heartbeat.turn == standing.turn)
        downloader.cancel(JobID(1))
        #expect(await outcomes.wait(count: 2)?.count == 2)
        #expect(downloader.heartbeat.turn > standing.turn)
    }
}
