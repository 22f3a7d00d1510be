import Derivation
import Dispatching
import ImageModel
import Messages

// Bytes in shared memory: what is in use, what is free (SEMANTICS §9.6).
extension Scheduler {
    /// The one cache, while it is there.
    var cache: WorkerID? { deriver.dispatcher.cache }

    /// Drops one hold.
    mutating func drop(_ handle: BlockHandle) {
        deriver.drop(handle)
        takeDispatches()
    }

    /// A large result has one reader less.
    mutating func letGo(_ handle: BlockHandle) {
        if hits.letGo(handle) { release(handle) }
    }

    /// Tells the cache, once: the ledger forgets the block with its last reader.
    private mutating func release(_ handle: BlockHandle) {
        deriver.release(handle)
        takeDispatches()
    }

    // MARK: - results/

    /// The cache answers a key from memory from now on, and so does the scheduler.
    mutating func stored(_ notice: StoredNotice, by worker: WorkerID) {
        guard let reference = deriver.checkResult(notice.reference, from: worker) else { return }
        hits.publish(notice, reference, of: worker, at: now)
    }

    /// Blocks no longer hold their keys. A large one goes back to the cache once nobody reads it.
    /// The cache need not be told of small ones.
    mutating func evicted(_ blocks: [BlockID], by worker: WorkerID) {
        guard worker == cache else {
            return deriver.expel(
                worker, ImageError(.protocolViolation, "only the cache evicts"))
        }
        for block in blocks {
            let handle = BlockHandle(worker: worker, block: block)
            if let free = hits.withdraw(.evicted(handle)) { release(free) }
        }
    }

    /// A client no longer reads these large blocks.
    mutating func released(_ blocks: [BlockID], by client: ClientID) {
        for block in blocks {
            if let handle = hits.released(block, by: client) { release(handle) }
        }
    }

    /// A client is gone, and reads nothing any more.
    mutating func releaseAll(of client: ClientID) {
        for handle in hits.releaseAll(of: client) { release(handle) }
    }

    /// Tells the cache what was used, once that many blocks are collected.
    mutating func tellTouched(atLeast count: Int) {
        guard let cache, hits.touched >= count else { return }
        let blocks = hits.takeTouched()
        for start in stride(from: 0, to: blocks.count, by: MessageLimits.idsMax) {
            let end = min(start + MessageLimits.idsMax, blocks.count)
            actions.append(.touched(cache, Array(blocks[start..<end])))
        }
    }
}
