import ImageModel
package import Messages

// Time passes only in events; this is what it does to jobs.
extension Dispatcher {
    /// When the next alarm of a job rings, or those that found no space try again; `nil` while no
    /// job waits for time.
    package var nextDeadline: Instant? {
        let retry = jobs.parked.since?.adding(milliseconds: limits.parkedMilliseconds)
        return nextAlarm.orEarlier(retry)
    }

    /// When the next alarm rings.
    package var nextAlarm: Instant? { jobs.nextAlarm }

    /// Looks after the job whose alarm is the first; `false` where that does not count any more.
    package mutating func ringFirstAlarm() -> Bool {
        guard let id = jobs.takeFirstAlarm() else { return false }
        lookAfter(id)
        return true
    }

    /// Throws out alarms that are of no use.
    package mutating func forgetAlarms() { jobs.forgetAlarms() }

    /// A worker that did not give a job up by itself is told to; one that does not even answer
    /// then loses its session (SEMANTICS §7.6).
    private mutating func lookAfter(_ id: JobID) {
        guard let job = jobs[id] else { return }
        if case .delayed(let delay) = job.place { return endDelay(of: job, delay) }
        guard let worker = job.worker else { return }
        guard job.isStopped else { return stop(id, at: worker) }
        let silent = ImageError(.timedOut, "a worker does not answer a cancelled job")
        expel(worker, silent)
    }
}
