import Model

/// Tracks the blocks of worker memory that are in use, with a hold count per block
/// (SEMANTICS §9.6).
///
/// References from workers are trusted only after `check`. A stage block in use has one hold for
/// each consumer that reads or keeps it; when the last hold is dropped, the block is released to
/// its producer exactly once. Blocks in `results/` are managed by the cache and only checked here.
/// When a producer leaves, all of its blocks become invalid at once, because nothing may rely on
/// the segments of a process that has exited.
struct BlockLedger {
    private struct SegmentHandle: Hashable {
        let worker: WorkerID
        let arena: ArenaName
        let number: UInt32
    }

    private final class Segment {
        let size: UInt64
        var blocks = 0

        init(size: UInt64) { self.size = size }
    }

    private struct Block {
        let segment: SegmentHandle
        let pool: PoolID
        let bytes: UInt64
        /// The declared format of the bytes.
        let format: ImageFormat?
        var holds: Int
    }

    private struct Account {
        let producer: BlockReference.Producer
        let pool: PoolID
        var segments = 0
    }

    private let segmentsMax: Int
    /// One tebibyte: more than any machine has, and small enough that sums of references can't
    /// overflow.
    private static let segmentBytesMax: UInt64 = 1 << 40
    private var accounts: [WorkerID: Account] = [:]
    private var segments: [SegmentHandle: Segment] = [:]
    private var blocks: [BlockHandle: Block] = [:]
    /// Live bytes, indexed by pool.
    private var bytes: [UInt64]

    /// `segmentsMax` limits the announced segments per worker; `pools` is the number of pools.
    init(segmentsMax: Int, pools: Int) {
        self.segmentsMax = segmentsMax
        bytes = Array(repeating: 0, count: pools)
    }

    /// The number of stage blocks in use.
    var liveBlocks: Int { blocks.count }

    /// Bytes of stage blocks in use that were produced by workers of a pool.
    func liveBytes(of pool: PoolID) -> UInt64 { bytes[pool.index] }

    /// Whether stage blocks that were produced by workers of a pool are in use.
    func hasLiveBlocks(of pool: PoolID) -> Bool { blocks.values.contains { $0.pool == pool } }

    /// The declared format of a block in use.
    func format(of handle: BlockHandle) -> ImageFormat? { blocks[handle]?.format }

    // MARK: - Producers

    mutating func join(
        _ worker: WorkerID, _ producer: BlockReference.Producer, _ pool: PoolID
    ) {
        accounts[worker] = Account(producer: producer, pool: pool)
    }

    /// Invalidates all blocks of the producer; dropping their holds later has no effect.
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
            // If two hellos are answered with two welcomes, each is followed by announcements of
            // all segments.
            if let known = segments[handle], known.size == segment.size { continue }
            guard let account = accounts[worker], account.segments < segmentsMax,
                Self.mayWrite(account, segment.arena), segments[handle] == nil,
                segment.size > 0, segment.size <= Self.segmentBytesMax
            else { throw Self.violation("announced a segment that it is not permitted to have") }
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

    /// Returns the reference with its producer filled in, after all checks that don't read the
    /// bytes: the segment was announced, it contains the range, and the block is not already in
    /// use.
    func check(_ reference: BlockReference, from worker: WorkerID, in arena: ArenaName)
        throws(ImageError) -> BlockReference
    {
        let handle = SegmentHandle(worker: worker, arena: arena, number: reference.segment)
        let (end, overflow) = reference.offset.addingReportingOverflow(reference.length)
        guard reference.arena == arena, let account = accounts[worker],
            Self.mayWrite(account, arena), reference.block.value != 0,
            let segment = segments[handle], !overflow, end <= segment.size,
            !isLive(BlockHandle(worker: worker, block: reference.block))
        else { throw Self.violation("referenced bytes that it does not own") }
        var checked = reference
        checked.producer = account.producer
        return checked
    }

    /// Checks all references of one outcome, each in the arena that it names, and rejects duplicate
    /// blocks.
    func check(_ references: ShortList<BlockReference>, from worker: WorkerID)
        throws(ImageError) -> ShortList<BlockReference>
    {
        var checked = ShortList<BlockReference>()
        for reference in references {
            guard !checked.contains(where: { $0.block == reference.block }) else {
                throw Self.violation("handed over the same block twice")
            }
            checked.append(try check(reference, from: worker, in: reference.arena))
        }
        return checked
    }

    /// Whether the block is in use.
    func isLive(_ handle: BlockHandle) -> Bool { blocks[handle] != nil }

    // MARK: - Holds

