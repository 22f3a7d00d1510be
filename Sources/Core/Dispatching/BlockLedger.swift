package import ImageModel
package import Messages
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

/// Names a block among all workers: its number counts within the session of its producer.
package struct BlockHandle: Hashable, Sendable {
    package let worker: WorkerID
    package let block: BlockID

    package init(worker: WorkerID, block: BlockID) {
        self.worker = worker
        self.block = block
    }
}

// Bytes in shared memory: what is in use, what is free (SEMANTICS §9.6).
extension Dispatcher {
    /// Takes the blocks of an accepted result into use, each with one hold. Results of the cache
    /// lie in `results/` and are its own.
    mutating func take(_ result: JobResult, from worker: WorkerID) -> ShortList<BlockHandle> {
        var blocks = ShortList<BlockHandle>()
        for reference in result.references where reference.arena == .stage {
            blocks.append(ledger.take(reference, from: worker, as: result.format))
        }
        return blocks
    }

    /// Takes bytes into use that came along with a request and look like that format; the first
    /// hold is the caller's. Throws *protocolViolation* where they are not in a segment of the
    /// coordinator's own.
    package mutating func takeUpload(
        _ reference: BlockReference, as format: ImageFormat?
    ) throws(ImageError) -> (reference: BlockReference, block: BlockHandle) {
        let checked = try ledger.check(reference, from: .coordinator, in: .stage)
        return (checked, ledger.take(checked, from: .coordinator, as: format))
    }

    /// The blocks of a result that nobody wants are free at once; one that is in use came with an
    /// earlier outcome and has its holders. A forged reference ends the session.
    mutating func discard(_ result: JobResult, from worker: WorkerID) {
        let unused = result.references.filter {
            !ledger.isLive(BlockHandle(worker: worker, block: $0.block))
        }
        do throws(ImageError) {
            let checked = try ledger.check(ShortList(contentsOf: unused), from: worker)
            for reference in checked where reference.arena == .results {
                complete(.unclaimed(reference, worker))
            }
            let blocks = checked.filter { $0.arena == .stage }
            release(
                blocks.map(\.block), of: worker, bytes: blocks.reduce(0) { $0 + $1.length })
        } catch {
            expel(worker, error)
        }
    }

    /// The reference with its producer, if that worker has the bytes in `results/`; a worker that
    /// lies loses its session.
    package mutating func checkResult(_ reference: BlockReference, from worker: WorkerID)
        -> BlockReference?
    {
        guard roster.contains(worker) else { return nil }
        do throws(ImageError) {
            return try ledger.check(reference, from: worker, in: .results)
        } catch {
            expel(worker, error)
            return nil
        }
    }

    /// What its bytes are said to be.
    package func format(of handle: BlockHandle) -> ImageFormat? { ledger.format(of: handle) }

    /// One more reads or keeps the block.
    package mutating func hold(_ handle: BlockHandle) { ledger.hold(handle) }

    /// One hold less.
    package mutating func drop(_ handle: BlockHandle) { drop(ShortList(handle)) }

    /// One hold less of each block that came with one outcome.
    package mutating func drop(_ handles: ShortList<BlockHandle>) {
        guard let worker = handles.first?.worker else { return }
        var (blocks, bytes) = ([BlockID](), UInt64(0))
        for handle in handles {
            guard let freed = ledger.drop(handle) else { continue }
            blocks.append(handle.block)
            bytes += freed
        }
        release(blocks, of: worker, bytes: bytes)
    }

    /// Tells the cache that a large block of `results/` is free. The caller does so once: no ledger
    /// knows the block.
    package mutating func release(_ handle: BlockHandle) {
        release([handle.block], of: handle.worker, bytes: limits.promptReleaseBytes)
    }

    /// Tells a producer that blocks are free, and has as many try again that wait for space.
    private mutating func release(_ blocks: [BlockID], of worker: WorkerID, bytes: UInt64) {
        guard !blocks.isEmpty, let pool = roster[worker]?.pool else { return }
        actions.append(.release(worker, blocks, isPrompt: bytes >= limits.promptReleaseBytes))
        lastReleases[pool.index] = now
        unpark(pool, atMost: blocks.count)
    }

    // MARK: - Segments

    package mutating func opened(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        guard roster.contains(worker) else { return }
        do throws(ImageError) {
            try ledger.open(segments, of: worker)
        } catch {
            expel(worker, error)
        }
    }

