import Model
import Testing

@testable import Coordinator

/// A scheduler with simulated clients and workers. Every action is checked against what a real
/// stack could do with it; violations are recorded in `faults`.
struct Stack {
    /// A worker as the scheduler should know it.
    struct Worker {
        let kind: WorkerKind
        let incarnation: Incarnation
        var window: Int
        /// The default pool of its kind unless stated otherwise.
        var pool: PoolID?
        var held: [JobID: Held] = [:]
        var lastBlock: UInt64 = 0
        /// Stage blocks that it handed over and that were not released.
        var live: Set<BlockID> = []
        /// Large blocks of `results/`; whether they were evicted.
        var large: [BlockID: Bool] = [:]

        /// Whether its pool is a further one, which is always external here.
        var isExternal: Bool { pool.map { $0 != PoolID(kind) } ?? false }
    }

    /// A job at a worker.
    struct Held {
        let worker: WorkerID
        let job: Job
        var isCancelled = false
        var left: UInt32
        var priority: Priority
        /// Whether its worker was told that a client subscribed to progress.
        var wantsProgress: Bool
        /// Whether it was told to hand out partial data.
        var wantsArrived: Bool
    }

    var scheduler: Scheduler
    var now = Instant(nanoseconds: 1_000_000_000)
    /// The actions of the last event.
    var actions: [SchedulerAction] = []
    /// The largest number of actions of one event.
    var mostActions = 0
    var faults: [String] = []

    var workers: [WorkerID: Worker] = [:]
    /// The coordinator itself, as the producer of uploads.
    var producer = Worker(
        kind: .coordinator, incarnation: Incarnation(Identifier128(high: 8, low: 0)), window: 0)
    /// The first client, by which requests are sent unless a test names another one.
    let client = ClientID(1)
    var clients: Set<ClientID> = []
    /// The client that each session belongs to, including ended sessions.
    var incarnations: [ClientID: Incarnation] = [:]
    /// Requests that continue without their client.
    var detached: Set<Token> = []
    /// Unanswered commands on entries, and the answers.
    var questions: [UInt64: ClientID] = [:]
    var answers: [UInt64: CacheReport.Outcome] = [:]
    /// The progress reported for removals.
    var removals: [UInt64: [EntryPage]] = [:]
    var reports: [FailureCacheReport] = []
    /// Requests without a terminal reply, by client.
    var waiting: [Token: ClientID] = [:]
    var replies: [Token: [Reply]] = [:]
    /// Requests that have their cached image while the origin is queried.
    var refreshing: Set<Token> = []
    var progress: [Token: [RequestProgress]] = [:]
    /// The bytes in the last partial image of requests without a terminal reply, and the number of
    /// partial images.
    var shown: [Token: UInt64] = [:]
    var partialCount = 0
    /// Log records of requests.
    var records: [Token: RequestRecord] = [:]
    var replyCount = 0
    var recordCount = 0
    /// The latest attempt of every job ever assigned.
    var attempts: [JobID: UInt32] = [:]
    var expelled: [(WorkerID, ImageError)] = []
    var touched: [BlockID] = []
    var wasDrained = false
    /// Active batches by client, their reports, and how they were refused.
    var prefetching: [Token: ClientID] = [:]
    var prefetchReports: [Token: [PrefetchReport]] = [:]
    var refusals: [Token: ImageError] = [:]
    /// URLs of prefetches that resolve to other requests than their templates.
    var members: [String: Resolution] = [:]
    /// Large blocks of `results/` that clients hold and have not released.
    var reading: [ClientID: [BlockReference]] = [:]
    /// Blocks that may be released once more, since an outcome named them twice.
    var namedTwice: Set<BlockHandle> = []
    /// The images of requests without a reply.
    var wanted: [Token: ImageRequest] = [:]
    /// Whether any load requested a serializer, whose failure may prevent storing in all tiers.
    var transcodes = false
    /// The composite caches, if any.
    var composites: DrawnComposites?
    /// The cache that each request without a reply uses, and the published keys by block.
    var asked: [Token: String] = [:]
    var publishedTexts: [BlockID: String] = [:]
    /// The number of fetches of each URL, including retries.
    var gets: [String: Int] = [:]