    /// Marks a checked stage block as in use; the caller owns the first hold.
    mutating func register(
        _ reference: BlockReference, from worker: WorkerID, as format: ImageFormat?
    ) -> BlockHandle {
        guard let pool = accounts[worker]?.pool else {
            preconditionFailure("checked references must belong to a connected worker")
        }
        let handle = BlockHandle(worker: worker, block: reference.block)
        let segment = SegmentHandle(
            worker: worker, arena: reference.arena, number: reference.segment)
        blocks[handle] = Block(
            segment: segment, pool: pool, bytes: reference.length, format: format, holds: 1)
        bytes[pool.index] += reference.length
        segments[segment]?.blocks += 1
        return handle
    }

    /// The number of holds on the block.
    func holds(of handle: BlockHandle) -> Int { blocks[handle]?.holds ?? 0 }

    mutating func hold(_ handle: BlockHandle) { count(handle, by: 1) }

    /// Changes a value in place, which takes a third of the time of assigning through a key.
    private mutating func count(_ handle: BlockHandle, by change: Int) {
        guard let place = blocks.index(forKey: handle) else { return }
        blocks.values[place].holds += change
    }

    /// Drops a hold. Returns the block's size in bytes if it was the last hold and the producer
    /// must be notified. Does nothing for blocks that were lost with their producer.
    mutating func drop(_ handle: BlockHandle) -> UInt64? {
        guard let block = blocks[handle] else { return nil }
        guard block.holds == 1 else {
            count(handle, by: -1)
            return nil
        }
        blocks[handle] = nil
        bytes[block.pool.index] -= block.bytes
        segments[block.segment]?.blocks -= 1
        return block.bytes
    }

    /// Only the cache may write the arena that clients read.
    private static func mayWrite(_ account: Account, _ arena: ArenaName) -> Bool {
        arena == .stage || account.pool == PoolID(.cache)
    }

    private static func violation(_ what: String) -> ImageError {
        ImageError(.protocolViolation, "a worker \(what)")
    }
}

/// Identifies a block across all workers. Block numbers are unique only within the session of the
/// producer.
struct BlockHandle: Hashable, Sendable {
    let worker: WorkerID
    let block: BlockID
}

// Shared-memory accounting: blocks in use and releases (SEMANTICS §9.6).
extension Dispatcher {
    /// Takes the stage blocks of an accepted result into use, each with one hold. Results of the
    /// cache lie in `results/`, which the cache manages itself.
    func registerBlocks(_ result: JobResult, from worker: WorkerID) -> ShortList<
        BlockHandle
    > {
        var blocks = ShortList<BlockHandle>()
        for reference in result.references where reference.arena == .stage {
            blocks.append(ledger.register(reference, from: worker, as: result.format))
        }
        return blocks
    }

    /// Takes uploaded bytes that appear to have the given format into use; the caller owns the
    /// first hold. Throws *protocolViolation* if they are not in a segment of the coordinator.
    func acceptUpload(
        _ reference: BlockReference, as format: ImageFormat?
    ) throws(ImageError) -> Upload {
        let checked = try ledger.check(reference, from: .coordinator, in: .stage)
        return Upload(
            block: ledger.register(checked, from: .coordinator, as: format), reference: checked)
    }

    /// Releases the blocks of an unwanted result at once, except for blocks in use, which arrived
    /// with an earlier outcome and have holders. A forged reference ends the session.
    func discard(_ result: JobResult, from worker: WorkerID) {
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

    /// Returns the reference with its producer if the worker has these bytes in `results/`. A
    /// worker that sends an invalid reference loses its session.
    func checkResult(_ reference: BlockReference, from worker: WorkerID)
        -> BlockReference?
    {
        verified(worker) { () throws(ImageError) in
            try ledger.check(reference, from: worker, in: .results)
        }
    }

    /// Returns the result of checking what a connected worker sent. If it is invalid, the worker
    /// loses its session.
    @discardableResult
    private func verified<Value>(
        _ worker: WorkerID, _ check: () throws(ImageError) -> Value
    ) -> Value? {
        guard roster.contains(worker) else { return nil }
        do throws(ImageError) {
            return try check()
        } catch {
            expel(worker, error)
            return nil
        }
    }

    /// The declared format of a block in use.
    func format(of handle: BlockHandle) -> ImageFormat? { ledger.format(of: handle) }

    func hold(_ handle: BlockHandle) { ledger.hold(handle) }

    /// Drops one hold.
    func drop(_ handle: BlockHandle) { drop(ShortList(handle)) }

    /// Drops one hold of each block of an outcome.
    func drop(_ handles: ShortList<BlockHandle>) {
        guard let worker = handles.first?.worker else { return }
        var (blocks, bytes) = ([BlockID](), UInt64(0))
        for handle in handles {
            guard let freed = ledger.drop(handle) else { continue }
            blocks.append(handle.block)
            bytes += freed
        }
        release(blocks, of: worker, bytes: bytes)
    }

    /// Notifies the cache that a large block in `results/` is free. The caller must do so exactly
    /// once, because these blocks aren't in the ledger.
    func release(_ handle: BlockHandle) {
        release([handle.block], of: handle.worker, bytes: limits.promptReleaseBytes)
    }

    /// Notifies a producer of released blocks, and retries as many jobs that wait for space.
    private func release(_ blocks: [BlockID], of worker: WorkerID, bytes: UInt64) {
        guard !blocks.isEmpty, let pool = roster[worker]?.pool else { return }
        shared.actions.append(
            .release(worker, blocks, isPrompt: bytes >= limits.promptReleaseBytes))
        lastReleases[pool.index] = now
        unpark(pool, atMost: blocks.count)
    }

    // MARK: - Segments

    func opened(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        verified(worker) { () throws(ImageError) in try ledger.open(segments, of: worker) }
    }

    func closed(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        verified(worker) { () throws(ImageError) in try ledger.close(segments, of: worker) }
    }
}

// Backpressure on worker output: jobs wait outside the workers while a pool has no space
// (SEMANTICS §9.5).
extension Dispatcher {
    /// Whether the pool's unconsumed output leaves room for more. Later stages consume it without
    /// waiting for earlier ones, so it always shrinks. An additional pool, which may have no
    /// worker, may hold only part of the budget (`checkRoom`).
    ///
    /// Jobs in flight count with the average output of their pool. Otherwise every free worker slot
    /// would be filled at the first free byte, and later jobs would wait until all of that output
    /// is consumed.
    func hasBudget(_ pool: PoolID) -> Bool {
        guard let budget = limits.outputBytes(of: pool) else { return true }
        let coming = forecast.bytes(ofJobs: roster.credit(of: pool).held, in: pool)
        // Transfers from a stalled origin can last long, so they may block at most half of the
        // budget.
        return usableBytes(of: pool) + min(coming, budget / 2) < budget
    }

