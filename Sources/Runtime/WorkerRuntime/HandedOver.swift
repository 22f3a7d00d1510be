import Messages

/// Blocks of this process that the coordinator answers for: named in an outcome, not yet released.
///
/// Only those of `arena/<kind>/`; what lies in `results/` belongs to the cache's own books.
struct HandedOver {
    private var blocks: Set<BlockID> = []

    /// Whether nobody reads any of ours.
    var isEmpty: Bool { blocks.isEmpty }

    /// An outcome was sent.
    mutating func add(_ references: ShortList<BlockReference>) {
        for reference in references where reference.arena == .stage {
            blocks.insert(reference.block)
        }
    }

    /// The coordinator released them.
    mutating func remove(_ released: [BlockID]) { blocks.subtract(released) }

    /// The session ended, and with it every claim on them.
    mutating func takeAll() -> [BlockID] {
        defer { blocks.removeAll() }
        return Array(blocks)
    }
}
