internal import ImageModel
internal import Messages
internal import Nettle
internal import StageContract
internal import Synchronization

/// Bytes that several need at a time: a client, the memory tier, a write to disk, a copy.
///
/// Its memory goes back to its space with the last of them, on whichever thread that is.
final class Body: Sendable {
    /// Where memory comes from, and goes back to.
    enum Home: Sendable {
        case results(any ResultSpace)
        /// Staged for a decoder, or private.
        case other(any OutputSpace)
    }

    /// Bytes in use.
    let length: Int
    private let block: OutputBlock
    private let home: Home
    /// No reader is left, so the memory may hold something else at once.
    private let hasNoReaders = Atomic<Bool>(false)

    /// Reserves memory; throws `arenaFull`.
    init(in home: Home, length: Int) throws(ImageError) {
        self.length = length
        self.home = home
        let bytes = max(1, length)
        block =
            switch home {
            case .results(let space): try space.reserve(bytes)
            case .other(let space): try space.reserve(bytes)
            }
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

    /// Whether another body has the same bytes.
    func isEqual(_ other: Body) -> Bool { bytes.elementsEqual(other.bytes) }

    /// SHA-256 of the bytes.
    var digest: ContentDigest? { ContentDigest(SHA256.digest(bytes.bytes)) }

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
