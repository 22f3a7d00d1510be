import Model
import Testing

@testable import Caching

private func entry(
    _ block: UInt64, key: String?, bytes: Int = 1_000, expires: UnixTime? = nil
) -> MemoryEntry {
    MemoryEntry(
        key: key,
        reference: BlockReference(
            arena: .results, segment: 1, offset: 64, length: UInt64(bytes), block: BlockID(block)),
        metadata: jpegFacts, blockBytes: bytes, expires: expires)
}

/// A tier with room for `count` entries with one-letter keys and 1,000 bytes, filled with `keys`.
private func tier(_ keys: [String], room count: Int) -> MemoryTier {
    var tier = MemoryTier(costMax: count * MemoryTier.cost(key: "a", blockBytes: 1_000))
    for (number, key) in keys.enumerated() {
        _ = tier.insert(entry(UInt64(number + 1), key: key))
    }
    return tier
}

private func ids(_ numbers: UInt64...) -> [BlockID] { numbers.map { BlockID($0) } }

@Suite struct MemoryTierTests {
    @Test func unusedEntriesGoInTheOrderOfTheirArrival() {
        var tier = tier(["a", "b", "c"], room: 3)
        #expect(tier.evictOne()?.freed == ids(1))
        #expect(tier.evictOne()?.freed == ids(2))
        #expect(tier.evictOne()?.freed == ids(3))
        #expect(tier.evictOne() == nil)
        #expect(tier.cost == 0)
    }

    @Test func whatWasUsedStaysAndTheLargestOfTheOthersGoes() {
        var tier = tier(["a", "b", "c"], room: 9)
        _ = tier.insert(entry(4, key: "d", bytes: 3_000))
        _ = tier.insert(entry(5, key: "e"))
        _ = tier.lookup("a", now: at(0))
        #expect(tier.evictOne()?.freed == ids(4))
        #expect(tier.evictOne()?.freed == ids(2))
        #expect(tier.evictOne()?.freed == ids(3))
        #expect(tier.evictOne()?.freed == ids(1), "a was used")
        #expect(tier.evictOne()?.freed == ids(5), "e is the newest")
    }

    @Test func aKeyThatComesBackIsWorthMoreThanOneThatIsNew() {
        var tier = tier(["a", "b"], room: 9)
        #expect(tier.evictOne()?.freed == ids(1))
        _ = tier.insert(entry(3, key: "a"))
        _ = tier.insert(entry(4, key: "c"))
        _ = tier.insert(entry(5, key: "d"))
        #expect(tier.evictOne()?.freed == ids(2))
        #expect(tier.evictOne()?.freed == ids(4), "a was evicted recently")
        #expect(tier.evictOne()?.freed == ids(3))
    }

    @Test func aReportOfUseSparesAsAHitDoes() {
        var tier = tier(["a", "b", "c"], room: 3)
        #expect(tier.touch(BlockID(1)) == "a")
        #expect(tier.touch(BlockID(99)) == nil)
        #expect(tier.evictOne()?.evicted == ids(2))
    }

    @Test func whenAllWereUsedTheOldestGoes() {
        var tier = tier(["a", "b", "c"], room: 3)
        for key in ["a", "b", "c"] { _ = tier.lookup(key, now: at(0)) }
        #expect(tier.evictOne()?.freed == ids(1))
    }

    @Test func makingRoomEvictsJustEnough() {
        var tier = tier(["a", "b", "c"], room: 3)
        let one = MemoryTier.cost(key: "x", blockBytes: 1_000)
        #expect(tier.makeRoom(for: one)?.evicted == ids(1))
        #expect(tier.makeRoom(for: one)?.evicted == [], "there is room now")
        #expect(tier.makeRoom(for: 3 * one)?.evicted == ids(2, 3))
        #expect(tier.makeRoom(for: 3 * one + 1) == nil, "more than the whole limit")
    }

    @Test func anEntryThatCannotFitEvictsNothing() {
        var tier = tier(["a", "b"], room: 2)
        #expect(tier.makeRoom(for: 1_000_000) == nil)
        #expect(tier.count == 2)
    }

    /// An exact maximum of entries, regardless of their size; 0 means no limit.
    @Test func theLimitOfEntriesIsExact() {
        var tier = MemoryTier(costMax: 1 << 20, countMax: 2)
        for number in 1...2 as ClosedRange<UInt64> {
            #expect(tier.makeRoom(for: 2_000)?.isEmpty == true)
            _ = tier.insert(entry(number, key: "\(number)"))
        }
        #expect(tier.makeRoom(for: 2_000)?.freed == ids(1))
        #expect(tier.makeRoom(for: 2_000)?.isEmpty == true, "one slot is free now")
        #expect(tier.limit(costMax: 1 << 20, countMax: 0).isEmpty)
        for number in 3...9 as ClosedRange<UInt64> {
            #expect(tier.makeRoom(for: 2_000)?.isEmpty == true)
            _ = tier.insert(entry(number, key: "\(number)"))
        }
        #expect(tier.count == 8)
    }

