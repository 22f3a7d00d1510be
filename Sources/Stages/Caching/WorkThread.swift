internal import ImageModel
internal import Linux
internal import Messages
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

/// What a thread is asked to do, in which order it does it, and when.
///
/// A chore takes a turn once nothing else was asked for `quiet`, or once it has waited for
/// `longest`. Whoever asks one thing after the other would otherwise wait for a chore each time:
/// its next request comes a moment after the answer, when the chore has just begun.
struct WorkQueue<Request: Sendable>: Sendable {
    /// Nanoseconds without any other request after which a chore begins.
    static var quiet: UInt64 { 4_000_000 }
    /// Nanoseconds after which a chore begins in any case.
    static var longest: UInt64 { 16_000_000 }

    /// What the thread does next.
    enum Turn {
        /// Answer these, in this order.
        case answer([Request])
        /// Wait until something is asked, or until that many milliseconds have passed.
        case wait(milliseconds: Int?)
        /// All is answered, and nothing more comes.
        case end
    }

    private let requestsMax: Int
    private let isChore: @Sendable (Request) -> Bool
    private var requests: [Request] = []
    private var chores: [Request] = []
    /// When the first of `chores` began to wait.
    private var choresSince: UInt64 = 0
    /// The thread got something that is no chore, and has not come back.
    private var isBusy = false
    /// When it last came back from that.
    private var idleSince: UInt64 = 0
    /// Nothing more is taken.
    var isStopping = false

    /// At most `requestsMax` wait, chores among them.
    init(requestsMax: Int, isChore: @escaping @Sendable (Request) -> Bool) {
        self.requestsMax = requestsMax
        self.isChore = isChore
    }

    /// Takes a request; false where too many wait, or at the end. `now` in nanoseconds.
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

    /// What to do at `now`, in nanoseconds: at the end, chores without a wait.
    mutating func take(now: UInt64) -> Turn {
        if isBusy { (isBusy, idleSince) = (false, now) }
        if !chores.isEmpty, isStopping || now >= choresSince + Self.longest {
            return takeAll()
        }
        if !requests.isEmpty {
            isBusy = true
            defer { requests = [] }
            return .answer(requests)
        }
        guard !chores.isEmpty else { return isStopping ? .end : .wait(milliseconds: nil) }
        let begin = min(idleSince + Self.quiet, choresSince + Self.longest)
        guard now < begin else { return takeAll() }
        return .wait(milliseconds: Int((begin - now + 999_999) / 1_000_000))
    }

    /// Whether nothing waits.
    var isEmpty: Bool { requests.isEmpty && chores.isEmpty }

    /// Takes out the requests that are meant.
    mutating func withdraw(where isMeant: (Request) -> Bool) -> [Request] {
        let gone = requests.filter(isMeant) + chores.filter(isMeant)
        requests.removeAll(where: isMeant)
        chores.removeAll(where: isMeant)
        return gone
    }

    private mutating func takeAll() -> Turn {
        isBusy = !requests.isEmpty
        defer { (requests, chores) = ([], []) }
        return .answer(requests + chores)
    }
}

/// Answers of other threads, until the bus thread takes them.
final class Inbox: Sendable {
    enum Answer: Sendable {
        case disk(DiskAnswer)
        case copy(CopyAnswer)
        case readOnly(ReadOnlyAnswer)
    }

    private let answers = Mutex<[Answer]>([])
    private let wake: @Sendable () -> Void

    /// `wake` makes the bus thread call for them; any thread calls it.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    func put(_ answer: Answer) {
        let wasEmpty = answers.withLock { answers in
            defer { answers.append(answer) }
            return answers.isEmpty
        }
        if wasEmpty { wake() }
    }

    func takeAll() -> [Answer] {
        answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
    }
}

/// A job of the cache that is not answered yet.
struct CacheJob: Sendable {
    let id: JobID
    let attempt: UInt32
}

