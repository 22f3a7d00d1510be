import Linux
import Model

/// The running jobs of the executor, under local IDs.
///
/// Each coordinator incarnation numbers its jobs from the start, and an abandoned job of the
/// previous incarnation may still be running: under the coordinator's ID its outcome would be
/// mistaken for that of another job.
struct RunningJobs {
    private var last: UInt64 = 0
    private var names: [JobID: JobID] = [:]
    /// The coordinator's ID by local ID; `nil` for an abandoned job.
    private var running: [JobID: JobID?] = [:]

    /// Whether no job is running.
    var isEmpty: Bool { running.isEmpty }

    /// Whether an abandoned job is running, which could cause a crash.
    var hasAbandoned: Bool { running.count > names.count }

    /// The jobs that were not abandoned, by the coordinator's IDs.
    var wanted: [JobID] { Array(names.keys) }

    /// Registers a job and returns its local ID.
    mutating func begin(_ job: JobID) -> JobID {
        last += 1
        let own = JobID(last)
        names[job] = own
        running[own] = job
        return own
    }

    /// Returns the local ID of a job that was not abandoned.
    func own(_ job: JobID) -> JobID? { names[job] }

    /// Returns the coordinator's ID of a job; `nil` for an abandoned job.
    func job(_ own: JobID) -> JobID? { running[own].flatMap { $0 } }

    /// Removes a completed job and returns the coordinator's ID, as `job(_:)` does.
    mutating func end(_ own: JobID) -> JobID? {
        guard let job = running.removeValue(forKey: own).flatMap({ $0 }) else { return nil }
        names[job] = nil
        return job
    }

    /// Marks all running jobs as abandoned.
    mutating func abandonAll() {
        names.removeAll()
        for own in running.keys { running[own] = .some(nil) }
    }
}

extension WorkerLoop {
    /// Starts a job with a deadline; a job that exceeds it is stopped as if it had been canceled.
    mutating func start(_ job: Job) {
        setDeadline(of: job.id, millisecondsLeft: job.millisecondsLeft)
        var own = job
        own.id = running.begin(job.id)
        jobLog.began(job, as: own.id, in: bootstrap.log)
        if executor.needsHardCancel { processorTimeAtStart = ProcessorClock.now() }
        executor.start(own)
    }

    mutating func cancel(_ job: JobID) {
        if let own = running.own(job) { executor.cancel(own) }
    }

    /// Applies the coordinator's new deadline. A job that was told to stop is not extended.
    mutating func adjust(_ adjustment: JobAdjustment) {
        guard let own = running.own(adjustment.id), graces[adjustment.id] == nil else {
            return
        }
        setDeadline(of: adjustment.id, millisecondsLeft: adjustment.millisecondsLeft)
        var mine = adjustment
        mine.id = own
        executor.adjust(mine)
    }

    private mutating func setDeadline(of job: JobID, millisecondsLeft: UInt32) {
        let due = Instant.now().adding(milliseconds: Int(millisecondsLeft))
        let timer = timers.schedule(.deadline(job), at: due)
        if let old = deadlines.updateValue(timer, forKey: job) { timers.cancel(old) }
    }

    /// Starts the grace period. Native code may ignore a cancellation; ending the process then
    /// cancels it.
    mutating func expectEnd(of job: JobID, at now: Instant) {
        guard executor.needsHardCancel, graces[job] == nil else { return }
        let due = now.adding(milliseconds: policy.cancelGraceMilliseconds)
        graces[job] = timers.schedule(.grace(job), at: due)
    }

    /// Ends the process if too much canceled work is still running, for executors that abandon work
    /// instead.
    mutating func exitIfOrphaned() throws {
        guard executor.hasTooManyAbandonedJobs else { return }
        bootstrap.log.warning("too many cancelled jobs are still running", [:])
        try perform(session.gaveUpOnNativeCode())
    }

    /// Sends the heartbeat of an external worker; if its pipe is closed, its supervisor has exited.
    private mutating func sendHeartbeat() throws {
        guard trust == .external, heartbeat == .beats,
            !bootstrap.ready.report(.alive, bootstrap.incarnation)
        else { return }
        try perform(session.terminated())
    }

    /// Blames the job for work that does not stop. This is evidence against its image, and strong
    /// evidence if it exceeded the CPU time that any image needs. A cancellation or a short
    /// deadline may come at any moment; the coordinator knows how long the job was held. The
    /// duration of other work depends on the request.
    private mutating func blame() {
        guard policy.hangSeconds != nil else { return }
        let verdict: ControlVerdict = hangs ? .didNotStop : .cancelledHard
        control?.blameJob(verdict)
    }

    private var hangs: Bool {
        guard let began = processorTimeAtStart else { return false }
        return policy.hangs(after: ProcessorClock.now() - began)
    }

    /// Cancels a job that exceeded the CPU time that any image needs; if it doesn't stop, the
    /// process ends.
    private mutating func stopHang(at now: Instant) {
        guard policy.stopsHangs, hangs else { return }
        for job in running.wanted { expectEnd(of: job, at: now) }
    }

    /// Checks the executor's thread; the job on which it is stuck is blamed for a kill.
    private mutating func checkHeartbeat() {
        let before = heartbeat
        heartbeat = executor.heartbeat()
        if heartbeat != before { recordHeld() }
    }

