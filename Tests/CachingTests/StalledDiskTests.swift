import Linux
import Model
import TestKit
import Testing

@testable import Caching

/// A disk whose thread hangs in the middle of an operation: it reads into a space that blocks until
/// the test opens a gate. The detector's clock is simulated.
@Suite struct StalledDiskTests {
    private let folder = TestKit.TemporaryDirectory()
    private let gate = Gate()
    private static let limit = StallDetector.limit
    private static let short = [UInt8](repeating: 1, count: 900)
    private static let other = [UInt8](repeating: 2, count: 900)

    /// Without a memory tier, so that every query reaches the disk.
    private func fixture() throws -> StageFixture {
        var policy = CachePolicy(usesMemory: false)
        policy.writesBehind = true
        return try StageFixture(folder.path, policy: policy)
    }

    /// Makes the disk hang while it reads `key` for a query. Returns the query's job.
    private func hang(_ fixture: StageFixture, at key: String) throws -> JobID {
        let arrival = fixture.staging.close(with: gate)
        let work = QueryWork(key: key, tiers: .all, destination: .staging, promotes: false)
        let query = fixture.begin(.query(work))
        // Later queries are queued after it.
        #expect(arrival.wait(timeout: .seconds(10)))
        return query
    }

    private static func asking(_ key: String) -> JobWork {
        .query(QueryWork(key: key, tiers: .all, destination: .results, promotes: false))
    }

    /// A tick long after the last operation started, or with the thread idle.
    private func tick(_ fixture: StageFixture, after nanoseconds: UInt64 = limit) {
        let uptime = MonotonicClock.now() + nanoseconds
        fixture.note(fixture.stage.tick(now: fixture.now, uptime: uptime))
    }

    /// Opens the gate and waits until the disk is used again.
    private func recover(_ fixture: StageFixture) throws {
        gate.open()
        try fixture.wait {
            tick(fixture, after: 0)
            return fixture.stage.isDiskAway ? nil : true
        }
    }

    @Test func whoWaitsForAStalledDiskIsAnsweredWithoutIt() throws {
        let fixture = try fixture()
        for key in ["a", "b"] { #expect(try fixture.put(key, Self.short).tiers == .disk) }
        let first = try hang(fixture, at: "a")
        let second = fixture.begin(Self.asking("b"))
        let stored = fixture.begin(fixture.storing("c", Self.short))
        let removed = fixture.begin(.entry(EntryWork(action: .remove, key: "b", tiers: .all)))
        tick(fixture, after: Self.limit / 2)
        #expect(fixture.outcome(first) == nil && fixture.outcome(second) == nil)
        tick(fixture)
        #expect(fixture.outcome(first) == .miss)
        #expect(fixture.outcome(second) == .miss)
        guard case .stored(let report)? = fixture.outcome(stored) else {
            Issue.record("a store that waited for the disk is not answered")
            return
        }
        #expect(report.tiers == .none && report.skipped?.contains("not responding") == true)
        guard case .failed? = fixture.outcome(removed) else {
            Issue.record("a pending removal isn't reported as failed")
            return
        }
        let disk = try #require(fixture.stage.diskStatus)
        #expect(disk.health.reason?.kind == .stalled && disk.counts.failures == 1)
        #expect(disk.degradedSince == fixture.now)
        // From now on, queries don't wait for the disk.
        #expect(fixture.outcome(fixture.begin(Self.asking("b"))) == .miss)
        try recover(fixture)
        #expect(fixture.stage.diskStatus?.health == .healthy)
        // Stores accepted earlier are present; removed keys are not.
        #expect(try fixture.get("c")?.bytes == Self.short)
        #expect(try fixture.get("a")?.bytes == Self.short)
        #expect(try fixture.get("b") == nil)
    }

    /// A newer value isn't written to the stalled disk; the older one must never be served again.
    @Test func whatIsReplacedMeanwhileIsNotAnsweredFromTheDisk() throws {
        let fixture = try fixture()
        for key in ["a", "b"] { _ = try fixture.put(key, Self.short) }
        _ = try hang(fixture, at: "a")
        tick(fixture)
        let report = try fixture.put("b", Self.other)
        #expect(report.tiers == .none && report.skipped?.contains("not responding") == true)
        #expect(fixture.stage.counts.storesSkipped == 1)
        try recover(fixture)
        #expect(try fixture.get("b") == nil)
        #expect(try fixture.put("b", Self.other).tiers == .disk)
        #expect(try fixture.get("b")?.bytes == Self.other)
        #expect(try fixture.get("a")?.bytes == Self.short)
    }

    /// With more changes than can be remembered, no earlier entry is served.
    @Test func ifTooMuchIsReplacedTheDiskIsClearedFirst() throws {
        let fixture = try fixture()
        for key in ["a", "b"] { _ = try fixture.put(key, Self.short) }
        _ = try hang(fixture, at: "a")
        tick(fixture)
        for number in 0...CacheStage.outdatedMax { fixture.stage.outdate("other\(number)") }
        _ = try fixture.put("b", Self.other)
        try recover(fixture)
        #expect(try fixture.get("b") == nil && fixture.get("a") == nil)
        #expect(try fixture.put("b", Self.other).tiers == .disk)
        #expect(try fixture.get("b")?.bytes == Self.other)
    }

    @Test func whatWaitsForTheDiskIsAnsweredFromMemoryAndWrittenLater() throws {
        let fixture = try fixture()
        _ = try fixture.put("a", Self.short)
        _ = try hang(fixture, at: "a")
        #expect(try fixture.put("d", Self.short, waits: false).tiers == .disk)
        #expect(try fixture.put("e", Self.short, waits: false).tiers == .disk)
        tick(fixture)
        #expect(fixture.stage.pendingWrites == 2)
        try recover(fixture)
        try fixture.drain()
        #expect(fixture.stage.pendingWrites == 0)
        for key in ["d", "e"] { #expect(try fixture.tiers(of: key) == .disk) }
    }

    /// Copies between memory can hang as well: only a restart of the process helps, so the owner is
    /// notified.
    @Test func aCopyThatHangsIsTold() throws {
        let fixture = try StageFixture(nil)
        let arrival = fixture.source.close(with: gate)
        let large = [UInt8](repeating: 3, count: CacheStage.largeBytes)
        let job = fixture.begin(fixture.storing("a", large))
        #expect(arrival.wait(timeout: .seconds(10)))
        tick(fixture, after: Self.limit / 2)
        #expect(!fixture.stage.isCopyStalled)
        tick(fixture)
        #expect(fixture.stage.isCopyStalled && fixture.outcome(job) == nil)
        gate.open()
        _ = try fixture.wait { fixture.outcome(job) }
        try fixture.wait {
            tick(fixture, after: 0)
            return fixture.stage.isCopyStalled ? nil : true
        }
    }

    @Test func aDrainDoesNotWaitForAStalledDisk() throws {
        let fixture = try fixture()
        _ = try fixture.put("a", Self.short)
        _ = try hang(fixture, at: "a")
        _ = try fixture.put("d", Self.short, waits: false)
        fixture.note(fixture.stage.drain(now: fixture.now))
        #expect(!fixture.actions.contains(.drained))
        tick(fixture)
        #expect(fixture.actions.contains(.drained))
        #expect(fixture.stage.pendingWrites == 1, "reported as lost")
        gate.open()
    }
}
