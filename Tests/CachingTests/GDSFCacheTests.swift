import Testing

@testable import Caching

/// The order in which entries are evicted from the memory tier.
@Suite struct GDSFCacheTests {
    /// A queue whose window holds exactly one entry of 1,000 bytes.
    private func queue() -> GDSFCache { GDSFCache(bytesMax: 32_000) }

    private func item(_ hash: UInt64, _ bytes: Int = 1_000) -> EvictionItem {
        EvictionItem(hash: hash, bytes: bytes)
    }

    private func evict(_ queue: inout GDSFCache) -> Int32? {
        guard let slot = queue.victim() else { return nil }
        queue.remove(slot, asVictim: true)
        return slot
    }

    @Test func whatIsUsedMoreOftenStaysLonger() {
        var queue = queue()
        let slots = (0..<4).map { queue.insert(item($0)) }
        for _ in 0..<2 { queue.use(slots[0]) }
        queue.use(slots[1])
        #expect(evict(&queue) == slots[2], "never used")
        #expect(evict(&queue) == slots[1], "used once")
        #expect(evict(&queue) == slots[0], "used twice")
        #expect(evict(&queue) == slots[3], "the newest is not compared until then")
        #expect(evict(&queue) == nil)
    }

    @Test func ofEquallyUsedTheLargestGoes() {
        var queue = queue()
        let slots = [(0, 1_000), (1, 8_000), (2, 2_000), (3, 1_000)].map {
            queue.insert(item($0, $1))
        }
        for slot in slots { queue.use(slot) }
        #expect(evict(&queue) == slots[1])
        #expect(evict(&queue) == slots[2])
        #expect(evict(&queue) == slots[0])
    }

    /// A returning entry is worth one use; one that was never requested again is worth a tenth.
    @Test func whatComesBackIsWorthMoreThanWhatIsNew() {
        var queue = queue()
        let first = queue.insert(item(7))
        _ = queue.insert(item(8))
        #expect(evict(&queue) == first)
        let again = queue.insert(item(7))
        let new = queue.insert(item(9))
        _ = queue.insert(item(10))
        #expect(evict(&queue) != again)
        #expect(evict(&queue) == new)
        #expect(evict(&queue) == again)
    }

    @Test func whatIsNotUsedAnyMoreGoesInTheEnd() {
        var queue = queue()
        let old = queue.insert(item(1))
        for _ in 0..<1_000 { queue.use(old) }
        var rounds = 0
        // Others are inserted, used once and evicted until the old entry's turn comes.
        for number in 2..<100_000 as Range<UInt64> {
            queue.use(queue.insert(item(number)))
            rounds += 1
            if queue.count > 10, evict(&queue) == old { break }
        }
        // At most fifteen uses count, and about ten new entries pass per use.
        #expect((50...500).contains(rounds), "after \(rounds)")
    }

    /// A result that is being delivered to a client, however large.
    @Test func whatIsNewIsNotTheNextToGo() {
        var queue = GDSFCache(bytesMax: 3_200_000)
        var slots = (0..<100).map { queue.insert(item(UInt64($0))) }
        for slot in slots { queue.use(slot) }
        let large = queue.insert(item(1_000, 90_000))
        slots += (0..<9).map { queue.insert(item(2_000 + UInt64($0))) }
        #expect(queue.victim() != large, "9,000 bytes came after it")
        for number in 0..<2 { _ = queue.insert(item(3_000 + UInt64(number))) }
        #expect(evict(&queue) == large, "more than 10,000: it is compared, and worth least")
    }

    /// Use doesn't end the window in which an entry is not compared; it counts once the entry
    /// leaves the window.
    @Test func whatIsUsedWhileItIsNewStaysAmongTheNew() {
        var queue = GDSFCache(bytesMax: 3_200_000)
        let slots = (0..<100).map { queue.insert(item(UInt64($0))) }
        for slot in slots { queue.use(slot) }
        let large = queue.insert(item(1_000, 90_000))
        for _ in 0..<3 { queue.use(large) }
        #expect(queue.victim() != large, "of those that are compared it would be worth least")
        for number in 0..<9 { _ = queue.insert(item(2_000 + UInt64(number))) }
        #expect(queue.victim() != large, "9,000 bytes came after it")
        for number in 0..<2 { _ = queue.insert(item(3_000 + UInt64(number))) }
        #expect(evict(&queue) == large)
    }

    @Test func usesOfWhatIsNewCountLater() {
        var queue = queue()
        let used = queue.insert(item(1))
        for _ in 0..<2 { queue.use(used) }
        let unused = queue.insert(item(2))
        _ = queue.insert(item(3))
        #expect(evict(&queue) == unused)
        #expect(evict(&queue) == used)
    }

    /// Entries that exactly fill the window are all exempt; with one byte more, the oldest is
    /// compared.
    @Test(arguments: [(500, false), (501, true)])
    func theWindowHoldsExactlyItsBytes(bytes: Int, isCompared: Bool) {
        var queue = queue()
        let often = queue.insert(item(1))
        let first = queue.insert(item(2, 500))
        _ = queue.insert(item(3, bytes))
        for _ in 0..<5 { queue.use(often) }
        #expect(queue.victim() == (isCompared ? first : often))
    }

    /// The window is a fraction of the new limit; entries that already left it stay outside.
    @Test func theWindowFollowsTheLimit() {
        var queue = queue()
        queue.limit(bytesMax: 96_000)
        let slots = (0..<4).map { queue.insert(item($0)) }
        for _ in 0..<5 { queue.use(slots[0]) }
        #expect(queue.victim() == slots[0], "the other three are new")
        queue.limit(bytesMax: 32_000)
        _ = queue.insert(item(4))
        #expect(queue.victim() == slots[1], "no more than one is new")
    }

    @Test func theCountIsRightAfterManyRandomSteps() {
        var random = SystemRandomNumberGenerator()
        var queue = GDSFCache(bytesMax: 100_000)
        var live: Set<Int32> = []
        for number in 0..<20_000 as Range<UInt64> {
            switch random.next(upperBound: 8 as UInt) {
            case 0...3:
                let bytes = Int(random.next(upperBound: 1 << 40 as UInt)) >> Int.random(in: 0..<40)
                let isNew = live.insert(queue.insert(item(number % 500, bytes))).inserted
                #expect(isNew)
            case 4, 5: if let slot = live.randomElement() { queue.use(slot) }
            case 6:
                guard let slot = live.randomElement() else { continue }
                queue.remove(slot, asVictim: false)
                live.remove(slot)
            default:
                let slot = evict(&queue)
                let isKnown = slot.map { live.remove($0) != nil } ?? live.isEmpty
                #expect(isKnown)
            }
            #expect(queue.count == live.count)
        }
        while let slot = evict(&queue) { live.remove(slot) }
        #expect(live.isEmpty)
    }
}
