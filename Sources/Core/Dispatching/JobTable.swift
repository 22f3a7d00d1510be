import ImageModel
package import Messages
import Tables

/// All jobs, where each of them is, and what is counted of those that wait.
///
/// A job is moved here only, together with its place in a queue, what its stage counts, and its
/// alarm: so it is never in two places, and what is counted is there.
struct JobTable: Sendable {
    private let deadlines: PerStage<Int>
    private let severalEntriesMilliseconds: Int
    private let overdueMilliseconds: Int

    /// The pools that do steps of somebody else, by index.
    private let poolsOfSteps: [Int]
    /// The pools that are caches of others, by index.
    private let foreignCaches: [Int]

    private var jobs: [JobID: ActiveJob] = [:]
    private var last: UInt64 = 0
    /// By pool.
    private(set) var queues: [StageQueue]
    /// By `load(of:_:)`.
    private(set) var loads: [StageLoad]
    /// Bytes that the jobs of each pool read, while they wait and while they are done.
    private(set) var claims: [UInt64]
    private(set) var parked = ParkedJobs()
    private var alarms = JobAlarms()
    /// Those that end where others wait.
    private(set) var expendable: Set<JobID> = []

    init(_ limits: DispatchLimits) {
        deadlines = limits.jobMilliseconds
        severalEntriesMilliseconds = limits.severalEntriesMilliseconds
        overdueMilliseconds = limits.overdueMilliseconds
        // How long a transfer takes its origin decides: only there may one flow keep what it has.
        queues = limits.pools.all.map { pool in
            pool.kind == .download
                ? StageQueue(
                    order: limits.fetchOrder, heldPerHostMax: limits.fetchesPerHostMax,
                    isShared: true)
                : StageQueue()
        }
        loads = (0..<JobStage.allCases.count + limits.pools.further.count).map { _ in StageLoad() }
        claims = limits.pools.all.map { _ in 0 }
        poolsOfSteps = limits.pools.all.indices.filter { limits.pools.all[$0].isForeignTransformer }
        foreignCaches = limits.pools.workers.filter(limits.pools.isForeignCache).map(\.index)
    }

    // MARK: - What is there

    var count: Int { jobs.count }
    /// In no order.
    var values: some Collection<ActiveJob> { jobs.values }
    /// The oldest first.
    var ids: [JobID] { jobs.keys.sorted() }

    subscript(id: JobID) -> ActiveJob? { jobs[id] }

    /// Jobs that wait for a worker of the pool.
    func queued(in pool: PoolID) -> Int { queues[pool.index].count }

    /// What waits in a stage, further pools apart.
    func load(of stage: JobStage) -> StageLoad { loads[Int(stage.rawValue)] }

    /// What is counted together with what waits in a stage for that pool.
    func load(of pool: PoolID, _ stage: JobStage) -> StageLoad {
        loads[Self.load(of: pool, stage)]
    }

    /// Where what waits is counted: by stage, and apart from it for each further pool, so that one
    /// without workers keeps nobody else waiting.
    static func load(of pool: PoolID, _ stage: JobStage) -> Int {
        let further = pool.index - WorkerKind.count
        return further < 0 ? Int(stage.rawValue) : JobStage.allCases.count + further
    }

    /// Bytes that the jobs of all further pools read but for steps of somebody else and for
    /// stores, which have bounds of their own.
    var bytesClaimedByFurtherPools: UInt64 {
        claims[WorkerKind.count...].reduce(0, +) - bytesClaimedForSteps - bytesClaimedByCaches
    }

    /// Bytes that stores of caches of others read.
    var bytesClaimedByCaches: UInt64 { foreignCaches.reduce(0) { $0 + claims[$1] } }

    /// Bytes that the jobs read which are steps of somebody else.
    var bytesClaimedForSteps: UInt64 { poolsOfSteps.reduce(0) { $0 + claims[$1] } }

    /// Whether there is no job, and nothing is counted that was.
    var isIdle: Bool {
        jobs.isEmpty && expendable.isEmpty && queues.allSatisfy { $0.isIdle }
            && loads.allSatisfy { $0.jobs == 0 && $0.backlog == 0 }
    }

