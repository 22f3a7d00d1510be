import Model

/// All jobs and their states, with metrics of the waiting ones.
///
/// A job changes state only here, together with its queue entry, the load of its stage, and its
/// timer. Therefore a job is never in two states, and the loads match the jobs.
struct JobTable {
    private let shared: SharedState
    private let deadlines: PerStage<Int>
    private let severalEntriesMilliseconds: Int
    private let overdueMilliseconds: Int

    /// Indices of the pools that run external transform steps.
    private let poolsOfSteps: [Int]
    /// Indices of the pools that are external caches.
    private let externalCaches: [Int]

    private var jobs: [JobID: ActiveJob] = [:]
    private var last: UInt64 = 0
    /// Indexed by pool.
    private(set) var queues: [StageQueue]
    /// Indexed by `load(of:_:)`.
    private(set) var loads: [StageLoad]
    /// Input bytes of the waiting and running jobs of each pool.
    private(set) var claims: [UInt64]
    private(set) var parked = ParkedJobs()
    private var alarms = AlarmQueue<JobID>()
    /// Jobs that are dropped when other jobs wait.
    private(set) var expendable: Set<JobID> = []

    init(_ limits: DispatchLimits, _ shared: SharedState) {
        self.shared = shared
        deadlines = limits.jobMilliseconds
        severalEntriesMilliseconds = limits.severalEntriesMilliseconds
        overdueMilliseconds = limits.overdueMilliseconds
        // The duration of a transfer depends on its origin, so only here a flow could occupy slots
        // indefinitely.
        queues = limits.pools.all.map { pool in
            pool.kind == .download
                ? StageQueue(
                    order: limits.fetchOrder, heldPerHostMax: limits.fetchesPerHostMax,
                    isShared: true)
                : StageQueue()
        }
        loads = (0..<JobStage.allCases.count + limits.pools.further.count).map { _ in StageLoad() }
        claims = limits.pools.all.map { _ in 0 }
        poolsOfSteps = limits.pools.all.indices.filter {
            limits.pools.all[$0].isExternalTransformer
        }
        externalCaches = limits.pools.workers.filter(limits.pools.isExternalCache).map(\.index)
    }

    /// The time of the current event.
    private var now: Instant { shared.now }

    // MARK: - Lookup

    var count: Int { jobs.count }
    /// All jobs, in no particular order.
    var values: some Collection<ActiveJob> { jobs.values }
    /// All job numbers, oldest first.
    var ids: [JobID] { jobs.keys.sorted() }

    subscript(id: JobID) -> ActiveJob? { jobs[id] }

    /// The number of jobs that wait for a worker of the pool.
    func queued(in pool: PoolID) -> Int { queues[pool.index].count }

    /// The load of a stage, without additional pools.
    func load(of stage: JobStage) -> StageLoad { loads[Int(stage.rawValue)] }

    /// The load that includes the jobs of a stage waiting for that pool.
    func load(of pool: PoolID, _ stage: JobStage) -> StageLoad {
        loads[Self.load(of: pool, stage)]
    }

    /// Returns the index of a load: by stage, and separately for each additional pool so that a
    /// pool without workers doesn't affect others.
    static func load(of pool: PoolID, _ stage: JobStage) -> Int {
        let further = pool.index - WorkerKind.count
        return further < 0 ? Int(stage.rawValue) : JobStage.allCases.count + further
    }

    /// Input bytes of the jobs of all additional pools, except external transform steps and cache
    /// stores, which have their own limits.
    var bytesClaimedByFurtherPools: UInt64 {
        claims[WorkerKind.count...].reduce(0, +) - bytesClaimedForSteps - bytesClaimedByCaches
    }

    /// Input bytes of stores to external caches.
    var bytesClaimedByCaches: UInt64 { externalCaches.reduce(0) { $0 + claims[$1] } }

    /// Input bytes of external transform steps.
    var bytesClaimedForSteps: UInt64 { poolsOfSteps.reduce(0) { $0 + claims[$1] } }

