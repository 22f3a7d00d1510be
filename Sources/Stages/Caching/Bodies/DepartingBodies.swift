internal import Messages

/// Large bodies that left the memory tier, until the coordinator says that no client reads them
/// (SEMANTICS §14.6).
///
/// A body that is released goes back to its arena warm. One that is given up before, since too many
/// wait or since the coordinator that knew its readers has gone, has its segment unlinked: whoever
/// mapped it keeps the pages.
struct DepartingBodies {
    private let bytesMax: Int
    private var bodies: [BlockID: Body] = [:]
    private var order: [BlockID] = []
    /// Bodies whose readers nobody can name any more: never used again.
    private var distrusted: Set<BlockID> = []
    /// Bytes of all that wait.
    private(set) var bytes = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// The coordinator has been told that the body left.
    mutating func add(_ body: Body) {
        let block = body.reference.block
        bodies[block] = body
        order.append(block)
        bytes += body.length
        while bytes > bytesMax, let oldest = order.first { drop(oldest) }
    }

    /// No client reads the block any more. Unknown ones are ignored.
    mutating func release(_ block: BlockID) {
        if !distrusted.contains(block) { bodies[block]?.releasedByReaders() }
        drop(block)
    }

    /// Gives the oldest up, since its room is needed; false where none waits.
    mutating func giveUpOldest() -> Bool {
        guard let oldest = order.first else { return false }
        drop(oldest)
        return true
    }

    /// A new coordinator does not know who has mapped what: what waits is given up, and of the
    /// `living` none will be used again.
    mutating func distrust(_ living: some Sequence<Body>) {
        for block in order { drop(block) }
        for body in living where body.length >= CacheStage.largeBytes {
            distrusted.insert(body.reference.block)
        }
    }

    private mutating func drop(_ block: BlockID) {
        guard let body = bodies.removeValue(forKey: block) else { return }
        bytes -= body.length
        order.removeAll { $0 == block }
        distrusted.remove(block)
    }
}
