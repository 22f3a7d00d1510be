import Model
import Testing

@testable import Caching

/// Entries that are removed, listed and counted by their properties (SEMANTICS §5.7).
@Suite struct SeveralEntriesTests {
    private let size = "-SDImageResizingTransformer({10.000000,10.000000},2)"

    private func page(
        _ cache: StageFixture, _ action: EntryAction, _ selection: EntrySelection = .init(),
        _ tiers: CacheTypes = .all, after: UInt64 = 0, limit: UInt32 = 256
    ) throws -> EntryPage {
        let work = EntryWork(
            action: action, key: "", tiers: tiers, selection: selection, after: after, limit: limit)
        guard case .entries(let page) = try cache.run(.entry(work)) else {
            Issue.record("a page")
            return EntryPage()
        }
        return page
    }

    @Test func aURLIsRemovedWithAllThatWasMadeOfItAndNothingElse() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let owner = "\u{1E}" + String(repeating: "a1", count: 16)
        let meant = [
            "http://h/a.jpg", "http://h/a\(size).jpg", "x\u{1F}http://h/a\(size).jpg",
            "http://h/a\(size)-Auth(1).jpg\(owner)",
        ]
        let others = [
            "http://h/b.jpg", "http://h/a.jpg.jpg", "http://h/a-2.jpg", "http://h/aa.jpg",
        ]
        for key in meant + others { _ = try cache.put(key, sample(30_000)) }
        let gone = try page(cache, .removeSelected, EntrySelection(url: "http://h/a.jpg"))
        #expect(gone.disk.entries == 4 && gone.memory.entries == 4)
        for key in meant { #expect(try cache.query(key) == .miss, "\(key)") }
        for key in others { #expect(try cache.get(key) != nil, "\(key)") }
        cache.stage.stop()
        let tier = try disk.tier()
        tier.maintainAll()
        for key in meant { #expect(tier.get(key) == nil, "\(key) stays away after a restart") }
        #expect(tier.get(others[0]) != nil)
    }

    @Test func aPrefixAndACacheHaveToHoldTogether() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let keys = ["http://h/a", "x\u{1F}http://h/a", "x\u{1F}http://i/a", "y\u{1F}http://h/a"]
        for key in keys { _ = try cache.put(key, sample(2_000)) }
        let selection = EntrySelection(cache: "x", prefix: "http://h/")
        #expect(try page(cache, .count, selection).disk.entries == 1)
        #expect(try page(cache, .removeSelected, selection).disk.entries == 1)
        let left = try keys.filter { try cache.get($0) != nil }
        #expect(left == [keys[0], keys[2], keys[3]])
        let inDefault = EntrySelection(cache: "")
        #expect(try page(cache, .count, inDefault).disk.entries == 1)
    }

    @Test(arguments: [CacheTypes.all, .disk, .memory])
    func whatIsOldGoesAndWhatIsNewStays(tiers: CacheTypes) throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("old", sample(30_000))
        cache.now = at(100)
        _ = try cache.put("new", sample(30_000))
        // An access doesn't make an entry newer.
        _ = try cache.get("old")
        let gone = try page(
            cache, .removeSelected, EntrySelection(olderThanSeconds: 50), tiers)
        #expect(gone.disk.entries == (tiers.contains(.disk) ? 1 : 0))
        #expect(gone.memory.entries == (tiers.contains(.memory) ? 1 : 0))
        #expect(try cache.tiers(of: "old") == CacheTypes.all.subtracting(tiers))
        #expect(try cache.tiers(of: "new") == .all)
    }

