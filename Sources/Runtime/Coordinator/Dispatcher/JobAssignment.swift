import Model

// Submitting and abandoning jobs.
extension Dispatcher {
    /// Appends a new job to its queue and holds the blocks that it reads. The job fails immediately
    /// if the configuration permits no pool to do the work.
    func submit(_ submission: Submission) -> JobID {
        submit(submission, probe: nil)
    }

    func submit(_ submission: Submission, probe: ActiveJob.Probe?) -> JobID {
        let id = jobs.nextID()
        let job = ActiveJob(id, submission, probe: probe, at: now)
        do throws(ImageError) {
            job.pool = try route(submission)
        } catch {
            fail(job, error)
            return id
        }
        if let input = submission.input { ledger.hold(input) }
        for overlay in submission.overlays { ledger.hold(overlay) }
        jobs.enter(job)
        return id
    }

    /// Abandons a job; it won't complete. A waiting job is removed. A running job is canceled, but
    /// keeps its worker slot and its inputs until the worker answers.
    func abandon(_ id: JobID) {
        guard let job = jobs[id] else { return }
        switch job.place {
        case .queued, .parked, .disputed, .delayed: forget(job)
        case .held(let worker):
            job.isWanted = false
            if roster.contains(worker) { stop(job, at: worker) }
        }
    }

    /// Whether the job exists and isn't assigned to a worker.
    func isWaiting(_ id: JobID) -> Bool { jobs[id]?.isWaiting == true }

    /// Whether the job is a transfer that isn't assigned to a worker.
    func isWaitingTransfer(_ id: JobID) -> Bool {
        jobs[id].map { $0.isWaiting && $0.kind == .download } ?? false
    }

    /// Returns the pool of a waiting job if the pool has no connected workers; `nil` if a worker
    /// has the job or may get it.
    func missingWorkers(for id: JobID) -> MissingWorkers? {
        guard let job = jobs[id], job.isWaiting, roster.members(of: job.pool).isEmpty else {
            return nil
        }
        let pool = limits.pools[job.pool]
        return MissingWorkers(pool.name, kind: pool.kind, isExternal: pool.trust == .external)
    }

    /// Tells a worker to stop a job, once. The worker must answer within the silence limit.
    func stop(_ job: ActiveJob, at worker: WorkerID) {
        guard !job.isStopped else { return }
        shared.actions.append(.cancelJob(worker, job.id))
        let isShared = job.kind == .cache || job.kind == .download
        let silence = isShared ? limits.sharedSilenceMilliseconds : limits.silenceMilliseconds
        jobs.stop(job, alarm: now.adding(milliseconds: silence))
    }

    /// Removes a job and releases the blocks that it holds.
    func forget(_ job: ActiveJob) {
        jobs.remove(job.id)
        if let input = job.submission.input { drop(input) }
        for overlay in job.submission.overlays { drop(overlay) }
    }

    /// Frees the worker slot of a job.
    func vacate(_ job: ActiveJob) {
        guard let worker = job.worker else { return }
        roster[worker]?.count(-1, as: job.share)
        jobs.vacated(job)
    }
}

// Assignment: chooses jobs for workers with free capacity (SEMANTICS §9.1).
extension Dispatcher {
    /// Assigns waiting jobs while workers have credit.
    func dispatch() {
        for pool in limits.pools.workers { dispatch(in: pool) }
    }

    private func dispatch(in pool: PoolID) {
        while jobs.queued(in: pool) > 0, hasBudget(pool), isOpen(pool),
            let worker = roster.next(of: pool), let next = nextJob(of: pool)
        {
            assign(next, to: worker)
        }
        makeWay(in: pool)
    }

    /// Cancels expendable jobs if other jobs wait and the pool has no free worker. Except in cache
    /// pools, whose workers are soon free, also cancels those that are still queued, because they
    /// hold blocks that other jobs need.
    private func makeWay(in pool: PoolID) {
        guard !jobs.expendable.isEmpty else { return }
        let ours = jobs.expendable.sorted().compactMap { jobs[$0] }.filter { $0.pool == pool }
        let isInTheWay =
            roster.credit(of: pool).free == 0
            && jobs.queued(in: pool) > ours.count(where: \.isWaiting)
        for job in ours where job.isWanted {
            guard isInTheWay || (job.isWaiting && job.kind != .cache) else { continue }
            abandon(job.id)
            fail(job, Self.overtaken)
        }
    }

    /// Whether an expendable job would start immediately: the built-in pool of the kind has a free
    /// worker and an empty queue, and runs fewer low-priority and expendable jobs than the share of
    /// low-priority jobs permits.
    func isIdle(_ kind: WorkerKind) -> Bool {
        let pool = PoolID(kind)
        let credit = roster.credit(of: pool)
        return jobs.queued(in: pool) == 0 && credit.free > 0
            && credit.heldLow + credit.heldExpendable < lowShare(credit)
            && hasBudget(pool) && isOpen(pool)
    }

    private static let overtaken = ImageError(
        .cancelled, "preempted by other work: try again")

    /// Returns the next job, or `nil` if all waiting jobs wait for something other than a worker.
    private func nextJob(of pool: PoolID) -> StageQueue.Next? {
        let credit = roster.credit(of: pool)
        return jobs.next(of: pool, withLow: hasLowShare(credit), free: credit.free)
    }

    /// Whether another low-priority job may be assigned. Low-priority jobs never exceed their
    /// share, so that other jobs find a free worker. Expendable jobs don't count toward it.
    func hasLowShare(_ credit: WorkerCredit) -> Bool { credit.heldLow < lowShare(credit) }

    private func lowShare(_ credit: WorkerCredit) -> Int {
        max(1, credit.window / max(1, limits.lowShareDivisor))
    }