    /// Entries that exactly fit a lower limit stay, and no more are evicted than necessary.
    @Test func aLowerLimitEvictsJustEnough() {
        let one = MemoryTier.cost(key: "a", blockBytes: 1_000)
        var tier = tier(["a", "b", "c", "d"], room: 4)
        #expect(tier.limit(costMax: 4 * one, countMax: 4).isEmpty)
        #expect(tier.limit(costMax: 4 * one - 1, countMax: 0).freed == ids(1))
        #expect(tier.limit(costMax: 4 * one, countMax: 2).freed == ids(2))
        #expect(tier.limit(costMax: 2 * one, countMax: 0).isEmpty)
        #expect(tier.limit(costMax: 0, countMax: 0).freed == ids(3, 4))
        #expect(tier.cost == 0 && tier.count == 0 && tier.makeRoom(for: one) == nil)
    }

    @Test func shrinkingGoesDownToItsPartAndNoFurther() {
        var tier = tier(["a", "b", "c", "d"], room: 4)
        #expect(tier.shrink(toPercent: 100).isEmpty)
        #expect(tier.shrink(toPercent: 50).freed == ids(1, 2))
        #expect(tier.shrink(toPercent: 50).isEmpty)
        #expect(tier.costMax == 4 * MemoryTier.cost(key: "a", blockBytes: 1_000), "as before")
    }

    @Test func aNewEntryOfTheSameKeyReplacesTheOld() {
        var tier = tier(["a"], room: 4)
        let gone = tier.insert(entry(7, key: "a"))
        #expect(gone.evicted == ids(1))
        #expect(gone.freed == ids(1))
        #expect(tier.lookup("a", now: at(0)).0?.block == BlockID(7))
        #expect(tier.count == 1)
    }

    @Test func anExpiredEntryIsAMissAndLeaves() {
        var tier = tier([], room: 4)
        _ = tier.insert(entry(1, key: "a", expires: at(10)))
        #expect(tier.lookup("a", now: at(9)).0?.block == BlockID(1))
        #expect(tier.contains("a", now: at(9)))
        #expect(!tier.contains("a", now: at(10)))
        let (found, gone) = tier.lookup("a", now: at(10))
        #expect(found == nil)
        #expect(gone.evicted == ids(1))
        #expect(tier.cost == 0)
    }

    @Test func removingAndClearingTellWhichBlocksLeft() {
        var tier = tier(["a", "b", "c"], room: 4)
        _ = tier.insert(entry(4, key: nil))
        #expect(tier.remove(key: "b").evicted == ids(2))
        #expect(tier.remove(key: "b").isEmpty)
        #expect(tier.clear().evicted == ids(1, 3))
        #expect(tier.count == 1, "bodies only delivered stay")
        #expect(tier.lookup("a", now: at(0)).0 == nil)
    }

    @Test func theCoordinatorHearsOfLargeEntriesWithoutAKeyToo() {
        var tier = MemoryTier(costMax: 8 << 20)
        _ = tier.insert(entry(1, key: nil, bytes: 1 << 20))
        _ = tier.insert(entry(2, key: nil, bytes: 1_000))
        let large = tier.evictOne()
        #expect(large?.evicted == ids(1) && large?.freed == ids(1))
        let small = tier.evictOne()
        #expect(small?.evicted == [] && small?.freed == ids(2))
    }

    @Test func theAccountIsRightAfterManyRandomSteps() {
        var random = SystemRandomNumberGenerator()
        var tier = MemoryTier(costMax: 40_000)
        var model: [BlockID: Int] = [:]
        for number in 1...5_000 {
            let key =
                random.next(upperBound: 4 as UInt) == 0
                ? nil : "k\(random.next(upperBound: 60 as UInt))"
            let new = entry(
                UInt64(number), key: key, bytes: Int(random.next(upperBound: 3_000 as UInt)))
            var gone = tier.makeRoom(for: new.cost) ?? Departures()
            gone.append(tier.insert(new))
            model[new.block] = new.cost
            let other = BlockID(
                UInt64(number) - min(UInt64(number) - 1, random.next(upperBound: 50)))
            switch random.next(upperBound: 4 as UInt) {
            case 0, 1: _ = tier.touch(other)
            case 2: gone.append(tier.remove(key: "k\(random.next(upperBound: 60 as UInt))"))
            default: gone.append(tier.lookup("k1", now: at(0)).1)
            }
            for block in gone.freed { #expect(model.removeValue(forKey: block) != nil) }
            #expect(tier.cost == model.values.reduce(0, +))
            #expect(tier.count == model.count)
            #expect(tier.cost <= tier.costMax)
        }
    }
}
