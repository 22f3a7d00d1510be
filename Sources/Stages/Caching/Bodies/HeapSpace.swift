internal import ImageModel
internal import Messages
internal import StageContract
internal import Synchronization

/// Private memory as an output space: for bodies that wait for the disk and that nobody reads.
///
/// Its bound is that of the write-behind, which is asked before.
final class HeapSpace: OutputSpace {
    private let nextID = Atomic<UInt64>(1)

    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
        let (id, _) = nextID.add(1, ordering: .relaxed)
        return OutputBlock(id: BlockID(id), arena: .stage, segment: 0, offset: 0, bytes: memory)
    }

    func discard(_ block: OutputBlock) { block.bytes.deallocate() }
}
