internal import ImageModel
internal import Messages
internal import StageContract
internal import Synchronization

/// Bytes that several need at a time: a client, the memory tier, a write to disk, a copy.
///
/// Its memory goes back to its space with the last of them, on whichever thread that is.
final class Body: Sendable {
    private enum Home: Sendable {
        case results(any ResultSpace)
        case other(any OutputSpace)
    }

    /// Bytes in use.
    let length: Int
    private let block: OutputBlock
    private let home: Home
    /// No reader is left, so the memory may hold something else at once.
    private let hasNoReaders = Atomic<Bool>(false)

    /// Reserves memory in `results/`.
    init(results space: any ResultSpace, length: Int) throws(ImageError) {
        self.length = length
        block = try space.reserve(max(1, length))
        home = .results(space)
    }

    /// Reserves memory elsewhere: staged for a decoder, or private.
    init(_ space: any OutputSpace, length: Int) throws(ImageError) {
        self.length = length
        block = try space.reserve(max(1, length))
        home = .other(space)
    }

    deinit {
        switch home {
        case .results(let space) where !hasNoReaders.load(ordering: .acquiring):
            space.retire(block.id)
        case .results(let space): space.discard(block)
        case .other(let space): space.discard(block)
        }
    }

    /// What a message names it by.
    var reference: BlockReference { block.reference(length: length) }

    /// Bytes that it takes in its space.
    var blockBytes: Int { block.bytes.count }

    /// The bytes; valid while the body lives.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(target) }

    /// Where whoever made the body writes, once and before anybody else sees it.
    var target: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<length])
    }

    /// Tells readers of `results/` that it is complete.
    func publish() {
        if case .results(let space) = home { space.publish(block) }
    }

    /// Notes that the only receiver there was has released it.
    func releasedByReaders() { hasNoReaders.store(true, ordering: .releasing) }
}