    /// Tickets of loads answered from memory, and the number of repeated answers.
    var tickets: [Saying: HitTicket] = [:]
    var repeatedHits = 0
    /// The tickets that the scheduler granted, with their vouchers.
    var granted: [HitTicket] = []
    /// The `Vary` of simulated origins.
    var vary: String?
    /// The `Cache-Control` of simulated origins, and the age of responses in milliseconds; `nil`:
    /// not sent.
    var cacheControl: String?
    var age: Int64?

    var lastWorker: UInt64 = 0
    var lastClient: UInt64 = 0
    var lastToken: UInt64 = 0

    /// A stack with one worker of each of these kinds, and without clients.
    init(
        _ kinds: WorkerKind..., credit: Int = 1,
        _ change: (inout SchedulerLimits) -> Void = { _ in }
    ) {
        var limits = SchedulerLimits()
        // One worker stands for many.
        limits.dispatch.creditMax.decode = 1_000
        limits.dispatch.creditMax.transform = 1_000
        change(&limits)
        scheduler = Scheduler(limits: limits)
        send(
            .workerJoined(
                .coordinator, kind: .coordinator, incarnation: producer.incarnation, credit: 0))
        let segment = SegmentAnnouncement(arena: .stage, number: 0, size: 1 << 30)
        send(.segmentsOpened(.coordinator, [segment]))
        for kind in kinds { hire(kind, credit: credit) }
    }

    /// A stack with workers of all kinds, and its first client.
    static func staffed(
        credit: Int = 4, _ change: (inout SchedulerLimits) -> Void = { _ in }
    ) -> Stack {
        var stack = Stack(credit: 1, change)
        stack.hireAll(credit: credit)
        stack.connect()
        return stack
    }

    // MARK: - Events

    mutating func send(_ event: SchedulerEvent) {
        actions.removeAll()
        scheduler.handle(event, at: now, into: &actions)
        mostActions = max(mostActions, actions.count)
        for action in actions { observe(action) }
    }

    /// Advances the clock without an event.
    mutating func wait(milliseconds: Int) { now = now.adding(milliseconds: milliseconds) }

    mutating func pass(milliseconds: Int) {
        wait(milliseconds: milliseconds)
        send(.tick)
    }

    /// Opens a session; of the same client as an earlier one, if given.
    @discardableResult
    mutating func connect(again earlier: ClientID? = nil, process: Int32? = nil) -> ClientID {
        lastClient += 1
        let client = ClientID(lastClient)
        clients.insert(client)
        let own = Incarnation(Identifier128(high: 9, low: lastClient))
        let incarnation = earlier.flatMap { incarnations[$0] } ?? own
        incarnations[client] = incarnation
        send(.clientJoined(client, incarnation, process: process))
        return client
    }

    /// The client, or the first one, which is connected if none was yet.
    mutating func sender(_ client: ClientID?) -> ClientID {
        if client == nil, lastClient == 0 { connect() }
        return client ?? self.client
    }

    mutating func disconnect(_ client: ClientID? = nil) {
        let client = client ?? self.client
        clients.remove(client)
        prefetching = prefetching.filter { $0.value != client }
        waiting = waiting.filter { $0.value != client || detached.contains($0.key) }
        reading[client] = nil
        questions = questions.filter { $0.value != client }
        send(.clientLeft(client))
    }

    /// Adds a worker with one announced segment of each arena that it may have.
    @discardableResult
    mutating func hire(_ kind: WorkerKind, credit: Int = 1, pool: PoolID? = nil) -> WorkerID {
        lastWorker += 1
        let id = WorkerID(lastWorker)
        let incarnation = Incarnation(Identifier128(high: 7, low: lastWorker))
        let pool = pool ?? PoolID(kind)
        workers[id] = Worker(kind: kind, incarnation: incarnation, window: credit)
        // Segments are announced before credit is granted, as real workers do.
        workers[id]?.pool = pool
        send(.workerJoined(id, kind: kind, incarnation: incarnation, credit: 0, pool: pool))
        guard workers[id] != nil else { return id }
        var segments = [SegmentAnnouncement(arena: .stage, number: 0, size: 1 << 30)]
        if pool == PoolID(.cache) {
            publishedTexts = [:]
            segments.append(SegmentAnnouncement(arena: .results, number: 0, size: 1 << 30))
        }
        send(.segmentsOpened(id, segments))
        send(.credit(id, UInt32(credit)))
        return id
    }

    mutating func hireAll(credit: Int = 4) {
        for kind in WorkerKind.workers { hire(kind, credit: credit) }
    }

