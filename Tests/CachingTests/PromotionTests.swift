import Model
import TestKit
import Testing

@testable import Caching

/// Hits of external caches that are promoted into the tiers (SEMANTICS §5.26).
@Suite struct PromotionTests {
    /// The query whose hit is copied.
    private func promoting(
        _ key: String, _ bytes: [UInt8], _ tiers: CacheTypes = .memory, in cache: StageFixture
    ) -> JobWork {
        guard case .store(var work) = cache.storing(key, bytes, tiers, delivers: true, waits: false)
        else { preconditionFailure("it is a store") }
        work.isPromotion = true
        return .store(work)
    }

    private func report(_ result: JobResult) throws -> StoreReport {
        guard case .stored(let report) = result else {
            Issue.record("\(result)")
            return StoreReport(delivered: nil, tiers: .none)
        }
        return report
    }

    @Test(arguments: [5_000, (1 << 20) + 1], [CacheTypes.memory, .disk, .all])
    func itIsDeliveredAndKept(length: Int, tiers: CacheTypes) throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let bytes = sample(length)
        let report = try report(try cache.run(promoting("k", bytes, tiers, in: cache)))
        #expect(report.tiers == tiers && report.skipped == nil && report.digest != nil)
        #expect(cache.results.read(try #require(report.delivered)) == bytes)
        let isPublished = cache.actions.contains {
            if case .stored(let notice) = $0 { notice.key == "k" } else { false }
        }
        #expect(isPublished == tiers.contains(.memory))
        #expect(try cache.tiers(of: "k") == tiers)
        for tier in [CacheTypes.memory, .disk] where tiers.contains(tier) {
            #expect(try #require(try cache.get("k", tier)) == (bytes, tier))
        }
    }

    /// In memory alone it has the same age as on disk.
    @Test func itsAgeCountsFromThePromotion() throws {
        let disk = try DiskFixture()
        let policy = CachePolicy(disk: DiskPolicy(ageMax: 100, expireType: .modification))
        let cache = try StageFixture(disk.path, policy: policy)
        cache.now = at(40)
        _ = try cache.run(promoting("k", sample(5_000), in: cache))
        let lives = cache.actions.compactMap { action in
            if case .stored(let notice) = action { notice.expiresInMilliseconds } else { nil }
        }
        #expect(lives == [100_000])
        cache.now = at(140)
        #expect(try cache.query("k") == .miss)
    }

    @Test(arguments: [CacheTypes.memory, .disk])
    func whatIsThereStays(tier: CacheTypes) throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let newer = sample(5_000, seed: 1)
        let stored = cache.begin(cache.storing("k", newer, tier, waits: false))
        let report = try report(
            try cache.run(promoting("k", sample(5_000, seed: 2), .all, in: cache)))
        #expect(report.tiers == .none && report.skipped == "a newer value exists")
        #expect(cache.results.read(try #require(report.delivered)) == sample(5_000, seed: 2))
        try cache.wait { cache.outcome(stored) }
        #expect(try cache.tiers(of: "k") == tier)
        #expect(try cache.get("k")?.bytes == newer)
    }

    /// Copying a large hit takes time; meanwhile a newer value is stored on disk only.
    @Test func whatComesDuringTheCopyStays() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let gate = Gate()
        cache.source.close(with: gate)
        let old = sample(3 << 20, seed: 2)
        let id = cache.begin(promoting("k", old, .all, in: cache))
        let newer = sample((1 << 20) + 7, seed: 1)
        let stored = cache.begin(cache.storing("k", newer, .disk))
        gate.open()
        let report = try report(try cache.wait { cache.outcome(id) })
        #expect(report.tiers == .none)
        #expect(cache.results.read(try #require(report.delivered)) == old)
        try cache.wait { cache.outcome(stored) }
        #expect(try cache.tiers(of: "k") == .disk)
        #expect(try cache.get("k", .disk)?.bytes == newer)
    }

    /// A store under another key doesn't prevent the promotion.
    @Test func aStoreOfAnotherKeyDuringTheCopyDoesNotMatter() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let gate = Gate()
        cache.source.close(with: gate)
        let bytes = sample(3 << 20, seed: 2)
        let id = cache.begin(promoting("k", bytes, .all, in: cache))
        let stored = cache.begin(cache.storing("other", sample((1 << 20) + 7), .disk))
        gate.open()
        let report = try report(try cache.wait { cache.outcome(id) })
        #expect(report.tiers == .all && report.skipped == nil)
        try cache.wait { cache.outcome(stored) }
        #expect(try cache.tiers(of: "k") == .all)
        #expect(try cache.get("k", .disk)?.bytes == bytes)
    }

    /// Only promotions yield: of two stores of one key, the later one follows the earlier.
    @Test func aStoreIsNotOvertakenByTheNextOne() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let gate = Gate()
        cache.source.close(with: gate)
        let newer = sample((1 << 20) + 7, seed: 1)
        let first = cache.begin(
            cache.storing("k", sample(3 << 20, seed: 2), .disk, waits: false))
        let second = cache.begin(cache.storing("k", newer, .disk))
        gate.open()
        let report = try report(try cache.wait { cache.outcome(first) })
        #expect(report.tiers == .disk && report.skipped == nil)
        try cache.wait { cache.outcome(second) }
        #expect(try cache.get("k", .disk)?.bytes == newer)
    }

    @Test func aRemovalDuringTheCopyCounts() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let gate = Gate()
        cache.source.close(with: gate)
        let id = cache.begin(promoting("k", sample(3 << 20), .all, in: cache))
        #expect(try cache.remove("k") == .entry(.all))
        gate.open()
        let report = try report(try cache.wait { cache.outcome(id) })
        #expect(report.tiers == .none && report.delivered != nil)
        #expect(try cache.query("k") == .miss)
    }

    /// Regardless of whether stores are answered before the disk has them.
    @Test func itDoesNotWaitForTheDisk() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path, policy: CachePolicy(writesBehind: false))
        let plain = cache.begin(cache.storing("a", sample(5_000), waits: false))
        #expect(cache.outcome(plain) == nil, "the disk answers later")
        let id = cache.begin(promoting("k", sample(5_000), .all, in: cache))
        #expect(cache.outcome(id) != nil)
        try cache.wait { cache.outcome(plain) }
        try cache.drain()
        #expect(try cache.tiers(of: "k") == .all)
    }

    @Test func whatMemoryCannotHoldIsDeliveredAlone() throws {
        let cache = try StageFixture(nil)
        var small = CachePolicy()
        small.memoryBytesMax = 4_000
        cache.note(cache.stage.adopt(CachePolicy(), named: ["small": small], now: at(0)))
        let key = "small\u{1F}k"
        let report = try report(try cache.run(promoting(key, sample(5_000), in: cache)))
        #expect(report.tiers == .none && report.skipped?.contains("memory") == true)
        #expect(cache.results.read(try #require(report.delivered)) == sample(5_000))
        #expect(try cache.query(key) == .miss)
    }

    @Test func whatIsNotTheImageThatWasSaidIsNotKept() throws {
        let cache = try StageFixture(nil)
        guard case .store(var work) = promoting("k", sample(5_000), in: cache) else { return }
        work.source.producer = BlockReference.Producer(
            kind: .cache, incarnation: Incarnation(Identifier128(high: 1, low: 2)),
            pool: PoolName("shared"))
        guard case .failed(let error) = try cache.run(.store(work)) else {
            Issue.record("noise isn't a JPEG")
            return
        }
        #expect(error.code == .badImageData)
        #expect(try cache.query("k") == .miss && cache.results.liveBlocks == 0)
    }
}