    // MARK: - From the first to the last

    /// A number that no job had.
    mutating func nextID() -> JobID {
        last += 1
        return JobID(last)
    }

    /// A new job waits for a worker of its pool.
    mutating func enter(_ job: consuming ActiveJob) {
        job.ticket = queues[job.pool.index].enter(job)
        loads[job.load].enter(job)
        claims[job.pool.index] += job.inputBytes
        if job.isExpendable { expendable.insert(job.id) }
        jobs[job.id] = job
    }

    /// The job is over.
    mutating func remove(_ id: JobID) {
        guard let job = jobs.removeValue(forKey: id) else { return }
        claims[job.pool.index] -= job.inputBytes
        if job.isExpendable { expendable.remove(id) }
        if case .queued = job.place { queues[job.pool.index].leave(job.ticket) }
        if job.isWaiting { loads[job.load].leave(job) }
    }

    /// The job of a pool that is next; it waits until it is assigned.
    mutating func next(of pool: PoolID, withLow: Bool, free: Int) -> StageQueue.Next? {
        let queue = pool.index
        if queues[queue].wantsSweep {
            queues[queue].sweep { [jobs] in jobs[$0.job]?.ticket.serial == $0.serial }
        }
        return queues[queue].next(withLow: withLow, free: free) { [jobs] in
            jobs[$0.job]?.ticket.serial == $0.serial
        }
    }

    /// A worker gets the job that was next.
    mutating func assign(_ next: StageQueue.Next, to worker: WorkerID, at now: Instant)
        -> ActiveJob?
    {
        guard let index = jobs.index(forKey: next.job) else { return nil }
        let waiting = jobs.values[index]
        queues[waiting.pool.index].leave(waiting.ticket)
        loads[waiting.load].leave(waiting)
        jobs.values[index].give(
            to: worker, for: next.holder, at: now, cap: millisecondsMax(of: waiting))
        let job = jobs.values[index]
        setAlarm(job.id, at: overdue(job.told))
        queues[job.pool.index].began(job)
        return job
    }

    /// How long a worker may hold a job.
    private func millisecondsMax(of job: ActiveJob) -> Int {
        if case .entry(let work) = job.work, work.action.isOfSeveral {
            return severalEntriesMilliseconds
        }
        return deadlines[job.stage]
    }

    /// When a worker has to have given a job up that it was told so of.
    private func overdue(_ told: Urgency) -> Instant {
        told.deadline.adding(milliseconds: overdueMilliseconds)
    }

    // MARK: - At a worker

    /// A worker finished the job, well or not.
    mutating func finished(_ job: ActiveJob, at now: Instant) {
        loads[job.load].finished(job.spec.cost, at: now)
    }

    /// Its worker holds the job no longer.
    mutating func vacated(_ job: ActiveJob) { queues[job.pool.index].ended(job) }

    /// Nobody wants the outcome.
    mutating func disown(_ id: JobID) { jobs[id]?.isWanted = false }

    /// Its worker was told to stop, and has to answer until the alarm.
    mutating func stop(_ id: JobID, at now: Instant, alarm: Instant) {
        jobs[id]?.stoppedAt = now
        setAlarm(id, at: alarm)
    }

    /// Its worker was told how it is wanted now.
    mutating func told(_ id: JobID, _ urgency: Urgency) {
        jobs[id]?.told = urgency
        setAlarm(id, at: overdue(urgency))
    }

    /// A worker was lost with it.
    mutating func lost(_ id: JobID) { jobs[id]?.losses += 1 }

    /// A worker was lost through a job of its pool: whoever's share it took owes that cost.
    mutating func owe(_ job: ActiveJob, _ cost: UInt64) {
        queues[job.pool.index].owe(job.holder, cost)
    }

    // MARK: - Waiting