    /// Whether there are no jobs and all derived counters are zero.
    var isIdle: Bool {
        jobs.isEmpty && expendable.isEmpty && queues.allSatisfy { $0.isIdle }
            && loads.allSatisfy { $0.jobs == 0 && $0.backlog == 0 }
    }

    // MARK: - Lifecycle

    /// Returns an unused job number.
    mutating func nextID() -> JobID {
        last += 1
        return JobID(last)
    }

    /// Adds a new job that waits for a worker of its pool.
    mutating func enter(_ job: ActiveJob) {
        job.ticket = queues[job.pool.index].enter(job)
        loads[job.load].enter(job)
        claims[job.pool.index] += job.inputBytes
        if job.isExpendable { expendable.insert(job.id) }
        jobs[job.id] = job
    }

    /// Removes a finished job.
    mutating func remove(_ id: JobID) {
        guard let job = jobs.removeValue(forKey: id) else { return }
        claims[job.pool.index] -= job.inputBytes
        if job.isExpendable { expendable.remove(id) }
        if case .queued = job.place { queues[job.pool.index].leave(job.ticket) }
        if job.isWaiting { loads[job.load].leave(job) }
    }

    /// Returns the next job of a pool, which keeps waiting until it is assigned.
    mutating func next(of pool: PoolID, withLow: Bool, free: Int) -> StageQueue.Next? {
        let queue = pool.index
        if queues[queue].wantsSweep {
            queues[queue].sweep { [jobs] in jobs[$0.job]?.ticket.serial == $0.serial }
        }
        return queues[queue].next(withLow: withLow, free: free) { [jobs] in
            jobs[$0.job]?.ticket.serial == $0.serial
        }
    }

    mutating func assign(_ next: StageQueue.Next, to worker: WorkerID)
        -> ActiveJob?
    {
        guard let job = jobs[next.job] else { return nil }
        queues[job.pool.index].leave(job.ticket)
        loads[job.load].leave(job)
        job.give(to: worker, for: next.holder, at: now, cap: millisecondsMax(of: job))
        setAlarm(job, at: overdue(job.sent))
        queues[job.pool.index].began(job)
        return job
    }

    /// The largest time in milliseconds that a worker may hold the job.
    private func millisecondsMax(of job: ActiveJob) -> Int {
        if case .entry(let work) = job.work, work.action.affectsSeveral {
            return severalEntriesMilliseconds
        }
        return deadlines[job.stage]
    }

    /// The time by which a worker must have stopped a job with the given urgency.
    private func overdue(_ sent: Urgency) -> Instant {
        sent.deadline.adding(milliseconds: overdueMilliseconds)
    }

    // MARK: - Running jobs

    /// Records that a worker finished the job, successfully or not.
    mutating func finished(_ job: ActiveJob) {
        loads[job.load].finished(job.spec.cost, at: now)
    }

    /// Records that the worker no longer holds the job.
    mutating func vacated(_ job: ActiveJob) { queues[job.pool.index].ended(job) }

    /// Records that the worker was told to stop and must answer before `alarm`.
    mutating func stop(_ job: ActiveJob, alarm: Instant) {
        job.stoppedAt = now
        setAlarm(job, at: alarm)
    }

    /// Records the urgency that was sent to the worker.
    mutating func recordSent(_ job: ActiveJob, _ urgency: Urgency) {
        job.sent = urgency
        setAlarm(job, at: overdue(urgency))
    }

    /// Charges the flow whose share a job used for a worker that the job cost its pool.
    mutating func owe(_ job: ActiveJob, _ cost: UInt64) {
        queues[job.pool.index].owe(job.holder, cost)
    }

    // MARK: - Waiting

    /// Updates the urgency of a job, and moves its queue entry accordingly.
    mutating func want(_ job: ActiveJob, _ urgency: Urgency) {
        job.urgency = urgency
        guard case .queued = job.place, !job.ticket.suits(urgency) else { return }
        job.ticket = queues[job.pool.index].move(job)
    }

    /// Requeues an unfinished job as a new attempt, at the front of its class or behind all other
    /// jobs.
    mutating func requeue(_ job: ActiveJob, goesLast: Bool = false) {
        requeue(job) { goesLast ? $0.enterLast($1) : $0.putBack($1) }
    }

