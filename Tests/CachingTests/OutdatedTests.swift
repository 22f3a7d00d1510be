import Linux
import Model
import Testing

@testable import Caching

/// The tiers never hold two values of a key, whatever happens to a pending disk write.
@Suite struct OutdatedTests {
    private let old = sample(40_000, seed: 1)
    private let new = sample(200_000, seed: 2)

    // MARK: - Full queue of writes

    @Test(arguments: [200_000, 2 << 20])
    func aStoreThatSkipsTheDiskLeavesNoOlderValueThere(length: Int) throws {
        let disk = try DiskFixture()
        let cache = try holdingOld(disk.path, CachePolicy(writeBehindBytesMax: 100_000))
        let bytes = sample(length, seed: 2)
        #expect(try cache.put("k", bytes).tiers == .memory)
        #expect(try cache.query("k", .disk) == .miss)
        #expect(try cache.get("k")?.bytes == bytes)
    }

    @Test func aStoreForTheDiskAloneThatSkipsItLeavesNoOlderValueAnywhere() throws {
        let disk = try DiskFixture()
        let cache = try holdingOld(disk.path, CachePolicy(writeBehindBytesMax: 100_000))
        #expect(try cache.put("k", new, .disk).tiers == CacheTypes.none)
        #expect(try cache.query("k") == .miss)
    }

    @Test func aStoreForTheDiskAloneLeavesNoOlderValueInMemory() throws {
        let disk = try DiskFixture()
        let cache = try holdingOld(disk.path, CachePolicy())
        #expect(try cache.put("k", new, .disk).tiers == .disk)
        #expect(try cache.query("k", .memory) == .miss)
        #expect(try cache.get("k")?.bytes == new)
    }

