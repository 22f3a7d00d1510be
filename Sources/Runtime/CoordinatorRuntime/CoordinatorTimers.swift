import EventLoop
import Messages

/// What the coordinator does at a moment, besides what the scheduler does (`nextDeadline`).
enum CoordinatorTimer: Hashable, Sendable, CaseIterable {
    /// Peers that took nothing are tried again.
    case retryPeers
    /// Workers hear which blocks are free.
    case sendReleases
    /// Uploads that take too long end.
    case expireUploads
    /// Clients that take no pieces lose their session.
    case endStalledDeliveries
    /// Connections that never said hello are closed.
    case closeSilentConnections
    /// A phase of the shutdown takes too long.
    case shutdown
}

/// The timers of the coordinator, one of each kind at most.
///
/// An armed timer means: look by then. Who looks finds out what is due at that moment, which may be
/// nothing, and arms it again where something is still to come. So nothing is ever disarmed, and a
/// deadline that moves away costs nothing.
struct CoordinatorTimers {
    private var queue = TimerQueue<CoordinatorTimer>(timersMax: CoordinatorTimer.allCases.count)
    private var armed: [CoordinatorTimer: Armed] = [:]

    private struct Armed {
        let id: TimerID
        let due: Instant
    }

    /// When the first one is due; `nil` where none is armed.
    var nextDue: Instant? { queue.nextDue }

    /// Arms a timer for that moment, unless it is due earlier.
    mutating func arm(_ timer: CoordinatorTimer, by due: Instant) {
        if let known = armed[timer] {
            guard due < known.due else { return }
            queue.cancel(known.id)
        }
        armed[timer] = Armed(id: queue.schedule(timer, at: due), due: due)
    }

    /// Takes all that are due, first those that were due first. One that is armed again while they
    /// are worked off comes in the next turn.
    mutating func takeDue(at now: Instant) -> [CoordinatorTimer] {
        var due: [CoordinatorTimer] = []
        while let timer = queue.takeDue(at: now) {
            armed[timer] = nil
            due.append(timer)
        }
        return due
    }
}
