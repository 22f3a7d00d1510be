import Linux
import Model
import Testing

@testable import Caching

@Suite struct DiskTierTests {
    /// Lengths on both sides of the threshold between index and files.
    @Test(arguments: [0, 1, 16_384, 16_385, 300_000])
    func aBodyComesBackAfterARestart(length: Int) throws {
        let fixture = try DiskFixture()
        let bytes = sample(length)
        do {
            let tier = try fixture.tier()
            tier.put("https://a.test/x.jpg", bytes, originalFacts)
            #expect(tier.get("https://a.test/x.jpg") == bytes)
        }
        let tier = try fixture.tier()
        #expect(tier.state.health == .healthy)
        #expect(tier.get("https://a.test/x.jpg") == bytes)
        #expect(tier.locate("https://a.test/x.jpg", at(0))?.metadata == originalFacts)
        #expect(tier.get("https://a.test/y.jpg") == nil)
        #expect(try fixture.bodyFiles().count == (length > 16_384 ? 1 : 0))
    }

    @Test func aSecondStoreReplacesTheFirstAndItsFile() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("k", sample(50_000, seed: 1), jpegFacts, at(1))
        tier.put("k", sample(60_000, seed: 2), originalFacts, at(2))
        #expect(tier.get("k") == sample(60_000, seed: 2))
        #expect(try fixture.bodyFiles().count == 1)
        let row = try #require(tier.locate("k", at(2)))
        #expect(row.created == at(1))
        #expect(row.stored == at(2))
        tier.put("k", sample(10))
        #expect(try fixture.bodyFiles().isEmpty)
        #expect(tier.usage(at(0))?.entries == 1)
    }

    @Test func aSecondProcessIsRefusedAndToldWhy() throws {
        let fixture = try DiskFixture()
        let first = try CacheDirectory(path: fixture.path)
        let path = fixture.path
        let error = #expect(throws: DiskError.self) { _ = try CacheDirectory(path: path) }
        #expect(error?.kind == .inUse)
        #expect(error?.text == "another process is using the cache directory \(path)")
        #expect(first.path == path)
    }

    @Test func theDirectoryIsFreeAgainAfterItsOwner() throws {
        let fixture = try DiskFixture()
        do { _ = try CacheDirectory(path: fixture.path) }
        _ = try CacheDirectory(path: fixture.path)
    }

    @Test func aDirectoryThatCannotBeMadeIsATypedError() throws {
        let fixture = try DiskFixture()
        let file = fixture.scratch.path + "/file"
        _ = try FileDescriptor.open(file, [.create, .writeOnly])
        let error = #expect(throws: DiskError.self) {
            _ = try CacheDirectory(path: file + "/cache")
        }
        #expect(error?.kind == .failed)
    }

    @Test func removedAndClearedEntriesAreGoneForGood() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            for key in ["a", "b", "c"] { tier.put(key, sample(40_000)) }
            tier.put("small", sample(40))
            #expect(tier.remove("a", at(0)))
            #expect(tier.remove("absent", at(0)))
            #expect(tier.get("a") == nil)
            #expect(tier.get("b") != nil)
            #expect(tier.clear(at(0)))
            #expect(tier.get("b") == nil)
            #expect(tier.get("small") == nil)
            #expect(tier.usage(at(0))?.entries == 0)
            #expect(tier.usage(at(0))?.bytes == 0)
            tier.put("d", sample(40_000))
        }
        let tier = try fixture.tier()
        tier.maintainAll()
        #expect(tier.get("b") == nil)
        #expect(tier.get("d") == sample(40_000))
        #expect(try fixture.bodyFiles().count == 1)
        #expect(try FileDescriptor.openDirectory(fixture.path + "/trash").entries() == [])
    }

    // MARK: - Between locating and reading

    /// How a located entry disappears before it is read.
    enum Departure: CaseIterable, Sendable { case removed, replaced, cleared, clearedAndReplaced }

    /// An entry that disappeared after it was located is a miss, not damage, both in the index and
    /// in a file.
    @Test(arguments: Departure.allCases, [100, 40_000])
    func whatIsGoneSinceItWasLocatedIsAMiss(_ departure: Departure, length: Int) throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("k", sample(length, seed: 1))
        let row = try #require(tier.locate("k", at(0)))
        switch departure {
        case .removed: #expect(tier.remove("k", at(0)))
        case .replaced: tier.put("k", sample(length, seed: 2))
        case .cleared: #expect(tier.clear(at(0)))
        case .clearedAndReplaced:
            #expect(tier.clear(at(0)))
            tier.put("k", sample(length, seed: 2))
        }
        #expect(!isRead(row, tier))
        #expect(tier.state.damaged == 0 && tier.state.health == .healthy)
        let isReplaced = [.replaced, .clearedAndReplaced].contains(departure)
        #expect(tier.get("k") == (isReplaced ? sample(length, seed: 2) : nil))
    }

    /// An unchanged row with wrong bytes is damage: counted once, and removed.
    @Test func whatIsThereWithOtherBytesIsDamage() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("k", sample(40_000))
        let row = try #require(tier.locate("k", at(0)))
        try fixture.rewrite(try #require(try fixture.bodyFiles().first)) { $0[30_000] ^= 1 }
        #expect(!isRead(row, tier))
        #expect(tier.state.damaged == 1 && tier.locate("k", at(0)) == nil)
        #expect(!isRead(row, tier))
        #expect(tier.state.damaged == 1, "it is gone by then")
    }

    private func isRead(_ row: IndexRow, _ tier: DiskTier) -> Bool {
        var bytes = [UInt8](repeating: 0, count: row.bodyLength)
        return bytes.withUnsafeMutableBytes { tier.read("k", row, into: $0, at(0)) }
    }

    // MARK: - Limits

    @Test func theSizeLimitHoldsAfterEveryWriteAndTrimsToTheLowWaterMark() throws {
        let fixture = try DiskFixture()
        // 40,000 bytes and their header take ten blocks; key and row take 514 bytes. Overhead
        // besides the entries, mostly the index's log, is below 400 KB.
        let beside = 400_000
        let limit = 20 * (40_960 + 514) + beside
        let tier = try fixture.tier(DiskPolicy(bytesMax: limit))
        for number in 0..<20 {
            tier.put("\(number % 10)\(number / 10)", sample(40_000), jpegFacts, at(Int64(number)))
            #expect(try #require(tier.usage(at(0))).total <= limit)
        }
        #expect(try #require(tier.usage(at(0))).overhead < beside)
        #expect(tier.usage(at(0))?.entries == 20)
        _ = tier.get("00", at(100))
        for number in 0..<10 { tier.put("x\(number)", sample(40_000), jpegFacts, at(101)) }
        #expect(tier.usage(at(101)).map { $0.total <= limit } == true)
        tier.maintainAll(at(101))
        let usage = try #require(tier.usage(at(101)))
        #expect(usage.total <= limit / 2)
        #expect(usage.bytes > limit / 2 - beside - 41_474, "no more than needed went")
        #expect(tier.get("00", at(102)) != nil, "it was used last")
        #expect(tier.get("x9", at(102)) != nil)
        #expect(tier.get("10", at(102)) == nil, "it was the oldest")
        #expect(try fixture.bodyFiles().count == usage.entries)
    }

    /// Each removed entry is counted once, under its reason: a limit or its age.
    @Test func whatLeavesIsCountedByItsReason() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier(
            DiskPolicy(countMax: 4, ageMax: 100, expireType: .modification))
        for number in 0..<4 { tier.put("\(number)", sample(100), jpegFacts, at(Int64(number))) }
        #expect(tier.state.counts.trims == 0, "just the limit")
        #expect(tier.state.counts.trimmed.entries == 0)
        tier.put("4", sample(100), jpegFacts, at(4))
        tier.maintainAll(at(4))
        let left = try #require(tier.usage(at(4))).entries
        #expect(left == 2, "the half")
        let charge = UInt64(DiskTier.charge(key: "0", bodyLength: 100, headerLength: 0))
        #expect(tier.state.counts.trims == 1)
        #expect(tier.state.counts.trimmed.entries == 3)
        #expect(tier.state.counts.trimmed.bytes == 3 * charge)
        #expect(tier.remove("4", at(4)))
        #expect(tier.state.counts.trimmed.entries == 3 && tier.state.counts.expired.entries == 0)
        tier.maintainAll(at(300))
        #expect(tier.usage(at(300))?.entries == 0)
        #expect(tier.state.counts.expired.entries == 1 && tier.state.counts.expired.bytes == charge)
        #expect(tier.state.counts.trims == 1 && tier.state.counts.trimmed.entries == 3)
        #expect(tier.state.counts.failures == 0 && tier.state.damaged == 0)
    }

    @Test func aBodyOverTheWholeLimitIsSkippedAndEvictsNothing() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier(DiskPolicy(bytesMax: 100_000))
        tier.put("a", sample(40_000))
        let big = sample(100_000)
        let result = big.withUnsafeBytes { tier.write("b", $0, jpegFacts, at(0)) }
        #expect(result == .skipped("disk: 100000 bytes exceed the limit of the whole tier"))
        #expect(tier.get("a") != nil)
        #expect(tier.state.health == .healthy)
    }

    @Test func aTierThatIsOverItsLimitAtTheStartIsTrimmed() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            for number in 0..<10 {
                tier.put("\(number)", sample(40_000), jpegFacts, at(Int64(number)))
            }
        }
        let tier = try fixture.tier(DiskPolicy(bytesMax: 200_000, lowWaterPercent: 100))
        tier.maintainAll()
        #expect(try #require(tier.usage(at(0))).bytes <= 200_000)
        #expect(tier.get("9") != nil)
        #expect(tier.get("0") == nil)
    }

    @Test func anEntryOverAgeIsAMissWhenItIsRead() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier(DiskPolicy(ageMax: 100, expireType: .modification))
        tier.put("a", sample(40_000), jpegFacts, at(0))
        #expect(tier.get("a", at(99)) != nil)
        #expect(tier.get("a", at(100)) == nil)
        #expect(try fixture.bodyFiles().isEmpty)
    }

    @Test func useKeepsAnEntryAliveWhereAccessCounts() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier(DiskPolicy(ageMax: 100, expireType: .access))
        tier.put("a", sample(100), jpegFacts, at(0))
        tier.put("b", sample(100), jpegFacts, at(0))
        #expect(tier.get("a", at(90)) != nil)
        tier.touch(["b"], at(95))
        #expect(tier.get("a", at(150)) != nil)
        #expect(tier.get("b", at(150)) != nil)
        tier.maintainAll(at(251))
        #expect(tier.usage(at(251))?.entries == 0)
    }

    @Test func noteOfUseOutlivesARestart() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            tier.put("a", sample(100), jpegFacts, at(0))
            _ = tier.get("a", at(50))
            tier.flush(at(50))
        }
        #expect(try fixture.tier().locate("a", at(50))?.accessed == at(50))
    }

    @Test func negativeAgeNeverExpiresAndZeroAlwaysDoes() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier(DiskPolicy(ageMax: -1))
            tier.put("a", sample(10), jpegFacts, at(0))
            #expect(tier.get("a", at(1_000_000_000)) != nil)
        }
        let tier = try fixture.tier(DiskPolicy(ageMax: 0))
        #expect(tier.get("a", at(1_000_000_000)) == nil)
    }

    @Test func agedEntriesAreRemovedWithoutBeingRead() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier(DiskPolicy(ageMax: 100, expireType: .creation))
        for number in 0..<300 { tier.put("\(number)", sample(10), jpegFacts, at(Int64(number))) }
        tier.maintainAll(at(300))
        #expect(tier.usage(at(300))?.entries == 99)
    }
}
