import Bootstrap
import EventLoop
import Messages
import Observability

/// Which timers a job has: the one of its deadline, and those of the grace after a cancel.
struct JobTimers {
    private var deadlines: [JobID: TimerID] = [:]
    private var graces: [JobID: [TimerID]] = [:]

    /// Returns the deadline that counts no longer.
    mutating func setDeadline(_ timer: TimerID, of job: JobID) -> TimerID? {
        deadlines.updateValue(timer, forKey: job)
    }

    mutating func addGrace(_ timer: TimerID, to job: JobID) {
        graces[job, default: []].append(timer)
    }

    /// Whether it was told to stop.
    func hasGrace(_ job: JobID) -> Bool { graces[job] != nil }

    mutating func take(_ job: JobID) -> [TimerID] {
        let deadline = deadlines.removeValue(forKey: job).map { [$0] } ?? []
        return deadline + (graces.removeValue(forKey: job) ?? [])
    }

    mutating func takeAll() -> [TimerID] {
        defer { self = JobTimers() }
        return Array(deadlines.values) + graces.values.flatMap { $0 }
    }
}

extension WorkerLoop {
    /// A job that outlives its time is stopped as if it had been cancelled.
    mutating func watch(_ job: Job, at now: Instant) {
        setDeadline(of: job.id, now.adding(milliseconds: Int(job.millisecondsLeft)))
    }

    /// The coordinator has a longer or a shorter time for it. Whom it told to stop stops.
    mutating func reschedule(_ adjustment: JobAdjustment) {
        guard !jobTimers.hasGrace(adjustment.id) else { return }
        let due = Instant.now().adding(milliseconds: Int(adjustment.millisecondsLeft))
        setDeadline(of: adjustment.id, due)
    }

    private mutating func setDeadline(of job: JobID, _ due: Instant) {
        let timer = timers.schedule(.deadline(job), at: due)
        if let old = jobTimers.setDeadline(timer, of: job) { timers.cancel(old) }
    }

    /// Native code may ignore a cancel: then the end of the process is the cancel.
    mutating func expectEnd(of job: JobID, at now: Instant) {
        guard executor.needsHardCancel else { return }
        let due = now.adding(milliseconds: policy.cancelGraceMilliseconds)
        jobTimers.addGrace(timers.schedule(.grace(job), at: due), to: job)
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
            executor.cancel(job)
            expectEnd(of: job, at: now)
        case .grace(let job):
            bootstrap.log.warning("a job did not heed its cancel", ["job": LogValue(job.value)])
            try perform(session.gaveUpOnNativeCode())
        case .farewell:
            guard awaitsRelease else { return }
            bootstrap.log.warning("blocks were not released before the end", [:])
            awaitsRelease = false
            executor.flush()
        case .retry: isRetrying = false
        case .tick:
            executor.tick()
            try perform(session.ticked())
            timers.schedule(.tick, at: now.adding(milliseconds: Self.tickMilliseconds))
        }
    }
}
