import Linux
import Model
import SQLite
import Testing

@testable import Caching

/// Data that an entry carries besides its bytes: tags, extended data and a digest
/// (SEMANTICS §5.20 to §5.22).
@Suite struct CarriedTests {
    private func store(
        _ cache: StageFixture, _ key: String, _ bytes: [UInt8], tags: [String] = [],
        extended: ExtendedData? = nil, _ tiers: CacheTypes = .all
    ) throws -> StoreReport {
        guard
            case .stored(let report) = try cache.run(
                storing(cache, key, bytes, tags, extended, tiers))
        else { throw CancellationError() }
        return report
    }

    private func storing(
        _ cache: StageFixture, _ key: String, _ bytes: [UInt8], _ tags: [String],
        _ extended: ExtendedData? = nil, _ tiers: CacheTypes = .all
    ) -> JobWork {
        guard case .store(var work) = cache.storing(key, bytes, tiers) else {
            preconditionFailure("it is a store")
        }
        work.metadata.tags = tags
        work.metadata.extendedData = extended
        return .store(work)
    }

    private func page(
        _ cache: StageFixture, _ action: EntryAction, _ selection: EntrySelection,
        _ tiers: CacheTypes = .all
    ) throws -> EntryPage {
        let work = EntryWork(
            action: action, key: "", tiers: tiers, selection: selection, limit: 256)
        guard case .entries(let page) = try cache.run(.entry(work)) else {
            throw CancellationError()
        }
        return page
    }

    private func metadata(
        _ cache: StageFixture, _ key: String, _ tiers: CacheTypes
    ) throws -> StoredMetadata? {
        guard case .hit(let hit) = try cache.query(key, tiers, promotes: false) else { return nil }
        return hit.metadata
    }

    // MARK: - Tags

