import Messages
import StageContract

/// Hands out what has arrived of one body while the rest comes: one block at a time, not too often,
/// and each time more than before. What is held back is handed out later, although no more comes.
struct EarlyBody {
    private let interval: UInt64
    /// Whether bytes are here that were not handed out.
    private(set) var isBehind = false
    /// Whether anybody looks at it.
    var isWanted: Bool
    private var last: (block: BlockID, bytes: Int, at: UInt64)?

    init(intervalMilliseconds: Int, isWanted: Bool) {
        interval = UInt64(max(0, intervalMilliseconds)) * 1_000_000
        self.isWanted = isWanted
    }

    /// The bytes that are here, where it is their turn: the first ones at once, others when those
    /// before were given back.
    mutating func next(
        of body: BodyBlock, in space: any SharingSpace, at now: UInt64
    ) -> BlockReference? {
        isBehind = isWanted && body.count > last?.bytes ?? 0
        guard isBehind, isDue(in: space, at: now), let reference = body.share(in: space) else {
            return nil
        }
        last = (reference.block, body.count, now)
        isBehind = false
        return reference
    }

    private func isDue(in space: any SharingSpace, at now: UInt64) -> Bool {
        guard let last else { return true }
        return now >= last.at + interval && !space.isInUse(last.block)
    }
}
