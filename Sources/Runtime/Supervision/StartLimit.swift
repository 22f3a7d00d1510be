import Messages

/// Until when a child has to give its first sign of life.
///
/// Time in which it waited for a processor does not count, and neither does a limit that is seen to
/// have passed too late: whoever kept this process from running may have kept the child. Both move
/// the limit, by three times what was given at first and no further.
struct StartLimit: Hashable, Sendable {
    /// When it has taken too long.
    private(set) var until: Instant
    private let milliseconds: Int
    /// Milliseconds by which the limit was moved.
    private(set) var movedMilliseconds = 0

    private static let movesMax = 3

    /// So many milliseconds from `now` on.
    init(milliseconds: Int, from now: Instant) {
        self.milliseconds = milliseconds
        until = now.adding(milliseconds: milliseconds)
    }

    /// It waited for a processor meanwhile.
    mutating func waited(milliseconds waited: Int) {
        until = until.adding(milliseconds: take(waited))
    }

    /// Begins anew, as far as that is allowed; false where it is not.
    mutating func beginAnew(at now: Instant) -> Bool {
        let taken = take(milliseconds)
        until = now.adding(milliseconds: taken)
        return taken > 0
    }

    private mutating func take(_ wanted: Int) -> Int {
        let taken = min(wanted, Self.movesMax * milliseconds - movedMilliseconds)
        movedMilliseconds += taken
        return taken
    }
}
