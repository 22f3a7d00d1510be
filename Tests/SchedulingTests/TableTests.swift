import TestKit
import Testing

@testable import Coordinator
@testable public import Model

extension String: SlotMapElement {}

struct TableTests {
    @Test func aSlotIsUsedAgainAndAnOldIdFindsNothing() {
        var table = SlotMap<String>()
        let first = table.insert("a")
        let second = table.insert("b")
        let removed = [table.remove(first), table.remove(first)]
        #expect(removed == ["a", nil])
        let third = table.insert("c")
        #expect(!table.contains(first))
        #expect(table[third] == "c")
        #expect(table.ids == [second, third])
        #expect(table.count == 2)
    }

    @Test func aHeapGivesTheSmallestFirst() {
        var random = SeededGenerator(seed: 1)
        var heap = Heap<Int>()
        let numbers = (0..<500).map { _ in Int.random(in: 0..<100, using: &random) }
        for number in numbers { heap.push(number) }
        heap.keep { $0 % 3 != 0 }
        var sorted: [Int] = []
        while let next = heap.pop() { sorted.append(next) }
        #expect(sorted == numbers.filter { $0 % 3 != 0 }.sorted())
    }

    @Test(arguments: 0...3) func aShortListKeepsItsOrder(count: Int) {
        let numbers = Array(7..<(7 + count))
        let list = ShortList(contentsOf: numbers)
        #expect(Array(list) == numbers)
        #expect(list.count == count && list.isEmpty == (count == 0))
        #expect(list.first == numbers.first && list.last == numbers.last)
        #expect(Array(ShortList(numbers.first)) == Array(numbers.prefix(1)))
    }

    @Test func firstInFirstOut() {
        var fifo = Deque<Int>()
        var taken: [Int] = []
        for number in 0..<200 {
            fifo.append(number)
            if number % 2 == 1, let next = fifo.popFirst() { taken.append(next) }
        }
        #expect(fifo.count == 100)
        fifo.keep { $0 % 10 == 0 }
        while let next = fifo.popFirst() { taken.append(next) }
        #expect(taken == Array(0..<100) + stride(from: 100, to: 200, by: 10))
        #expect(fifo.first == nil)
    }

    @Test func seatsAreUsedAgain() {
        var list = StableArray<String>()
        let first = list.join("a")
        let second = list.join("b")
        list.leave(first)
        let third = list.join("c")
        #expect(third == first)
        #expect(list.members == ["c", "b"])
        list[second] = "d"
        #expect(list.count == 2)
        #expect(list[second] == "d")
    }

    @Test func waitersAreAsUrgentAsTheMostUrgent() {
        var list = SubscriberList<Int>()
        func urgency(_ priority: Priority, _ deadline: UInt64) -> Urgency {
            Urgency(priority: priority, deadline: Instant(nanoseconds: deadline))
        }
        #expect(list.urgency == .none)
        let low = list.join(1, urgency(.low, 90))
        let high = list.join(2, urgency(.high, 10))
        #expect(list.urgency == urgency(.high, 90))
        list.update(low, urgency(.normal, 50))
        #expect(list.urgency == urgency(.high, 50))
        list.leave(high)
        #expect(list.urgency == urgency(.normal, 50))
        list.leave(low)
        #expect(list.urgency == .none)
    }

    @Test func theLongestDeadlineIsFoundAgainWhenManyLeave() {
        var list = SubscriberList<Int>()
        let seats = (1...1_000).map { number in
            list.join(
                number,
                Urgency(priority: .normal, deadline: Instant(nanoseconds: UInt64(number))))
        }
        for (number, seat) in zip(1...1_000, seats).reversed() {
            let longest = list.urgency.deadline.nanoseconds
            #expect(longest >= UInt64(number), "never shorter than any of them")
            if number <= 16 { #expect(longest == UInt64(number)) }
            list.leave(seat)
        }
    }

    @Test func anIndexOfHitsStaysBoundedWhateverIsPublished() {
        var limits = SchedulerLimits()
        limits.hitsMax = 10
        let hits = Hits(limits)
        let cache = WorkerID(1)
        let info = ImageInfo(format: .png, size: PixelSize(width: 1, height: 1))
        let now = Instant(nanoseconds: 0)
        for number in 1...10_000 {
            let reference = BlockReference(
                arena: .results, segment: 0, offset: 0, length: 1, block: BlockID(UInt64(number)))
            let notice = StoredNotice(
                key: "k\(number % 13)", reference: reference, info: info,
                expiresInMilliseconds: nil)
            hits.publish(notice, reference, of: cache, at: now)
            if number % 3 == 0 {
                hits.withdraw(.evicted(BlockHandle(worker: cache, block: reference.block)))
            }
        }
        #expect(hits.count <= 10)
        #expect(hits.entry(for: "k\(10_000 % 13)", at: now)?.reference.block == BlockID(10_000))
        hits.withdraw(.cacheGone(cache))
        #expect(hits.count == 0)
    }
}