    /// It is wanted more or less than before: where it is queued, it stands where it is wanted.
    mutating func want(_ job: ActiveJob, _ urgency: Urgency) {
        jobs[job.id]?.urgency = urgency
        guard case .queued = job.place, !job.ticket.suits(urgency), let moved = jobs[job.id]
        else { return }
        jobs[job.id]?.ticket = queues[job.pool.index].move(moved)
    }

    /// It may wait for space outside, or not.
    mutating func waitsForSpace(_ id: JobID, _ may: Bool) { jobs[id]?.waitsForSpace = may }

    /// Somebody listens to how far it is.
    mutating func listen(to id: JobID) { jobs[id]?.wantsProgress = true }

    /// Somebody wants to look at what has arrived.
    mutating func look(at id: JobID) { jobs[id]?.wantsArrived = true }

    /// A job that its worker did not finish goes to the front of its class, or behind all others,
    /// as a new attempt.
    mutating func requeue(_ id: JobID, goesLast: Bool = false, at now: Instant) {
        requeue(id, at: now) { goesLast ? $0.enterLast($1) : $0.putBack($1) }
    }

    private mutating func requeue(
        _ id: JobID, at now: Instant,
        _ stand: (inout StageQueue, ActiveJob) -> StageQueue.Ticket
    ) {
        guard var job = jobs[id] else { return }
        if !job.isWaiting { loads[job.load].enter(job) }
        job.place = .queued
        job.attempt += 1
        job.waitingSince = now
        job.alarm = nil
        job.ticket = stand(&queues[job.pool.index], job)
        jobs[id] = job
    }

    /// A job that its worker does not do waits for one of another pool, behind all who wait there:
    /// nothing was taken from it.
    mutating func move(_ id: JobID, to pool: PoolID, at now: Instant) {
        guard let job = jobs[id] else { return }
        claims[job.pool.index] -= job.inputBytes
        claims[pool.index] += job.inputBytes
        jobs[id]?.pool = pool
        requeue(id, at: now) { $0.enter($1) }
    }

    /// A job that a worker had waits for something else than a worker.
    mutating func setAside(_ id: JobID, _ place: ActiveJob.Place, at now: Instant) {
        guard var job = jobs[id] else { return }
        if !job.isWaiting { loads[job.load].enter(job) }
        job.place = place
        job.waitingSince = now
        job.alarm = nil
        jobs[id] = job
    }

    /// It found no space.
    mutating func park(_ id: JobID, at now: Instant) {
        setAside(id, .parked, at: now)
        parked.append(id, at: now)
    }

    /// Those that are meant try again, so many of them; how many did.
    mutating func unpark(
        atMost count: Int, at now: Instant, where isMeant: (ActiveJob) -> Bool
    ) -> Int {
        var room = count
        for id in parked.takeAll() {
            guard let job = jobs[id], job.place == .parked else { continue }
            if room > 0, isMeant(job) {
                room -= 1
                requeue(id, at: now)
            } else {
                parked.putBack(id)
            }
        }
        parked.startOver()
        return count - room
    }

    /// Its transfer failed, and is tried again later.
    mutating func delay(_ id: JobID, _ delay: RetryDelay, at now: Instant) {
        setAside(id, .delayed(delay), at: now)
        jobs[id]?.retries += 1
        jobs[id]?.stoppedAt = nil
        setAlarm(id, at: delay.until)
    }

    /// The time of another attempt has come: it has waited until now.
    mutating func endDelay(of job: ActiveJob, at now: Instant) {
        jobs[job.id]?.waited += now.fractionalMilliseconds(since: job.waitingSince)
    }

    // MARK: - Alarms

    /// When the next alarm rings.
    var nextAlarm: Instant? { alarms.first?.at }

    /// The job is looked after then; an alarm that it had counts no longer.
    mutating func setAlarm(_ id: JobID, at moment: Instant) {
        jobs.change(id) { $0.alarm = moment }
        alarms.set(id, at: moment)
    }

    /// The job whose alarm is the first, which rings; `nil` where that does not count any more.
    mutating func takeFirstAlarm() -> JobID? {
        guard let alarm = alarms.first else { return nil }
        alarms.removeFirst()
        return Self.isCurrent(alarm, jobs) ? alarm.job : nil
    }

