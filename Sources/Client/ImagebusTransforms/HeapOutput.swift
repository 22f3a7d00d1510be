import ImageModel
import Messages
import StageContract
import Synchronization

/// Where the stage puts a file that nobody shares: memory of this process. What nobody took goes
/// with it.
final class HeapOutput: OutputSpace {
    private struct State {
        var last: UInt64 = 0
        var blocks: [BlockID: OutputBlock] = [:]
    }

    private let state = Mutex(State())

    deinit {
        state.withLock { state in
            for block in state.blocks.values { block.bytes.deallocate() }
        }
    }

    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
        return state.withLock { state in
            state.last += 1
            let block = OutputBlock(
                id: BlockID(state.last), arena: .stage, segment: 0, offset: 0, bytes: memory)
            state.blocks[block.id] = block
            return block
        }
    }

    func discard(_ block: OutputBlock) {
        let known = state.withLock { $0.blocks.removeValue(forKey: block.id) }
        known?.bytes.deallocate()
    }

    /// A copy of the bytes that a reference names.
    func take(_ reference: BlockReference) -> [UInt8] {
        state.withLock { state in
            guard let block = state.blocks[reference.block] else { return [] }
            let start = Int(reference.offset &- block.offset)
            return Array(block.bytes[start..<(start + Int(reference.length))])
        }
    }
}