    private func assign(_ next: StageQueue.Next, to worker: LiveWorker) {
        guard let job = jobs.assign(next, to: worker.id) else { return }
        metrics.assigned(job.stage, since: job.waitingSince, at: now)
        shared.counters.assigned(job.stage)
        roster.gave(worker, as: job.share)
        if job.stage == .fetch { complete(.began(job.id, lastTransfer.next())) }
        shared.actions.append(
            .assign(
                worker.id,
                Job(
                    id: job.id, attempt: job.attempt, work: job.work,
                    millisecondsLeft: job.sent.millisecondsLeft(at: now),
                    priority: job.sent.priority, logContext: job.submission.logContext,
                    wantsProgress: job.wantsProgress, wantsArrived: job.wantsArrived)))
    }
}

// Changes of urgency and interest for submitted jobs.
extension Dispatcher {
    /// Updates the urgency of a job after its subscribers changed.
    func reprioritize(_ id: JobID, _ urgency: Urgency) {
        guard let job = jobs[id] else { return }
        let urgency = urgency.bounded(job.stage)
        guard job.urgency != urgency else { return }
        jobs.want(job, urgency)
        switch job.place {
        case .queued, .parked, .disputed: break
        case .delayed(let delay): watch(job, delay)
        case .held(let worker): notifyIfMoved(job, worker)
        }
    }

    /// Notifies the worker of a new class, or of a deadline that moved by more than a second.
    private func notifyIfMoved(_ job: ActiveJob, _ worker: WorkerID) {
        guard canNotify(job, at: worker) else { return }
        let (new, sent) = (job.effective, job.sent)
        let moved = max(new.deadline, sent.deadline).milliseconds(
            since: min(new.deadline, sent.deadline))
        guard new.priority != sent.priority || moved > 1_000 else { return }
        let share = job.share
        jobs.recordSent(job, new)
        roster[worker]?.count(-1, as: share)
        roster[worker]?.count(1, as: job.share)
        adjust(job, to: new, at: worker)
    }

    /// Requests progress reports for a job (`wantsProgress`) or the partial data of a transfer
    /// (`wantsArrived`) from now on. Workers report only on request because each report wakes three
    /// processes.
    func request(_ interest: ReferenceWritableKeyPath<ActiveJob, Bool>, of id: JobID) {
        guard let job = jobs[id], !job[keyPath: interest] else { return }
        job[keyPath: interest] = true
        guard let worker = job.worker, canNotify(job, at: worker) else { return }
        adjust(job, to: job.sent, at: worker)
    }

    /// Whether the worker is connected and still working on the job.
    private func canNotify(_ job: ActiveJob, at worker: WorkerID) -> Bool {
        !job.isStopped && roster.contains(worker)
    }

    private func adjust(_ job: ActiveJob, to urgency: Urgency, at worker: WorkerID) {
        shared.actions.append(
            .adjust(
                worker,
                JobAdjustment(
                    id: job.id, millisecondsLeft: urgency.millisecondsLeft(at: now),
                    priority: urgency.priority, wantsProgress: job.wantsProgress,
                    wantsArrived: job.wantsArrived)))
    }

    /// Updates the timer of a delayed job after its subscribers or their deadlines changed.
    private func watch(_ job: ActiveJob, _ delay: RetryDelay) {
        let moment = delay.until < job.urgency.deadline ? delay.until : now
        if job.alarm != moment { jobs.setAlarm(job, at: moment) }
    }
}

/// Limits the number of transfers at workers, across all download pools.
struct TransferGate: Hashable, Sendable {
    /// The largest number of concurrent transfers; `nil` means as many as workers accept.
    var heldMax: Int?
    /// Whether no transfer may start (SEMANTICS §10.17); running transfers continue.
    var isSuspended = false

    /// Whether another transfer may start in addition to `held`.
    func isOpen(beside held: Int) -> Bool { !isSuspended && held < heldMax ?? .max }
}

extension Dispatcher {
    /// Whether the transfer limit permits another job of the pool.
    func isOpen(_ pool: PoolID) -> Bool {
        guard limits.pools.kind(of: pool) == .download, transfers != TransferGate() else {
            return true
        }
        return transfers.isOpen(beside: credit(of: .download).held)
    }
}

// Admission limits per stage: a load that would start work in an overloaded stage is refused at
// once, with a retry time (SEMANTICS §9.3).
extension Dispatcher {
    /// Returns the error that refuses new jobs of a stage over its limit; `nil` below the limit.
    func refusal(in stage: JobStage) -> ImageError? {
        let isFirst = stage == .fetch || stage == .query
        let bound = limits.queuedCostMax[stage]
        let load = jobs.load(of: stage)
        guard load.backlog >= bound || (isFirst && !hasRoom(stage.kind)) else { return nil }
        shared.counters.refused[stage, default: 0] += 1
        // Suggest retrying when the queue is a tenth below its limit, so that several retries fit.
        let goal = min(load.backlog, bound) / 10 * 9
        return .busy(
            "the queue of the \(stage.name) stage is full",
            seconds: load.seconds(untilBelow: goal) ?? Self.unknownSeconds)
    }

    /// Whether the stage's queue is over its limit, so that deferrable work must not be started.
    func isFull(_ stage: JobStage) -> Bool {
        jobs.load(of: stage).backlog >= limits.queuedCostMax[stage]
    }

    /// Whether the queue of the kind's built-in pool has space for another job. Additional pools
    /// refuse jobs themselves when their queues are full.
    func hasRoom(_ kind: WorkerKind) -> Bool {
        jobs.queued(in: PoolID(kind)) < limits.queuedJobsMax
    }

    /// The retry time for a stage that has not finished any job yet.
    private static let unknownSeconds = 1.0
}
