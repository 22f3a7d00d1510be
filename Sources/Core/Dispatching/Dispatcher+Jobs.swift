import ImageModel
package import Messages

// Jobs from the moment they are wanted until nobody wants them.
extension Dispatcher {
    /// Whether one more query, fetch or original may wait for a worker of that kind; of the pool
    /// that every stack has, since a further one refuses by itself what it has no room for.
    package func hasRoom(_ kind: WorkerKind) -> Bool {
        queues[PoolID(kind).index].count < limits.queuedJobsMax
    }

    /// A new job, at the end of its queue. It holds the blocks that it reads. One that no pool is
    /// granted has failed at once.
    package mutating func submit(_ submission: Submission) -> JobID {
        submit(submission, probe: nil)
    }

    mutating func submit(_ submission: Submission, probe: ActiveJob.Probe?) -> JobID {
        numbers.job += 1
        let id = JobID(numbers.job)
        var job = ActiveJob(id, submission, probe: probe, at: now)
        do throws(ImageError) {
            job.pool = try route(submission)
        } catch {
            complete(.failed(Completion.Ended(job), error))
            return id
        }
        if let input = submission.input { ledger.hold(input) }
        for overlay in submission.overlays { ledger.hold(overlay) }
        job.ticket = queues[job.pool.index].enter(job)
        loads[job.load].enter(job)
        claims[job.pool.index] += job.inputBytes
        jobs[id] = job
        return id
    }

    /// Nobody wants the outcome any more; nothing more is said of the job. What waits is forgotten;
    /// a worker is told to stop, keeps its place, and keeps what it reads until it answers.
    package mutating func abandon(_ id: JobID) {
        guard let job = jobs[id] else { return }
        switch job.place {
        case .queued:
            queues[job.pool.index].leave(job.ticket)
            forget(job)
        case .parked, .disputed, .delayed:
            forget(job)
        case .held(let worker):
            jobs[id]?.isWanted = false
            if roster.contains(worker) { stop(id, at: worker) }
        }
    }

    /// Whether the job may wait for space outside, where there is none. One that waits and may not
    /// any more is *busy*: nobody waits for it who would see that it ends.
    package mutating func waitsForSpace(_ id: JobID, _ may: Bool) {
        guard let job = jobs[id], job.waitsForSpace != may else { return }
        jobs[id]?.waitsForSpace = may
        if !may, job.place == .parked { ended(job, Self.noSpace) }
    }

    /// Whether the job is there and no worker has it.
    package func isWaiting(_ id: JobID) -> Bool { jobs[id]?.isWaiting == true }

    /// Tells a worker once to stop; it has to answer within the silence that is granted.
    mutating func stop(_ id: JobID, at worker: WorkerID) {
        guard let job = jobs[id], !job.isStopped else { return }
        jobs[id]?.stoppedAt = now
        actions.append(.cancelJob(worker, id))
        let isShared = job.kind == .cache || job.kind == .download
        let silence = isShared ? limits.sharedSilenceMilliseconds : limits.silenceMilliseconds
        setAlarm(id, at: now.adding(milliseconds: silence))
    }

    /// The job is over, and with it its holds.
    mutating func forget(_ job: ActiveJob) {
        if let left = jobs.removeValue(forKey: job.id) {
            claims[left.pool.index] -= left.inputBytes
            if left.isWaiting { loads[left.load].leave(left) }
        }
        if let input = job.submission.input { drop(input) }
        for overlay in job.submission.overlays { drop(overlay) }
    }

    /// A worker holds the job no longer.
    mutating func vacate(_ job: ActiveJob) {
        guard let worker = job.worker else { return }
        roster.tookBack(worker, low: job.told.priority == .low)
        queues[job.pool.index].ended(job)
    }

    // MARK: - Priority

    /// Those who wait want it more or less than before.
    package mutating func reprioritise(_ id: JobID, _ urgency: Urgency) {
        guard let job = jobs[id] else { return }
        let urgency = urgency.bounded(job.stage)
        guard job.urgency != urgency else { return }
        jobs[id]?.urgency = urgency
        switch job.place {
        case .queued where !job.ticket.suits(urgency):
            if let job = jobs[id] {
                jobs[id]?.ticket = queues[job.pool.index].move(job)
            }
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
        jobs[id]?.told = new
        roster.changed(worker, from: told.priority, to: new.priority)
        setAlarm(id, at: new.deadline.adding(milliseconds: limits.overdueMilliseconds))
        actions.append(
            .adjust(
                worker,
                JobAdjustment(
                    id: id, millisecondsLeft: millisecondsLeft(until: new.deadline),
                    priority: new.priority)))
    }

    func millisecondsLeft(until deadline: Instant) -> UInt32 {
        UInt32(clamping: deadline.milliseconds(since: now))
    }
}
