import Testing

@testable import Imagebus

@Suite struct CopyPoolTests {
    @Test(arguments: [1, 1_024, 1_025, 1_280, 1_281, 37_733, 65_536, 65_537, 1 << 20])
    func aClassHasRoomAndWastesAtMostAQuarter(count: Int) {
        let size = CopyPool.size(count)
        #expect(size.bytes >= count)
        #expect(size.bytes <= max(1_024, count * 5 / 4 + 1))
        #expect(size.place != nil)
    }

    @Test func everyCountOfAClassHasItsMemory() {
        var bytes: [Int: Int] = [:]
        for count in stride(from: 1, through: 1 << 20, by: 97) {
            guard let place = CopyPool.size(count).place else { continue }
            #expect(bytes[place, default: CopyPool.size(count).bytes] == CopyPool.size(count).bytes)
            bytes[place] = CopyPool.size(count).bytes
        }
        #expect(bytes.count == 41)
        #expect(CopyPool.size((1 << 20) + 1).place == nil)
    }

    @Test func memoryIsUsedAgainOnceItsCopyHasGone() {
        let pool = CopyPool()
        let first = pool.take(40_000).bytes.baseAddress
        let kept = pool.take(39_000)
        let (start, count) = (kept.bytes.baseAddress, kept.count)
        #expect(start == first && count == 39_000)
        let other = pool.take(40_000).bytes.baseAddress
        #expect(other != first)
        withExtendedLifetime(kept) {}
    }

    @Test func aCopyKeepsItsPool() {
        let copy = CopyPool().take(100)
        copy.target.initializeMemory(as: UInt8.self, repeating: 7)
        let last = copy.bytes.last
        #expect(last == 7)
    }
}
