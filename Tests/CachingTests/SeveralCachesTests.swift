import Model
import Testing

@testable import Caching

/// Jobs on the same key in several caches (SEMANTICS §5.16).
@Suite final class SeveralCachesTests {
    private let disk: DiskFixture
    private let cache: StageFixture
    private let high = "high\u{1F}k"
    private let low = "low\u{1F}k"

    init() throws {
        disk = try DiskFixture()
        cache = try StageFixture(disk.path)
    }

    private func query(
        _ tiers: CacheTypes = .all, memoryFirst: Bool = false, promotes: Bool = true
    ) throws -> (bytes: [UInt8], CacheTypes)? {
        var work = QueryWork(key: high, tiers: tiers, destination: .results, promotes: promotes)
        (work.caches, work.memoryFirst) = (["low"], memoryFirst)
        guard case .hit(let hit) = try cache.run(.query(work)) else { return nil }
        return (try #require(cache.results.read(hit.reference)), hit.tier)
    }

    private func entry(
        _ action: EntryAction, _ tiers: CacheTypes = .all, memoryFirst: Bool = false
    ) throws -> JobResult {
        var work = EntryWork(action: action, key: high, tiers: tiers)
        (work.caches, work.memoryFirst) = (["low"], memoryFirst)
        return try cache.run(.entry(work))
    }

    private func store(
        _ bytes: [UInt8], _ tiers: CacheTypes = .all, delivers: Bool
    ) -> StoreWork {
        var work = StoreWork(
            key: high, source: cache.source.put(bytes), tiers: tiers, delivers: delivers,
            waitsForDisk: true, metadata: jpegFacts)
        work.caches = ["low"]
        return work
    }

    @Test func cachesAreAskedOneAfterTheOther() throws {
        _ = try cache.put(low, sample(30_000), .memory)
        #expect(try query()?.bytes == sample(30_000))
        #expect(try query()?.1 == .memory)
        _ = try cache.put(high, sample(30_000, seed: 2), .disk)
        #expect(try query(promotes: false)?.bytes == sample(30_000, seed: 2), "the higher disk")
        let first = try query(memoryFirst: true, promotes: false)
        #expect(first?.bytes == sample(30_000), "the lower memory, if that comes first")
        #expect(first?.1 == .memory)
        #expect(cache.stage.counts.misses == 0, "hits in lower caches aren't misses")
    }

    @Test func aDiskHitGoesIntoTheMemoryOfItsOwnCache() throws {
        _ = try cache.put(low, sample(30_000), .disk)
        #expect(try query()?.1 == .disk)
        #expect(try cache.tiers(of: low) == .all)
        #expect(try cache.tiers(of: high) == CacheTypes.none, "nothing is copied up")
        #expect(try query()?.1 == .memory)
    }

    @Test func aMissInAllOfThemIsOneMiss() throws {
        #expect(try query() == nil)
        #expect(cache.stage.counts.misses == 1)
    }

    @Test func theFirstCacheThatHasItContainsIt() throws {
        _ = try cache.put(low, sample(30_000), .memory)
        #expect(try entry(.contains) == .entry(.memory))
        _ = try cache.put(high, sample(30_000), .disk)
        #expect(try entry(.contains) == .entry(.disk))
        #expect(try entry(.contains, memoryFirst: true) == .entry(.memory))
        #expect(try entry(.contains, .disk, memoryFirst: true) == .entry(.disk))
    }

    @Test func allOfThemLoseIt() throws {
        for key in [low, high] { _ = try cache.put(key, sample(30_000)) }
        #expect(try entry(.remove) == .entry(.all))
        for key in [low, high] { #expect(try cache.tiers(of: key) == CacheTypes.none) }
        #expect(try query() == nil)
    }

    /// An origin's confirmation applies to every cache that has the confirmed bytes.
    @Test func whatIsConfirmedIsSoInAllOfThem() throws {
        let caching = OriginCaching(
            CacheControl("max-age=60"), ResponseAge(bornMilliseconds: 5))
        for (key, etag) in [(low, "\"1\""), (high, "\"1\""), ("other\u{1F}k", "\"2\"")] {
            guard case .store(var work) = cache.storing(key, sample(30_000), .all) else { return }
            work.metadata.etag = etag
            _ = try cache.run(.store(work))
        }
        var work = EntryWork(action: .renew, key: high, tiers: .all)
        work.caches = ["low", "other"]
        work.renewal = Validity(caching: caching, etag: "\"1\"", lastModified: nil)
        #expect(try cache.run(.entry(work)) == .entry(.all))
        for (key, expected) in [(low, caching), (high, caching), ("other\u{1F}k", nil)] {
            for tier in [CacheTypes.memory, .disk] {
                guard case .hit(let hit) = try cache.query(key, tier, promotes: false) else {
                    Issue.record("\(tier.name) has it")
                    continue
                }
                #expect(hit.metadata.caching == expected, "\(tier.name)")
            }
        }
    }

    @Test func whatHasATagGoesFromAllOfThem() throws {
        for key in [low, high, "other\u{1F}k"] {
            guard case .store(var work) = cache.storing(key, sample(30_000), .all) else { return }
            work.metadata.tags = ["a"]
            _ = try cache.run(.store(work))
        }
        var work = EntryWork(
            action: .removeSelected, key: "", tiers: .all,
            selection: EntrySelection(cache: "high", tag: "a"))
        work.selection.furtherCaches = ["low"]
        guard case .entries(let page) = try cache.run(.entry(work)) else { return }
        #expect(page.disk.entries == 2 && page.memory.entries == 2)
        #expect(try cache.tiers(of: "other\u{1F}k") == .all)
    }

    /// Includes lengths that need the copy thread and the disk.
    @Test(arguments: [30_000, 2 << 20]) func allOfThemKeepIt(length: Int) throws {
        let bytes = sample(length)
        guard case .stored(let report) = try cache.run(.store(store(bytes, delivers: true))) else {
            Issue.record("stored")
            return
        }
        #expect(report.tiers == .all && report.skipped == nil)
        #expect(cache.results.read(try #require(report.delivered)) == bytes)
        for key in [low, high] {
            #expect(try cache.tiers(of: key) == .all)
            #expect(try cache.get(key)?.bytes == bytes)
        }
    }

    @Test func aCacheThatTakesNothingIsNamedAndTheOthersKeepIt() throws {
        var none = CachePolicy()
        (none.usesMemory, none.usesDisk) = (false, false)
        cache.note(cache.stage.adopt(CachePolicy(), named: ["low": none], now: at(0)))
        guard case .stored(let report) = try cache.run(.store(store(sample(9_000), delivers: true)))
        else {
            Issue.record("stored")
            return
        }
        #expect(report.tiers == .all)
        #expect(report.skipped == "disk: disabled; memory: disabled")
        #expect(try cache.tiers(of: low) == CacheTypes.none)
    }

    /// A removal during the first copy applies to the other caches as well.
    @Test func whatIsRemovedMeanwhileIsKeptInNone() throws {
        let id = cache.begin(.store(store(sample(2 << 20), delivers: false)))
        let removal = EntryWork(action: .remove, key: low, tiers: .all)
        let removed = cache.begin(.entry(removal))
        _ = try cache.wait { cache.outcome(id) }
        _ = try cache.wait { cache.outcome(removed) }
        #expect(try cache.tiers(of: low) == CacheTypes.none)
        #expect(try cache.tiers(of: high) == .all)
    }

    @Test func aCancelledStoreIsAnsweredOnceAndGoesOnInOneCache() throws {
        let id = cache.begin(.store(store(sample(2 << 20), delivers: false)))
        cache.note(cache.stage.cancel(id, now: at(0)))
        guard case .failed(let error)? = cache.outcome(id) else {
            Issue.record("answered at once")
            return
        }
        #expect(error.code == .cancelled)
        try cache.drain()
        #expect(try cache.tiers(of: high) == .all)
        #expect(try cache.tiers(of: low) == CacheTypes.none)
    }

    @Test func bytesThatAreGoneFailTheStore() throws {
        var work = store(sample(9_000), delivers: true)
        work.source.block = BlockID(99)
        guard case .failed(let error) = try cache.run(.store(work)) else {
            Issue.record("failed")
            return
        }
        #expect(error.code == .stale)
    }

    @Test func aSelectionMayMeanSeveralCaches() throws {
        for key in [low, high, "k"] { _ = try cache.put(key, sample(30_000)) }
        var selection = EntrySelection(cache: "high")
        selection.furtherCaches = ["low"]
        let work = EntryWork(action: .removeSelected, key: "", tiers: .all, selection: selection)
        guard case .entries(let page) = try cache.run(.entry(work)) else {
            Issue.record("removed")
            return
        }
        #expect(page.memory.entries == 2 && page.disk.entries == 2)
        #expect(try cache.tiers(of: "k") == .all)
    }
}
