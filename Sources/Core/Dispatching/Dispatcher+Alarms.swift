import ImageModel
package import Messages

// Time passes only in events; this is what it does to jobs.
extension Dispatcher {
    /// When the next alarm of a job rings, or those that found no space try again; `nil` while no
    /// job waits for time.
    package var nextDeadline: Instant? {
        let retry = parked.since?.adding(milliseconds: limits.parkedMilliseconds)
        return nextAlarm.orEarlier(retry)
    }

    /// When the next alarm rings.
    package var nextAlarm: Instant? { alarms.first?.at }

    /// Looks after a job then; an alarm that it had counts no longer.
    mutating func setAlarm(_ id: JobID, at moment: Instant) {
        jobs[id]?.alarm = moment
        alarms.set(id, at: moment)
    }

    /// Looks after the job whose alarm is the first; `false` where that does not count any more.
    package mutating func ringFirstAlarm() -> Bool {
        guard let alarm = alarms.first else { return false }
        alarms.removeFirst()
        guard isCurrent(alarm) else { return false }
        lookAfter(alarm.job)
        return true
    }

    /// Jobs that found no space try again, if none became free for a while: the cache may have made
    /// room by itself.
    package mutating func retryParked() {
        guard let since = parked.since,
            since.adding(milliseconds: limits.parkedMilliseconds) <= now
        else { return }
        parked.startOver(ifEmpty: false)
        unpark(atMost: parked.ids.count) { _ in true }
    }

    /// Throws out alarms that are of no use: in front at once, others when they are the most.
    package mutating func forgetAlarms() {
        while let alarm = alarms.first, !isCurrent(alarm) { alarms.removeFirst() }
        guard alarms.count > 2 * jobs.count + 512 else { return }
        alarms.keep { [self] in isCurrent($0) }
    }

    private func isCurrent(_ alarm: JobAlarms.Alarm) -> Bool { jobs[alarm.job]?.alarm == alarm.at }

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
