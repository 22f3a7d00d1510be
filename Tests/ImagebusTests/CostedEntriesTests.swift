import TestKit
import Testing

@testable import Imagebus

/// Which entries are evicted when the cost or the count exceeds its limit.
@Suite struct CostedEntriesTests {
    @Test func theOneUsedLongestAgoMakesRoom() {
        var entries = CostedEntries<String, Int>(costMax: 10, countMax: 9)
        for (key, cost) in [("a", 3), ("b", 3), ("c", 4)] {
            #expect(entries.put(0, under: key, cost: cost) == 0)
        }
        #expect(entries.use("a") == 0)
        #expect(entries.put(1, under: "d", cost: 1) == 1)
        #expect(entries.use("b") == nil && entries.use("a") == 0 && entries.use("c") == 0)
        #expect(entries.put(2, under: "c", cost: 1) == 0, "its own cost is gone before")
        #expect(entries.use("c") == 2 && entries.cost == 5 && entries.count == 3)
        #expect(entries.put(3, under: "e", cost: 10) == 3)
        #expect(entries.cost == 10 && entries.count == 1)
    }

    @Test func theCountIsALimitOfItsOwn() {
        var entries = CostedEntries<Int, Int>(costMax: .max, countMax: 2)
        for key in 0..<5 { _ = entries.put(key, under: key, cost: 0) }
        #expect(entries.count == 2 && entries.use(3) == 3 && entries.use(4) == 4)
        var none = CostedEntries<Int, Int>(costMax: 9, countMax: 0)
        #expect(none.put(1, under: 1, cost: 0) == nil && none.count == 0)
    }

    @Test func whatIsTooLargeTakesTheOldOneWithIt() {
        var entries = CostedEntries<Int, Int>(costMax: 9, countMax: 9)
        _ = entries.put(1, under: 1, cost: 9)
        #expect(entries.put(2, under: 1, cost: 10) == nil)
        #expect(entries.use(1) == nil && entries.cost == 0)
        #expect(entries.put(2, under: 1, cost: -1) == nil)
    }

    /// Compared with a list that is searched from its end.
    @Test(arguments: UInt64(1)...20)
    func aWalkIsTheSameAsAList(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var entries = CostedEntries<Int, Int>(costMax: 100, countMax: 12)
        var list: [(key: Int, value: Int, cost: Int)] = []
        for step in 0..<2_000 {
            let key = Int.random(in: 0..<20, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let cost = Int.random(in: 0...40, using: &random)
                _ = entries.put(step, under: key, cost: cost)
                list.removeAll { $0.key == key }
                list.append((key, step, cost))
                while list.count > 12 || list.reduce(0, { $0 + $1.cost }) > 100 {
                    list.removeFirst()
                }
            case 4..<6:
                let place = list.firstIndex { $0.key == key }
                #expect(entries.use(key) == place.map { list[$0].value })
                if let place { list.append(list.remove(at: place)) }
            case 6:
                entries.remove(key)
                list.removeAll { $0.key == key }
            default:
                let isOdd = Int.random(in: 0..<40, using: &random) == 0
                let gone = entries.remove { key, _ in isOdd && key % 2 == 1 }
                let before = list.count
                list.removeAll { isOdd && $0.key % 2 == 1 }
                #expect(gone == before - list.count)
            }
            #expect(entries.count == list.count)
            #expect(entries.cost == list.reduce(0) { $0 + $1.cost })
        }
    }
}
