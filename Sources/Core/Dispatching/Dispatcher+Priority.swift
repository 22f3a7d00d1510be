import ImageModel
package import Messages

// Those who wait want jobs more or less than before, or want to hear how far they are.
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
        guard let job = jobs[id], isTold(job, at: worker) else { return }
        let (new, told) = (job.effective, job.told)
        let moved = max(new.deadline, told.deadline).milliseconds(
            since: min(new.deadline, told.deadline))
        guard new.priority != told.priority || moved > 1_000 else { return }
        jobs.told(id, new)
        if let changed = jobs[id] { roster.changed(worker, from: job.share, to: changed.share) }
        adjust(job, to: new, at: worker)
    }

    /// Somebody listens to how far a job is from now on. Its worker reports only where it is asked
    /// to, since each report wakes three processes.
    package mutating func listen(to id: JobID) {
        guard let job = jobs[id], !job.wantsProgress else { return }
        jobs.listen(to: id)
        tellWishes(about: id)
    }

    /// Somebody wants to look at what has arrived of a transfer, from now on.
    package mutating func look(at id: JobID) {
        guard let job = jobs[id], !job.wantsArrived else { return }
        jobs.look(at: id)
        tellWishes(about: id)
    }

    /// Its worker hears who listens and looks.
    private mutating func tellWishes(about id: JobID) {
        guard let job = jobs[id], let worker = job.worker, isTold(job, at: worker) else { return }
        adjust(job, to: job.told, at: worker)
    }

    /// Whether its worker is there and still works on it.
    private func isTold(_ job: ActiveJob, at worker: WorkerID) -> Bool {
        !job.isStopped && roster.contains(worker)
    }

    private mutating func adjust(_ job: ActiveJob, to urgency: Urgency, at worker: WorkerID) {
        actions.append(
            .adjust(
                worker,
                JobAdjustment(
                    id: job.id, millisecondsLeft: urgency.millisecondsLeft(at: now),
                    priority: urgency.priority, wantsProgress: job.wantsProgress,
                    wantsArrived: job.wantsArrived)))
    }

    /// Those who wait for a delayed job are others now, or want it for longer or shorter.
    private mutating func watch(_ id: JobID, _ delay: RetryDelay) {
        guard let job = jobs[id] else { return }
        let moment = delay.until < job.urgency.deadline ? delay.until : now
        if job.alarm != moment { jobs.setAlarm(id, at: moment) }
    }
}
