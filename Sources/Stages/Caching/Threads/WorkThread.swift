internal import Linux
internal import Synchronization

/// A thread that answers requests one after the other, in their order.
///
/// What it works with is made on the thread and never leaves it. Answers go to `deliver`, on that
/// thread.
final class WorkThread<Request: Sendable, Answer: Sendable>: Sendable {
    private let shared: Shared
    private let thread: Mutex<Thread?>

    /// What both sides touch.
    private final class Shared: Sendable {
        struct Queue {
            var requests: [Request] = []
            var isStopping = false
        }

        let queue = Mutex(Queue())
        let event: EventDescriptor

        init() throws(Errno) { event = try EventDescriptor() }

        /// The requests that came since the last call; waits for the first. `nil` at the end.
        func take() -> [Request]? {
            while true {
                event.drain()
                let (requests, isStopping) = queue.withLock { queue in
                    defer { queue.requests = [] }
                    return (queue.requests, queue.isStopping)
                }
                if !requests.isEmpty { return requests }
                if isStopping { return nil }
                // Signalled with every request and with the end: an error would only mean to look
                // again.
                _ = try? event.descriptor.wait(for: .readable, milliseconds: nil)
            }
        }
    }

    /// Requests that wait at most.
    private let requestsMax: Int

    /// Starts the thread; `make` runs on it first and gives what answers.
    init(
        name: String, requestsMax: Int, make: @escaping @Sendable () -> (Request) -> Answer,
        deliver: @escaping @Sendable (Answer) -> Void
    ) throws(Errno) {
        let shared = try Shared()
        self.shared = shared
        self.requestsMax = requestsMax
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
        let isTaken = shared.queue.withLock { queue in
            guard !queue.isStopping, queue.requests.count < requestsMax else { return false }
            queue.requests.append(request)
            return true
        }
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
