import Messages
import StageContract

/// Hands out what has arrived of one body while the rest comes: one block at a time, not too often,
/// and each time more than before. What is held back is handed out later, although no more comes.
///
/// Where nothing more comes, the same bytes are handed out again, after pauses that double:
/// whoever had no time for them at first sees them nevertheless.
struct EarlyBody {
    /// When bytes are handed out, in milliseconds.
    struct Pace: Sendable {
        /// Between two times at least.
        var interval = 100
        /// From the first time that bytes were handed out to the second. Each of a few pauses
        /// that follow is twice as long.
        var again = 200
    }

    /// Whether anybody looks at it.
    var isWanted: Bool
    private let pace: Pace
    private var last: Last?

    /// What was handed out last.
    private struct Last {
        let block: BlockID
        let bytes: Int
        /// When, in nanoseconds.
        let at: UInt64
        /// How often the same bytes were before.
        let repeats: Int
    }

    /// So often the pause doubles: to 3.2 s, at the usual pace.
    private static let doublingsMax = 4

    init(_ pace: Pace, isWanted: Bool) {
        (self.pace, self.isWanted) = (pace, isWanted)
    }

    /// Whether something will be handed out, though nothing more may come.
    func isBehind(_ body: BodyBlock?) -> Bool { isWanted && body?.count ?? 0 > 0 }

    /// The bytes that are here, where it is their turn: the first ones at once, others when those
    /// before were given back.
    mutating func next(
        of body: BodyBlock, in space: any SharingSpace, at now: UInt64
    ) -> BlockReference? {
        guard isBehind(body), isDue(body, in: space, at: now),
            let reference = body.share(in: space)
        else { return nil }
        let repeats = body.count == last?.bytes ? (last?.repeats ?? 0) + 1 : 0
        last = Last(block: reference.block, bytes: body.count, at: now, repeats: repeats)
        return reference
    }

    private func isDue(_ body: BodyBlock, in space: any SharingSpace, at now: UInt64) -> Bool {
        guard let last else { return true }
        let again = pace.again << min(last.repeats, Self.doublingsMax)
        let pause = body.count > last.bytes ? pace.interval : again
        return now >= last.at + UInt64(max(0, pause)) * 1_000_000 && !space.isInUse(last.block)
    }
}
