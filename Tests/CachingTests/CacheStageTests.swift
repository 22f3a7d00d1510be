import Linux
import Model
import Testing

@testable import Caching

@Suite struct CacheStageTests {
    @Test func whatWasStoredIsAnsweredFromMemoryThenFromDisk() throws {
        let disk = try DiskFixture()
        let bytes = sample(37_000)
        do {
            let cache = try StageFixture(disk.path)
            let report = try cache.put("k", bytes)
            #expect(report.delivered == nil && report.tiers == .all && report.skipped == nil)
            let hit = try #require(try cache.get("k"))
            #expect(hit.bytes == bytes)
            #expect(hit.1 == .memory)
        }
        let cache = try StageFixture(disk.path)
        #expect(try cache.query("k", .memory) == .miss)
        #expect(try #require(try cache.get("k")) == (bytes, .disk))
        #expect(try #require(try cache.get("k")) == (bytes, .memory), "promoted")
        #expect(try cache.query("other") == .miss)
        #expect(cache.stage.counts.diskHits == 1)
        #expect(cache.stage.counts.memoryHits == 1)
        #expect(cache.stage.counts.misses == 2)
    }

    @Test(arguments: [0, 1, 16_385, 1 << 20, (3 << 20) + 17])
    func bodiesOfAnyLengthPassThroughEveryPath(length: Int) throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let bytes = sample(length)
        let report = try cache.put("k", bytes, .disk, delivers: true)
        #expect(cache.results.read(try #require(report.delivered)) == bytes)
        #expect(try #require(try cache.get("k", .disk)) == (bytes, .disk))
        guard case .hit(let staged) = try cache.query("k", .memory, .staging) else {
            Issue.record("promoted, so in memory")
            return
        }
        #expect(cache.staging.read(staged.reference, published: false) == bytes)
        #expect(cache.staging.liveBlocks == 1)
        cache.note(cache.stage.release([staged.reference.block], now: cache.now))
        #expect(cache.staging.liveBlocks == 0)
    }

    @Test func aQueryWithoutPromotionLeavesMemoryAlone() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("k", sample(5_000), .disk)
        guard case .hit = try cache.query("k", .disk, promotes: false) else {
            Issue.record("it is on the disk")
            return
        }
        #expect(try cache.query("k", .memory) == .miss)
    }

    @Test func storedComesBeforeTheOutcomeAndNamesTheBlock() throws {
        let cache = try StageFixture(nil)
        _ = try cache.put("k", sample(5_000), .memory, delivers: true)
        guard case .stored(let notice) = cache.actions.first,
            case .outcome(_, _, .stored(let report)) = cache.actions.last
        else {
            Issue.record("\(cache.actions)")
            return
        }
        #expect(notice.key == "k")
        #expect(notice.reference == report.delivered)
        #expect(notice.info == jpegFacts.info)
        #expect(notice.expiresInMilliseconds == nil)
    }

    @Test func aNoticeSaysForHowLongWhereAgeCountsFromTheStore() throws {
        let disk = try DiskFixture()
        let policy = CachePolicy(disk: DiskPolicy(ageMax: 100, expireType: .modification))
        let cache = try StageFixture(disk.path, policy: policy)
        _ = try cache.put("k", sample(5_000))
        cache.now = at(40)
        _ = try cache.get("k")
        let lives = cache.actions.compactMap { action -> UInt64? in
            guard case .stored(let notice) = action else { return nil }
            return notice.expiresInMilliseconds
        }
        #expect(lives == [100_000, 60_000])
        cache.now = at(100)
        #expect(try cache.query("k") == .miss)
    }

    @Test func aResultWithoutAKeyIsDeliveredAndStaysUntilItsRoomIsNeeded() throws {
        let cache = try StageFixture(nil, policy: CachePolicy(memoryBytesMax: 20_000))
        let report = try cache.put(nil, sample(5_000), .none, delivers: true)
        let reference = try #require(report.delivered)
        #expect(cache.results.read(reference) == sample(5_000))
        #expect(report.tiers == .none)
        for number in 0..<4 { _ = try cache.put("k\(number)", sample(5_000), .memory) }
        let isGone = cache.results.read(reference) == nil
        #expect(isGone)
        #expect(!cache.actions.contains(.evicted([reference.block])), "small, and without a key")
    }

    @Test func aSecondStoreOfAKeyEvictsTheFirstBlock() throws {
        let cache = try StageFixture(nil)
        let first = try #require(
            try cache.put("k", sample(5_000, seed: 1), .memory, delivers: true).delivered)
        _ = try cache.put("k", sample(5_000, seed: 2), .memory)
        #expect(cache.actions.contains(.evicted([first.block])))
        #expect(cache.results.isRetired(first.block))
        #expect(try cache.get("k")?.bytes == sample(5_000, seed: 2))
        #expect(cache.results.liveBlocks == 1)
    }

    @Test func memoryStaysBelowItsLimitAndTellsWhatItEvicts() throws {
        let cache = try StageFixture(nil, policy: CachePolicy(memoryBytesMax: 100_000))
        for number in 0..<50 { _ = try cache.put("k\(number)", sample(9_000), .memory) }
        #expect(cache.stage.status().memoryBytes <= 100_000)
        #expect(cache.results.liveBlocks == Int(cache.stage.status().memoryEntries))
        let evicted = cache.actions.reduce(0) {
            guard case .evicted(let blocks) = $1 else { return $0 }
            return $0 + blocks.count
        }
        #expect(evicted == 50 - Int(cache.stage.status().memoryEntries))
        #expect(try cache.get("k49") != nil)
        #expect(try cache.get("k0") == nil)
    }

    @Test func useThatIsReportedProtectsFromEviction() throws {
        let cache = try StageFixture(nil, policy: CachePolicy(memoryBytesMax: 50_000))
        let first = try #require(
            try cache.put("k0", sample(9_000), .memory, delivers: true).delivered)
        for number in 1...4 { _ = try cache.put("k\(number)", sample(9_000), .memory) }
        cache.stage.touched([first.block, BlockID(12_345)])
        _ = try cache.put("k5", sample(9_000), .memory)
        #expect(try cache.get("k0") != nil)
        #expect(try cache.get("k1") == nil)
    }

    @Test func aFullArenaMakesRoomAndThenSaysSo() throws {
        let cache = try StageFixture(nil, resultBytesMax: 30_000)
        for number in 0..<5 { _ = try cache.put("k\(number)", sample(9_000), .memory) }
        #expect(cache.results.liveBlocks == 3)
        let result = try cache.run(cache.storing(nil, sample(40_000), .none, delivers: true))
        guard case .failed(let error) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error.code == .arenaFull)
    }

    @Test func whatIsLargerThanTheMemoryTierIsNotToldToWait() throws {
        let cache = try StageFixture(nil, policy: CachePolicy(memoryBytesMax: 50_000))
        let result = try cache.run(cache.storing(nil, sample(60_000), .none, delivers: true))
        guard case .failed(let error) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error.code == .limitExceeded && error.message.contains("--memory-limit"))
    }

    @Test func whatDoesNotFitInMemoryStillGoesToTheDisk() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path, policy: CachePolicy(memoryBytesMax: 10_000))
        let report = try cache.put("k", sample(20_000))
        #expect(report.tiers == .disk)
        #expect(report.skipped == "memory: 20000 bytes exceed its limit")
    }

    @Test func aPayloadThatIsGoneFailsTheJobAndLeaksNothing() throws {
        let cache = try StageFixture(nil)
        let gone = BlockReference(
            segment: 1, offset: 64, length: 2 << 20, block: BlockID(999))
        for length in [UInt64(2 << 20), 100] {
            var reference = gone
            reference.length = length
            let work = StoreWork(
                key: "k", source: reference, tiers: .all, delivers: true, waitsForDisk: true,
                metadata: jpegFacts)
            guard case .failed(let error) = try cache.run(.store(work)) else {
                Issue.record("there is nothing to store")
                return
            }
            #expect(error.code == .stale)
        }
        #expect(cache.results.liveBlocks == 0)
        #expect(try cache.query("k") == .miss)
    }

    @Test func aJobOfAnotherKindIsRefused() throws {
        let cache = try StageFixture(nil)
        let work = FetchWork(url: "http://a.test/", headers: [], bodyBytesMax: 1)
        guard case .failed(let error) = try cache.run(.fetch(work)) else {
            Issue.record("the cache fetches nothing")
            return
        }
        #expect(error.code == .protocolViolation)
    }

    // MARK: - Large results

    /// Makes a cache evict its large result; returns the result's reference and bytes.
    private func evictLarge(
        _ body: (StageFixture, BlockReference, [UInt8]) throws -> Void
    ) throws {
        let cache = try StageFixture(nil, policy: CachePolicy(memoryBytesMax: 10 << 20))
        let big = [UInt8](repeating: 7, count: 2 << 20)
        let other = [UInt8](repeating: 8, count: 1 << 20)
        let reference = try #require(
            try cache.put("big", big, .memory, delivers: true).delivered)
        for number in 0..<9 { _ = try cache.put("k\(number)", other, .memory) }
        #expect(cache.actions.contains(.evicted([reference.block])))
        try body(cache, reference, big)
    }

    @Test func anEvictedLargeResultKeepsItsBytesUntilItsRelease() throws {
        try evictLarge { cache, reference, big in
            let isWhole = cache.results.read(reference) == big
            #expect(isWhole, "the coordinator has not released it")
            cache.note(cache.stage.release([reference.block], now: cache.now))
            let isGone = cache.results.read(reference) == nil
            #expect(isGone)
            #expect(!cache.results.isRetired(reference.block), "without readers: reused warm")
        }
    }

    @Test func ofManyEvictedLargeResultsTheOldestIsUnlinked() throws {
        try evictLarge { cache, reference, _ in
            let other = [UInt8](repeating: 9, count: 1 << 20)
            for number in 0..<9 { _ = try cache.put("m\(number)", other, .memory) }
            #expect(cache.results.isRetired(reference.block), "clients may have mapped it")
        }
    }

    @Test func afterANewEpochNoOldLargeResultIsUsedAgain() throws {
        let cache = try StageFixture(nil, policy: CachePolicy(memoryBytesMax: 10 << 20))
        let big = [UInt8](repeating: 7, count: 2 << 20)
        let reference = try #require(
            try cache.put("big", big, .memory, delivers: true).delivered)
        cache.note(cache.stage.beginEpoch(now: cache.now))
        for number in 0..<9 { _ = try cache.put("k\(number)", big, .memory) }
        cache.note(cache.stage.release([reference.block], now: cache.now))
        #expect(cache.results.isRetired(reference.block), "its old readers are unknown")
    }

    @Test func aFullArenaTakesBackWhatDepartsBeforeItEvictsMore() throws {
        let cache = try StageFixture(nil, resultBytesMax: 5 << 20)
        let bytes = [UInt8](repeating: 8, count: 2 << 20)
        _ = try cache.put("kept", bytes, .memory)
        let first = try #require(
            try cache.put("k", bytes, .memory, delivers: true).delivered)
        #expect(try cache.remove("k", .memory) == .entry(.memory))
        _ = try cache.put("new", bytes, .memory)
        #expect(cache.results.isRetired(first.block), "its reader keeps the pages")
        #expect(try cache.get("kept") != nil)
        #expect(try cache.get("new") != nil)
    }

    // MARK: - Lifecycle of a job

    @Test func aCancelledQueryIsAnsweredOnceAndLeavesNothing() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("k", sample(2 << 20), .disk)
        let id = cache.begin(
            .query(QueryWork(key: "k", tiers: .disk, destination: .results, promotes: true)))
        cache.note(cache.stage.cancel(id, now: cache.now))
        cache.note(cache.stage.cancel(id, now: cache.now))
        guard case .failed(let error)? = cache.outcome(id) else {
            Issue.record("cancelled at once")
            return
        }
        #expect(error.code == .cancelled)
        // The disk answers in order, so once this query returns, the canceled one is done.
        #expect(try cache.query("absent", .disk) == .miss)
        #expect(cache.results.liveBlocks == 0)
        #expect(try cache.query("k", .memory) == .miss)
    }

    @Test func aCancelledStoreIsKeptAllTheSame() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        let id = cache.begin(cache.storing("k", sample(3 << 20), .all, delivers: true))
        cache.note(cache.stage.cancel(id, now: cache.now))
        guard case .failed(let error)? = cache.outcome(id) else {
            Issue.record("cancelled at once")
            return
        }
        #expect(error.code == .cancelled)
        cache.note(cache.stage.drain(now: cache.now))
        try cache.wait { cache.actions.contains(.drained) ? () : nil }
        #expect(try cache.get("k", .disk)?.bytes == sample(3 << 20))
    }

    @Test func aNewEpochFreesWhatOnlyTheOldOneHad() throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        _ = try cache.put("k", sample(40_000))
        _ = try cache.put(nil, sample(40_000), .none, delivers: true)
        _ = try cache.query("k", .all, .staging)
        let lost = cache.begin(
            .query(QueryWork(key: "x", tiers: .disk, destination: .results, promotes: true)))
        cache.note(cache.stage.beginEpoch(now: cache.now))
        #expect(cache.staging.liveBlocks == 0)
        #expect(cache.results.liveBlocks == 1)
        #expect(try cache.query("absent", .disk) == .miss)
        #expect(cache.outcome(lost) == nil, "no coordinator receives it")
        #expect(try cache.get("k") != nil)
    }

    @Test func drainingWritesEverythingAndSaysSo() throws {
        let disk = try DiskFixture()
        do {
            let cache = try StageFixture(disk.path)
            for number in 0..<40 {
                let report = try cache.put(
                    "k\(number)", sample(30_000, seed: UInt64(number)), .disk, waits: false)
                #expect(report.tiers == .disk)
            }
            cache.note(cache.stage.drain(now: cache.now))
            try cache.wait { cache.actions.contains(.drained) ? () : nil }
            cache.note(cache.stage.tick(now: cache.now))
            #expect(cache.actions.filter { $0 == .drained }.count == 1, "once")
            // A job that crossed the worker's goodbye: the worker drains again.
            _ = try cache.put("late", sample(30_000, seed: 99), .disk, waits: false)
            cache.note(cache.stage.drain(now: cache.now))
            try cache.wait {
                cache.actions.filter { $0 == .drained }.count == 2 ? () : nil
            }
            #expect(cache.stage.writeBehind.bytes == 0)
        }
        let cache = try StageFixture(disk.path)
        for number in 0..<40 {
            #expect(try cache.get("k\(number)")?.bytes == sample(30_000, seed: UInt64(number)))
        }
    }

    @Test func withoutADirectoryThereIsMemoryOnly() throws {
        let cache = try StageFixture(nil)
        let report = try cache.put("k", sample(500))
        #expect(report.tiers == .memory)
        #expect(report.skipped == "disk: not configured")
        #expect(try cache.query("x") == .miss)
        #expect(try cache.clear(.all) == .entry(.memory))
        #expect(try cache.query("k") == .miss)
        cache.note(cache.stage.drain(now: cache.now))
        #expect(cache.actions.contains(.drained))
    }
}
