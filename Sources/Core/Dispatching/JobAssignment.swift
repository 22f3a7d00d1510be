package import ImageModel
package import Messages

// Jobs are submitted, and nobody wants them any more.
extension Dispatcher {
    /// A new job, at the end of its queue. It holds the blocks that it reads. One that no pool is
    /// granted has failed at once.
    package mutating func submit(_ submission: Submission) -> JobID {
        submit(submission, probe: nil)
    }

    mutating func submit(_ submission: Submission, probe: ActiveJob.Probe?) -> JobID {
        let id = jobs.nextID()
        var job = ActiveJob(id, submission, probe: probe, at: now)
        do throws(ImageError) {
            job.pool = try route(submission)
        } catch {
            complete(.failed(Completion.Ended(job), error))
            return id
        }
        if let input = submission.input { ledger.hold(input) }
        for overlay in submission.overlays { ledger.hold(overlay) }
        jobs.enter(job)
        return id
    }

    /// Nobody wants the outcome any more; nothing more is said of the job. What waits is forgotten;
    /// a worker is told to stop, keeps its place, and keeps what it reads until it answers.
    package mutating func abandon(_ id: JobID) {
        guard let job = jobs[id] else { return }
        switch job.place {
        case .queued, .parked, .disputed, .delayed: forget(job)
        case .held(let worker):
            jobs.disown(id)
            if roster.contains(worker) { stop(id, at: worker) }
        }
    }

    /// Whether the job is there and no worker has it.
    package func isWaiting(_ id: JobID) -> Bool { jobs[id]?.isWaiting == true }

    /// The same of a transfer.
    package func isWaitingTransfer(_ id: JobID) -> Bool {
        jobs[id].map { $0.isWaiting && $0.kind == .download } ?? false
    }

    /// The pool whose job it is, where no worker of it is connected; `nil` where one has the job or
    /// may get it.
    package func missingWorkers(for id: JobID) -> MissingWorkers? {
        guard let job = jobs[id], job.isWaiting, roster.members(of: job.pool).isEmpty else {
            return nil
        }
        let pool = limits.pools[job.pool]
        return MissingWorkers(pool.name, kind: pool.kind, isForeign: pool.trust == .foreign)
    }

    /// Tells a worker once to stop; it has to answer within the silence that is granted.
    mutating func stop(_ id: JobID, at worker: WorkerID) {
        guard let job = jobs[id], !job.isStopped else { return }
        actions.append(.cancelJob(worker, id))
        let isShared = job.kind == .cache || job.kind == .download
        let silence = isShared ? limits.sharedSilenceMilliseconds : limits.silenceMilliseconds
        jobs.stop(id, at: now, alarm: now.adding(milliseconds: silence))
    }

    /// The job is over, and with it its holds.
    mutating func forget(_ job: ActiveJob) {
        jobs.remove(job.id)
        if let input = job.submission.input { drop(input) }
        for overlay in job.submission.overlays { drop(overlay) }
    }

    /// A worker holds the job no longer.
    mutating func vacate(_ job: ActiveJob) {
        guard let worker = job.worker else { return }
        roster.tookBack(worker, as: job.share)
        jobs.vacated(job)
    }
}

// dispatch: which worker does what now? (SEMANTICS §9.1)
extension Dispatcher {
    /// Gives out what waits for as long as somebody has credit.
    package mutating func dispatch() {
        for pool in limits.pools.workers { dispatch(in: pool) }
    }

    private mutating func dispatch(in pool: PoolID) {
        while jobs.queued(in: pool) > 0, hasBudget(pool), isOpen(pool),
            let worker = roster.next(of: pool), let next = nextJob(of: pool)
        {
            assign(next, to: worker)
        }
        makeWay(in: pool)
    }

    /// Expendable work ends where other work waits and no worker of the pool is free. It does not
    /// wait itself, as what it reads is needed elsewhere; only the cache, which is soon free, has
    /// it wait.
    private mutating func makeWay(in pool: PoolID) {
        guard !jobs.expendable.isEmpty else { return }
        let ours = jobs.expendable.sorted().compactMap { jobs[$0] }.filter { $0.pool == pool }
        let isInTheWay =
            roster.credit(of: pool).free == 0
            && jobs.queued(in: pool) > ours.count(where: \.isWaiting)
        for job in ours where job.isWanted {
            guard isInTheWay || (job.isWaiting && job.kind != .cache) else { continue }
            abandon(job.id)
            complete(.failed(Completion.Ended(job), Self.overtaken))
        }
    }

