import ImageModel
import Messages
import StageContract

/// The block that a body grows in: small at first, doubled as bytes arrive, never made large on
/// the origin's word (SEMANTICS §10.4).
///
/// The owner hands the reference over or calls `discard`.
struct BodyBlock {
    private var block: OutputBlock
    private let expected: Int?
    private(set) var count = 0

    /// Bytes of the first block at most.
    static let startBytes = 64 * 1024

    /// Reserves min(`expected`, 64 KB), and never less than the bytes that are here. Throws
    /// `arenaFull`.
    init(
        in space: any OutputSpace, expecting expected: Int?, atLeast: Int
    ) throws(ImageError) {
        self.expected = expected
        let start = min(expected ?? Self.startBytes, Self.startBytes)
        block = try space.reserve(max(start, atLeast, 1))
    }

    /// Copies bytes behind those that are there. Throws `arenaFull`; what was there stays.
    mutating func append(_ bytes: RawSpan, in space: any OutputSpace) throws(ImageError) {
        let needed = count + bytes.byteCount
        if needed > block.bytes.count {
            block = try space.resize(block, to: capacity(for: needed), keeping: count)
        }
        bytes.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: block.bytes[count..<needed])
                .copyMemory(from: source)
        }
        count = needed
    }

    /// Twice what is there, though not beyond what the origin announced while that holds.
    private func capacity(for needed: Int) -> Int {
        let doubled = max(needed, block.bytes.count * 2)
        guard let expected, expected >= needed else { return doubled }
        return min(doubled, expected)
    }

    /// The bytes.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: block.bytes[..<count])
    }

    /// What the bytes look like.
    var format: ImageFormat? { block.format(length: count) }

    /// Names the bytes.
    var reference: BlockReference { block.reference(length: count) }

    /// Names what is here by an id of its own, while more is written behind it.
    func share(in space: any SharingSpace) -> BlockReference? {
        space.share(block)?.reference(length: count)
    }

    func discard(in space: any OutputSpace) {
        space.discard(block)
    }
}