    /// Returns the pool's output bytes that later stages will consume. Pixels set aside are
    /// excluded because any decoder pool may have produced them, and no pool must wait for them.
    /// Likewise, transformer pools don't wait for data claimed by jobs of external transformers: it
    /// shrinks only if the jobs behind them find space, and the same pools run those jobs.
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

    /// Whether a job that found no space may wait until a worker of its pool releases something
    /// (SEMANTICS §9.5).
    func mayPark(_ job: ActiveJob, hasReaders: Bool) -> Bool {
        job.waitsForSpace
            && (hasRoomToCome(job.pool) || (job.kind == .cache && hasReaders)
                || isReleaseUnderWay(to: job.pool))
    }

    /// Whether output of the pool may be released without another job having to find space first.
    /// Pixels set aside are held by work that may itself be waiting for space.
    private func hasRoomToCome(_ pool: PoolID) -> Bool {
        guard limits.pools.kind(of: pool) == .decode, pixelBytesApart > 0 else {
            return ledger.hasLiveBlocks(of: pool)
        }
        return usableBytes(of: pool) > 0
    }

    /// Whether a block of the pool was released so recently that its producer may not have received
    /// the release yet.
    private func isReleaseUnderWay(to pool: PoolID) -> Bool {
        guard let last = lastReleases[pool.index] else { return false }
        return now < last.adding(milliseconds: limits.parkedMilliseconds)
    }

    /// Space became free: retries up to `count` parked jobs of the pool, one per released block.
    func unpark(_ pool: PoolID, atMost count: Int) {
        guard !jobs.parked.ids.isEmpty else { return }
        unpark(atMost: count) { $0.pool == pool }
    }

    private func unpark(atMost count: Int, where isMeant: (ActiveJob) -> Bool) {
        shared.counters.requeued += UInt64(jobs.unpark(atMost: count, where: isMeant))
    }

    /// Retries parked jobs if there was no release for a while; the cache may have made room by
    /// itself.
    func retryParked() {
        guard let since = jobs.parked.since,
            since.adding(milliseconds: limits.parkedMilliseconds) <= now
        else { return }
        unpark(atMost: jobs.parked.ids.count) { _ in true }
    }
}

/// Estimates the output of jobs in flight from the average output of their pool.
struct OutputForecast: Sendable {
    /// Exponential moving average of the output bytes per job, indexed by pool.
    private var typical: [Double]
    /// The weight of the history: each output contributes 1/16 to the average.
    private static let memory = 16.0

    init(pools: Int) { typical = Array(repeating: 0, count: pools) }

    /// Records that a job of the pool produced this many bytes.
    mutating func produced(_ bytes: UInt64, in pool: PoolID) {
        let before = typical[pool.index]
        typical[pool.index] =
            before == 0 ? Double(bytes) : before + (Double(bytes) - before) / Self.memory
    }

    /// The estimated output of `count` jobs.
    func bytes(ofJobs count: Int, in pool: PoolID) -> UInt64 {
        UInt64(typical[pool.index] * Double(count))
    }
}
