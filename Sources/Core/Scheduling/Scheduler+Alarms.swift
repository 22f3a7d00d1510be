import ImageModel
public import Messages

// Time passes only in events; this is what it does.
extension Scheduler {
    /// When `tick` is due at the latest; `nil` while nothing waits for time.
    public var nextDeadline: Instant? {
        var earliest = alarms.first?.at
        if let touched = touches.since?.adding(milliseconds: limits.touchedMilliseconds) {
            earliest = min(earliest ?? touched, touched)
        }
        if let parked = parkedSince?.adding(milliseconds: limits.parkedMilliseconds) {
            earliest = min(earliest ?? parked, parked)
        }
        if wantsToPrefetch || isUnfinished { earliest = min(earliest ?? now, now) }
        return earliest
    }

    mutating func setAlarm(_ subject: Alarm.Subject, at moment: Instant) {
        lastAlarm += 1
        alarms.push(Alarm(at: moment, serial: lastAlarm, subject: subject))
    }

    /// Looks after a job then; an alarm that it had counts no longer.
    mutating func setJobAlarm(_ id: JobID, at moment: Instant) {
        jobs[id]?.alarm = moment
        setAlarm(.job(id), at: moment)
    }

    /// Everything whose time has come; what is too much for one event is next in the next one.
    mutating func ringAlarms() {
        var left = limits.bulkStepsMax
        while left > 0, let alarm = alarms.first, alarm.at <= now {
            _ = alarms.pop()
            guard isCurrent(alarm) else { continue }
            left -= 1
            switch alarm.subject {
            case .request(let id): expire(id)
            case .job(let id): lookAfter(id)
            }
        }
        if let since = parkedSince,
            since.adding(milliseconds: limits.parkedMilliseconds) <= now
        {
            unparkAll()
        }
        if let since = touches.since,
            since.adding(milliseconds: limits.touchedMilliseconds) <= now
        {
            tellTouched(atLeast: 1)
        }
    }

    /// Whether there were too many for one event.
    var hasOverdueAlarms: Bool { alarms.first.map { $0.at <= now } ?? false }

    /// Throws out alarms that are of no use: in front at once, others when they are the most.
    mutating func forgetAlarms() {
        while let alarm = alarms.first, !isCurrent(alarm) { _ = alarms.pop() }
        guard alarms.count > 2 * (requests.count + jobs.count) + 1_024 else { return }
        alarms.keep { [self] in isCurrent($0) }
    }

    private func isCurrent(_ alarm: Alarm) -> Bool {
        switch alarm.subject {
        case .request(let id): requests.contains(id)
        case .job(let id): jobs[id]?.alarm == alarm.at
        }
    }

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
