import Bootstrap
import EventLoop
import Messages
import Observability

/// Which timers a job has.
struct JobTimers {
    private var byJob: [JobID: [TimerID]] = [:]

    mutating func add(_ timer: TimerID, to job: JobID) { byJob[job, default: []].append(timer) }

    mutating func take(_ job: JobID) -> [TimerID] { byJob.removeValue(forKey: job) ?? [] }

    mutating func takeAll() -> [TimerID] {
        defer { byJob.removeAll() }
        return byJob.values.flatMap { $0 }
    }
}

extension WorkerLoop {
    /// A job that outlives its time is stopped as if it had been cancelled.
    mutating func watch(_ job: Job, at now: Instant) {
        let due = now.adding(milliseconds: Int(job.millisecondsLeft))
        jobTimers.add(timers.schedule(.deadline(job.id), at: due), to: job.id)
    }

    /// Native code may ignore a cancel: then the end of the process is the cancel.
    mutating func expectEnd(of job: JobID, at now: Instant) {
        guard executor.needsHardCancel else { return }
        let due = now.adding(milliseconds: policy.cancelGraceMilliseconds)
        jobTimers.add(timers.schedule(.grace(job), at: due), to: job)
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
        case .retry: isRetrying = false
        case .tick:
            executor.tick()
            try perform(session.ticked())
            timers.schedule(.tick, at: now.adding(milliseconds: Self.tickMilliseconds))
        }
    }
}