    /// Throws out alarms that are of no use: in front at once, others when they are the most.
    mutating func forgetAlarms() {
        while let alarm = alarms.first, !Self.isCurrent(alarm, jobs) { alarms.removeFirst() }
        guard alarms.count > 2 * jobs.count + 512 else { return }
        alarms.keep { [jobs] in Self.isCurrent($0, jobs) }
    }

    private static func isCurrent(_ alarm: JobAlarms.Alarm, _ jobs: [JobID: ActiveJob]) -> Bool {
        jobs[alarm.job]?.alarm == alarm.at
    }
}

extension ActiveJob {
    /// A worker has it from now on, on somebody's share, for so many milliseconds at most.
    fileprivate mutating func give(
        to worker: WorkerID, for holder: FlowID, at now: Instant, cap milliseconds: Int
    ) {
        place = .held(by: worker)
        self.holder = holder
        ticket = .none
        waited += now.fractionalMilliseconds(since: waitingSince)
        heldSince = now
        cap = now.adding(milliseconds: milliseconds)
        told = effective
        stoppedAt = nil
    }
}

/// A job from the moment it is wanted until its outcome, or until nobody wants it and no worker
/// has it.
struct ActiveJob: Sendable {
    /// Where it is; never in two places.
    enum Place: Sendable, Equatable {
        /// In the queue of its pool, under the ticket of its newest entry there.
        case queued
        /// Found no space; waits for a release (SEMANTICS §9.5).
        case parked
        /// Its worker says that the bytes are not there; the cache is asked whether that is so.
        case disputed
        /// Its transfer failed; waits for another attempt.
        indirect case delayed(RetryDelay)
        /// At a worker, which answers with exactly one outcome.
        case held(by: WorkerID)
    }

    /// What a job of the dispatcher's own finds out: whether the bytes of a disputed job are there,
    /// as its worker says that they are not; of several inputs those of one.
    struct Probe: Sendable {
        let job: JobID
        let input: Int
        let accuser: WorkerID
    }

    let id: JobID
    private let submitted: Submitted
    /// `nil`: somebody else submitted it.
    let probe: Probe?
    /// Whether anybody wants the outcome.
    var isWanted = true
    /// Whether it waits for space outside, where there is none.
    var waitsForSpace: Bool
    /// Whether anybody listens to how far it is.
    var wantsProgress: Bool
    /// Whether somebody wants to look at what has arrived.
    var wantsArrived: Bool
    var place = Place.queued
    var attempt: UInt32 = 1
    /// Workers that were lost with it.
    var losses = 0
    /// Attempts after failures of its origin.
    var retries = 0
    var urgency: Urgency

    /// Who does it.
    var pool: PoolID

    /// Whose share of a pool's workers it takes while one of them has it, and whose it was then.
    var holder = FlowID.house

    /// Its place among jobs that wait.
    var ticket = StageQueue.Ticket.none
    /// Waiting, in milliseconds, without the time since `waitingSince`.
    var waited = 0.0
    var waitingSince: Instant

    /// When the worker has to give it up, and what it was told.
    var told = Urgency.none
    /// The latest moment that the stage permits.
    var cap = Instant(nanoseconds: .max)
    /// When the dispatcher looks after a job that has not been answered.
    var alarm: Instant?
    /// Since when the worker has it.
    var heldSince = Instant(nanoseconds: 0)
    /// When the worker was told to stop.
    var stoppedAt: Instant?

    init(_ id: JobID, _ submission: Submission, probe: Probe?, at now: Instant) {
        self.id = id
        submitted = Submitted(submission)
        self.probe = probe
        waitsForSpace = submission.waitsForSpace
        wantsProgress = submission.wantsProgress
        wantsArrived = submission.wantsArrived
        urgency = submission.urgency.bounded(submission.spec.stage)
        pool = PoolID(submission.spec.kind)
        waitingSince = now
    }

