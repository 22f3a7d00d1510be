import Messages

/// The large blocks of `results/` and who still reads them (DESIGN §4, what a client gets).
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

    private var blocks: [BlockHandle: Block] = [:]
    /// For each delivery that a client has not released, the session that made the block; the
    /// oldest first. A release names no session: it counts for the oldest one, so that a block of
    /// the cache that lives is never taken to be free too early.
    private var deliveries: [ClientID: [BlockID: [WorkerID]]] = [:]

    /// Large blocks that somebody reads or the cache has.
    var count: Int { blocks.count }
    /// Whether somebody reads a large block.
    var hasReaders: Bool { blocks.values.contains { $0.readers > 0 } }
    /// Whether a client has a large block that it did not release.
    var hasDeliveries: Bool { !deliveries.isEmpty }

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

    /// It does so no longer; `true` when the cache is to be told that the block is free.
    mutating func drop(_ handle: BlockHandle) -> Bool {
        guard blocks[handle] != nil else { return false }
        blocks[handle]?.readers -= 1
        return forgetIfFree(handle)
    }

    /// A reply with the block went out.
    mutating func deliver(_ handle: BlockHandle, to client: ClientID) {
        guard blocks[handle] != nil else { return }
        blocks[handle]?.readers += 1
        deliveries[client, default: [:]][handle.block, default: []].append(handle.worker)
    }

    /// A client let go of one delivery; the handle when the cache is to be told.
    mutating func release(_ block: BlockID, by client: ClientID) -> BlockHandle? {
        guard var sessions = deliveries[client]?[block], !sessions.isEmpty else { return nil }
        let handle = BlockHandle(worker: sessions.removeFirst(), block: block)
        deliveries[client]?[block] = sessions.isEmpty ? nil : sessions
        if deliveries[client]?.isEmpty == true { deliveries[client] = nil }
        return drop(handle) ? handle : nil
    }

    /// A client is gone; the blocks that the cache is to be told of.
    mutating func releaseAll(of client: ClientID) -> [BlockHandle] {
        guard let held = deliveries.removeValue(forKey: client) else { return [] }
        return held.sorted { $0.key.value < $1.key.value }.flatMap { block, sessions in
            sessions.map { BlockHandle(worker: $0, block: block) }.filter { drop($0) }
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
