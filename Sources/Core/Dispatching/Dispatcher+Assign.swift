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

    /// Expendable work ends where other work waits and no worker of the pool is free.
    private mutating func makeWay(in pool: PoolID) {
        guard !jobs.expendable.isEmpty, roster.credit(of: pool).free == 0 else { return }
        let ours = jobs.expendable.sorted().compactMap { jobs[$0] }.filter { $0.pool == pool }
        guard jobs.queued(in: pool) > ours.count(where: \.isWaiting) else { return }
        for job in ours where job.isWanted {
            abandon(job.id)
            complete(.failed(Completion.Ended(job), Self.overtaken))
        }
    }

    /// Whether a job of that kind would begin at once: a worker of the pool that every stack has is
    /// free, and nothing waits for it.
    package func isIdle(_ kind: WorkerKind) -> Bool {
        let pool = PoolID(kind)
        return jobs.queued(in: pool) == 0 && roster.credit(of: pool).free > 0 && hasBudget(pool)
            && isOpen(pool)
    }

    private static let overtaken = ImageError(.cancelled, "other work needs the worker")

    /// `nil` where all that wait have to wait for something else than a worker.
    private mutating func nextJob(of pool: PoolID) -> StageQueue.Next? {
        let credit = roster.credit(of: pool)
        return jobs.next(of: pool, withLow: hasLowShare(credit), free: credit.free)
    }

    /// Whether one more job of class low may be given out: it never has more than its share, so
    /// that others find a worker which is free.
    func hasLowShare(_ credit: WorkerCredit) -> Bool {
        credit.heldLow < max(1, credit.window / max(1, limits.lowShareDivisor))
    }

    private mutating func assign(_ next: StageQueue.Next, to worker: WorkerID) {
        guard let job = jobs.assign(next, to: worker, at: now) else { return }
        figures.assigned(job.stage, since: job.waitingSince, at: now)
        roster.gave(worker, low: job.told.priority == .low)
        if job.stage == .fetch { complete(.began(job.id, numbers.transfer.next())) }
        actions.append(
            .assign(
                worker,
                Job(
                    id: job.id, attempt: job.attempt, work: job.work,
                    millisecondsLeft: job.told.millisecondsLeft(at: now),
                    priority: job.told.priority, trace: job.submission.trace,
                    wantsProgress: job.wantsProgress, wantsArrived: job.wantsArrived)))
    }
}
