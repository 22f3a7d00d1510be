import Model
import Testing

@testable import Caching

/// Images requested only once need not be written to disk (`disk-first-use`, SEMANTICS §5.12).
@Suite struct FirstUseTests {
    private func fixture(_ path: String) throws -> StageFixture {
        try StageFixture(path, policy: CachePolicy(writesFirstUse: false))
    }

    @Test func whatIsAskedForOnceIsInMemoryAlone() throws {
        let disk = try DiskFixture()
        let cache = try fixture(disk.path)
        let report = try cache.put("a", sample(30_000), waits: false)
        #expect(report.tiers == .memory)
        #expect(report.skipped == "disk: first use")
        try cache.drain()
        #expect(cache.stage.diskStatus?.usage?.entries == 0)
        #expect(try cache.query("a", .disk) == .miss)
        #expect(try cache.get("a", .memory)?.bytes == sample(30_000))
    }

    @Test func whatIsMadeAgainIsWritten() throws {
        let disk = try DiskFixture()
        let cache = try fixture(disk.path)
        _ = try cache.put("a", sample(30_000), waits: false)
        let report = try cache.put("a", sample(30_000, seed: 2), waits: false)
        #expect(report.tiers == .all && report.skipped == nil)
        try cache.drain()
        #expect(try cache.get("a", .disk)?.bytes == sample(30_000, seed: 2))
        #expect(try cache.query("b", .disk) == .miss)
    }

    @Test(arguments: [true, false])
    func whatIsUsedInMemoryIsWritten(byReport: Bool) throws {
        let disk = try DiskFixture()
        let cache = try fixture(disk.path)
        _ = try cache.put("a", sample(30_000), waits: false)
        _ = try cache.put("b", sample(30_000, seed: 2), waits: false)
        if byReport {
            let entries = cache.stage.memory.entries(now: at(0))
            cache.stage.touched([try #require(entries.first { $0.key == "a" }).block])
        } else {
            #expect(try cache.get("a", .memory) != nil)
        }
        try cache.drain()
        #expect(try cache.get("a", .disk)?.bytes == sample(30_000))
        #expect(try cache.query("b", .disk) == .miss, "that was not used")
    }

    @Test func whoWaitsForTheDiskHasItWritten() throws {
        let disk = try DiskFixture()
        let cache = try fixture(disk.path)
        #expect(try cache.put("a", sample(30_000)).tiers == .all)
        #expect(try cache.get("a", .disk)?.bytes == sample(30_000))
    }

    /// The set of requested keys doesn't survive a restart; disk entries do.
    @Test func anOlderValueOnTheDiskDoesNotStayBesideANewerOne() throws {
        let disk = try DiskFixture()
        let before = try StageFixture(disk.path)
        _ = try before.put("a", sample(30_000))
        before.stage.stop()
        let cache = try fixture(disk.path)
        let report = try cache.put("a", sample(30_000, seed: 2), waits: false)
        #expect(report.tiers == .memory)
        #expect(try cache.query("a", .disk) == .miss)
    }

    /// The disk was found to have an older value when queried, so a newer value replaces it there.
    @Test func whatTheDiskHasIsNotAskedForTheFirstTime() throws {
        let disk = try DiskFixture()
        let before = try StageFixture(disk.path)
        _ = try before.put("a", sample(30_000))
        before.stage.stop()
        let cache = try fixture(disk.path)
        #expect(try cache.get("a", .disk) != nil)
        #expect(try cache.put("a", sample(30_000, seed: 2), waits: false).tiers == .all)
    }

    @Test func whatIsRemovedFromTheDiskDoesNotComeThereWhenItIsUsed() throws {
        let disk = try DiskFixture()
        let cache = try fixture(disk.path)
        _ = try cache.put("a", sample(30_000), waits: false)
        cache.stage.forget("a", .disk)
        #expect(try cache.get("a", .memory) != nil)
        try cache.drain()
        #expect(try cache.query("a", .disk) == .miss)
    }
}

@Suite struct RecentKeysTests {
    /// Well-mixed hashes.
    private func hash(_ number: UInt64) -> UInt64 {
        var mixed = number &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    @Test func asManyAsItIsMadeForAreKnownAndFewOthers() {
        var keys = RecentKeys(capacity: 10_000)
        for number in 0..<15_000 as Range<UInt64> { keys.note(hash(number)) }
        for number in 5_000..<15_000 as Range<UInt64> { #expect(keys.contains(hash(number))) }
        // The false positive rate of a full filter is (1 - exp(-4/8))^4 = 2.4 %, and there are two
        // filters.
        let mistaken = (20_000..<30_000 as Range<UInt64>).count(where: {
            keys.contains(hash($0))
        })
        #expect(mistaken < 500, "\(mistaken) of 10,000")
    }

    @Test func whatIsLongAgoIsForgotten() {
        var keys = RecentKeys(capacity: 1_000)
        let seen = (0..<3).map { _ in keys.note(1) }
        #expect(seen == [false, true, true])
        for number in 2..<3_000 as Range<UInt64> { keys.note(hash(number)) }
        #expect(!keys.contains(1))
    }

    /// Noting a key again takes no additional capacity.
    @Test func aKnownKeyIsNotCountedAgain() {
        var keys = RecentKeys(capacity: 100)
        for _ in 0..<1_000 { keys.note(hash(0)) }
        for number in 1..<90 as Range<UInt64> { keys.note(hash(number)) }
        for number in 0..<90 as Range<UInt64> { #expect(keys.contains(hash(number))) }
    }

    /// A key noted repeatedly stays, regardless of the keys in between.
    @Test func aKeyThatIsNotedAgainIsNewAgain() {
        var keys = RecentKeys(capacity: 100)
        for round in 0..<20 as Range<UInt64> {
            #expect(keys.note(hash(0)) == (round > 0))
            for number in 1...50 as ClosedRange<UInt64> { keys.note(hash(50 * round + number)) }
        }
    }
}
