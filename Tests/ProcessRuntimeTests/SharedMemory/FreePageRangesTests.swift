import Testing

@testable import ProcessRuntime

@Suite struct FreePageRangesTests {
    @Test func takesTheSmallestRunThatFits() {
        var runs = FreePageRanges(pageCount: 10)
        #expect(runs.allocate(4) == 0)
        #expect(runs.allocate(2) == 4)
        #expect(runs.allocate(4) == 6)
        runs.give(0, 4)
        runs.give(4, 2)
        runs.give(6, 1)
        #expect(runs.allocate(8) == nil)
        #expect(runs.allocate(7) == 0)
    }

    @Test func neighborsGrowTogether() {
        var runs = FreePageRanges(pageCount: 9)
        let starts = (0..<3).map { _ in runs.allocate(3) }
        #expect(starts == [0, 3, 6])
        runs.give(6, 3)
        runs.give(0, 3)
        #expect(!runs.isUnused)
        runs.give(3, 3)
        #expect(runs.isUnused)
        #expect(runs.allocate(9) == 0)
    }

    @Test(arguments: 0..<20) func aRandomWalkNeverGivesOnePageTwice(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func random(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        var runs = FreePageRanges(pageCount: 64)
        var taken: [(Int, Int)] = []
        var used = Set<Int>()
        for _ in 0..<500 {
            if random(2) == 0, let index = taken.indices.randomElement() {
                let (start, count) = taken.remove(at: index)
                runs.give(start, count)
                used.subtract(start..<(start + count))
            } else {
                let count = random(9) + 1
                guard let start = runs.allocate(count) else { continue }
                let pages = Set(start..<(start + count))
                #expect(used.isDisjoint(with: pages) && start + count <= 64)
                used.formUnion(pages)
                taken.append((start, count))
            }
        }
        for (start, count) in taken { runs.give(start, count) }
        #expect(runs.isUnused)
    }
}