    /// The removal takes several steps: queries between them don't see entries that it has yet to
    /// reach, and entries stored between them stay.
    @Test func nobodyIsAnsweredFromWhatTheWalkHasNotReached() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let count = DiskScan.rowsPerStep + 100
        for number in 0..<count {
            _ = try cache.put("http://h/\(number)", sample(10, seed: 3), .disk, waits: false)
        }
        let last = "http://h/\(count - 1)"
        _ = try cache.put(last, sample(11), .disk)
        let walk = EntryWork(
            action: .removeSelected, key: "", tiers: .all,
            selection: EntrySelection(prefix: "http://h/"))
        let removal = cache.begin(.entry(walk))
        let query = QueryWork(key: last, tiers: .all, destination: .results, promotes: true)
        let early = cache.begin(.query(query))
        let store = cache.begin(cache.storing("http://h/0", sample(12), .disk))
        #expect(try cache.wait { cache.outcome(early) } == .miss)
        guard case .entries(let page) = try cache.wait({ cache.outcome(removal) }) else {
            Issue.record("a page")
            return
        }
        _ = try cache.wait { cache.outcome(store) }
        #expect(page.disk.entries == UInt64(count))
        #expect(try cache.get("http://h/0")?.bytes == sample(12), "later entries stay")
        #expect(try cache.query(last) == .miss)
    }

    @Test func whatWaitsForTheDiskIsRemovedAsWell() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let first = cache.begin(cache.storing("http://h/a", sample(500_000), .disk))
        let second = cache.begin(cache.storing("http://h/b", sample(500_000), .disk))
        _ = try page(cache, .removeSelected, EntrySelection(prefix: "http://h/"))
        _ = try cache.wait { cache.outcome(first) }
        guard case .stored(let report) = try cache.wait({ cache.outcome(second) }) else {
            Issue.record("answered")
            return
        }
        #expect(report.tiers == .none && report.skipped == "disk: removed in the meantime")
        #expect(try page(cache, .count).disk.entries == 0)
    }

    @Test func aListHasEveryEntryOnceWhateverThePagesAre() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let keys = (0..<10).map { "http://h/\($0)" }
        for key in keys { _ = try cache.put(key, sample(3_000), .disk) }
        for key in keys.prefix(4) { _ = try cache.put(key + "m", sample(3_000), .memory) }
        for limit in [1, 3, 256] as [UInt32] {
            var (entries, after): ([EntryDescription], UInt64) = ([], 0)
            for _ in 0..<40 {
                let page = try page(cache, .list, after: after, limit: limit)
                #expect(page.entries.count <= Int(limit))
                entries += page.entries
                after = page.next
                if after == 0 { break }
            }
            #expect(after == 0)
            #expect(entries.filter { $0.tier == .disk }.map(\.key) == keys, "\(limit)")
            #expect(
                entries.filter { $0.tier == .memory }.map(\.key) == keys.prefix(4).map { $0 + "m" })
            #expect(entries.allSatisfy { $0.bytes == 3_000 && $0.format == .jpeg })
            #expect(entries[0].storedMilliseconds == UInt64(at(0).milliseconds))
        }
        let some = try page(cache, .list, EntrySelection(prefix: "http://h/3"))
        #expect(some.entries.map(\.key) == ["http://h/3", "http://h/3m"])
        #expect(try page(cache, .list, .init(), .memory).entries.count == 4)
    }

    @Test func aTrimGoesToTheLowWaterMarkAndSaysWhatIsGone() throws {
        let disk = try DiskFixture()
        var policy = CachePolicy(memoryBytesMax: 400_000)
        policy.disk = DiskPolicy(bytesMax: 4_000_000, lowWaterPercent: 50, ageMax: 1_000)
        let cache = try StageFixture(disk.path, policy: policy)
        _ = try cache.put("aged", sample(20_000))
        cache.now = at(1_001)
        for number in 0..<110 { _ = try cache.put("\(number)", sample(20_000)) }
        let before = try page(cache, .count)
        let gone = try page(cache, .trim)
        let after = try page(cache, .count)
        #expect(after.disk.bytes <= 2_000_000 && after.memory.bytes <= 200_000)
        #expect(after.disk.entries == before.disk.entries - gone.disk.entries)
        #expect(after.memory.entries == before.memory.entries - gone.memory.entries)
        #expect(try cache.query("aged") == .miss)
        #expect(cache.stage.diskStatus?.counts.trims == 1)
    }
}