    mutating func kill(_ worker: WorkerID, crash: CrashRecord? = nil) {
        workers[worker] = nil
        send(.workerLeft(worker, crash))
    }

    /// The worker of that kind dies, and another one takes its place.
    mutating func replace(_ kind: WorkerKind, credit: Int = 1) {
        kill(worker(kind))
        hire(kind, credit: credit)
    }

    /// Kills the worker of a job with a crash record of that job.
    mutating func crash(_ held: Held, _ cause: CrashRecord.Cause = .signal(11)) {
        let record = CrashRecord(job: held.job.id, attempt: held.job.attempt, cause: cause)
        kill(held.worker, crash: record)
    }

    /// The worker of the first job of a stage crashes with it, and another one takes its place.
    mutating func crash(_ stage: JobStage, _ cause: CrashRecord.Cause = .signal(11)) {
        crash(held(stage)[0], cause)
        hire(stage.kind)
    }

    func worker(_ kind: WorkerKind) -> WorkerID {
        guard
            let id = workers.keys.sorted().first(where: {
                workers[$0]?.kind == kind && workers[$0]?.isExternal == false
            })
        else {
            preconditionFailure("no \(kind.name) is there")
        }
        return id
    }

    // MARK: - State

    /// Whether nothing is left, and no fault occurred.
    var isAtRest: Bool {
        scheduler.isIdle && faults.isEmpty && waiting.isEmpty && scheduler.audit().isEmpty
            && workers.values.allSatisfy(\.live.isEmpty) && producer.live.isEmpty
    }

    /// Whether no work is left, and no fault occurred.
    var isDone: Bool { scheduler.isIdle && faults.isEmpty }

    /// Whether no invariant is violated, and no fault occurred.
    var isSound: Bool { scheduler.audit().isEmpty && faults.isEmpty }

    /// The workers whose sessions were ended, in their order.
    var gone: [WorkerID] { expelled.map(\.0) }

    var counters: SchedulerCounters { scheduler.shared.counters }

    /// The connected workers as the scheduler knows them, oldest session first.
    var live: [LiveWorker] {
        let roster = scheduler.dispatcher.roster
        return roster.ids.filter { $0 != .coordinator }.compactMap { roster[$0] }
    }

    func reply(_ token: Token) -> Reply? { replies[token]?.last }

    func error(_ token: Token) -> ErrorCode? { failure(token)?.code }

    /// The error of a failed request.
    func failure(_ token: Token) -> ImageError? {
        guard case .failure(let error)? = replies[token]?.last?.outcome else { return nil }
        return error
    }

    func image(_ token: Token) -> DeliveredImage? {
        guard case .image(let image) = reply(token)?.outcome else { return nil }
        return image
    }

    /// Whether it received, or waits for, its fallback after that error.
    func isFallback(_ token: Token, for code: ErrorCode) -> Bool {
        if let image = image(token) { return image.fallbackFor?.code == code }
        guard let id = scheduler.tokens[token] else { return false }
        return scheduler.requests[id].fallbackContext?.error.code == code
    }

    func isMiss(_ token: Token) -> Bool {
        guard case .miss = reply(token)?.outcome else { return false }
        return true
    }

    /// All assigned jobs, the oldest first.
    var allHeld: [Held] {
        workers.values.flatMap(\.held.values).sorted { $0.job.id < $1.job.id }
    }

    /// Assigned jobs of a stage that are not canceled, the oldest first.
    func held(_ stage: JobStage) -> [Held] {
        allHeld.filter { $0.job.work.stage == stage && !$0.isCancelled }
    }
}

extension Scheduler {
    /// A scheduler with digests that a test can read.
    convenience init(limits: SchedulerLimits = SchedulerLimits()) {
        self.init(limits: limits) { headers in
            headers.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        }
    }
}

extension StatusReport {
    /// The value of a counter; 0 if there is none of that name.
    subscript(name: String) -> Int {
        counters.first { $0.name == name }.map { Int($0.value) } ?? 0
    }
}

extension Stack: CustomTestStringConvertible {
    var testDescription: String {
        let report = scheduler.report
        return "\(faults + scheduler.audit()), \(waiting.count) requests without a reply, "
            + "\(report["liveJobs"]) jobs, \(report["liveBlocks"]) blocks, "
            + "\(workers.values.map(\.live.count).reduce(0, +)) blocks not released"
    }
}
