internal import Linux
internal import Synchronization

/// A thread that answers requests one after the other, in their order.
///
/// Chores are the exception: they give way to what is asked after them (`WorkQueue`). What the
/// thread works with is made on it and never leaves it. Answers go to `deliver`, on that thread.
final class WorkThread<Request: Sendable, Answer: Sendable>: Sendable {
    private let shared: Shared
    private let thread: Mutex<Thread?>

    /// What both sides touch.
    private final class Shared: Sendable {
        let queue: Mutex<WorkQueue<Request>>
        let event: EventDescriptor

        init(_ queue: WorkQueue<Request>) throws(Errno) {
            self.queue = Mutex(queue)
            event = try EventDescriptor()
        }

        /// What to do next; waits for it. `nil` at the end.
        func take() -> [Request]? {
            while true {
                event.drain()
                var limit: Int?
                switch queue.withLock({ $0.take(now: MonotonicClock.now()) }) {
                case .answer(let requests): return requests
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
                while var requests = shared.take() {
                    requests.reverse()
                    while !requests.isEmpty {
                        // What a request holds is let go before its answer is seen.
                        let result = answer(requests.removeLast())
                        deliver(result)
                    }
                }
            })
    }

    deinit {
        // Not joined here: the last owner may be the thread itself.
        shared.queue.withLock { $0.isStopping = true }
        shared.event.signal()
    }

    /// Asks; false where too many wait already, or where the thread is stopping.
    func submit(_ request: Request) -> Bool {
        let isTaken = shared.queue.withLock { $0.put(request, now: MonotonicClock.now()) }
        if isTaken { shared.event.signal() }
        return isTaken
    }

    /// Answers what was asked, and ends. Once; waits for it.
    func stop() {
        shared.queue.withLock { $0.isStopping = true }
        shared.event.signal()
        thread.withLock { $0.take() }?.join()
    }
}
