import ImageModel
import Messages

// Jobs from the moment they are wanted until nobody wants them.
extension Scheduler {
    /// Whether one more query, fetch or original may wait for a worker of that kind.
    func hasRoom(_ kind: WorkerKind) -> Bool {
        queues[Int(kind.rawValue)].count < limits.queuedJobsMax
    }

    /// A new job, at the end of its queue. It holds the blocks that it reads.
    mutating func submit(
        _ work: JobWork, for purpose: ActiveJob.Purpose, reading input: BlockHandle?,
        beside overlays: [BlockHandle] = [], _ urgency: Urgency, suspect: Suspect? = nil
    ) -> JobID {
        submit(
            JobSheet(work), for: purpose, reading: input, beside: overlays, urgency,
            suspect: suspect)
    }

    /// The same again.
    mutating func submit(
        _ sheet: JobSheet, for purpose: ActiveJob.Purpose, reading input: BlockHandle?,
        beside overlays: [BlockHandle] = [], _ urgency: Urgency, suspect: Suspect? = nil
    ) -> JobID {
        lastJob += 1
        let id = JobID(lastJob)
        if let input { ledger.hold(input) }
        for overlay in overlays { ledger.hold(overlay) }
        var job = ActiveJob(
            id: id, sheet: sheet, input: input, overlays: overlays, suspect: suspect,
            trace: trace(of: purpose), purpose: purpose,
            urgency: Self.bounded(urgency, sheet.stage), waitingSince: now)
        job.ticket = queues[Int(sheet.kind.rawValue)].enter(job)
        loads[Int(sheet.stage.rawValue)].enter(job)
        jobs[id] = job
        return id
    }

    /// The trace of the request that began the work.
    private func trace(of purpose: ActiveJob.Purpose) -> TraceContext? {
        switch purpose {
        case .lookup(let node): lookups[node].trace
        case .source(let node), .original(let node), .weighing(let node): sources[node].trace
        case .transcode(let node): transcodes[node].trace
        case .decode(let node): decodes[node].trace
        case .transform(let node), .delivery(let node): results[node].order.trace
        case .probe(let job, _, _): jobs[job]?.trace
        case .entry, .removal: nil
        }
    }

    /// Nobody wants the outcome any more. What waits is forgotten; a worker is told to stop, keeps
    /// its place, and keeps what it reads until it answers.
    mutating func abandon(_ id: JobID) {
        guard let job = jobs[id] else { return }
        switch job.place {
        case .queued:
            queues[Int(job.kind.rawValue)].leave(job.ticket)
            forget(job)
        case .parked, .disputed, .delayed:
            forget(job)
        case .held(let worker):
            jobs[id]?.purpose = nil
            if roster.contains(worker) { stop(id, at: worker) }
        }
    }

    /// Tells a worker once to stop; it has to answer within the silence that is granted.
    mutating func stop(_ id: JobID, at worker: WorkerID) {
        guard let job = jobs[id], !job.isStopped else { return }
        jobs[id]?.stoppedAt = now
        actions.append(.cancelJob(worker, id))
        let isShared = job.kind == .cache || job.kind == .download
        let silence = isShared ? limits.sharedSilenceMilliseconds : limits.silenceMilliseconds
        setJobAlarm(id, at: now.adding(milliseconds: silence))
    }

    /// The job is over, and with it its hold.
    mutating func forget(_ job: ActiveJob) {
        if let left = jobs.removeValue(forKey: job.id), left.isWaiting {
            loads[Int(left.stage.rawValue)].leave(left)
        }
        if let input = job.input { drop(input) }
        for overlay in job.overlays { drop(overlay) }
    }

    /// A worker holds the job no longer.
    mutating func vacate(_ job: ActiveJob) {
        guard let worker = job.worker else { return }
        roster.tookBack(worker, low: job.told.priority == .low)
        queues[Int(job.kind.rawValue)].ended(job)
    }

    /// Those who wait want it more or less than before.
    mutating func retune(_ id: JobID?, _ urgency: Urgency) {
        guard let id, let job = jobs[id] else { return }
        let urgency = Self.bounded(urgency, job.stage)
        guard job.urgency != urgency else { return }
        jobs[id]?.urgency = urgency
        switch job.place {
        case .queued where !job.ticket.suits(urgency):
            if let job = jobs[id] {
                jobs[id]?.ticket = queues[Int(job.kind.rawValue)].move(job)
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
        setJobAlarm(id, at: new.deadline.adding(milliseconds: limits.overdueMilliseconds))
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

    /// A store is finished whoever still waits: the result exists (SEMANTICS §8.4).
    private static func bounded(_ urgency: Urgency, _ stage: JobStage) -> Urgency {
        stage == .store ? urgency.unbounded : urgency
    }
}
