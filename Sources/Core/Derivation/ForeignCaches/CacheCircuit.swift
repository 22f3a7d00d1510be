import Messages

/// Whether a cache of others is asked: not for a while after it was slow or failed several times in
/// a row, so that nobody waits for it each time.
///
///     asked ──5 faults in a row──► left alone ──1 s──► tried once ──answers──► asked
///                                      ▲                   │
///                                      └──twice as long────┘ fault
struct CacheCircuit: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        /// It is asked; so many faults came in a row.
        case closed(faults: Int)
        /// It is not asked until then, and was not for so many milliseconds.
        case open(until: Instant, pause: Int)
        /// One question is under way; where it is not answered by then, the next one is asked.
        case trying(until: Instant, pause: Int)
    }

    private var state = State.closed(faults: 0)

    /// Faults in a row after which it is left alone.
    static let faultsMax = 5
    /// Milliseconds: the first time, and at most.
    static let pauses = 1_000...30_000

    /// Whether it is left alone, or tried.
    var isOpen: Bool {
        switch state {
        case .closed: false
        case .open, .trying: true
        }
    }

    /// Whether it may be asked something now; who gets a yes asks.
    mutating func admits(at now: Instant) -> Bool {
        switch state {
        case .closed: return true
        case .open(let until, let pause), .trying(let until, let pause):
            guard until <= now else { return false }
            state = .trying(until: now.adding(milliseconds: pause), pause: pause)
            return true
        }
    }

    /// It answered in time.
    mutating func answered() { state = .closed(faults: 0) }

    /// It was slow, failed, or is gone with what it was asked.
    mutating func failed(at now: Instant) {
        switch state {
        case .closed(let faults) where faults + 1 < Self.faultsMax:
            state = .closed(faults: faults + 1)
        case .closed: open(for: Self.pauses.lowerBound, at: now)
        // It was asked before, with others that failed.
        case .open: break
        case .trying(_, let pause): open(for: min(2 * pause, Self.pauses.upperBound), at: now)
        }
    }

    private mutating func open(for pause: Int, at now: Instant) {
        state = .open(until: now.adding(milliseconds: pause), pause: pause)
    }
}
