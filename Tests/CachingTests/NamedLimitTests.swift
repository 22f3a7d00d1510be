import Model
import SQLite
import Testing

@testable import Caching

/// Named caches with their own limits and ages (SEMANTICS §5.17).
@Suite struct NamedLimitTests {
    private func key(_ cache: String, _ number: Int) -> String {
        "\(cache)\u{1F}http://h/\(number)"
    }

    // MARK: - Memory

    private func entry(_ key: String, _ block: UInt64, bytes: Int = 10_000) -> MemoryEntry {
        MemoryEntry(
            key: key,
            reference: BlockReference(
                segment: 1, offset: 64, length: UInt64(bytes), block: BlockID(block)),
            metadata: jpegFacts, blockBytes: bytes)
    }

    /// Inserts an entry the way the stage does.
    private func insert(_ entry: MemoryEntry, into tier: inout MemoryTier) -> Departures? {
        guard tier.mayHold(entry.key, cost: entry.cost),
            var gone = tier.makeRoom(for: entry.cost, of: entry.key)
        else { return nil }
        gone.append(tier.insert(entry))
        return gone
    }

    @Test func aCacheOverItsLimitMakesRoomAmongItsOwnEntries() {
        var tier = MemoryTier(costMax: 10 << 20)
        #expect(tier.limit(shares: ["hot": ShareLimits(bytesMax: 50_000)]).isEmpty)
        for number in 0..<20 {
            let block = UInt64(1_000 + number)
            #expect(insert(entry("http://h/\(number)", block), into: &tier) == Departures())
        }
        for number in 0..<20 {
            let gone = insert(entry(key("hot", number), UInt64(number + 1)), into: &tier)
            #expect(gone?.evicted.allSatisfy { $0.value < 1_000 } == true, "of its own")
            #expect(tier.usage["hot"]?.bytes ?? .max <= 50_000)
        }
        #expect(tier.usage["hot"]?.entries == 4, "of 10,549 bytes each")
        #expect(tier.keyedCount == 24)
        #expect(insert(entry(key("hot", 99), 99, bytes: 60_000), into: &tier) == nil)
    }

    /// Entries that exactly fill a cache's limit stay; with one byte less, the older one is
    /// evicted.
    @Test(arguments: [(0, 2), (1, 1)])
    func theLimitOfACacheInMemoryIsExact(less: Int, left: Int) {
        let (first, second) = (entry(key("hot", 1), 1), entry(key("hot", 2), 2))
        let limits = ["hot": ShareLimits(bytesMax: first.cost + second.cost - less)]
        var tier = MemoryTier(costMax: 10 << 20)
        _ = tier.limit(shares: limits)
        #expect(insert(first, into: &tier) == Departures())
        #expect(insert(second, into: &tier)?.freed == (left == 2 ? [] : [first.block]))
        #expect(tier.usage["hot"]?.entries == left)
        #expect(tier.evictions["hot"] ?? 0 == UInt64(2 - left))
        #expect(tier.mayHold(first.key, cost: first.cost + second.cost) == (less == 0))
        // A limit set later has the same effect.
        var later = MemoryTier(costMax: 10 << 20)
        for entry in [first, second] { _ = insert(entry, into: &later) }
        #expect(later.limit(shares: limits).freed.count == 2 - left)
        #expect(later.usage["hot"]?.entries == left)
    }

    @Test func itsEntriesAreCountedHoweverTheyLeave() {
        var tier = MemoryTier(costMax: 200_000)
        _ = tier.limit(shares: ["hot": ShareLimits(countMax: 3)])
        for number in 0..<5 {
            _ = insert(entry(key("hot", number), UInt64(number + 1)), into: &tier)
        }
        #expect(tier.usage["hot"]?.entries == 3)
        _ = tier.remove(key: key("hot", 4))
        #expect(tier.usage["hot"]?.entries == 2)
        // The overall limit evicts them as well.
        for number in 0..<40 {
            _ = insert(entry(key("other", number), UInt64(100 + number)), into: &tier)
            #expect(tier.cost <= 200_000)
            let all = tier.usage.values.reduce(0) { $0 + $1.bytes }
            #expect(all == tier.cost)
            #expect(tier.usage.values.reduce(0) { $0 + $1.entries } == tier.keyedCount)
        }
        _ = tier.clear()
        #expect(tier.usage.isEmpty)
    }

