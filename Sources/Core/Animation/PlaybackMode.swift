/// In which order the frames of an animation are shown.
public enum PlaybackMode: UInt8, Hashable, Sendable, CaseIterable {
    /// From the first to the last, then the first again.
    case normal = 0
    /// From the last to the first, then the last again.
    case reverse = 1
    /// To the last and back to the first; neither is shown twice in a row. That is one loop.
    case bounce = 2
    /// From the last to the first and back; neither is shown twice in a row. Its first loop ends at
    /// the first frame.
    case reversedBounce = 3

    /// The frame with which it begins.
    func first(of count: Int) -> Int {
        switch self {
        case .normal, .bounce: 0
        case .reverse, .reversedBounce: count - 1
        }
    }

    /// The frame behind another one, and whether it goes back from now on.
    func next(behind index: Int, of count: Int, goingBack: Bool) -> (index: Int, goesBack: Bool) {
        guard count > 1 else { return (0, goingBack) }
        switch self {
        case .normal: return ((index + 1) % count, false)
        case .reverse: return ((index + count - 1) % count, true)
        case .bounce, .reversedBounce:
            let turns = index == 0 ? false : index == count - 1 ? true : goingBack
            return (turns ? index - 1 : index + 1, turns)
        }
    }

    /// How many steps lie between a frame and another one that comes later; 0 for the same.
    func steps(from index: Int, to other: Int, of count: Int, goingBack: Bool) -> Int {
        switch self {
        case .normal: return (other - index + count) % count
        case .reverse: return (index - other + count) % count
        case .bounce, .reversedBounce:
            let turns = index == 0 ? false : index == count - 1 ? true : goingBack
            if turns { return other <= index ? index - other : index + other }
            let toTheEnd = count - 1 - index
            return other >= index ? other - index : toTheEnd + count - 1 - other
        }
    }
}
