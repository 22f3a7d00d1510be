import ImageModel
package import Messages

// Who waits wants jobs more or less than before.
extension Dispatcher {
    /// Those who wait want it more or less than before.
    package mutating func reprioritise(_ id: JobID, _ urgency: Urgency) {
        guard let job = jobs[id] else { return }
        let urgency = urgency.bounded(job.stage)
        guard job.urgency != urgency else { return }
        jobs.want(job, urgency)
        switch job.place {
        case .queued, .parked, .disputed: break
        case .delayed(let delay): watch(id, delay)
        case .held(let worker): tellIfMoved(id, worker)
        }
    }

    /// A worker that is there hears of a new class, and of a deadline that moved by more than a
    /// second.
    private mutating func tellIfMoved(_ id: JobID, _ worker: WorkerID) {
        guard let job = jobs[id], !job.isStopped, roster.contains(worker) else { return }
        let (new, told) = (job.effective, job.told)
        let moved = max(new.deadline, told.deadline).milliseconds(
            since: min(new.deadline, told.deadline))
        guard new.priority != told.priority || moved > 1_000 else { return }
        jobs.told(id, new)
        roster.changed(worker, from: told.priority, to: new.priority)
        actions.append(
            .adjust(
                worker,
                JobAdjustment(
                    id: id, millisecondsLeft: new.millisecondsLeft(at: now),
                    priority: new.priority)))
    }

    /// Those who wait for a delayed job are others now, or want it for longer or shorter.
    private mutating func watch(_ id: JobID, _ delay: RetryDelay) {
        guard let job = jobs[id] else { return }
        let moment = delay.until < job.urgency.deadline ? delay.until : now
        if job.alarm != moment { jobs.setAlarm(id, at: moment) }
    }
}
