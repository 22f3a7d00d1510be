import Caching
import Model
import Synchronization

/// Heap memory for reads, in place of a worker's shared memory.
final class BenchSpace: ResultSpace {
    private struct Blocks: Sendable {
        var last: UInt64 = 0
        /// The address of each block.
        var places: [BlockID: UInt] = [:]
    }

    private let blocks = Mutex(Blocks())

    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
        let place = UInt(bitPattern: memory.baseAddress)
        let id = blocks.withLock { blocks in
            blocks.last += 1
            blocks.places[BlockID(blocks.last)] = place
            return BlockID(blocks.last)
        }
        return OutputBlock(id: id, arena: .stage, segment: 1, offset: 64, bytes: memory)
    }

    /// The bytes of a block that was not discarded.
    func bytes(_ reference: BlockReference) -> UnsafeRawBufferPointer {
        let place = blocks.withLock { $0.places[reference.block] }
        return UnsafeRawBufferPointer(
            start: place.flatMap { UnsafeRawPointer(bitPattern: $0) }, count: Int(reference.length))
    }

    func resize(
        _ block: OutputBlock, to bytes: Int, keeping: Int
    ) throws(ImageError) -> OutputBlock {
        throw ImageError(.internalError, "nothing grows here")
    }

    func discard(_ block: OutputBlock) {
        blocks.withLock { $0.places[block.id] = nil }
        block.bytes.deallocate()
    }

    func publish(_ block: OutputBlock) {}
    func retire(_ id: BlockID) {}
}

/// Bodies as if from other processes; the block ID is the image number.
struct BenchSource: PayloadSource {
    let images: Images

    static func reference(_ number: Int, _ images: Images) -> BlockReference {
        BlockReference(
            segment: 1, offset: 64, length: UInt64(images.bytes(number)),
            block: BlockID(UInt64(number + 1)))
    }

    func check(_ reference: BlockReference) throws(ImageError) {}

    func copy(
        _ reference: BlockReference, into target: UnsafeMutableRawBufferPointer
    ) throws(ImageError) {
        let body = UnsafeMutableRawBufferPointer(rebasing: target[..<Int(reference.length)])
        images.fill(body, Int(reference.block.value) - 1)
    }
}