    package mutating func closed(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        guard roster.contains(worker) else { return }
        do throws(ImageError) {
            try ledger.close(segments, of: worker)
        } catch {
            expel(worker, error)
        }
    }
}

// Space for what pools make: while there is none, jobs wait outside (SEMANTICS §9.5).
extension Dispatcher {
    /// Whether what the pool has made and nobody has used up yet leaves room for more. What uses
    /// it up are later stages, which do not wait for earlier ones: so it becomes less. A further
    /// pool, which may have no worker, holds a part of it at most (`checkRoom`).
    ///
    /// What is under way counts by what others made. Otherwise all that workers take would begin
    /// with the first free byte, and who comes then would wait until all of that is used up.
    func hasBudget(_ pool: PoolID) -> Bool {
        guard let budget = limits.outputBytes(of: pool) else { return true }
        let coming = forecast.bytes(ofJobs: roster.credit(of: pool).held, in: pool)
        // Transfers from an origin that is silent may stay: they keep others from half of it.
        return usableBytes(of: pool) + min(coming, budget / 2) < budget
    }

    /// Bytes that the pool has made and that later stages use up. Of several pools of decoders each
    /// may have made all of the pixels apart: none of them waits for those. Likewise no pool of
    /// transformers waits for what those of somebody else read: that becomes less only where the
    /// jobs behind theirs find space, and these are done by the same pools.
    private func usableBytes(of pool: PoolID) -> UInt64 {
        let live = ledger.liveBytes(of: pool)
        let apart =
            switch limits.pools.kind(of: pool) {
            case .decode: pixelBytesApart
            case .transform: jobs.bytesClaimedForSteps
            case .download, .cache, .coordinator: UInt64(0)
            }
        return live > apart ? live - apart : 0
    }

    // MARK: - Parked jobs

    /// A job found no space. It waits for a release of something that such workers made, unless
    /// there is nothing that could be released (SEMANTICS §9.5).
    mutating func park(_ id: JobID, hasReaders: Bool) -> Bool {
        guard let job = jobs[id],
            hasRoomToCome(job.pool) || (job.kind == .cache && hasReaders)
                || isReleaseUnderWay(to: job.pool)
        else { return false }
        jobs.park(id, at: now)
        return true
    }

    /// Whether anything that such workers made may be released without anybody finding space first.
    /// Pixels apart are kept by those who may be waiting for it.
    private func hasRoomToCome(_ pool: PoolID) -> Bool {
        guard limits.pools.kind(of: pool) == .decode, pixelBytesApart > 0 else {
            return ledger.hasLiveBlocks(of: pool)
        }
        return usableBytes(of: pool) > 0
    }

    /// Whether something of the pool became free of which its producer may not have heard yet.
    private func isReleaseUnderWay(to pool: PoolID) -> Bool {
        guard let last = lastReleases[pool.index] else { return false }
        return now < last.adding(milliseconds: limits.parkedMilliseconds)
    }

    /// Space became free: as many parked jobs of the pool try again as blocks did.
    mutating func unpark(_ pool: PoolID, atMost count: Int) {
        guard !jobs.parked.ids.isEmpty else { return }
        unpark(atMost: count) { $0.pool == pool }
    }

    private mutating func unpark(atMost count: Int, where isMeant: (ActiveJob) -> Bool) {
        figures.requeued += UInt64(jobs.unpark(atMost: count, at: now, where: isMeant))
    }

    /// Jobs that found no space try again, if none became free for a while: the cache may have made
    /// room by itself.
    package mutating func retryParked() {
        guard let since = jobs.parked.since,
            since.adding(milliseconds: limits.parkedMilliseconds) <= now
        else { return }
        unpark(atMost: jobs.parked.ids.count) { _ in true }
    }
}

/// How many bytes jobs that are under way will have made, by what others of their pool made.
struct OutputForecast: Sendable {
    /// Bytes that a job makes, an exponential average by pool.
    private var typical: [Double]
    /// One output in so many decides what is typical.
    private static let memory = 16.0

    init(pools: Int) { typical = Array(repeating: 0, count: pools) }

    /// A job of the pool made so many bytes that are in use now.
    mutating func made(_ bytes: UInt64, in pool: PoolID) {
        let before = typical[pool.index]
        typical[pool.index] =
            before == 0 ? Double(bytes) : before + (Double(bytes) - before) / Self.memory
    }

    /// What so many jobs will have made.
    func bytes(ofJobs count: Int, in pool: PoolID) -> UInt64 {
        UInt64(typical[pool.index] * Double(count))
    }
}
