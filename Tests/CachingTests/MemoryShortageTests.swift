import Linux
import Model
import Testing

@testable import Caching

/// When the memory tier releases memory.
@Suite struct MemoryShortageTests {
    private func supply(
        limit: Int? = nil, used: Int? = nil, stall: Double? = nil, available: Int? = nil,
        total: Int? = nil
    ) -> MemorySupply {
        var supply = MemorySupply()
        (supply.limitBytes, supply.usedBytes, supply.stallPercent) = (limit, used, stall)
        (supply.availableBytes, supply.totalBytes) = (available, total)
        return supply
    }

    @Test func itIsShortBeforeTheKernelTakesIt() {
        func isShort(_ supply: MemorySupply) -> Bool {
            var shortage = MemoryShortage()
            return shortage.reason(supply, now: at(0)) != nil
        }
        #expect(!isShort(supply()), "no data is available")
        #expect(!isShort(supply(limit: 1_000, used: 899)))
        #expect(isShort(supply(limit: 1_000, used: 900)))
        #expect(!isShort(supply(stall: 9.99)))
        #expect(isShort(supply(stall: 10)))
        #expect(!isShort(supply(available: 50, total: 1_000)))
        #expect(isShort(supply(available: 49, total: 1_000)))
        #expect(!isShort(supply(limit: 0, used: 0)))
    }

    @Test func itIsLeftAloneForAMomentAfterwards() {
        var shortage = MemoryShortage()
        let short = supply(stall: 50)
        #expect(shortage.reason(short, now: at(0)) != nil)
        #expect(shortage.reason(short, now: at(9)) == nil)
        #expect(shortage.reason(short, now: at(10)) != nil)
        #expect(shortage.reason(short, now: at(-100)) != nil, "a clock that was set back")
    }

    @Test func theTierShrinksToTheLowWaterMarkAndIsCounted() throws {
        var policy = CachePolicy(memoryBytesMax: 1_000_000)
        policy.disk.lowWaterPercent = 30
        let cache = try StageFixture(nil, policy: policy)
        for number in 0..<20 { _ = try cache.put("\(number)", sample(40_000), .memory) }
        #expect(cache.stage.status().memoryBytes > 700_000)
        let actions = cache.stage.shrinkMemory(now: at(0))
        #expect(cache.stage.status().memoryBytes <= 300_000)
        #expect(cache.stage.status().memoryEntries > 0)
        #expect(cache.stage.counts.memoryShrinks == 1)
        let reported = actions.reduce(0) { count, action in
            if case .evicted(let blocks) = action { count + blocks.count } else { count }
        }
        #expect(reported == 20 - Int(cache.stage.status().memoryEntries))
        _ = cache.stage.shrinkMemory(now: at(0))
        #expect(cache.stage.counts.memoryShrinks == 1, "nothing left: not counted")
    }
}
