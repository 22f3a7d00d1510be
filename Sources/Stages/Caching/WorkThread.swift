internal import Linux
internal import Model
internal import Synchronization

/// A thread that executes requests in order.
///
/// Chores are the exception: later requests overtake them (`WorkQueue`). The state of the thread is
/// created on it and never leaves it. Answers are passed to `deliver` on that thread.
final class WorkThread<Request: Sendable, Answer: Sendable>: Sendable {
    private let shared: Shared
    private let thread: Mutex<Thread?>

    /// The queue and the current work of the thread.
    private struct State {
        var queue: WorkQueue<Request>
        /// Requests taken from the queue but not begun, the last one first.
        var taken: [Request] = []
        /// When the thread began its current operation, in monotonic nanoseconds.
        var begun: UInt64?

        /// Returns the next work; a returned request counts as begun.
        mutating func next(_ now: UInt64) -> WorkQueue<Request>.Turn {
            begun = nil
            if taken.isEmpty {
                let turn = queue.next(now: now)
                guard case .answer(let requests) = turn else { return turn }
                taken = requests.reversed()
            }
            begun = now
            return .answer([taken.removeLast()])
        }
    }

    /// The state shared by both threads.
    private final class Shared: Sendable {
        let state: Mutex<State>
        let event: EventDescriptor

        init(_ queue: WorkQueue<Request>) throws(Errno) {
            state = Mutex(State(queue: queue, begun: MonotonicClock.now()))
            event = try EventDescriptor()
        }

        /// Returns the next request, waiting for it; `nil` at the end.
        func next() -> Request? {
            while true {
                event.drain()
                var limit: Int?
                switch state.withLock({ $0.next(MonotonicClock.now()) }) {
                case .answer(let requests): return requests.first
                case .wait(let milliseconds): limit = milliseconds
                case .end: return nil
                }
                // Signaled for every request and at the end; an error only causes another check.
                _ = try? event.descriptor.wait(for: .readable, milliseconds: limit)
            }
        }
    }

    /// Starts the thread; `make` runs on it first and returns the request handler.
    ///
    /// At most `requestsMax` requests are queued. Later requests overtake those for which `isChore`
    /// returns true.
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
                // Everything that a request owns is released before its answer is delivered.
                while let result = shared.next().map(answer) { deliver(result) }
            })
    }

    deinit {
        // Not joined here, because the last owner may be the thread itself.
        shared.state.withLock { $0.queue.isStopping = true }
        shared.event.signal()
    }

    /// When the current operation began, in monotonic nanoseconds; `nil` if the thread is idle. The
    /// first operation is creating its state.
    var busySince: UInt64? {
        shared.state.withLock { state in
            state.begun ?? (state.queue.isEmpty ? nil : MonotonicClock.now())
        }
    }

    /// Submits a request; returns false if the queue is full or the thread is stopping.
    func submit(_ request: Request) -> Bool {
        let isTaken = shared.state.withLock { $0.queue.put(request, now: MonotonicClock.now()) }
        if isTaken { shared.event.signal() }
        return isTaken
    }

    /// Drops matching requests that have not begun, without answers.
    func withdraw(where isMeant: (Request) -> Bool) {
        let gone = shared.state.withLock { state in
            let gone = state.taken.filter(isMeant)
            if !gone.isEmpty { state.taken.removeAll(where: isMeant) }
            return gone + state.queue.withdraw(where: isMeant)
        }
        // Releases what they own outside of the lock, so that the thread doesn't wait for it.
        withExtendedLifetime(gone) {}
    }

    /// Executes the queued requests, ends the thread, and waits for it. Call once.
    func stop() {
        shared.state.withLock { $0.queue.isStopping = true }
        shared.event.signal()
        thread.withLock { $0.take() }?.join()
    }
}

