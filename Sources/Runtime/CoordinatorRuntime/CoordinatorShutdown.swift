import Admission
import Bootstrap
import Messages
import Observability

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

/// What happens to a coordinator that is to end.
enum ShutdownEvent: Hashable {
    /// SIGTERM or SIGINT: the first begins the end, the next one ends at once. Whether another
    /// coordinator follows.
    case stopRequested(isReplaced: Bool)
    /// An operator wants another coordinator in the place of this one.
    case replacementRequested
    /// All admitted requests have their replies.
    case requestsEnded
    /// A worker was welcomed.
    case workerJoined
    /// What is left at the moment; asked for where the state `wantsCensus`.
    case counted(ShutdownCensus)
    /// Time passed.
    case tick
}

/// Who and what an ending coordinator waits for.
struct ShutdownCensus: Hashable {
    /// Sessions of clients at the front listener, and those of operators who asked for the end
    /// until they are heard again: libzmq drops what a receiver has not read when its connection
    /// ends.
    var clients: Int
    /// Jobs that workers have, or that wait for them.
    var jobs: Int
    /// Sessions of workers.
    var workers: Int
}

/// What an ending coordinator is to do, in order.
enum ShutdownAction: Hashable {
    /// Refuse new requests; `requestsEnded` follows when all admitted ones have ended.
    case admitNothing
    /// Have the workers that are there write what is unwritten, and end.
    case dismissWorkers
    /// Say how the end goes on.
    case report(Note)
    /// End the process. Once, last.
    case exit

    /// What is said of the end.
    enum Note: Hashable {
        /// It begins.
        case begun
        /// Requests took too long, and are sent again to the next coordinator, as after a death.
        case requestsLeft
        /// Workers took too long.
        case workersLeft
    }
}

// Does what `ShutdownState` decides, and tells it what is left.
extension Coordinator {
    /// Tells the shutdown what happened and does what it answers, in order.
    mutating func tellShutdown(_ event: ShutdownEvent, at now: Instant) {
        for action in shutdown.handle(event, at: now) { perform(action, at: now) }
        if let deadline = shutdown.deadline { timers.arm(.shutdown, by: deadline) }
    }

    /// Leaves phases of the shutdown for which nothing is left to wait. Counts again after each
    /// phase that did something: the count is another one then.
    mutating func moveShutdown(at now: Instant) {
        var phase: ShutdownState.Phase?
        while shutdown.wantsCensus, shutdown.phase != phase {
            phase = shutdown.phase
            tellShutdown(.counted(census), at: now)
        }
    }

    private var census: ShutdownCensus {
        ShutdownCensus(
            clients: peers.count { $0.listener.isOfClients || replacementAskers.contains($0.id) },
            jobs: scheduler.liveJobs, workers: peers.count(where: \.isWorker))
    }

    private mutating func perform(_ action: ShutdownAction, at now: Instant) {
        switch action {
        case .admitNothing: handle(.drain, at: now)
        case .dismissWorkers:
            for peer in peers.all where peer.isWorker && !peer.isLeaving {
                send(.toWorker(.drain), to: peer.id, at: now)
            }
        case .report(let note): report(note)
        case .exit: exitStatus = 0
        }
    }

    private func report(_ note: ShutdownAction.Note) {
        switch note {
        case .begun: bootstrap.log.info("draining")
        case .requestsLeft:
            bootstrap.log.warning("what was admitted takes too long: the next coordinator does it")
        case .workersLeft:
            let left = peers.all.compactMap { peer in
                if case .worker(let pool, let hello) = peer.role {
                    "\(pools[pool].name) \(hello.pid)"
                } else {
                    nil
                }
            }
            bootstrap.log.warning(
                "workers did not end", ["left": .string(left.joined(separator: ", "))])
        }
    }
}
