import Messages

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
