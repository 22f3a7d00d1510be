import Derivation
import Dispatching
import ImageModel
import Messages

/// The large blocks of `results/` and their readers (SEMANTICS §14.6).
///
/// Small blocks are overwritten whenever the cache likes, and readers notice. A large one is used
/// again only when the cache wants it back (`Evicted`) and every reader has let go of it.
struct ResultBlocks: Sendable {
    /// Bytes from which a block is large.
    static let largeBytesMin: UInt64 = 1 << 20

    private struct Block {
        var readers = 0
        var isEvicted = false
    }

    private struct Delivery {
        let cache: WorkerID
        let bytes: UInt64
    }

    private let unreleasedBytesMax: UInt64
    private let unreleasedBytesPerClientMax: UInt64
    private var unreleasedBytes: UInt64 = 0
    private var unreleasedBytesByClient: [ClientID: UInt64] = [:]
    private var blocks: [BlockHandle: Block] = [:]
    /// For each delivery that a client has not released, the session that made the block; the
    /// oldest first. A release names no session: it counts for the oldest one, so that a block of
    /// the cache that lives is never taken to be free too early.
    private var deliveries: [ClientID: [BlockID: [Delivery]]] = [:]

    /// With limits of what clients may keep, all together and each.
    init(unreleasedBytesMax: UInt64, unreleasedBytesPerClientMax: UInt64) {
        self.unreleasedBytesMax = unreleasedBytesMax
        self.unreleasedBytesPerClientMax = unreleasedBytesPerClientMax
    }

    /// Large blocks that somebody reads or the cache has.
    var count: Int { blocks.count }
    /// Whether somebody reads a large block.
    var hasReaders: Bool { blocks.values.contains { $0.readers > 0 } }
    /// Whether a client has a large block that it did not release.
    var hasDeliveries: Bool { !deliveries.isEmpty }

    /// How many readers a large block still has; `nil` for an unknown block.
    func readers(of handle: BlockHandle) -> Int? { blocks[handle]?.readers }

    static func isLarge(_ reference: BlockReference) -> Bool {
        reference.length >= largeBytesMin
    }

    /// The cache named a block; only large ones are remembered.
    mutating func notice(_ reference: BlockReference, of cache: WorkerID) {
        guard Self.isLarge(reference) else { return }
        let handle = BlockHandle(worker: cache, block: reference.block)
        blocks[handle] = blocks[handle] ?? Block()
    }

    /// A reply that has not gone out yet names the block.
    mutating func hold(_ handle: BlockHandle) { blocks[handle]?.readers += 1 }

    /// The reply no longer names the block; `true` when the cache is to be told that the block is
    /// free.
    mutating func drop(_ handle: BlockHandle) -> Bool {
        guard blocks[handle] != nil else { return false }
        blocks[handle]?.readers -= 1
        return forgetIfFree(handle)
    }

    /// A reply with the block goes out. `false` where the block is not kept for the client: this
    /// client, or all of them together, keep as much as is allowed.
    mutating func deliver(
        _ handle: BlockHandle, _ bytes: UInt64, to client: ClientID
    ) -> Bool {
        let held = unreleasedBytesByClient[client] ?? 0
        guard blocks[handle] != nil, held + bytes <= unreleasedBytesPerClientMax,
            unreleasedBytes + bytes <= unreleasedBytesMax
        else { return false }
        blocks[handle]?.readers += 1
        unreleasedBytes += bytes
        unreleasedBytesByClient[client] = held + bytes
        deliveries[client, default: [:]][handle.block, default: []].append(
            Delivery(cache: handle.worker, bytes: bytes))
        return true
    }

    /// A client released one delivery. Returns the handle when the cache is to be told.
    mutating func release(_ block: BlockID, by client: ClientID) -> BlockHandle? {
        guard var kept = deliveries[client]?[block], !kept.isEmpty else { return nil }
        let delivery = kept.removeFirst()
        let handle = BlockHandle(worker: delivery.cache, block: block)
        deliveries[client]?[block] = kept.isEmpty ? nil : kept
        if deliveries[client]?.isEmpty == true { deliveries[client] = nil }
        unreleasedBytes -= delivery.bytes
        let rest = (unreleasedBytesByClient[client] ?? 0) - delivery.bytes
        unreleasedBytesByClient[client] = rest == 0 ? nil : rest
        return drop(handle) ? handle : nil
    }

    /// A client is gone. Returns the blocks that the cache is to be told of.
    mutating func releaseAll(of client: ClientID) -> [BlockHandle] {
        guard let held = deliveries.removeValue(forKey: client) else { return [] }
        unreleasedBytes -= unreleasedBytesByClient.removeValue(forKey: client) ?? 0
        return held.sorted { $0.key.value < $1.key.value }.flatMap { block, kept in
            kept.map { BlockHandle(worker: $0.cache, block: block) }.filter { drop($0) }
        }
    }

    /// The cache wants a block back; `true` when it is large and nobody reads it.
    mutating func evict(_ handle: BlockHandle) -> Bool {
        guard blocks[handle] != nil else { return false }
        blocks[handle]?.isEvicted = true
        return forgetIfFree(handle)
    }

    /// A cache is gone, and its blocks with it. What clients have mapped stays valid.
    mutating func leave(_ cache: WorkerID) {
        blocks = blocks.filter { $0.key.worker != cache }
    }

    private mutating func forgetIfFree(_ handle: BlockHandle) -> Bool {
        guard let block = blocks[handle], block.isEvicted, block.readers == 0 else { return false }
        blocks[handle] = nil
        return true
    }
}

/// Blocks that answered hits, each once, collected until it is worth telling the cache. The cache
/// only wants to know that they were used.
struct TouchBatch: Sendable {
    private var blocks: [BlockID] = []
    private var known: Set<BlockID> = []
    private(set) var since: Instant?

    var count: Int { blocks.count }

    /// How many there would be with this one.
    func count(with block: BlockID) -> Int {
        blocks.last == block || known.contains(block) ? count : count + 1
    }

    mutating func add(_ block: BlockID, at now: Instant) {
        guard blocks.last != block, known.insert(block).inserted else { return }
        if since == nil { since = now }
        blocks.append(block)
    }

    /// Empties the batch.
    mutating func take() -> [BlockID] {
        defer { removeAll() }
        return blocks
    }

    mutating func removeAll() {
        blocks.removeAll(keepingCapacity: true)
        known.removeAll(keepingCapacity: true)
        since = nil
    }
}

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
