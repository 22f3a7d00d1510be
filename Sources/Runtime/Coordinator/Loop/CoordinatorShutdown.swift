import Model
import ProcessRuntime

/// The shutdown of the coordinator as a pure state machine: events in, actions out.
///
/// A shutdown has four phases. Each waits for a condition with a time limit; requests that no other
/// coordinator could take over end by their own deadlines. If another coordinator follows, the last
/// phase is omitted: workers stay and join that one.
struct ShutdownState: Hashable {
    /// The time in milliseconds for admitted requests before another coordinator follows; including
    /// the later phases, a drain takes eight seconds (SEMANTICS §14.10).
    static let replacementMilliseconds = 6_000
    /// The time in milliseconds for clients to read the bytes of the last replies.
    static let deliveryMilliseconds = 500
    /// The time in milliseconds for stores that no request waits for.
    static let storingMilliseconds = 1_000
    /// The time in milliseconds for workers to write unsaved data.
    static let dismissalMilliseconds = 6_000

    enum Phase: Comparable {
        /// Requests are admitted. Next: finishing.
        case serving
        /// No requests are admitted; admitted ones continue. Next: delivering. Has a time limit if
        /// another coordinator follows, to which clients resend unanswered requests.
        case finishing
        /// All requests have ended; clients read the bytes from `results/`. Next: storing.
        case delivering
        /// Work that follows a reply, such as storing its original, is completed. Next: dismissing,
        /// or the end if another coordinator follows.
        case storing
        /// Workers write unsaved data and remove their segments. Ends when all have exited.
        case dismissing
        case ended
    }

    private(set) var phase = Phase.serving
    /// When `tick` is due; `nil` if no time limit applies.
    private(set) var deadline: Instant?
    private var isReplaced = false

    /// Whether requests are admitted.
    var isServing: Bool { phase == .serving }

    /// Whether the phase ends depending on a census, which is then needed in each turn.
    var wantsCensus: Bool { phase > .finishing && phase < .ended }

    /// Handles one event and returns the resulting actions in order.
    mutating func handle(_ event: ShutdownEvent, at now: Instant) -> [ShutdownAction] {
        switch event {
        case .stopRequested(let isReplaced):
            isServing ? begin(isReplaced: isReplaced, at: now) : end()
        case .replacementRequested: isServing ? begin(isReplaced: true, at: now) : []
        case .requestsEnded: deliver(at: now)
        case .workerJoined: phase == .dismissing ? [.dismissWorkers] : []
        case .counted(let left): go(on: left, at: now)
        case .tick: tick(at: now)
        }
    }
}

extension ShutdownState {
    private mutating func enter(_ next: Phase, until deadline: Instant?) {
        (phase, self.deadline) = (next, deadline)
    }

    private mutating func begin(isReplaced: Bool, at now: Instant) -> [ShutdownAction] {
        self.isReplaced = isReplaced
        let limit = isReplaced ? now.adding(milliseconds: Self.replacementMilliseconds) : nil
        enter(.finishing, until: limit)
        return [.report(.begun), .admitNothing]
    }

    private mutating func deliver(at now: Instant) -> [ShutdownAction] {
        guard phase == .finishing else { return [] }
        enter(.delivering, until: now.adding(milliseconds: Self.deliveryMilliseconds))
        return []
    }

    /// Advances through all phases whose condition is met.
    private mutating func go(on left: ShutdownCensus, at now: Instant) -> [ShutdownAction] {
        if phase == .delivering, left.clients == 0 { store(at: now) }
        if phase == .storing, left.jobs == 0 { return dismiss(at: now) }
        if phase == .dismissing, left.workers == 0 { return end() }
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
        enter(.storing, until: now.adding(milliseconds: Self.storingMilliseconds))
    }

    private mutating func dismiss(at now: Instant) -> [ShutdownAction] {
        guard !isReplaced else { return end() }
        enter(.dismissing, until: now.adding(milliseconds: Self.dismissalMilliseconds))
        return [.dismissWorkers]
    }

    private mutating func end() -> [ShutdownAction] {
        guard phase != .ended else { return [] }
        enter(.ended, until: nil)
        return [.exit]
    }
}

/// An input of the shutdown's state machine.
enum ShutdownEvent: Hashable {
    /// SIGTERM or SIGINT: the first one starts the shutdown, a repeated one exits at once.
    /// `isReplaced`: whether another coordinator follows.
    case stopRequested(isReplaced: Bool)
    /// An operator requested that another coordinator replace this one.
    case replacementRequested
    /// All admitted requests have been answered.
    case requestsEnded
    /// A worker was welcomed.
    case workerJoined
    /// The current census; required while the state `wantsCensus`.
    case counted(ShutdownCensus)
    /// Time has passed.
    case tick
}

/// The peers and jobs that the shutdown waits for.
struct ShutdownCensus: Hashable {
    /// Client sessions at the front listener, and sessions of operators who requested the shutdown
    /// until they send another message: libzmq drops unread messages of a receiver when its
    /// connection ends.
    var clients: Int
    /// Jobs that are running or queued.
    var jobs: Int
    /// Worker sessions.
    var workers: Int
}

/// An output of the shutdown's state machine, to be executed in order.
enum ShutdownAction: Hashable {
    /// Reject new requests; `requestsEnded` follows when all admitted ones have ended.
    case admitNothing
    /// Tell the connected workers to write unsaved data and exit.
    case dismissWorkers
    /// Log the progress of the shutdown.
    case report(Note)
    /// Exit the process. Once, last.
    case exit

    /// A log message about the shutdown.
    enum Note: Hashable {
        /// The shutdown has started.
        case begun
        /// Requests timed out; clients resend them to the next coordinator, as after a crash.
        case requestsLeft
        /// Workers timed out.
        case workersLeft
    }
}

// Executes the actions of `ShutdownState` and supplies its census.
extension Coordinator {
    /// Passes an event to the shutdown and executes the resulting actions in order.
    mutating func notifyShutdown(_ event: ShutdownEvent) {
        for action in shutdown.handle(event, at: now) { perform(action) }
        if let deadline = shutdown.deadline { timers.arm(.shutdown, by: deadline) }
    }

    /// Advances the shutdown. Counts again after each phase with actions, since they change the
    /// census.
    mutating func moveShutdown() {
        var phase: ShutdownState.Phase?
        while shutdown.wantsCensus, shutdown.phase != phase {
            phase = shutdown.phase
            notifyShutdown(.counted(census))
        }
    }

    private var census: ShutdownCensus {
        ShutdownCensus(
            clients: peers.count { $0.listener.isOfClients || replacementAskers.contains($0.id) },
            jobs: scheduler.dispatcher.jobCount, workers: peers.count(where: \.isWorker))
    }

    private mutating func perform(_ action: ShutdownAction) {
        switch action {
        case .admitNothing: handle(.drain)
        case .dismissWorkers:
            for peer in peers.all where peer.isWorker && !peer.isLeaving {
                send(.toWorker(.drain), to: peer.id)
            }
        case .report(let note): report(note)
        case .exit: exitStatus = 0
        }
    }

    private func report(_ note: ShutdownAction.Note) {
        switch note {
        case .begun: bootstrap.log.info("draining")
        case .requestsLeft:
            bootstrap.log.warning("admitted requests took too long: left to the next coordinator")
        case .workersLeft:
            let left = peers.all.compactMap { peer in
                if case .worker(let pool, let hello) = peer.role {
                    "\(pools[pool].name) \(hello.pid)"
                } else {
                    nil
                }
            }
            bootstrap.log.warning(
                "workers did not exit", ["left": .string(left.joined(separator: ", "))])
        }
    }
}
