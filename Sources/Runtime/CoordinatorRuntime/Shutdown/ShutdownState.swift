import Messages

/// How the coordinator ends, as a value: it takes what happened, and returns what is to be done.
///
/// From the moment at which it stops serving it goes through four phases. Each waits for something,
/// and has a limit of time; requests that nobody else could take over end by their own deadlines.
/// Where another coordinator follows, the last phase is left out: workers stay, and join that one.
struct ShutdownState: Hashable {
    /// Milliseconds that what was admitted has before another coordinator follows; with all that
    /// comes after it a drain takes eight seconds (SEMANTICS §14.10).
    static let replacementMilliseconds = 6_000
    /// Milliseconds that clients have for taking the bytes of the last replies.
    static let deliveryMilliseconds = 500
    /// Milliseconds that stores have which nobody waits for.
    static let storingMilliseconds = 1_000
    /// Milliseconds that workers have for writing what is unwritten.
    static let dismissalMilliseconds = 6_000

    enum Phase: Hashable {
        /// Admits requests. Next: finishing.
        case serving
        /// Admits nothing; what was admitted runs. Next: delivering. Ends at that moment, where
        /// another coordinator follows: clients send it what is left.
        case finishing(until: Instant?)
        /// All requests have ended; clients take the bytes out of `results/`. Next: storing.
        case delivering(until: Instant)
        /// What follows a reply, such as the store of its original. Next: dismissing, or the end
        /// where another coordinator follows.
        case storing(until: Instant)
        /// Workers write what is unwritten, and take their segments along. Ends when all have gone.
        case dismissing(until: Instant)
        case ended
    }

    private(set) var phase = Phase.serving
    private var isReplaced = false

    /// Whether requests are admitted.
    var isServing: Bool { phase == .serving }

    /// Whether the phase ends by what is left, so that a census is wanted in each turn.
    var wantsCensus: Bool {
        switch phase {
        case .delivering, .storing, .dismissing: true
        case .serving, .finishing, .ended: false
        }
    }

    private var isDismissing: Bool { if case .dismissing = phase { true } else { false } }

    /// When `tick` is due; `nil` while nothing waits for time.
    var deadline: Instant? {
        switch phase {
        case .serving, .ended: nil
        case .finishing(let until): until
        case .delivering(let until), .storing(let until), .dismissing(let until): until
        }
    }

    /// Takes one event and returns what is to be done, in order.
    mutating func handle(_ event: ShutdownEvent, at now: Instant) -> [ShutdownAction] {
        switch event {
        case .stopRequested(let isReplaced):
            isServing ? begin(isReplaced: isReplaced, at: now) : end()
        case .replacementRequested: isServing ? begin(isReplaced: true, at: now) : []
        case .requestsEnded: deliver(at: now)
        case .workerJoined: isDismissing ? [.dismissWorkers] : []
        case .counted(let left): go(on: left, at: now)
        case .tick: tick(at: now)
        }
    }
}

extension ShutdownState {
    private mutating func begin(isReplaced: Bool, at now: Instant) -> [ShutdownAction] {
        self.isReplaced = isReplaced
        let limit = isReplaced ? now.adding(milliseconds: Self.replacementMilliseconds) : nil
        phase = .finishing(until: limit)
        return [.report(.begun), .admitNothing]
    }

    private mutating func deliver(at now: Instant) -> [ShutdownAction] {
        guard case .finishing = phase else { return [] }
        phase = .delivering(until: now.adding(milliseconds: Self.deliveryMilliseconds))
        return []
    }

    /// Leaves each phase of which nothing is left.
    private mutating func go(on left: ShutdownCensus, at now: Instant) -> [ShutdownAction] {
        if case .delivering = phase, left.clients == 0 { store(at: now) }
        if case .storing = phase, left.jobs == 0 { return dismiss(at: now) }
        if case .dismissing = phase, left.workers == 0 { return end() }
        return []
    }

    private mutating func tick(at now: Instant) -> [ShutdownAction] {
        guard let deadline, deadline <= now else { return [] }
        switch phase {
        case .serving, .ended: return []
        case .finishing: return [.report(.requestsLeft)] + end()
        case .delivering: store(at: now)
        case .storing: return dismiss(at: now)
        case .dismissing: return [.report(.workersLeft)] + end()
        }
        return []
    }

    private mutating func store(at now: Instant) {
        phase = .storing(until: now.adding(milliseconds: Self.storingMilliseconds))
    }

    private mutating func dismiss(at now: Instant) -> [ShutdownAction] {
        guard !isReplaced else { return end() }
        phase = .dismissing(until: now.adding(milliseconds: Self.dismissalMilliseconds))
        return [.dismissWorkers]
    }

    private mutating func end() -> [ShutdownAction] {
        guard phase != .ended else { return [] }
        phase = .ended
        return [.exit]
    }
}