    @Test(arguments: [CacheTypes.all, .disk, .memory])
    func whatHasATagGoesAndNothingElse(tiers: CacheTypes) throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        // Some in the index, some in files.
        for (number, length) in [10, 20_000, 300, 40_000].enumerated() {
            _ = try store(
                cache, "http://h/\(number)", sample(length), tags: ["shop", "n\(number)"])
            _ = try store(cache, "http://i/\(number)", sample(length), tags: ["shopping"])
        }
        _ = try store(cache, "x\u{1F}http://h/9", sample(10), tags: ["shop"])
        #expect(try page(cache, .count, EntrySelection(tag: "shop")).disk.entries == 5)
        let narrow = EntrySelection(cache: "", prefix: "http://h/3", tag: "shop")
        #expect(try page(cache, .count, narrow).disk.entries == 1)
        #expect(try page(cache, .count, narrow).memory.entries == 1)
        #expect(
            try page(cache, .list, EntrySelection(tag: "n2")).entries.map(\.key) == [
                "http://h/2", "http://h/2",
            ])
        let gone = try page(cache, .removeSelected, EntrySelection(tag: "shop"), tiers)
        #expect(gone.disk.entries == (tiers.contains(.disk) ? 5 : 0))
        #expect(gone.memory.entries == (tiers.contains(.memory) ? 5 : 0))
        for number in 0..<4 {
            #expect(try cache.tiers(of: "http://h/\(number)") == CacheTypes.all.subtracting(tiers))
            #expect(try cache.tiers(of: "http://i/\(number)") == .all)
        }
        guard tiers == .all else { return }
        cache.stage.stop()
        let tier = try disk.tier()
        tier.maintainAll()
        #expect(tier.get("http://h/1") == nil, "it stays away after a restart")
        let index = try Connection(path: disk.path + "/index.sqlite")
        var tags = try index.prepare(
            "SELECT group_concat(tag) FROM (SELECT DISTINCT tag FROM tags)")
        #expect(try tags.first { $0.text(0) } == "shopping", "no tag outlives its entry")
    }

    /// A store that replaces another one keeps only its own tags.
    @Test func theTagsAreThoseOfTheLastStore() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        for length in [100, 30_000] {
            _ = try store(cache, "k", sample(length), tags: ["a", "b"])
            _ = try store(cache, "k", sample(length, seed: 2), tags: ["b", "c"])
            #expect(try page(cache, .count, EntrySelection(tag: "a")).disk.entries == 0)
            #expect(try page(cache, .count, EntrySelection(tag: "c")).disk.entries == 1)
            #expect(try page(cache, .count, EntrySelection(tag: "c")).memory.entries == 1)
        }
    }

    @Test func whatIsOnItsWayIsRemovedAsWell() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let first = cache.begin(storing(cache, "a", sample(500_000), ["shop"], nil, .disk))
        let second = cache.begin(storing(cache, "b", sample(500_000), ["shop"], nil, .disk))
        let large = cache.begin(storing(cache, "c", sample(3 << 20), ["shop"]))
        let other = cache.begin(storing(cache, "d", sample(500_000), ["other"], nil, .disk))
        _ = try page(cache, .removeSelected, EntrySelection(tag: "shop"))
        for job in [first, second, large, other] { _ = try cache.wait { cache.outcome(job) } }
        for key in ["a", "b", "c"] { #expect(try cache.query(key) == .miss, "\(key)") }
        #expect(try cache.get("d")?.bytes == sample(500_000))
    }

    /// Among a million entries, those with a tag are found through the index on tags.
    @Test func aTagIsLookedUpInAnOrder() throws {
        let disk = try DiskFixture()
        do { _ = try disk.tier() }
        let index = try Connection(path: disk.path + "/index.sqlite")
        var plan = try index.prepare(
            """
            EXPLAIN QUERY PLAN SELECT \(ScannedRow.columns)
            FROM tags INDEXED BY by_tag JOIN entries USING(number)
            WHERE tags.number > 1 AND tags.number <= 9 AND tag = 'shop'
            ORDER BY tags.number LIMIT 5
            """)
        var steps: [String] = []
        try plan.forEach { row in
            steps.append(row.text(3) ?? "")
            return true
        }
        #expect(steps.count == 2, "nothing is sorted: \(steps)")
        #expect(steps[0].contains("by_tag (tag=? AND number>? AND number<?)"), "\(steps)")
        #expect(steps[1].contains("SEARCH entries USING INTEGER PRIMARY KEY"), "\(steps)")
    }

    // MARK: - All carried data

    /// From memory, from disk, after a restart, and after the index was lost and rebuilt from the
    /// files.
    @Test(arguments: [200, 30_000])
    func anEntryIsReadWithWhatItCarries(length: Int) throws {
        let disk = try DiskFixture()
        let data = ExtendedData(Array(0...255), mediaType: "application/json")
        let digest: ContentDigest?
        do {
            let cache = try StageFixture(disk.path)
            digest = try store(cache, "k", sample(length), tags: ["a", "b"], extended: data).digest
            #expect(digest != nil)
            for tier in [CacheTypes.memory, .disk] {
                let found = try #require(try metadata(cache, "k", tier))
                #expect(found.extendedData == data && found.tags.sorted() == ["a", "b"])
                #expect(found.digest == digest)
            }
            cache.stage.stop()
        }
        if length > 16_384 {
            for suffix in ["", "-wal", "-shm"] {
                try? FileDescriptor.openDirectory(disk.path).unlink("index.sqlite\(suffix)")
            }
        }
        let tier = try disk.tier()
        tier.maintainAll()
        let found = try #require(tier.locate("k", at(0))?.metadata)
        #expect(found.extendedData == data && found.tags.sorted() == ["a", "b"])
        #expect(found.digest == digest)
    }

    /// The first is the example of FIPS 180-4; the second is the output of `sha256sum` for two
    /// mebibytes of zeros, which are hashed on the thread for long copies.
    @Test(arguments: [
        (
            Array("abc".utf8),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        ),
        (
            [UInt8](repeating: 0, count: 2 << 20),
            "5647f05ec18958947d32874eeb788fa396a05d0bab7c1b71f112ceb7e9b31eee"
        ),
    ])
    func theDigestIsThatOfTheBytes(bytes: [UInt8], hex: String) throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let report = try store(cache, "k", bytes)
        #expect(report.digest.map(text) == hex)
        let isReported = cache.actions.contains {
            if case .stored(let notice) = $0 { notice.digest == report.digest } else { false }
        }
        #expect(isReported, "the coordinator gets it")
        #expect(try metadata(cache, "k", .disk)?.digest == report.digest)
    }

    private func text(_ digest: ContentDigest) -> String {
        digest.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A result that is stored nowhere has a digest as well.
    @Test func whatIsOnlyDeliveredHasOne() throws {
        let cache = try StageFixture(nil)
        let report = try cache.put(nil, Array("abc".utf8), delivers: true)
        #expect(report.delivered != nil && report.tiers == .none)
        #expect(report.digest.map(text)?.hasPrefix("ba7816bf8f01cfea") == true)
    }

    /// An entry written by an earlier version has no digest: it is computed when the entry is read,
    /// for the reply and for memory. The lengths cover the index, a file, and a file that is read
    /// later.
    @Test(arguments: [700, 30_000, 3 << 20])
    func whatWasStoredWithoutOneIsGivenOne(length: Int) throws {
        let disk = try DiskFixture()
        let stored: ContentDigest?
        do {
            let cache = try StageFixture(disk.path)
            stored = try store(cache, "k", sample(length)).digest
            cache.stage.stop()
        }
        do { try Connection(path: disk.path + "/index.sqlite").execute("DELETE FROM extras") }
        let cache = try StageFixture(disk.path)
        guard case .hit(let hit) = try cache.query("k") else {
            Issue.record("the disk has it")
            return
        }
        #expect(hit.tier == .disk && stored != nil && hit.metadata.digest == stored)
        #expect(try metadata(cache, "k", .memory)?.digest == stored)
    }

    /// Carried data counts: a cache with its own limit never exceeds it.
    @Test func whatIsCarriedCountsForTheLimitOfItsCache() throws {
        let cache = try StageFixture(nil)
        var own = CachePolicy()
        own.memoryBytesMax = 64 << 10
        cache.note(cache.stage.adopt(CachePolicy(), named: ["hot": own], now: at(0)))
        let data = ExtendedData([UInt8](repeating: 7, count: ExtendedData.bytesMax))
        for number in 0..<40 {
            _ = try store(cache, "hot\u{1F}\(number)", sample(100), extended: data, .memory)
            let usage = cache.stage.memory.usage["hot"]
            #expect(usage?.bytes ?? .max <= own.memoryBytesMax, "\(number)")
        }
        #expect(cache.stage.memory.usage["hot"]?.entries ?? 0 > 5)
        // An entry that can't fit isn't reported as stored.
        own.memoryBytesMax = 5_200
        cache.note(cache.stage.adopt(CachePolicy(), named: ["hot": own], now: at(0)))
        let report = try store(cache, "hot\u{1F}x", sample(1_000), extended: data, .memory)
        #expect(report.tiers == .none && report.skipped != nil)
        #expect(
            try store(cache, "hot\u{1F}y", sample(1_000), tags: [], extended: nil, .memory).tiers
                == .memory)
    }
}