    private mutating func requeue(
        _ job: ActiveJob, _ stand: (inout StageQueue, ActiveJob) -> StageQueue.Ticket
    ) {
        setAside(job, .queued)
        job.attempt += 1
        job.ticket = stand(&queues[job.pool.index], job)
    }

    /// Moves a job to another pool after its worker declined it. It goes to the end of that queue
    /// because it hasn't used any of that pool's capacity.
    mutating func move(_ job: ActiveJob, to pool: PoolID) {
        claims[job.pool.index] -= job.inputBytes
        claims[pool.index] += job.inputBytes
        job.pool = pool
        requeue(job) { $0.enter($1) }
    }

    /// Makes a job that was at a worker wait for something other than a worker.
    mutating func setAside(_ job: ActiveJob, _ place: ActiveJob.Place) {
        if !job.isWaiting { loads[job.load].enter(job) }
        job.place = place
        job.waitingSince = now
        job.alarm = nil
    }

    /// Parks a job that found no space.
    mutating func park(_ job: ActiveJob) {
        setAside(job, .parked)
        parked.append(job.id, at: now)
    }

    /// Retries up to `count` parked jobs that match the predicate. Returns the number of retried
    /// jobs.
    mutating func unpark(atMost count: Int, where isMeant: (ActiveJob) -> Bool) -> Int {
        var room = count
        for id in parked.removeAll() {
            guard let job = jobs[id], job.place == .parked else { continue }
            if room > 0, isMeant(job) {
                room -= 1
                requeue(job)
            } else {
                parked.putBack(id)
            }
        }
        if parked.ids.isEmpty { parked.since = nil }
        return count - room
    }

    /// Delays a failed transfer until its retry.
    mutating func delay(_ job: ActiveJob, _ delay: RetryDelay) {
        setAside(job, .delayed(delay))
        job.retries += 1
        job.stoppedAt = nil
        setAlarm(job, at: delay.until)
    }

    // MARK: - Timers

    /// The time of the next timer.
    var nextAlarm: Instant? { alarms.first?.at }

    mutating func setAlarm(_ job: ActiveJob, at moment: Instant) { alarms.set(job, at: moment) }
    mutating func removeFirstAlarm() -> ActiveJob? { alarms.popFirst(of: jobs) }
    mutating func forgetAlarms() { alarms.forget(unlessOf: jobs) }
}

extension ActiveJob {
    /// Assigns the job to a worker using the share of `holder`, for at most the given time.
    fileprivate func give(
        to worker: WorkerID, for holder: FlowID, at now: Instant, cap milliseconds: Int
    ) {
        place = .held(by: worker)
        self.holder = holder
        ticket = .none
        waited += now.fractionalMilliseconds(since: waitingSince)
        heldSince = now
        cap = now.adding(milliseconds: milliseconds)
        sent = effective
        stoppedAt = nil
    }
}

/// A job, from its submission until its outcome, or until it is unwanted and no worker holds it.
final class ActiveJob: Alarmed {
    /// The state of a job.
    enum Place: Sendable, Equatable {
        /// In the queue of its pool, under the ticket of its newest entry there.
        case queued
        /// Found no space and waits for a release (SEMANTICS §9.5).
        case parked
        /// Its worker reports that input bytes are missing; the cache is verifying this.
        case disputed
        /// Its transfer failed and waits for a retry.
        indirect case delayed(RetryDelay)
        /// Held by a worker, which answers with exactly one outcome.
        case held(by: WorkerID)
    }

    /// The purpose of a verification job of the dispatcher: to check whether the bytes of one input
    /// of a disputed job exist although its worker (`accuser`) reports that they don't.
    struct Probe: Sendable {
        let job: JobID
        let input: Int
        let accuser: WorkerID
    }

    let id: JobID
    let submission: Submission
    /// `nil` if the job was submitted from outside the dispatcher.
    let probe: Probe?
    /// Whether the outcome is still wanted.
    var isWanted = true
    /// Whether the job may wait for space.
    var waitsForSpace: Bool
    /// Whether progress reports are requested.
    var wantsProgress: Bool
    /// Whether partial data is requested.
    var wantsArrived: Bool
    var place = Place.queued
    var attempt: UInt32 = 1
    /// The number of workers lost with the job.
    var losses = 0
    /// The number of retries after origin failures.
    var retries = 0
    var urgency: Urgency

