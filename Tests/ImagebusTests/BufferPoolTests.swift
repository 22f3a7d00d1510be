import Linux
import Synchronization
import TestKit
import Testing

@testable import Imagebus

@Suite struct BufferPoolTests {
    @Test(arguments: [1, 1_024, 1_025, 1_280, 1_281, 37_733, 65_536, 65_537, 1 << 20])
    func aClassHasRoomAndWastesAtMostAQuarter(count: Int) {
        let size = BufferPool.size(count)
        #expect(size.bytes >= count)
        #expect(size.bytes <= max(1_024, count * 5 / 4 + 1))
        #expect(size.place != nil)
    }

    @Test func everyCountOfAClassHasItsMemory() {
        var bytes: [Int: Int] = [:]
        for count in stride(from: 1, through: 1 << 20, by: 97) {
            guard let place = BufferPool.size(count).place else { continue }
            #expect(
                bytes[place, default: BufferPool.size(count).bytes] == BufferPool.size(count).bytes)
            bytes[place] = BufferPool.size(count).bytes
        }
        #expect(bytes.count == 41)
        #expect(BufferPool.size((1 << 20) + 1).place == nil)
    }

    @Test func memoryIsUsedAgainOnceItsCopyHasGone() {
        let pool = BufferPool()
        let first = pool.allocate(40_000).bytes.baseAddress
        let kept = pool.allocate(39_000)
        let (start, count) = (kept.bytes.baseAddress, kept.count)
        #expect(start == first && count == 39_000)
        let other = pool.allocate(40_000).bytes.baseAddress
        #expect(other != first)
        withExtendedLifetime(kept) {}
    }

    @Test func aCopyKeepsItsPool() {
        let copy = BufferPool().allocate(100)
        copy.target.initializeMemory(as: UInt8.self, repeating: 7)
        let last = copy.bytes.last
        #expect(last == 7)
    }

    /// A buffer returned by another thread is in another processor's cache.
    @Test func aThreadGetsWhatItGaveBackItselfBeforeWhatOthersDid() throws {
        let pool = BufferPool()
        let (own, other) = try (Handed(pool), Handed(pool))
        own.giveBack()
        let shard = BufferPool.shard
        // Other tests start threads at the same time.
        var isBack = false
        for _ in 0..<100 where !isBack {
            isBack = try onAnotherThread {
                guard BufferPool.shard != shard else { return false }
                other.giveBack()
                return true
            }
        }
        #expect(isBack)
        let (first, second) = try (Handed(pool), Handed(pool))
        #expect([first.start, second.start] == [own.start, other.start])
    }

    @Test func everyThreadHasAnotherOrdinal() throws {
        let own = Thread.ordinal
        let others = try [onAnotherThread { Thread.ordinal }, onAnotherThread { Thread.ordinal }]
        #expect(Set(others + [own]).count == 3 && own == Thread.ordinal)
    }

    private func onAnotherThread<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) throws -> Value {
        let result = Recorder<Value>()
        try Thread(name: "other") { result.append(body()) }.join()
        return try #require(result.values.first)
    }
}

/// A buffer that is returned at a controlled time.
private final class Handed: Sendable {
    static let count = 40_000
    private let bytes: Mutex<ImageBytes?>
    let start: UInt

    init(_ pool: BufferPool) throws {
        let taken = ImageBytes(pool.allocate(Self.count))
        start = UInt(bitPattern: taken.lastingBytes.baseAddress)
        bytes = Mutex(taken)
    }

    func giveBack() { bytes.withLock { $0 = nil } }
}
