import Model

/// The large blocks of `results/` and their readers (SEMANTICS §14.6).
///
/// The cache may overwrite small blocks at any time; readers detect that. A large block is reused
/// only after the cache has requested it back (`Evicted`) and every reader has released it.
struct ResultBlocks: Sendable {
    /// The size in bytes from which a block is large.
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
    /// Unreleased deliveries per client and block, oldest first, with the session that produced the
    /// block. A release names no session and is applied to the oldest delivery, so that a block of
    /// the current cache is never considered free too early.
    private var deliveries: [ClientID: [BlockID: [Delivery]]] = [:]

    /// Creates an empty record with limits on unreleased bytes, in total and per client.
    init(unreleasedBytesMax: UInt64, unreleasedBytesPerClientMax: UInt64) {
        self.unreleasedBytesMax = unreleasedBytesMax
        self.unreleasedBytesPerClientMax = unreleasedBytesPerClientMax
    }

    /// The number of large blocks that have readers or belong to the cache.
    var count: Int { blocks.count }
    /// Whether any large block has readers.
    var hasReaders: Bool { blocks.values.contains { $0.readers > 0 } }
    /// Whether a client has an unreleased large block.
    var hasDeliveries: Bool { !deliveries.isEmpty }

    /// The number of readers of a large block; `nil` for an unknown block.
    func readers(of handle: BlockHandle) -> Int? { blocks[handle]?.readers }

    static func isLarge(_ reference: BlockReference) -> Bool {
        reference.length >= largeBytesMin
    }

    /// Records a block reported by the cache; small ones are ignored.
    mutating func notice(_ reference: BlockReference, of cache: WorkerID) {
        guard Self.isLarge(reference) else { return }
        let handle = BlockHandle(worker: cache, block: reference.block)
        blocks[handle] = blocks[handle] ?? Block()
    }

    /// Adds a reader: a pending reply that refers to the block. Returns the block to be dropped
    /// later, or `nil` if it isn't a known large one: it may be known by then, and must not lose a
    /// reader that it never had.
    mutating func hold(_ handle: BlockHandle?) -> BlockHandle? {
        guard let handle, blocks[handle] != nil else { return nil }
        blocks[handle]?.readers += 1
        return handle
    }

    /// Removes the reader of a pending reply. Returns `true` if the cache must be notified that the
    /// block is free.
    mutating func drop(_ handle: BlockHandle) -> Bool {
        guard blocks[handle] != nil else { return false }
        blocks[handle]?.readers -= 1
        return forgetIfFree(handle)
    }

    /// Records a reply with the block. Returns `false` if the block isn't retained for the client
    /// because the limit for this client or for all of them is reached.
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

    /// Records that a client released one delivery. Returns the handle if the cache must be
    /// notified.
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

    /// Releases all blocks of a departed client. Returns those of which the cache must be notified.
    mutating func releaseAll(of client: ClientID) -> [BlockHandle] {
        guard let held = deliveries.removeValue(forKey: client) else { return [] }
        unreleasedBytes -= unreleasedBytesByClient.removeValue(forKey: client) ?? 0
        return held.sorted { $0.key.value < $1.key.value }.flatMap { block, kept in
            kept.map { BlockHandle(worker: $0.cache, block: block) }.filter { drop($0) }
        }
    }

    /// Handles the eviction of a block. Returns `true` if it is large and has no readers.
    mutating func evict(_ handle: BlockHandle) -> Bool {
        guard blocks[handle] != nil else { return false }
        blocks[handle]?.isEvicted = true
        return forgetIfFree(handle)
    }

    /// Removes the blocks of a departed cache. Memory that clients have mapped remains valid.
    mutating func leave(_ cache: WorkerID) {
        blocks = blocks.filter { $0.key.worker != cache }
    }

    private mutating func forgetIfFree(_ handle: BlockHandle) -> Bool {
        guard let block = blocks[handle], block.isEvicted, block.readers == 0 else { return false }
        blocks[handle] = nil
        return true
    }
}

/// Blocks that answered hits, without duplicates, batched for reporting to the cache. The cache
/// only needs to know that they were used.
struct TouchBatch: Sendable {
    private var blocks: [BlockID] = []
    private var known: Set<BlockID> = []
    private(set) var since: Instant?

    var count: Int { blocks.count }

    /// The number of blocks if this one is added.
    func count(with block: BlockID) -> Int {
        blocks.last == block || known.contains(block) ? count : count + 1
    }

    mutating func add(_ block: BlockID, at now: Instant) {
        guard blocks.last != block, known.insert(block).inserted else { return }
        if since == nil { since = now }
        blocks.append(block)
    }

    /// Removes and returns all blocks.
    mutating func drain() -> [BlockID] {
        defer { removeAll() }
        return blocks
    }

    mutating func removeAll() {
        blocks.removeAll(keepingCapacity: true)
        known.removeAll(keepingCapacity: true)
        since = nil
    }
}

// Shared-memory accounting: blocks in use and releases (SEMANTICS §9.6).
extension Scheduler {
    /// The built-in cache, if connected.
    var cache: WorkerID? { dispatcher.cache }

    /// Removes the reader of a large result that a pending reply held, if any.
    func removeReader(of held: BlockHandle?) {
        if let held, hits.blocks.drop(held) { dispatcher.release(held) }
    }

    // MARK: - results/

    /// Records that the cache can now answer a key from memory.
    func stored(_ notice: StoredNotice, by worker: WorkerID) {
        guard let reference = dispatcher.checkResult(notice.reference, from: worker) else { return }
        hits.publish(notice, reference, of: worker, at: now)
    }

    /// Handles evicted blocks. A large block is released to the cache once it has no readers; small
    /// ones need no notification.
    func evicted(_ blocks: [BlockID], by worker: WorkerID) {
        guard worker == cache else {
            return dispatcher.expel(
                worker, ImageError(.protocolViolation, "only the cache can evict blocks"))
        }
        for block in blocks {
            let handle = BlockHandle(worker: worker, block: block)
            if let free = hits.withdraw(.evicted(handle)) { dispatcher.release(free) }
        }
    }

    /// Handles a client's release of large blocks.
    func released(_ blocks: [BlockID], by client: ClientID) {
        for block in blocks {
            if let handle = hits.blocks.release(block, by: client) { dispatcher.release(handle) }
        }
    }

    /// Releases all blocks of a departed client.
    func releaseAll(of client: ClientID) {
        for handle in hits.blocks.releaseAll(of: client) { dispatcher.release(handle) }
    }

    /// Reports used blocks to the cache if at least this many have accumulated.
    func notifyTouched(atLeast count: Int) {
        guard let cache, hits.touches.count >= count else { return }
        let blocks = hits.touches.drain()
        for start in stride(from: 0, to: blocks.count, by: MessageLimits.idsMax) {
            let end = min(start + MessageLimits.idsMax, blocks.count)
            shared.actions.append(.touched(cache, Array(blocks[start..<end])))
        }
    }
}