    /// Cancels the timers of a completed job.
    mutating func forget(_ job: JobID) {
        if let timer = deadlines.removeValue(forKey: job) { timers.cancel(timer) }
        if let timer = graces.removeValue(forKey: job) { timers.cancel(timer) }
    }

    mutating func forgetAll() {
        for timer in Array(deadlines.values) + Array(graces.values) { timers.cancel(timer) }
        (deadlines, graces) = ([:], [:])
    }

    mutating func fire(_ timer: WorkerTimer, at now: Instant) throws {
        switch timer {
        case .deadline(let job):
            cancel(job)
            expectEnd(of: job, at: now)
        case .grace(let job):
            bootstrap.log.warning("job ignored its cancellation", ["job": LogValue(job.value)])
            blame()
            try perform(session.gaveUpOnNativeCode())
        case .farewell:
            guard awaitsRelease else { return }
            bootstrap.log.warning("blocks not released before exit", [:])
            awaitsRelease = false
            executor.flush()
        case .departure:
            bootstrap.log.warning("exiting with unfinished jobs; other workers take them over", [:])
            try perform(session.tookTooLong())
        case .retry: isRetrying = false
        case .tick:
            executor.tick()
            checkHeartbeat()
            stopHang(at: now)
            try exitIfOrphaned()
            try sendHeartbeat()
            try perform(session.ticked())
            timers.schedule(.tick, at: now.adding(milliseconds: Self.tickMilliseconds))
        }
    }
}

enum WorkerTimer {
    /// The job's deadline passed: cancel it without a command (SEMANTICS §7.6).
    case deadline(JobID)
    /// The grace period after a cancellation is over: end the process if the job still runs
    /// (SEMANTICS §8.3).
    case grace(JobID)
    /// The time in which a leaving worker waits for its blocks to be released is over.
    case farewell
    /// The total time for leaving after a command to do so is over.
    case departure
    /// The coordinator's queue was full: retry.
    case retry
    /// A second has passed.
    case tick
}

/// The blocks of this process that were passed to the coordinator in an outcome and not yet
/// released.
///
/// Only blocks in `arena/<kind>/`; the cache tracks those in `results/` itself.
struct OutstandingBlocks {
    private var blocks: Set<BlockID> = []

    /// Whether no blocks are outstanding.
    var isEmpty: Bool { blocks.isEmpty }

    /// Adds the blocks of a sent outcome.
    mutating func add(_ references: ShortList<BlockReference>) {
        for reference in references where reference.arena == .stage {
            blocks.insert(reference.block)
        }
    }

    /// Removes blocks that the coordinator released.
    mutating func remove(_ released: [BlockID]) { blocks.subtract(released) }

    /// Removes and returns all blocks, because the session ended and nobody else claims them.
    mutating func removeAll() -> [BlockID] {
        defer { blocks.removeAll() }
        return Array(blocks)
    }
}

/// Logs one line per completed job: at level debug, and at level info if the request is traced.
struct JobLog {
    /// What is logged about a job besides its outcome.
    private struct Entry {
        let job: Job
        let level: LogLevel
    }

    /// By local ID; only jobs that are logged.
    private var entries: [JobID: Entry] = [:]
    private var budget = LineBudget(linesPerSecond: linesPerSecond)

    /// The rate limit for traced jobs; level debug has none.
    private static let linesPerSecond: UInt64 = 100

    /// Records that the executor started a job with the local ID `own`.
    mutating func began(_ job: Job, as own: JobID, in log: Log) {
        let level = job.logContext.isSampled ? LogLevel.info : .debug
        guard level >= log.level, !job.logContext.isProbe else { return }
        entries[own] = Entry(job: job, level: level)
    }

    /// Logs that the executor completed the job.
    mutating func ended(_ outcome: JobOutcome, in log: Log, at now: Instant) {
        guard let entry = entries.removeValue(forKey: outcome.id) else { return }
        if log.level > .debug {
            guard case .write(let leftOut) = budget.admit(at: now.nanoseconds) else { return }
            if leftOut > 0 {
                log.warning("job log lines dropped", ["count": LogValue(leftOut)])
            }
        }
        log.write(entry.level, "job", fields: Self.fields(entry.job, outcome))
    }

    /// Returns only numbers and names, since the content of a job may be secret.
    static func fields(_ job: Job, _ outcome: JobOutcome) -> [(String, LogValue)] {
        var fields: [(String, LogValue)] = [
            ("job", LogValue(job.id.value)), ("attempt", LogValue(job.attempt)),
            ("stage", .string(job.work.name)), ("outcome", .string(outcome.result.word)),
        ]
        if case .failed(let error) = outcome.result {
            fields.append(("error", .string(error.code.rule.name)))
        }
        let milliseconds = Double(outcome.workMicroseconds) / 1_000
        fields.append(("workMilliseconds", LogValue(milliseconds: milliseconds)))
        let references = outcome.result.references
        if !references.isEmpty {
            fields.append(("bytes", LogValue(references.reduce(0) { $0 + $1.length })))
        }
        fields += job.logContext.fields.map { ($0.name, LogValue.string($0.text)) }
        return fields
    }
}

extension JobResult {
    fileprivate var word: String {
        switch self {
        case .fetched, .decoded, .transformed, .entry, .entries, .validity: "done"
        case .stored: "stored"
        case .hit: "hit"
        case .miss: "miss"
        case .failed: "failed"
        }
    }
}