/// What goes on when a thread answers.
enum PendingWork {
    /// A query whose key is looked up on the disk, and read where it is short.
    case looking(CacheJob, QueryWork)
    /// A query whose body is being read from the disk into memory that was made for it.
    case reading(CacheJob, QueryWork, IndexRow, Body)
    /// A query that the directories of its cache are asked, in which nothing is changed.
    case lookingFurther(CacheJob, QueryWork)
    /// A query whose body is being read from one of them.
    case readingFurther(CacheJob, QueryWork, ReadOnlyEntry, Body)
    /// It is looked whether these directories are there.
    case checking
    /// A body that is being copied.
    case copying(Filling, Body)
    /// The writes under way.
    case writing([PendingWrite])
    /// The older value of a key, which is removed.
    case removing(String)
    /// Everything, since too many older values are there.
    case clearing
    /// A command that the disk carries out.
    case commanding(CacheCommandID)
    /// An entry that the disk looks for or removes, for its tiers in memory.
    case attending(CacheJob, EntryWork, inMemory: CacheTypes)
    /// A walk over the entries of the disk, with what was found so far.
    case scanning(CacheJob, EntryWork, EntryPage, DiskScan)
    /// The disk goes down to its low-water mark for a job.
    case trimming(CacheJob, EntryPage, before: DiskCounts)
    /// Housekeeping.
    case maintaining
    /// The last thing before the end.
    case flushing
    /// Nothing waits for it.
    case noting
}

extension PendingWork {
    /// The job that it answers.
    var job: CacheJob? {
        switch self {
        case .looking(let job, _), .reading(let job, _, _, _), .attending(let job, _, _): job
        case .lookingFurther(let job, _), .readingFurther(let job, _, _, _): job
        case .scanning(let job, _, _, _), .trimming(let job, _, _): job
        case .copying(.query(let job, _, _), _): job
        case .copying(.store(let job, _, _), _): job
        case .copying(.comparison(let job, _), _): job
        case .writing, .removing, .clearing, .commanding, .maintaining, .flushing, .noting: nil
        case .checking: nil
        }
    }

    /// Whether the process must not end before it: somebody waits, or something is to be kept.
    var isWork: Bool {
        switch self {
        case .looking, .reading, .copying, .writing, .removing, .clearing, .commanding: true
        case .attending: true
        case .scanning, .trimming, .lookingFurther, .readingFurther: true
        case .maintaining, .flushing, .noting, .checking: false
        }
    }
}

extension PendingWork {
    /// Whether the disk does it.
    var isOnDisk: Bool {
        switch self {
        case .looking, .reading, .writing, .removing, .clearing, .commanding, .attending: true
        case .scanning, .trimming, .maintaining, .flushing, .noting: true
        case .lookingFurther, .readingFurther, .checking, .copying: false
        }
    }
}

/// What a body is for, once it is filled.
enum Filling {
    /// The answer of a query.
    case query(CacheJob, QueryWork, Finding)
    /// What a store keeps; `nil` where its job was cancelled and only the store goes on.
    case store(CacheJob?, StoreWork, StorePlan)
    /// Nothing but to be held against a staged body.
    case comparison(CacheJob, Body)

    /// Whether the digest of the body is to be known: it is kept, or somebody gets it, and nobody
    /// has computed it before.
    var wantsDigest: Bool {
        switch self {
        case .store: true
        case .query(_, _, let finding): finding.metadata.digest == nil
        case .comparison: false
        }
    }

    /// What the filled body is held against.
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

/// What a store will do with its body.
struct StorePlan: Sendable {
    /// `nil` where it is kept nowhere.
    var key: String?
    var toMemory: Bool
    var toDisk: Bool
    /// It is asked for the first time, and the disk gets it when it is asked for again.
    var isWithheld = false
    /// In `results/`, and not in private memory.
    var isResult: Bool
    /// Why a tier that was asked for does not get it.
    var skipped: [String] = []
}