    @Test func whoWaitsForAWriteThatIsReplacedIsAnsweredWithTheNewerOne() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        // The first write is in flight, so the second waits; the third replaces it.
        let other = cache.begin(cache.storing("other", sample(500_000), .disk))
        let replaced = cache.begin(cache.storing("k", old, .disk))
        let newer = cache.begin(cache.storing("k", new, .disk))
        for store in [other, replaced, newer] {
            #expect(try report(of: store, cache)?.tiers == .disk)
        }
        #expect(try cache.get("k", .disk)?.bytes == new)
    }

    @Test func whatStillWaitsForTheDiskIsNotWrittenAfterOneThatSkipsIt() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path, policy: CachePolicy(writeBehindBytesMax: 600_000))
        // The first write is in flight, so the second waits; the third doesn't fit beside the
        // first.
        let other = cache.begin(cache.storing("other", sample(500_000), .disk))
        let waiting = cache.begin(cache.storing("k", old, .disk))
        let skipping = cache.begin(cache.storing("k", new, .disk))
        #expect(try report(of: skipping, cache)?.tiers == CacheTypes.none)
        let replaced = try report(of: waiting, cache)
        #expect(replaced?.tiers == CacheTypes.none)
        #expect(replaced?.skipped == "disk: removed in the meantime")
        #expect(try report(of: other, cache)?.tiers == .disk)
        #expect(try cache.query("k") == .miss)
    }

    @Test func whatIsUnderWayIsRemovedAfterOneThatSkipsTheDisk() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path, policy: CachePolicy(writeBehindBytesMax: 100_000))
        let first = cache.begin(cache.storing("k", old, .disk))
        #expect(try cache.put("k", new).tiers == .memory)
        _ = try report(of: first, cache)
        #expect(try cache.query("k", .disk) == .miss)
        #expect(try cache.get("k")?.bytes == new)
    }

    @Test func whatIsBeingReadOfAnOlderValueIsNotKept() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path, policy: CachePolicy(writeBehindBytesMax: 100_000))
        _ = try cache.put("k", old, .disk)
        let id = cache.begin(
            .query(QueryWork(key: "k", tiers: .all, destination: .results, promotes: true)))
        #expect(try cache.put("k", new, .disk).tiers == CacheTypes.none)
        _ = try cache.wait { cache.outcome(id) }
        #expect(try cache.query("k") == .miss)
    }

    // MARK: - Writes that fail

    @Test func aWriteThatFailsLeavesNoOlderValueOnTheDisk() throws {
        let disk = try DiskFixture()
        let policy = CachePolicy(disk: DiskPolicy(bytesMax: 100_000))
        do {
            let cache = try holdingOld(disk.path, policy)
            let report = try cache.put("k", new)
            #expect(report.tiers == .memory)
            #expect(report.skipped?.hasSuffix("exceed the limit of the whole tier") == true)
            #expect(try cache.query("k", .disk) == .miss)
            #expect(try cache.get("k")?.bytes == new)
        }
        let cache = try StageFixture(disk.path, policy: policy)
        #expect(try cache.query("k") == .miss)
    }

    @Test func aNewerValueIsWrittenAfterAWriteThatFails() throws {
        let disk = try DiskFixture()
        let policy = CachePolicy(disk: DiskPolicy(bytesMax: 100_000))
        let cache = try StageFixture(disk.path, policy: policy)
        let first = cache.begin(cache.storing("k", new, .disk))
        let second = cache.begin(cache.storing("k", old, .disk))
        #expect(try report(of: first, cache)?.tiers == CacheTypes.none)
        #expect(try report(of: second, cache)?.tiers == .disk)
        #expect(try cache.get("k", .disk)?.bytes == old)
    }

    // MARK: - Removals that fail

    @Test func whatTheDiskCannotRemoveIsAnsweredToNobodyAndGoesLater() throws {
        let disk = try DiskFixture()
        let cache = try holdingOld(disk.path, CachePolicy())
        try breakFiles(disk.path)
        #expect(try cache.put("k", new).tiers == .memory)
        #expect(try cache.query("k", .disk) == .miss)
        try mendFiles(disk.path)
        #expect(try cache.query("k", .disk) == .miss, "its file is there again")
        #expect(try cache.tiers(of: "k") == .memory)
        try recover(cache)
        #expect(try disk.bodyFiles().isEmpty)
        #expect(try cache.put("k", new).tiers == .all)
        #expect(try cache.get("k", .disk)?.bytes == new)
    }

    @Test func aRemovalThatFailedIsMadeUpForLater() throws {
        let disk = try DiskFixture()
        let cache = try holdingOld(disk.path, CachePolicy())
        try breakFiles(disk.path)
        guard case .failed = try cache.remove("k") else {
            Issue.record("its file cannot be removed")
            return
        }
        try mendFiles(disk.path)
        #expect(try cache.query("k") == .miss)
        try recover(cache)
        #expect(try disk.bodyFiles().isEmpty)
    }

    @Test func whatIsStoredAnewIsNotRemovedLater() throws {
        let disk = try DiskFixture()
        let cache = try holdingOld(disk.path, CachePolicy())
        try breakFiles(disk.path)
        _ = try cache.remove("k")
        try mendFiles(disk.path)
        cache.now = at(10)
        #expect(try cache.put("k", new).tiers == .all)
        cache.note(cache.stage.tick(now: cache.now))
        #expect(try cache.get("k", .disk)?.bytes == new)
    }

    // MARK: - Setup

    /// A cache with the old bytes in both tiers.
    private func holdingOld(_ path: String, _ policy: CachePolicy) throws -> StageFixture {
        let cache = try StageFixture(path, policy: policy)
        #expect(try cache.put("k", old).tiers == .all)
        return cache
    }

    private func report(of id: JobID, _ cache: StageFixture) throws -> StoreReport? {
        guard case .stored(let report) = try cache.wait({ cache.outcome(id) }) else { return nil }
        return report
    }

    /// Makes bodies impossible to write or remove.
    private func breakFiles(_ path: String) throws {
        let root = try FileDescriptor.openDirectory(path)
        try root.rename("files", to: "elsewhere")
        _ = try root.open("files", [.create, .writeOnly])
    }

    private func mendFiles(_ path: String) throws {
        let root = try FileDescriptor.openDirectory(path)
        try root.unlink("files")
        try root.rename("elsewhere", to: "files")
    }

    /// Lets the disk find out that it works again; it then removes everything it has.
    private func recover(_ cache: StageFixture) throws {
        cache.now = at(10)
        cache.note(cache.stage.tick(now: cache.now))
        try cache.wait { cache.stage.diskStatus?.health == .healthy ? () : nil }
        cache.note(cache.stage.tick(now: cache.now))
        try cache.wait { cache.stage.diskStatus?.usage?.entries == 0 ? () : nil }
    }
}
