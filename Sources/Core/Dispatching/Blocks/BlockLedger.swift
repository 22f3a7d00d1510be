import ImageModel
import Messages
import Tables

/// Which bytes of which worker are in use, and by how many (SEMANTICS §9.6).
///
/// A reference is believed only after `check`. A stage block that is taken into use has one hold
/// for each that reads or keeps it; with the last one it goes back to its producer, once. Blocks
/// in `results/` are the cache's own and are only checked here. When a producer leaves, all of its
/// blocks are lost at once: nobody counts on the segments of a process that is gone.
struct BlockLedger: Sendable {
    private struct SegmentHandle: Hashable {
        let worker: WorkerID
        let arena: ArenaName
        let number: UInt32
    }

    private struct Segment {
        let size: UInt64
        var blocks = 0
    }

    private struct Block {
        let segment: SegmentHandle
        let pool: PoolID
        let bytes: UInt64
        /// What the bytes are said to be.
        let format: ImageFormat?
        var holds: Int
    }

    private struct Account {
        let producer: BlockReference.Producer
        let pool: PoolID
        var segments = 0
    }

    private let segmentsMax: Int
    /// A tebibyte: more than any machine has, and no sum of references overflows.
    private static let segmentBytesMax: UInt64 = 1 << 40
    private var accounts: [WorkerID: Account] = [:]
    private var segments: [SegmentHandle: Segment] = [:]
    private var blocks: [BlockHandle: Block] = [:]
    /// By pool.
    private var bytes: [UInt64]

    /// `segmentsMax` bounds the announcements of one worker; there are so many pools.
    init(segmentsMax: Int, pools: Int) {
        self.segmentsMax = segmentsMax
        bytes = Array(repeating: 0, count: pools)
    }

    /// Stage blocks in use.
    var liveBlocks: Int { blocks.count }

    /// Bytes of stage blocks in use that workers of a pool made.
    func liveBytes(of pool: PoolID) -> UInt64 { bytes[pool.index] }

    /// Whether workers of a pool made stage blocks that are in use.
    func hasLiveBlocks(of pool: PoolID) -> Bool { blocks.values.contains { $0.pool == pool } }

    /// What the bytes of a block in use are said to be.
    func format(of handle: BlockHandle) -> ImageFormat? { blocks[handle]?.format }

    // MARK: - Producers

    mutating func join(
        _ worker: WorkerID, _ producer: BlockReference.Producer, _ pool: PoolID
    ) {
        accounts[worker] = Account(producer: producer, pool: pool)
    }

    /// All blocks of the producer are lost; later drops of their holds do nothing.
    mutating func leave(_ worker: WorkerID) {
        accounts[worker] = nil
        segments = segments.filter { $0.key.worker != worker }
        for (handle, block) in blocks where handle.worker == worker {
            bytes[block.pool.index] -= block.bytes
        }
        blocks = blocks.filter { $0.key.worker != worker }
    }

    // MARK: - Segments

    mutating func open(_ announced: [SegmentAnnouncement], of worker: WorkerID)
        throws(ImageError)
    {
        for segment in announced {
            let handle = SegmentHandle(
                worker: worker, arena: segment.arena, number: segment.number)
            // Two hellos are answered with two welcomes, and each is followed by all segments.
            if let known = segments[handle], known.size == segment.size { continue }
            guard let account = accounts[worker], account.segments < segmentsMax,
                Self.mayWrite(account, segment.arena), segments[handle] == nil,
                segment.size > 0, segment.size <= Self.segmentBytesMax
            else { throw Self.violation("announced a segment that it may not have") }
            accounts[worker]?.segments += 1
            segments[handle] = Segment(size: segment.size)
        }
    }

    mutating func close(_ announced: [SegmentAnnouncement], of worker: WorkerID)
        throws(ImageError)
    {
        for segment in announced {
            let handle = SegmentHandle(
                worker: worker, arena: segment.arena, number: segment.number)
            guard segments[handle]?.blocks == 0 else {
                throw Self.violation("closed a segment that is in use or was never announced")
            }
            accounts[worker]?.segments -= 1
            segments[handle] = nil
        }
    }

    // MARK: - References

    /// The reference with its producer, after all that can be known of it without looking at the
    /// bytes: the segment was announced, the range lies in it, the block is not in use already.
    func check(_ reference: BlockReference, from worker: WorkerID, in arena: ArenaName)
        throws(ImageError) -> BlockReference
    {
        let handle = SegmentHandle(worker: worker, arena: arena, number: reference.segment)
        let (end, overflow) = reference.offset.addingReportingOverflow(reference.length)
        guard reference.arena == arena, let account = accounts[worker],
            Self.mayWrite(account, arena), reference.block.value != 0,
            let segment = segments[handle], !overflow, end <= segment.size,
            !isLive(BlockHandle(worker: worker, block: reference.block))
        else { throw Self.violation("referred to bytes that it does not have") }
        var checked = reference
        checked.producer = account.producer
        return checked
    }

    /// The same of all references of one outcome, each in the arena that it names; besides, none
    /// of their blocks is named twice.
    func check(_ references: ShortList<BlockReference>, from worker: WorkerID)
        throws(ImageError) -> ShortList<BlockReference>
    {
        var checked = ShortList<BlockReference>()
        for reference in references {
            guard !checked.contains(where: { $0.block == reference.block }) else {
                throw Self.violation("handed the same block over twice")
            }
            checked.append(try check(reference, from: worker, in: reference.arena))
        }
        return checked
    }

    /// Whether the block is in use.
    func isLive(_ handle: BlockHandle) -> Bool { blocks[handle] != nil }

    // MARK: - Holds

    /// Takes a checked stage block into use; the first hold is the caller's.
    mutating func take(
        _ reference: BlockReference, from worker: WorkerID, as format: ImageFormat?
    ) -> BlockHandle {
        guard let pool = accounts[worker]?.pool else {
            preconditionFailure("only references of a worker that is there were checked")
        }
        let handle = BlockHandle(worker: worker, block: reference.block)
        let segment = SegmentHandle(
            worker: worker, arena: reference.arena, number: reference.segment)
        blocks[handle] = Block(
            segment: segment, pool: pool, bytes: reference.length, format: format, holds: 1)
        bytes[pool.index] += reference.length
        segments.change(segment) { $0.blocks += 1 }
        return handle
    }

    /// How many read or keep the block.
    func holds(of handle: BlockHandle) -> Int { blocks[handle]?.holds ?? 0 }

    /// One more reads or keeps the block.
    mutating func hold(_ handle: BlockHandle) { blocks.change(handle) { $0.holds += 1 } }

    /// One less; its bytes when it was the last, and the producer is to be told. A block that was
    /// lost with its producer is nobody's any more.
    mutating func drop(_ handle: BlockHandle) -> UInt64? {
        guard let block = blocks[handle] else { return nil }
        guard block.holds == 1 else {
            blocks.change(handle) { $0.holds -= 1 }
            return nil
        }
        blocks[handle] = nil
        bytes[block.pool.index] -= block.bytes
        segments.change(block.segment) { $0.blocks -= 1 }
        return block.bytes
    }

    /// Only the cache writes what clients read.
    private static func mayWrite(_ account: Account, _ arena: ArenaName) -> Bool {
        arena == .stage || account.pool == PoolID(.cache)
    }

    private static func violation(_ what: String) -> ImageError {
        ImageError(.protocolViolation, "a worker \(what)")
    }
}