    /// What never changes lies in one place: a job is handed around much more often than it is
    /// submitted.
    private final class Submitted: Sendable {
        let submission: Submission

        init(_ submission: Submission) { self.submission = submission }
    }

    var submission: Submission { _read { yield submitted.submission } }

    /// Whether it waits, for a worker or for something else.
    var isWaiting: Bool { worker == nil }
    var isStopped: Bool { stoppedAt != nil }
    var isExpendable: Bool { submission.isExpendable }
    /// Whether a cache of somebody else's does it, once or not at all, and is not believed as our
    /// own is.
    var isOfForeignCache: Bool { submission.foreignCache != nil }
    var spec: JobSpec { submission.spec }
    var suspect: Suspect? { submission.suspect }
    var rank: UInt8 { submission.rank }
    var work: JobWork { spec.work }
    var kind: WorkerKind { spec.kind }
    var stage: JobStage { spec.stage }
    /// Where it is counted while it waits.
    var load: Int { JobTable.load(of: pool, stage) }

    /// The blocks that it reads, held for as long as it is there.
    var inputs: [BlockHandle] { (submission.input.map { [$0] } ?? []) + submission.overlays }

    var worker: WorkerID? {
        if case .held(let worker) = place { return worker }
        return nil
    }

    /// As what it counts among the jobs of the worker that has it.
    var share: PlaceShare {
        if isExpendable { return .expendable }
        return told.priority == .low ? .low : .full
    }

    /// The urgency that a worker is told: nothing is held longer than the stage permits.
    var effective: Urgency {
        Urgency(
            priority: urgency.priority, deadline: min(urgency.deadline, cap),
            flows: urgency.flows)
    }
}

extension Urgency {
    /// A store is finished whoever still waits: the result exists (SEMANTICS §8.4).
    func bounded(_ stage: JobStage) -> Urgency { stage == .store ? unbounded : self }
}

extension ActiveJob {
    /// Bytes of all that it reads.
    var inputBytes: UInt64 { submission.inputBytes }
}

extension Submission {
    /// Bytes of all that the job reads.
    var inputBytes: UInt64 { spec.work.inputs.reduce(0) { $0 + $1.length } }
}

/// Jobs that found no space, the first one first; some may have left.
struct ParkedJobs: Sendable {
    private(set) var ids: [JobID] = []
    /// Since when one is there without that all were tried again.
    private(set) var since: Instant?

    mutating func append(_ id: JobID, at now: Instant) {
        ids.append(id)
        since = since ?? now
    }

    /// All of them; those that stay are put back.
    mutating func takeAll() -> [JobID] {
        defer { ids.removeAll(keepingCapacity: true) }
        return ids
    }

    mutating func putBack(_ id: JobID) { ids.append(id) }

    /// Some were tried again; perhaps none is left.
    mutating func startOver() {
        if ids.isEmpty { since = nil }
    }
}

/// Moments at which jobs are looked after that are still there then.
struct JobAlarms: Sendable {
    /// Current while the job has this very moment.
    struct Alarm: Comparable, Sendable {
        let at: Instant
        let serial: UInt64
        let job: JobID

        static func < (left: Alarm, right: Alarm) -> Bool {
            (left.at, left.serial) < (right.at, right.serial)
        }

        static func == (left: Alarm, right: Alarm) -> Bool { left.serial == right.serial }
    }

    private var heap = Heap<Alarm>()
    private var last: UInt64 = 0

    var first: Alarm? { heap.first }
    var count: Int { heap.count }

    mutating func set(_ job: JobID, at moment: Instant) {
        last += 1
        heap.push(Alarm(at: moment, serial: last, job: job))
    }

    mutating func removeFirst() { _ = heap.pop() }

    mutating func keep(where isCurrent: (Alarm) -> Bool) { heap.keep(where: isCurrent) }
}

extension Instant? {
    /// The earlier one of two moments, of which either may be missing.
    package func orEarlier(_ other: Instant?) -> Instant? {
        guard let self else { return other }
        return other.map { Swift.min(self, $0) } ?? self
    }
}
