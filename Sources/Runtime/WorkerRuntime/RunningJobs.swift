import Bootstrap
import ControlSegment
import EventLoop
import ImageModel
import Linux
import Messages
import Observability

/// The jobs that the executor was given and has not ended, under names of its own.
///
/// The coordinator counts its jobs anew in each of its lives, and a job that was abandoned with the
/// last one may still run: under the coordinator's name its outcome would pass for another's.
struct RunningJobs {
    private var last: UInt64 = 0
    private var names: [JobID: JobID] = [:]
    /// By own name; `nil` for one that was abandoned.
    private var running: [JobID: JobID?] = [:]

    /// Whether the executor does nothing.
    var isEmpty: Bool { running.isEmpty }

    /// Whether something runs that nobody waits for: a crash may be its fault.
    var hasAbandoned: Bool { running.count > names.count }

    /// Those that were not abandoned, by the coordinator's names.
    var wanted: [JobID] { Array(names.keys) }

    /// A job is given to the executor; returns its own name.
    mutating func begin(_ job: JobID) -> JobID {
        last += 1
        let own = JobID(last)
        names[job] = own
        running[own] = job
        return own
    }

    /// The own name of a job that was not abandoned.
    func own(_ job: JobID) -> JobID? { names[job] }

    /// The coordinator's name of a job; `nil` for one that was abandoned.
    func job(_ own: JobID) -> JobID? { running[own].flatMap { $0 } }

    /// The executor has ended it; returns the coordinator's name as `job(_:)`.
    mutating func end(_ own: JobID) -> JobID? {
        guard let job = running.removeValue(forKey: own).flatMap({ $0 }) else { return nil }
        names[job] = nil
        return job
    }

    /// Nobody waits for what runs now.
    mutating func abandonAll() {
        names.removeAll()
        for own in running.keys { running[own] = .some(nil) }
    }
}

/// Which timers a job has: that of its deadline, and that of the grace after its first cancel.
struct JobTimers {
    private var deadlines: [JobID: TimerID] = [:]
    private var graces: [JobID: TimerID] = [:]

    /// Returns the deadline that counts no longer.
    mutating func setDeadline(_ timer: TimerID, of job: JobID) -> TimerID? {
        deadlines.updateValue(timer, forKey: job)
    }

    mutating func setGrace(_ timer: TimerID, of job: JobID) { graces[job] = timer }

    /// Whether it was told to stop.
    func hasGrace(_ job: JobID) -> Bool { graces[job] != nil }

    mutating func take(_ job: JobID) -> [TimerID] {
        [deadlines.removeValue(forKey: job), graces.removeValue(forKey: job)].compactMap { $0 }
    }

    mutating func takeAll() -> [TimerID] {
        defer { self = JobTimers() }
        return Array(deadlines.values) + Array(graces.values)
    }
}

extension WorkerLoop {
    /// A job that outlives its time is stopped as if it had been cancelled.
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

