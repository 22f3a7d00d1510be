import ImageModel
import Messages

// Bytes in shared memory: what is in use, what is free (SEMANTICS §9.6).
extension Scheduler {
    /// Takes the block of an accepted result into use. Results of the cache lie in `results/` and
    /// are its own.
    mutating func take(_ result: JobResult, from worker: WorkerID) -> BlockHandle? {
        guard let reference = result.reference, reference.arena == .stage else { return nil }
        return ledger.take(reference, from: worker)
    }

    /// The block of a result that nobody wants is free at once; one that is in use came with an
    /// earlier outcome and has its holders. A forged reference ends the session.
    mutating func discard(_ result: JobResult, from worker: WorkerID) {
        guard let reference = result.reference else { return }
        guard !ledger.isLive(BlockHandle(worker: worker, block: reference.block)) else { return }
        do throws(ImageError) {
            let checked = try ledger.check(reference, from: worker, in: reference.arena)
            if checked.arena == .results { return resultBlocks.notice(checked, of: worker) }
            release(BlockHandle(worker: worker, block: checked.block))
        } catch {
            expel(worker, error)
        }
    }

    /// One hold less.
    mutating func drop(_ handle: BlockHandle) {
        if ledger.drop(handle) { release(handle) }
    }

    /// One reader of a large result less.
    mutating func letGo(_ handle: BlockHandle) {
        if resultBlocks.drop(handle) { release(handle) }
    }

    /// Tells the producer, once: the ledgers forget the block with its last holder.
    private mutating func release(_ handle: BlockHandle) {
        guard let kind = roster[handle.worker]?.kind else { return }
        actions.append(.release(handle.worker, [handle.block]))
        unpark(kind, atMost: 1)
    }

    // MARK: - Segments

    mutating func opened(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        guard roster.contains(worker) else { return }
        do throws(ImageError) {
            try ledger.open(segments, of: worker)
        } catch {
            expel(worker, error)
        }
    }

    mutating func closed(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        guard roster.contains(worker) else { return }
        do throws(ImageError) {
            try ledger.close(segments, of: worker)
        } catch {
            expel(worker, error)
        }
    }

    // MARK: - results/

    /// The cache answers a key from memory from now on, and so does the scheduler.
    mutating func stored(_ notice: StoredNotice, by worker: WorkerID) {
        guard roster.contains(worker) else { return }
        do throws(ImageError) {
            let reference = try ledger.check(notice.reference, from: worker, in: .results)
            resultBlocks.notice(reference, of: worker)
            hits.insert(notice, reference, at: now)
        } catch {
            expel(worker, error)
        }
    }

    /// Blocks hold their keys no longer. A large one is the cache's again once nobody reads it;
    /// of small ones it need not be told.
    mutating func evicted(_ blocks: [BlockID], by worker: WorkerID) {
        guard roster.contains(worker) else { return }
        guard worker == cache else {
            return expel(
                worker, ImageError(.protocolViolation, "only the cache evicts"))
        }
        for block in blocks {
            hits.remove(block)
            let handle = BlockHandle(worker: worker, block: block)
            if resultBlocks.evict(handle) { release(handle) }
        }
    }

    /// A client reads these large blocks no longer.
    mutating func released(_ blocks: [BlockID], by client: ClientID) {
        for block in blocks {
            if let handle = resultBlocks.release(block, by: client) { release(handle) }
        }
    }

    /// A client is gone, and reads nothing any more.
    mutating func releaseAll(of client: ClientID) {
        for handle in resultBlocks.releaseAll(of: client) { release(handle) }
    }

    /// Tells the cache what was used, once that many blocks are collected.
    mutating func tellTouched(atLeast count: Int) {
        guard let cache, touches.count >= count else { return }
        actions.append(.touched(cache, touches.take()))
    }
}
