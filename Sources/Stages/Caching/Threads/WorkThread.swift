internal import Linux
internal import Synchronization

/// A thread that answers requests one after the other, in their order.
///
/// Chores are the exception: they give way to what is asked after them (`WorkQueue`). What the
/// thread works with is made on it and never leaves it. Answers go to `deliver`, on that thread.
final class WorkThread<Request: Sendable, Answer: Sendable>: Sendable {
    private let shared: Shared
    private let thread: Mutex<Thread?>

    /// What the thread was asked and does.
    private struct State {
        var queue: WorkQueue<Request>
        /// Requests that the thread took from the queue and has not begun, the last one first.
        var taken: [Request] = []
        /// When the thread began what it does now, in monotonic nanoseconds.
        var begun: UInt64?

        /// The next thing to do; a request has begun when it is handed out.
        mutating func next(_ now: UInt64) -> WorkQueue<Request>.Turn {
            begun = nil
            if taken.isEmpty {
                let turn = queue.take(now: now)
                guard case .answer(let requests) = turn else { return turn }
                taken = requests.reversed()
            }
            begun = now
            return .answer([taken.removeLast()])
        }
    }

    /// What both sides touch.
    private final class Shared: Sendable {
        let state: Mutex<State>
        let event: EventDescriptor

        init(_ queue: WorkQueue<Request>) throws(Errno) {
            state = Mutex(State(queue: queue, begun: MonotonicClock.now()))
            event = try EventDescriptor()
        }

        /// The next request; waits for it. `nil` at the end.
        func take() -> Request? {
            while true {
                event.drain()
                var limit: Int?
                switch state.withLock({ $0.next(MonotonicClock.now()) }) {
                case .answer(let requests): return requests.first
                case .wait(let milliseconds): limit = milliseconds
                case .end: return nil
                }
                // Signalled with every request and with the end: an error would only mean to look
                // again.
                _ = try? event.descriptor.wait(for: .readable, milliseconds: limit)
            }
        }
    }

    /// Starts the thread; `make` runs on it first and gives what answers.
    ///
    /// At most `requestsMax` requests wait. Those of which `isChore` is true give way to others.
    init(
        name: String, requestsMax: Int,
        isChore: @escaping @Sendable (Request) -> Bool = { _ in false },
        make: @escaping @Sendable () -> (Request) -> Answer,
        deliver: @escaping @Sendable (Answer) -> Void
    ) throws(Errno) {
        let shared = try Shared(WorkQueue(requestsMax: requestsMax, isChore: isChore))
        self.shared = shared
        thread = Mutex(
            try Thread(name: name) {
                let answer = make()
                // What a request holds is let go before its answer is seen.
                while let result = shared.take().map(answer) { deliver(result) }
            })
    }

    deinit {
        // Not joined here: the last owner may be the thread itself.
        shared.state.withLock { $0.queue.isStopping = true }
        shared.event.signal()
    }

    /// When the operation began that is under way, in monotonic nanoseconds; `nil` if the thread
    /// has nothing to do. Before its first request it makes what it works with.
    var busySince: UInt64? {
        shared.state.withLock { state in
            state.begun ?? (state.queue.isEmpty ? nil : MonotonicClock.now())
        }
    }

    /// Asks; false where too many wait already, or where the thread is stopping.
    func submit(_ request: Request) -> Bool {
        let isTaken = shared.state.withLock { $0.queue.put(request, now: MonotonicClock.now()) }
        if isTaken { shared.event.signal() }
        return isTaken
    }

    /// Drops the requests that have not begun and that are meant: they are not answered.
    func withdraw(where isMeant: (Request) -> Bool) {
        let gone = shared.state.withLock { state in
            let gone = state.taken.filter(isMeant)
            if !gone.isEmpty { state.taken.removeAll(where: isMeant) }
            return gone + state.queue.withdraw(where: isMeant)
        }
        // What they hold is let go here, and not while the thread waits for the lock.
        withExtendedLifetime(gone) {}
    }

    /// Answers what was asked, and ends. Once; waits for it.
    func stop() {
        shared.state.withLock { $0.queue.isStopping = true }
        shared.event.signal()
        thread.withLock { $0.take() }?.join()
    }
}