    @Test func aLimitThatComesLaterHoldsForWhatIsThere() {
        var tier = MemoryTier(costMax: 10 << 20)
        for number in 0..<10 {
            _ = insert(entry(key("hot", number), UInt64(number + 1)), into: &tier)
        }
        // Used entries stay.
        for _ in 0..<3 { _ = tier.lookup(key("hot", 0), now: at(0)) }
        let gone = tier.limit(shares: ["hot": ShareLimits(countMax: 4)])
        #expect(gone.freed.count == 6 && tier.usage["hot"]?.entries == 4)
        _ = tier.limit(shares: [:])
        for number in 10..<20 {
            _ = insert(entry(key("hot", number), UInt64(number + 1)), into: &tier)
        }
        #expect(tier.usage["hot"]?.entries == 14)
    }

    // MARK: - Disk

    private func policy(_ own: DiskPolicy, all: DiskPolicy = DiskPolicy()) -> DiskPolicy {
        var policy = all
        policy.caches = ["hot": own]
        return policy
    }

    /// Sums the rows with a different expression than the triggers use.
    private func counted(
        _ fixture: borrowing DiskFixture, _ cache: String
    ) throws -> DiskUsage {
        let connection = try Connection(path: fixture.path + "/index.sqlite")
        var select = try connection.prepare(
            "SELECT count(*), total(charge) FROM entries WHERE key LIKE ? || char(31) || '%'")
        try select.bind(cache, 0)
        let found = try select.first { (Int($0.int64(0)), Int($0.int64(1))) }
        return DiskUsage(entries: found?.0 ?? -1, bytes: found?.1 ?? -1)
    }

