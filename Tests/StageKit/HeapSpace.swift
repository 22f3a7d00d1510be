public import Model
import Synchronization

/// Blocks allocated on the heap; tracks the blocks that haven't been returned.
public final class HeapSpace: OutputSpace {
    private struct State {
        var next: UInt64 = 1
        var blocks: [BlockID: OutputBlock] = [:]
        var untouched = 0.0
    }

    private let state = Mutex(State())
    private let bytesMax: Int
    private let onReserve: @Sendable () -> Void

    /// Creates an empty space.
    ///
    /// - Parameters:
    /// - bytesMax: the largest block; more fails with `arenaFull`.
    /// - onReserve: called before each reservation.
    public init(bytesMax: Int = 1 << 30, onReserve: @escaping @Sendable () -> Void = {}) {
        self.bytesMax = bytesMax
        self.onReserve = onReserve
    }

    deinit {
        state.withLock { state in
            for block in state.blocks.values { block.bytes.deallocate() }
        }
    }

    /// The number of blocks that were reserved and not returned.
    public var outstanding: Int { state.withLock { $0.blocks.count } }

    /// The unwritten fraction at the end of the last returned block, 0 to 1.
    public var untouched: Double { state.withLock { $0.untouched } }

    /// Allocates a block of `bytes` bytes, each 0xEE.
    public func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        onReserve()
        guard bytes <= bytesMax else { throw ImageError(.arenaFull, "no space") }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0xEE)
        let id = state.withLock { state in
            defer { state.next += 1 }
            return BlockID(state.next)
        }
        let block = OutputBlock(id: id, arena: .stage, segment: 1, offset: 0, bytes: memory)
        state.withLock { $0.blocks[id] = block }
        return block
    }

    /// Returns a block, once.
    public func discard(_ block: OutputBlock) {
        var end = block.bytes.count
        while end > 0, block.bytes[end - 1] == 0xEE { end -= 1 }
        let untouched = 1 - Double(end) / Double(max(1, block.bytes.count))
        state.withLock { $0.untouched = untouched }
        let known = state.withLock { $0.blocks.removeValue(forKey: block.id) != nil }
        precondition(known, "a block is given back once")
        block.bytes.deallocate()
    }

    /// The bytes of a block reference.
    public func bytes(_ reference: BlockReference) -> [UInt8] {
        state.withLock { state in
            guard let block = state.blocks[reference.block] else { return [] }
            return Array(block.bytes.prefix(Int(reference.length)))
        }
    }
}