/// The requests to a thread, and when each is executed.
///
/// A chore runs when no other request has arrived for `quiet`, or after it has waited for
/// `longest`. Otherwise a client that sends one request at a time would wait for a chore each time:
/// its next request arrives just after the answer, when the chore has just begun.
struct WorkQueue<Request: Sendable>: Sendable {
    /// The idle time in nanoseconds after which a chore runs.
    static var quiet: UInt64 { 4_000_000 }
    /// The maximum delay of a chore in nanoseconds.
    static var longest: UInt64 { 16_000_000 }

    /// What the thread does next.
    enum Turn {
        /// Execute these requests in order.
        case answer([Request])
        /// Wait for a request, or for this many milliseconds.
        case wait(milliseconds: Int?)
        /// Everything is done, and no more requests are accepted.
        case end
    }

    private let requestsMax: Int
    private let isChore: @Sendable (Request) -> Bool
    private var requests: [Request] = []
    private var chores: [Request] = []
    /// Since when the first of `chores` has been waiting.
    private var choresSince: UInt64 = 0
    /// Whether the thread is executing a request that isn't a chore.
    private var isBusy = false
    /// When it last completed one.
    private var idleSince: UInt64 = 0
    /// Whether no more requests are accepted.
    var isStopping = false

    /// Creates a queue for at most `requestsMax` requests, including chores.
    init(requestsMax: Int, isChore: @escaping @Sendable (Request) -> Bool) {
        self.requestsMax = requestsMax
        self.isChore = isChore
    }

    /// Adds a request; returns false if the queue is full or stopping. `now` in nanoseconds.
    mutating func put(_ request: Request, now: UInt64) -> Bool {
        guard !isStopping, requests.count + chores.count < requestsMax else { return false }
        guard isChore(request) else {
            requests.append(request)
            return true
        }
        if chores.isEmpty { choresSince = now }
        chores.append(request)
        return true
    }

    /// Returns what to do at `now`, in nanoseconds; when stopping, chores don't wait.
    mutating func next(now: UInt64) -> Turn {
        if isBusy { (isBusy, idleSince) = (false, now) }
        if !chores.isEmpty, isStopping || now >= choresSince + Self.longest {
            return allRequests()
        }
        if !requests.isEmpty {
            isBusy = true
            defer { requests = [] }
            return .answer(requests)
        }
        guard !chores.isEmpty else { return isStopping ? .end : .wait(milliseconds: nil) }
        let begin = min(idleSince + Self.quiet, choresSince + Self.longest)
        guard now < begin else { return allRequests() }
        return .wait(milliseconds: Int((begin - now + 999_999) / 1_000_000))
    }

    /// Whether the queue is empty.
    var isEmpty: Bool { requests.isEmpty && chores.isEmpty }

    /// Removes and returns matching requests.
    mutating func withdraw(where isMeant: (Request) -> Bool) -> [Request] {
        let gone = requests.filter(isMeant) + chores.filter(isMeant)
        requests.removeAll(where: isMeant)
        chores.removeAll(where: isMeant)
        return gone
    }

    private mutating func allRequests() -> Turn {
        isBusy = !requests.isEmpty
        defer { (requests, chores) = ([], []) }
        return .answer(requests + chores)
    }
}

/// Answers from other threads, until the bus thread handles them.
final class Inbox: Sendable {
    enum Answer: Sendable {
        case disk(DiskAnswer)
        case copy(CopyAnswer)
        case readOnly(ReadOnlyAnswer)
    }

    private let answers = Mutex<[Answer]>([])
    private let wake: @Sendable () -> Void

    /// `wake` is called from any thread and makes the bus thread read the inbox.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    func put(_ answer: Answer) {
        let wasEmpty = answers.withLock { answers in
            defer { answers.append(answer) }
            return answers.isEmpty
        }
        if wasEmpty { wake() }
    }

    func removeAll() -> [Answer] {
        answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
    }
}

/// A cache job without an answer.
struct CacheJob: Sendable {
    let id: JobID
    let attempt: UInt32
}

