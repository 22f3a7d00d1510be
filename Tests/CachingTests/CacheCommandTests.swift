import Model
import Testing

@testable import Caching

@Suite struct CacheCommandTests {
    @Test func aRemovedKeyIsGoneFromBothTiersAndSaysSoInOrder() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("a", sample(40_000))
        _ = try cache.put("b", sample(40_000))
        let block = try #require(cache.stage.memory.entries(now: at(0)).first).block
        let answer = try cache.remove("a")
        #expect(answer == .entry(.all))
        let evicted = try #require(cache.actions.firstIndex(of: .evicted([block])))
        let answered = try #require(
            cache.actions.firstIndex {
                if case .outcome(_, _, .entry) = $0 { true } else { false }
            })
        #expect(evicted < answered)
        #expect(try cache.query("a") == .miss)
        #expect(try cache.get("b") != nil)
    }

    @Test(arguments: [CacheTypes.all, .memory, .disk])
    func anOperatorClearsTheTiersOfEveryKey(tiers: CacheTypes) throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        for key in ["a", "b"] { _ = try cache.put(key, sample(40_000)) }
        #expect(try cache.clear(tiers) == .entry(tiers))
        for key in ["a", "b"] {
            for tier in [CacheTypes.memory, .disk] where tiers.contains(tier) {
                #expect(try cache.query(key, tier) == .miss, "\(key)")
            }
            for tier in [CacheTypes.memory, .disk] where !tiers.contains(tier) {
                #expect(try cache.get(key, tier) != nil, "\(key)")
            }
        }
    }

    @Test func clearingOneTierLeavesTheOther() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("a", sample(40_000))
        #expect(try cache.clear(.memory) == .entry(.memory))
        #expect(try cache.query("a", .memory) == .miss)
        #expect(try cache.get("a", .disk) != nil, "and promoted again")
        #expect(try cache.clear(.disk) == .entry(.disk))
        #expect(try cache.query("a", .disk) == .miss)
        #expect(try cache.get("a", .memory) != nil)
    }

    @Test func removalReachesWhatIsBeingReadAndDoesNotBringItBack() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("a", sample(2 << 20), .disk)
        let id = cache.begin(
            .query(QueryWork(key: "a", tiers: .all, destination: .results, promotes: true)))
        #expect(try cache.remove("a") == .entry(.all))
        _ = try cache.wait { cache.outcome(id) }
        #expect(try cache.query("a", .memory) == .miss)
        #expect(try cache.query("a", .disk) == .miss)
    }

    @Test func removalReachesWhatIsBeingStored() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let id = cache.begin(cache.storing("a", sample(3 << 20), .all, delivers: true))
        #expect(try cache.clear(.all) == .entry(.all))
        guard case .stored(let report) = try cache.wait({ cache.outcome(id) }) else {
            Issue.record("delivered nevertheless")
            return
        }
        #expect(cache.results.read(try #require(report.delivered)) == sample(3 << 20))
        #expect(report.tiers == .none)
        #expect(report.skipped == "removed in the meantime")
        #expect(try cache.query("a") == .miss)
    }

    @Test(arguments: [CacheTypes.memory, .disk])
    func removalFromOneTierLeavesWhatIsBeingStoredInTheOther(tier: CacheTypes) throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let bytes = sample(3 << 20)
        let id = cache.begin(cache.storing("a", bytes))
        #expect(try cache.remove("a", tier) == .entry(tier))
        guard case .stored(let report) = try cache.wait({ cache.outcome(id) }) else {
            Issue.record("stored nevertheless")
            return
        }
        let other = CacheTypes.all.subtracting(tier)
        #expect(report.tiers == other)
        #expect(report.skipped == "\(tier.name): removed in the meantime")
        #expect(try cache.tiers(of: "a") == other)
        #expect(try cache.get("a", other)?.bytes == bytes)
    }

    @Test func removalFromTheDiskLeavesWhatWasReadBeforeIt() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("a", sample(40_000), .disk)
        let id = cache.begin(
            .query(QueryWork(key: "a", tiers: .all, destination: .results, promotes: true)))
        #expect(try cache.remove("a", .disk) == .entry(.disk))
        _ = try cache.wait { cache.outcome(id) }
        #expect(try cache.get("a", .memory)?.bytes == sample(40_000))
        #expect(try cache.query("a", .disk) == .miss)
    }

    @Test func aStoreThatWaitsForTheDiskIsAnsweredWhenItsKeyIsRemoved() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        // The first write is in flight, so the second waits.
        let first = cache.begin(cache.storing("a", sample(500_000), .disk))
        let second = cache.begin(cache.storing("b", sample(500_000), .disk))
        #expect(try cache.remove("b", .disk) == .entry(.disk))
        guard case .stored(let report) = try cache.wait({ cache.outcome(second) }),
            case .stored(let other) = try cache.wait({ cache.outcome(first) })
        else {
            Issue.record("both are answered")
            return
        }
        #expect(report.skipped == "disk: removed in the meantime")
        #expect(report.tiers == .none)
        #expect(other.tiers == .disk)
        #expect(try cache.query("b") == .miss)
    }

    @Test func whichTiersHaveAKeyIsSaidOfTheTiersThatWereAskedFor() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("both", sample(40_000))
        _ = try cache.put("disk", sample(40_000), .disk)
        _ = try cache.put("memory", sample(40_000), .memory)
        #expect(try cache.tiers(of: "both") == .all)
        #expect(try cache.tiers(of: "both", .memory) == .memory)
        #expect(try cache.tiers(of: "disk") == .disk)
        #expect(try cache.tiers(of: "memory") == .memory)
        #expect(try cache.tiers(of: "memory", .disk) == CacheTypes.none)
        #expect(try cache.tiers(of: "nothing") == CacheTypes.none)
    }

    @Test func removalFromMemoryLeavesTheDisk() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("a", sample(40_000))
        #expect(try cache.remove("a", .memory) == .entry(.memory))
        #expect(try cache.tiers(of: "a") == .disk)
        #expect(try cache.remove("a", .disk) == .entry(.disk))
        #expect(try cache.tiers(of: "a") == CacheTypes.none)
    }
}