    /// Whether an expendable job of that kind would begin at once: a worker of the pool that every
    /// stack has is free, nothing waits for it, and the share of class low has room beside what is
    /// in it.
    package func isIdle(_ kind: WorkerKind) -> Bool {
        let pool = PoolID(kind)
        let credit = roster.credit(of: pool)
        return jobs.queued(in: pool) == 0 && credit.free > 0
            && credit.heldLow + credit.heldExpendable < lowShare(credit)
            && hasBudget(pool) && isOpen(pool)
    }

    private static let overtaken = ImageError(.cancelled, "other work needs the worker")

    /// `nil` where all that wait have to wait for something else than a worker.
    private mutating func nextJob(of pool: PoolID) -> StageQueue.Next? {
        let credit = roster.credit(of: pool)
        return jobs.next(of: pool, withLow: hasLowShare(credit), free: credit.free)
    }

    /// Whether one more job of class low may be given out: it never has more than its share, so
    /// that others find a worker which is free. What is expendable takes nothing of it.
    func hasLowShare(_ credit: WorkerCredit) -> Bool { credit.heldLow < lowShare(credit) }

    private func lowShare(_ credit: WorkerCredit) -> Int {
        max(1, credit.window / max(1, limits.lowShareDivisor))
    }

    private mutating func assign(_ next: StageQueue.Next, to worker: WorkerID) {
        guard let job = jobs.assign(next, to: worker, at: now) else { return }
        figures.assigned(job.stage, since: job.waitingSince, at: now)
        roster.gave(worker, as: job.share)
        if job.stage == .fetch { complete(.began(job.id, numbers.transfer.next())) }
        actions.append(
            .assign(
                worker,
                Job(
                    id: job.id, attempt: job.attempt, work: job.work,
                    millisecondsLeft: job.told.millisecondsLeft(at: now),
                    priority: job.told.priority, logContext: job.submission.logContext,
                    wantsProgress: job.wantsProgress, wantsArrived: job.wantsArrived)))
    }
}

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

/// How many transfers may be at workers, all download pools together.
package struct TransferGate: Hashable, Sendable {
    /// At a time; `nil`: as many as workers take.
    package var heldMax: Int?
    /// Whether none may begin (SEMANTICS §10.17); those that run go on.
    package var isSuspended = false

    /// Whether one more may begin beside `held`.
    func isOpen(beside held: Int) -> Bool { !isSuspended && held < heldMax ?? .max }
}

extension Dispatcher {
    /// Whether one more job of the pool may be given out, as far as transfers are limited.
    func isOpen(_ pool: PoolID) -> Bool {
        guard limits.pools.kind(of: pool) == .download, transfers != TransferGate() else {
            return true
        }
        return transfers.isOpen(beside: credit(of: .download).held)
    }
}

// A load that would begin work in a stage that is over its bound is told so at once, and when to
// come again (SEMANTICS §9.3).
extension Dispatcher {
    /// Why no job of the stage can be begun, if it is over its bound.
    package mutating func refusal(in stage: JobStage) -> ImageError? {
        let isFirst = stage == .fetch || stage == .query
        let bound = limits.queuedCostMax[stage]
        let load = jobs.load(of: stage)
        guard load.backlog >= bound || (isFirst && !hasRoom(stage.kind)) else { return nil }
        figures.refused[stage, default: 0] += 1
        // A tenth less, so that not only the first one who comes again finds room.
        let goal = min(load.backlog, bound) / 10 * 9
        return .busy(
            "too much waits in the \(stage.name) stage",
            seconds: load.seconds(untilBelow: goal) ?? Self.unknownSeconds)
    }

    /// Whether so much waits in the stage that work which can wait is not begun.
    package func isFull(_ stage: JobStage) -> Bool {
        jobs.load(of: stage).backlog >= limits.queuedCostMax[stage]
    }

    /// Whether one more query, fetch or original may wait for a worker of that kind; of the pool
    /// that every stack has, since a further one refuses by itself what it has no room for.
    package func hasRoom(_ kind: WorkerKind) -> Bool {
        jobs.queued(in: PoolID(kind)) < limits.queuedJobsMax
    }

    /// Of a stage that has finished nothing yet.
    private static let unknownSeconds = 1.0
}