    /// The pool that runs the job.
    var pool: PoolID

    /// The flow whose share of the pool's workers the job uses, or used when a worker held it last.
    var holder = FlowID.coordinator

    /// The position in the queue of a waiting job.
    var ticket = StageQueue.Ticket.none
    /// Waiting time in milliseconds, excluding the time since `waitingSince`.
    var waited = 0.0
    var waitingSince: Instant

    /// The urgency that was sent to the worker, including the deadline.
    var sent = Urgency.none
    /// The latest deadline that the stage permits.
    var cap = Instant(nanoseconds: .max)
    /// When the dispatcher checks on the job next.
    var alarm: Instant?
    /// When the worker received the job.
    var heldSince = Instant(nanoseconds: 0)
    /// When the worker was told to stop.
    var stoppedAt: Instant?

    init(_ id: JobID, _ submission: Submission, probe: Probe?, at now: Instant) {
        self.id = id
        self.submission = submission
        self.probe = probe
        waitsForSpace = submission.waitsForSpace
        wantsProgress = submission.wantsProgress
        wantsArrived = submission.wantsArrived
        urgency = submission.urgency.bounded(submission.spec.stage)
        pool = PoolID(submission.spec.kind)
        waitingSince = now
    }

    /// Whether the job waits for a worker or anything else.
    var isWaiting: Bool { worker == nil }
    var isStopped: Bool { stoppedAt != nil }
    var isExpendable: Bool { submission.isExpendable }
    /// Whether an external cache runs the job. Such jobs are attempted at most once, and their
    /// outcomes are not trusted like those of the built-in cache.
    var isOfExternalCache: Bool { submission.externalCache != nil }
    var spec: JobSpec { submission.spec }
    var suspect: Suspect? { submission.suspect }
    var rank: UInt8 { submission.rank }
    var work: JobWork { spec.work }
    var kind: WorkerKind { spec.kind }
    var stage: JobStage { spec.stage }
    /// The index of the load that includes the job while it waits.
    var load: Int { JobTable.load(of: pool, stage) }

    /// The blocks that the job reads, held for its lifetime.
    var inputs: [BlockHandle] { (submission.input.map { [$0] } ?? []) + submission.overlays }

    var worker: WorkerID? {
        if case .held(let worker) = place { return worker }
        return nil
    }

    /// How the job counts toward the limits of its worker.
    var share: PlaceShare {
        if isExpendable { return .expendable }
        return sent.priority == .low ? .low : .full
    }

    /// The urgency sent to workers, with the deadline capped by the limit of the stage.
    var effective: Urgency {
        Urgency(
            priority: urgency.priority, deadline: min(urgency.deadline, cap),
            flows: urgency.flows)
    }
}

extension Urgency {
    /// A store finishes even if nothing waits for it, because the result exists (SEMANTICS §8.4).
    func bounded(_ stage: JobStage) -> Urgency { stage == .store ? unbounded : self }
}

extension ActiveJob {
    /// The total size of the job's inputs in bytes.
    var inputBytes: UInt64 { submission.inputBytes }
}

extension Submission {
    /// The total size of the job's inputs in bytes.
    var inputBytes: UInt64 { spec.work.inputs.reduce(0) { $0 + $1.length } }
}

/// Jobs that found no space, oldest first. May contain jobs that are no longer parked.
struct ParkedJobs: Sendable {
    private(set) var ids: [JobID] = []
    /// The time since which a job has been parked without all parked jobs having been retried.
    var since: Instant?

    mutating func append(_ id: JobID, at now: Instant) {
        ids.append(id)
        since = since ?? now
    }

    /// Removes and returns all jobs; the caller puts back those that stay parked.
    mutating func removeAll() -> [JobID] {
        defer { ids.removeAll(keepingCapacity: true) }
        return ids
    }

    mutating func putBack(_ id: JobID) { ids.append(id) }
}
