import Model
import TestKit
import Testing

@testable import Downloading

/// Jobs that end before their transfer does.
@Suite struct CancellationTests {
    @Test func aCancelClosesTheConnection() async throws {
        let bench = try DownloadBench.started("/hang", .hang(until: Gate()))
        #expect(await bench.origin.waitForRequest("/hang"))
        bench.downloader.cancel(JobID(1))
        #expect(await bench.origin.waitForConnectionClosed("/hang"))
        #expect(await bench.failure()?.code == .cancelled)
        bench.downloader.cancel(JobID(1))
        bench.downloader.stop()
        #expect(bench.outcomes.values.count == 1)
    }

    @Test func aCancelInTheBodyGivesTheBlockBack() async throws {
        let turnstile = Turnstile()
        let bytes = [UInt8](repeating: 7, count: 100_000)
        let bench = try DownloadBench.started("/body", .stepped(bytes, chunk: 1000, by: turnstile))
        { $0.publishing.interval = 0 }
        turnstile.admit(10)
        #expect(await bench.progress.wait(until: { $0.received == 10_000 }))
        #expect(bench.space.liveCount == 1)
        bench.downloader.cancel(JobID(1))
        #expect(await bench.origin.waitForConnectionClosed("/body"))
        #expect(await bench.failure()?.code == .cancelled)
        #expect(bench.space.liveCount == 0)
    }

    @Test func aCancelRightAfterTheStartIsObeyed() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/hang/*", .hang(until: Gate()))
        for number in 1...50 {
            bench.start("/hang/\(number)", id: UInt64(number))
            bench.downloader.cancel(JobID(UInt64(number)))
        }
        let outcomes = try #require(await bench.outcomes.wait(count: 50))
        #expect(outcomes.allSatisfy { $0.failure?.code == .cancelled })
    }

    @Test func aCancelOfOneLeavesTheOthersAlone() async throws {
        let bench = try DownloadBench()
        let gate = Gate()
        bench.origin.route("/n/*", .hang(until: gate, then: [1]))
        for number in 1...10 { bench.start("/n/\(number)", id: UInt64(number)) }
        for number in 1...10 { #expect(await bench.origin.waitForRequest("/n/\(number)")) }
        bench.downloader.cancel(JobID(4))
        #expect(await bench.outcomes.wait(count: 1)?.map(\.id) == [JobID(4)])
        gate.open()
        let outcomes = try #require(await bench.outcomes.wait(count: 10))
        #expect(outcomes.filter { $0.body != nil }.count == 9)
    }

    @Test func anIdMayComeAgainAfterItsOutcome() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/hang", .hang(until: Gate()))
        bench.origin.route("/a", .bytes([1]))
        bench.start("/hang")
        bench.start("/a")
        #expect(await bench.outcomes.wait()?.first?.failure?.code == .internalError)
        bench.downloader.cancel(JobID(1))
        #expect(await bench.outcomes.wait(count: 2) != nil)
        bench.start("/a")
        #expect(await bench.outcomes.wait(count: 3)?.last?.body != nil)
    }

    @Test func theDeadlineEndsAJob() async throws {
        let bench = try DownloadBench.started(
            "/hang", .hang(until: Gate()), millisecondsLeft: 50)
        #expect(await bench.failure()?.code == .deadlineExceeded)
        bench.start("/hang", id: 2)
        #expect(await bench.origin.waitForRequest("/hang"))
        bench.downloader.adjust(
            JobAdjustment(id: JobID(2), millisecondsLeft: 1, priority: .normal))
        #expect(await bench.outcomes.wait(count: 2)?.last?.failure?.code == .deadlineExceeded)
        #expect(await bench.origin.waitForConnectionClosed("/hang"))
    }

    @Test func aDeadlineMovesInBothDirections() async throws {
        let bench = try DownloadBench()
        let gate = Gate()
        bench.origin.route("/n/*", .hang(until: gate, then: [1]))
        bench.start("/n/1", id: 1, millisecondsLeft: 1000)
        bench.start("/n/2", id: 2, millisecondsLeft: 60_000)
        bench.downloader.adjust(
            JobAdjustment(id: JobID(1), millisecondsLeft: 60_000, priority: .normal))
        bench.start("/n/3", id: 3, millisecondsLeft: 1200)
        let third = try #require(await bench.outcomes.wait(count: 1))
        #expect(third.map(\.id) == [JobID(3)])
        bench.downloader.adjust(
            JobAdjustment(id: JobID(2), millisecondsLeft: 1, priority: .normal))
        let second = try #require(await bench.outcomes.wait(count: 2))
        #expect(second.last?.id == JobID(2))
        #expect(second.last?.failure?.code == .deadlineExceeded)
        gate.open()
        #expect(await bench.outcomes.wait(count: 3)?.last?.body != nil)
    }

    @Test func oneJobTooManyIsBusy() async throws {
        let bench = try DownloadBench { $0.jobsMax = 2 }
        bench.origin.route("/hang/*", .hang(until: Gate()))
        for number in 1...3 { bench.start("/hang/\(number)", id: UInt64(number)) }
        let outcome = try #require(await bench.outcome())
        #expect(outcome.id == JobID(3))
        #expect(outcome.failure?.code == .busy)
    }

    @Test func stoppingEndsEveryJobOnce() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/hang/*", .hang(until: Gate()))
        for number in 1...20 { bench.start("/hang/\(number)", id: UInt64(number)) }
        for number in 1...20 { #expect(await bench.origin.waitForRequest("/hang/\(number)")) }
        bench.downloader.stop()
        let codes = bench.outcomes.values.map { $0.failure?.code }
        #expect(codes == Array(repeating: .shuttingDown, count: 20))
        bench.start("/hang/21", id: 21)
        #expect(bench.outcomes.values.last?.failure?.code == .shuttingDown)
        #expect(bench.outcomes.values.count == 21)
        for number in 1...20 {
            #expect(await bench.origin.waitForConnectionClosed("/hang/\(number)"))
        }
    }
}
