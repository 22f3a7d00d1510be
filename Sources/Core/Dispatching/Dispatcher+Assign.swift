import ImageModel
package import Messages

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
