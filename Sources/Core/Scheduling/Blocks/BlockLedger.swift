import ImageModel
import Messages

/// Which bytes of which worker are in use, and by how many (DESIGN §4).
///
/// A reference is believed only after `check`. A stage block that is taken into use has one hold
/// for each that reads or keeps it; with the last one it goes back to its producer, once. Blocks
/// in `results/` are the cache's own and are only checked here. When a producer leaves, all of its
/// blocks are lost at once: nobody counts on the segments of a process that is gone.
struct BlockLedger: Sendable {
    private struct SegmentName: Hashable {
        let arena: ArenaName
        let number: UInt32
    }

    private struct Segment {
        let size: UInt64
        var blocks = 0
    }

    private struct Block {
        let segment: SegmentName
        var holds: Int
    }

    private struct Account {
        let producer: BlockReference.Producer
        var segments: [SegmentName: Segment] = [:]
        var blocks: [BlockID: Block] = [:]
    }

    private let segmentsMax: Int
    private var accounts: [WorkerID: Account] = [:]
    private var liveByKind: [WorkerKind: Int] = [:]

    /// `segmentsMax` bounds the announcements of one worker.
    init(segmentsMax: Int) { self.segmentsMax = segmentsMax }

    /// Stage blocks in use.
    var liveBlocks: Int { liveByKind.values.reduce(0, +) }

    /// Stage blocks in use that workers of a kind made.
    func liveBlocks(of kind: WorkerKind) -> Int { liveByKind[kind, default: 0] }

    // MARK: - Producers

    mutating func join(_ worker: WorkerID, _ producer: BlockReference.Producer) {
        accounts[worker] = Account(producer: producer)
    }

    /// All blocks of the producer are lost; later drops of their holds do nothing.
    mutating func leave(_ worker: WorkerID) {
        guard let account = accounts.removeValue(forKey: worker) else { return }
        liveByKind[account.producer.kind, default: 0] -= account.blocks.count
    }

    // MARK: - Segments

    mutating func open(_ segments: [SegmentAnnouncement], of worker: WorkerID) throws(ImageError) {
        for segment in segments {
            let name = SegmentName(arena: segment.arena, number: segment.number)
            guard segment.size > 0, mayWrite(worker, segment.arena),
                accounts[worker]?.segments[name] == nil,
                accounts[worker].map({ $0.segments.count < segmentsMax }) == true
            else { throw Self.violation("announced a segment that it may not have") }
            accounts[worker]?.segments[name] = Segment(size: segment.size)
        }
    }

    mutating func close(_ segments: [SegmentAnnouncement], of worker: WorkerID)
        throws(ImageError)
    {
        for segment in segments {
            let name = SegmentName(arena: segment.arena, number: segment.number)
            guard accounts[worker]?.segments[name]?.blocks == 0 else {
                throw Self.violation("closed a segment that is in use or was never announced")
            }
            accounts[worker]?.segments[name] = nil
        }
    }

    // MARK: - References

    /// The reference with its producer, after all that can be known of it without looking at the
    /// bytes: the segment was announced, the range lies in it, the block is not in use already.
    func check(_ reference: BlockReference, from worker: WorkerID, in arena: ArenaName)
        throws(ImageError) -> BlockReference
    {
        let name = SegmentName(arena: reference.arena, number: reference.segment)
        let (end, overflow) = reference.offset.addingReportingOverflow(reference.length)
        guard reference.arena == arena, mayWrite(worker, arena), reference.block.value != 0,
            let size = accounts[worker]?.segments[name]?.size, !overflow, end <= size,
            !isLive(BlockHandle(worker: worker, block: reference.block))
        else { throw Self.violation("referred to bytes that it does not have") }
        var checked = reference
        checked.producer = accounts[worker]?.producer
        return checked
    }

    /// Whether the block is in use.
    func isLive(_ handle: BlockHandle) -> Bool {
        accounts[handle.worker]?.blocks[handle.block] != nil
    }

    // MARK: - Holds

    /// Takes a checked stage block into use; the first hold is the caller's.
    mutating func take(_ reference: BlockReference, from worker: WorkerID) -> BlockHandle {
        let name = SegmentName(arena: reference.arena, number: reference.segment)
        guard let kind = accounts[worker]?.producer.kind else {
            preconditionFailure("only references of a worker that is there were checked")
        }
        accounts[worker]?.blocks[reference.block] = Block(segment: name, holds: 1)
        accounts[worker]?.segments[name]?.blocks += 1
        liveByKind[kind, default: 0] += 1
        return BlockHandle(worker: worker, block: reference.block)
    }

    /// How many read or keep the block.
    func holds(of handle: BlockHandle) -> Int {
        accounts[handle.worker]?.blocks[handle.block]?.holds ?? 0
    }

    /// One more reads or keeps the block.
    mutating func hold(_ handle: BlockHandle) {
        accounts[handle.worker]?.blocks[handle.block]?.holds += 1
    }

    /// One less; `true` when it was the last, and the producer is to be told. A block that was
    /// lost with its producer is nobody's any more.
    mutating func drop(_ handle: BlockHandle) -> Bool {
        guard let block = accounts[handle.worker]?.blocks[handle.block],
            let kind = accounts[handle.worker]?.producer.kind
        else { return false }
        guard block.holds == 1 else {
            accounts[handle.worker]?.blocks[handle.block]?.holds -= 1
            return false
        }
        accounts[handle.worker]?.blocks[handle.block] = nil
        accounts[handle.worker]?.segments[block.segment]?.blocks -= 1
        liveByKind[kind, default: 0] -= 1
        return true
    }

    /// Only the cache writes what clients read.
    private func mayWrite(_ worker: WorkerID, _ arena: ArenaName) -> Bool {
        guard let kind = accounts[worker]?.producer.kind else { return false }
        return arena == .stage || kind == .cache
    }

    private static func violation(_ what: String) -> ImageError {
        ImageError(.protocolViolation, "a worker \(what)")
    }
}