/// What to do when a thread answers.
enum PendingWork {
    /// A query whose key is looked up, or whose body is being read.
    case query(CacheJob, QueryWork, QueryStep)
    /// A check of the read-only directories.
    case checking
    /// A body that is being copied.
    case copying(Filling, Body)
    case writing([PendingWrite])
    /// The removal of a key's older value.
    case removing(String)
    /// Clearing the disk tier, because it has too many outdated values.
    case clearing
    /// An entry operation on the disk, with the tiers found in memory.
    case entryWork(CacheJob, EntryWork, inMemory: CacheTypes)
    /// A scan over the entries of the disk, with the results so far.
    case scanning(CacheJob, EntryWork, EntryPage, DiskScan)
    /// Trimming the disk to its low-water mark for a job.
    case trimming(CacheJob, EntryPage, before: DiskCounts)
    case maintaining
    /// The final flush.
    case flushing
    /// Nothing depends on it.
    case noting
}

/// What a thread does for a query.
enum QueryStep {
    /// The disk looks up the key, and reads the body if it is small.
    case looking
    /// The disk reads the body into reserved memory.
    case reading(IndexRow, Body)
    /// The read-only directories of the cache are searched.
    case lookingFurther
    /// The body is read from one of them.
    case readingFurther(ReadOnlyEntry, Body)

    /// Whether the disk executes it.
    var isOnDisk: Bool {
        switch self {
        case .looking, .reading: true
        case .lookingFurther, .readingFurther: false
        }
    }

    /// The tags of the entry that is read; `nil` if they are unknown.
    var tags: [String]? {
        switch self {
        case .reading(let row, _): row.metadata.tags
        case .readingFurther(let entry, _): entry.row.metadata.tags
        case .looking, .lookingFurther: nil
        }
    }
}

extension PendingWork {
    /// The job that it answers.
    var job: CacheJob? {
        switch self {
        case .query(let job, _, _), .entryWork(let job, _, _): job
        case .scanning(let job, _, _, _), .trimming(let job, _, _): job
        case .copying(let filling, _): filling.job
        case .writing, .removing, .clearing, .maintaining, .flushing, .noting, .checking: nil
        }
    }

    /// Whether the process must not exit before it: a job waits for it, or data is to be kept.
    var isWork: Bool {
        switch self {
        case .query, .copying, .writing, .removing, .clearing, .entryWork: true
        case .scanning, .trimming: true
        case .maintaining, .flushing, .noting, .checking: false
        }
    }

    /// Whether the disk executes it.
    var isOnDisk: Bool {
        switch self {
        case .query(_, _, let step): step.isOnDisk
        case .checking, .copying: false
        default: true
        }
    }
}

/// The purpose of a body that is being filled.
enum Filling {
    /// The answer to a query.
    case query(CacheJob, QueryWork, Finding)
    /// A store; its job is `nil` if it was canceled and only the store continues.
    case store(CacheJob?, StoreWork, StorePlan)
    /// Only the comparison with a staged body.
    case comparison(CacheJob, Body)

    /// The job that it answers.
    var job: CacheJob? {
        switch self {
        case .query(let job, _, _), .comparison(let job, _): job
        case .store(let job, _, _): job
        }
    }

    /// Whether to compute the body's digest: the body is kept or delivered, and the digest isn't
    /// known yet.
    var wantsDigest: Bool {
        switch self {
        case .store: true
        case .query(_, _, let finding): finding.metadata.digest == nil
        case .comparison: false
        }
    }

    /// The body to compare with.
    var comparand: Body? {
        if case .comparison(_, let body) = self { return body }
        return nil
    }
}

/// Where a query found its body.
struct Finding: Sendable {
    let tier: CacheTypes
    var metadata: StoredMetadata
    let expires: UnixTime?
    let stored: UnixTime?
}

/// What a store does with its body.
struct StorePlan: Sendable {
    /// `nil` if it isn't kept anywhere.
    var key: String?
    var toMemory: Bool
    var toDisk: Bool
    /// Whether it is requested for the first time, and written to disk at the second request.
    var isWithheld = false
    /// Whether it is in `results/` instead of private memory.
    var isResult: Bool
    /// Why a requested tier doesn't store it.
    var skipped: [String] = []
}