    /// The coordinator has a longer or a shorter time for it. Whom it told to stop stops.
    mutating func adjust(_ adjustment: JobAdjustment) {
        guard let own = running.own(adjustment.id), !jobTimers.hasGrace(adjustment.id) else {
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
        if let old = jobTimers.setDeadline(timer, of: job) { timers.cancel(old) }
    }

    /// Native code may ignore a cancel: then the end of the process is the cancel.
    mutating func expectEnd(of job: JobID, at now: Instant) {
        guard executor.needsHardCancel, !jobTimers.hasGrace(job) else { return }
        let due = now.adding(milliseconds: policy.cancelGraceMilliseconds)
        jobTimers.setGrace(timers.schedule(.grace(job), at: due), of: job)
    }

    /// Where the work itself may be left alone, too much of it that goes on for nobody does the
    /// same.
    mutating func endIfForsaken() throws {
        guard executor.hasForsakenTooMuch else { return }
        bootstrap.log.warning("too much of what was cancelled goes on", [:])
        try perform(session.gaveUpOnNativeCode())
    }

    /// Somebody else's process says that it lives; where nobody reads that any more, its supervisor
    /// has gone.
    private mutating func sayAlive() throws {
        guard standing == .foreign, pulse == .beats,
            !bootstrap.ready.tell(.alive, bootstrap.incarnation)
        else { return }
        try perform(session.terminated())
    }

    /// Work that does not stop is evidence against its image, strong if it has used more of the
    /// processors than any image takes. A cancel or a short deadline may come at any moment: how
    /// long the job was held the coordinator knows. How long other work takes the request decides.
    private mutating func blame() {
        guard policy.hangSeconds != nil else { return }
        let verdict: ControlVerdict = hangs ? .didNotStop : .cancelledHard
        control?.blameJob(verdict)
    }

    private var hangs: Bool {
        guard let began = processorTimeAtStart else { return false }
        return policy.hangs(after: ProcessorClock.now() - began)
    }

    /// A job that used more than any image takes ends at once, or with the process.
    private mutating func stopHang(at now: Instant) {
        guard policy.stopsHangs, hangs else { return }
        for job in running.wanted { expectEnd(of: job, at: now) }
    }

    /// The job at which the executor's thread stands is the one that a kill is held against.
    private mutating func feelPulse() {
        let before = pulse
        pulse = executor.pulse()
        if pulse != before { recordHeld() }
    }

    /// A job has ended: nothing of it is due any more.
    mutating func forget(_ job: JobID) {
        for timer in jobTimers.take(job) { timers.cancel(timer) }
    }

    mutating func forgetAll() {
        for timer in jobTimers.takeAll() { timers.cancel(timer) }
    }

    mutating func fire(_ timer: WorkerTimer, at now: Instant) throws {
        switch timer {
        case .deadline(let job):
            cancel(job)
            expectEnd(of: job, at: now)
        case .grace(let job):
            bootstrap.log.warning("a job did not heed its cancel", ["job": LogValue(job.value)])
            blame()
            try perform(session.gaveUpOnNativeCode())
        case .farewell:
            guard awaitsRelease else { return }
            bootstrap.log.warning("blocks were not released before the end", [:])
            awaitsRelease = false
            executor.flush()
        case .departure:
            bootstrap.log.warning("ends with what it holds: others do it", [:])
            try perform(session.tookTooLong())
        case .retry: isRetrying = false
        case .tick:
            executor.tick()
            feelPulse()
            stopHang(at: now)
            try endIfForsaken()
            try sayAlive()
            try perform(session.ticked())
            timers.schedule(.tick, at: now.adding(milliseconds: Self.tickMilliseconds))
        }
    }
}

/// What a worker waits for besides messages.
enum WorkerTimer {
    /// The job's time is over: stop it without being told (SEMANTICS §7.6).
    case deadline(JobID)
    /// The grace after a cancel is over: end the process if the job still runs (SEMANTICS §8.3).
    case grace(JobID)
    /// A worker that leaves has waited long enough for its blocks to be released.
    case farewell
    /// A worker that was told to leave has had all the time for it that there is.
    case departure
    /// The coordinator's queue was full: try again.
    case retry
    /// A second has passed.
    case tick
}

/// Blocks of this process that the coordinator answers for: named in an outcome, not yet released.
///
/// Only those of `arena/<kind>/`; what lies in `results/` belongs to the cache's own books.
struct HandedOver {
    private var blocks: Set<BlockID> = []

    /// Whether nobody reads any of ours.
    var isEmpty: Bool { blocks.isEmpty }

    /// An outcome was sent.
    mutating func add(_ references: ShortList<BlockReference>) {
        for reference in references where reference.arena == .stage {
            blocks.insert(reference.block)
        }
    }

    /// The coordinator released them.
    mutating func remove(_ released: [BlockID]) { blocks.subtract(released) }

    /// The session ended, and with it every claim on them.
    mutating func takeAll() -> [BlockID] {
        defer { blocks.removeAll() }
        return Array(blocks)
    }
}

/// One line for each job that ended: for those who look for a fault, and at level info where the
/// caller of the request records its trace.
struct JobLog {
    /// What a line says of a job besides its outcome.
    private struct Entry {
        let job: Job
        let level: LogLevel
    }

    /// By own name; only those that get a line.
    private var entries: [JobID: Entry] = [:]
    private var budget = LineBudget(linesPerSecond: linesPerSecond)

    /// Lines of traced jobs; who debugs wants them all.
    private static let linesPerSecond: UInt64 = 100

    /// The executor was given a job, which is `own` to it.
    mutating func began(_ job: Job, as own: JobID, in log: Log) {
        let level = job.logContext.isSampled ? LogLevel.info : .debug
        guard level >= log.level, !job.logContext.isProbe else { return }
        entries[own] = Entry(job: job, level: level)
    }

    /// The executor has ended it.
    mutating func ended(_ outcome: JobOutcome, in log: Log, at now: Instant) {
        guard let entry = entries.removeValue(forKey: outcome.id) else { return }
        if log.level > .debug {
            guard case .write(let leftOut) = budget.take(at: now.nanoseconds) else { return }
            if leftOut > 0 {
                log.warning("lines of jobs were left out", ["count": LogValue(leftOut)])
            }
        }
        log.write(entry.level, "job", fields: Self.fields(entry.job, outcome))
    }

    /// Numbers and names only: what a job is about may be secret.
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