    @Test(arguments: [900, 9_000, 30_000]) func theLimitOfACacheIsHard(length: Int) throws {
        let fixture = try DiskFixture()
        let own = DiskPolicy(bytesMax: 400_000, countMax: 60, lowWaterPercent: 80)
        let tier = try fixture.tier(policy(own))
        for number in 0..<5 { tier.put("http://h/\(number)", sample(length)) }
        for number in 0..<120 {
            tier.put(key("hot", number), sample(length), jpegFacts, at(Int64(number)))
            let usage = try counted(fixture, "hot")
            #expect(usage.bytes <= 400_000 && usage.entries <= 60, "after \(number)")
            #expect(try tier.index?.usage(of: "hot") == usage)
        }
        tier.maintainAll(at(120))
        #expect(try counted(fixture, "hot").entries > 5, "the limit was reached, and no more")
        #expect(tier.get(key("hot", 119)) == sample(length), "the newest stays")
        #expect(tier.get(key("hot", 0)) == nil)
        for number in 0..<5 { #expect(tier.get("http://h/\(number)") == sample(length)) }
        let large = sample(500_000).withUnsafeBytes {
            tier.write(key("hot", 1), $0, jpegFacts, at(0))
        }
        #expect(large == .skipped("disk: 500000 bytes exceed the limit of the cache"))
    }

    @Test func theLimitOfAllStaysAboveThem() throws {
        let fixture = try DiskFixture()
        let all = DiskPolicy(countMax: 10)
        let tier = try fixture.tier(policy(DiskPolicy(countMax: 8), all: all))
        for number in 0..<8 {
            tier.put(key("hot", number), sample(900), jpegFacts, at(Int64(number)))
        }
        for number in 0..<8 {
            tier.put("http://h/\(number)", sample(900), jpegFacts, at(Int64(100 + number)))
            #expect(try #require(tier.usage(at(0))).entries <= 10)
        }
        #expect(try counted(fixture, "hot").entries <= 2)
    }

    /// After removals, a replaced value, a restart, an index without the usage table, and an index
    /// that is quarantined.
    @Test func theAccountIsRightWhateverHappens() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            for number in 0..<30 {
                tier.put(key(number % 2 == 0 ? "hot" : "cold", number), sample(900 * number + 1))
            }
            _ = tier.remove(key("hot", 4), at(0))
            tier.put(key("hot", 6), sample(40_000))
            tier.put("http://h/1", sample(20_000))
            for cache in ["hot", "cold"] {
                #expect(try tier.index?.usage(of: cache) == counted(fixture, cache))
            }
        }
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            try connection.execute(
                """
                DROP TRIGGER added_to_cache; DROP TRIGGER removed_from_cache;
                DROP TABLE cache_totals;
                """)
        }
        do {
            let tier = try fixture.tier(policy(DiskPolicy(countMax: 1_000)))
            tier.put(key("hot", 50), sample(900))
            #expect(try tier.index?.usage(of: "hot") == counted(fixture, "hot"))
            #expect(try tier.index?.usageByCache()["cold"] == counted(fixture, "cold"))
            #expect(try counted(fixture, "hot").entries == 15)
        }
        try fixture.rewrite("index.sqlite") { for place in 0..<100 { $0[place] = 0x55 } }
        let tier = try fixture.tier(policy(DiskPolicy(countMax: 1_000)))
        tier.maintainAll()
        #expect(tier.state.rebuilt == 1)
        let files = try counted(fixture, "cold")
        #expect(files.entries > 0, "the files were taken in")
        #expect(try tier.index?.usage(of: "cold") == files)
        #expect(tier.state.caches.isEmpty, "not counted yet")
        _ = tier.perform(DiskRequest(ticket: 1, work: .maintain, now: at(0)))
        #expect(tier.state.caches["cold"] == files)
        for number in 0..<60 {
            _ = tier.remove(key(number % 2 == 0 ? "hot" : "cold", number), at(0))
        }
        #expect(try tier.index?.usageByCache() == [:])
    }

    @Test func everyCacheHasItsAge() throws {
        let fixture = try DiskFixture()
        var limits = DiskPolicy(ageMax: 100, expireType: .modification)
        limits.caches = [
            "hot": DiskPolicy(ageMax: 10, expireType: .creation), "old": DiskPolicy(ageMax: -1),
        ]
        let tier = try fixture.tier(limits)
        for cache in ["hot", "old", "plain"] { tier.put(key(cache, 1), sample(900)) }
        tier.put("http://h/1", sample(900))
        #expect(tier.locate(key("hot", 1), at(9)) != nil)
        tier.maintainAll(at(11))
        #expect(try counted(fixture, "hot").entries == 0, "removed without a query")
        #expect(tier.locate(key("plain", 1), at(99)) != nil)
        #expect(tier.locate("http://h/1", at(101)) == nil)
        tier.maintainAll(at(200))
        #expect(try counted(fixture, "plain").entries == 0)
        #expect(tier.locate(key("old", 1), at(100_000)) != nil)
    }

    // MARK: - The stage

    @Test func aStageHoldsCachesToTheirLimitsAndSaysWhatTheyHave() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        var settings = CacheSettings()
        (settings[.memoryEntries], settings[.diskEntries]) = (2, 3)
        settings[.memoryLimit] = 1 << 20
        let named = ["hot": CachePolicy().named(settings)]
        cache.note(cache.stage.adopt(CachePolicy(), named: named, now: at(0)))
        for number in 0..<6 { _ = try cache.put(key("hot", number), sample(9_000)) }
        _ = try cache.put("plain", sample(9_000))
        cache.note(cache.stage.tick(now: at(1)))
        let found = try cache.wait { () -> NamedCacheStatus? in
            let hot = cache.stage.status().caches.first { $0.name == "hot" }
            return hot?.disk.entries ?? 0 > 0 ? hot : nil
        }
        #expect(found.memory.entries == 2 && (1...3).contains(found.disk.entries))
        #expect(found.memory.bytesMax == 1 << 20 && found.memory.entriesMax == 2)
        #expect(found.disk.bytesMax == 0 && found.disk.entriesMax == 3)
        #expect(cache.stage.status().memoryEntries == 3)
        let large = try cache.put(key("hot", 9), sample(2 << 20), delivers: true)
        #expect(large.tiers == .disk)
        #expect(large.skipped == "memory: 2097152 bytes exceed its limit")
        #expect(try cache.get(key("hot", 9))?.1 == .disk)
        #expect(try cache.get(key("hot", 9))?.1 == .disk, "nor is it promoted")
    }
}
