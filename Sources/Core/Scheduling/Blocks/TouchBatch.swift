import Messages

/// Blocks that answered hits, collected until it is worth telling the cache.
struct TouchBatch: Sendable {
    private var blocks: [BlockID] = []
    private(set) var since: Instant?

    var count: Int { blocks.count }

    mutating func add(_ block: BlockID, at now: Instant) {
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
        since = nil
    }
}
