import ImageModel
import Messages

// dispatch: which worker does what now? (SEMANTICS §9.1)
extension Dispatcher {
    /// Gives out what waits for as long as somebody has credit.
    package mutating func dispatch() {
        for pool in limits.pools.workers { dispatch(in: pool) }
    }

    private mutating func dispatch(in pool: PoolID) {
        while queues[pool.index].count > 0, hasBudget(pool), let worker = roster.next(of: pool),
            let next = nextJob(of: pool)
        {
            assign(next.job, to: worker, for: next.holder)
        }
    }

    /// Whether what the pool has made and nobody has used up yet leaves room for more. What uses
    /// it up are later stages, which do not wait for earlier ones: so it becomes less. A further
    /// pool, which may have no worker, holds a part of it at most (`checkRoom`).
    func hasBudget(_ pool: PoolID) -> Bool {
        limits.outputBytes(of: pool).map { usableBytes(of: pool) < $0 } ?? true
    }

    /// Bytes that the pool has made and that later stages use up. Of several pools of decoders each
    /// may have made all of the pixels apart: none of them waits for those.
    private func usableBytes(of pool: PoolID) -> UInt64 {
        let live = ledger.liveBytes(of: pool)
        guard limits.pools.kind(of: pool) == .decode else { return live }
        return live > pixelBytesApart ? live - pixelBytesApart : 0
    }

    /// Whether one more job of class low may be given out: it never has more than its share, so
    /// that others find a worker which is free.
    func hasLowShare(_ credit: WorkerCredit) -> Bool {
        credit.heldLow < max(1, credit.window / max(1, limits.lowShareDivisor))
    }

    /// `nil` where all that wait have to wait for something else than a worker.
    private mutating func nextJob(of pool: PoolID) -> StageQueue.Next? {
        let queue = pool.index
        if queues[queue].wantsSweep {
            queues[queue].sweep { [jobs] in jobs[$0.job]?.ticket.serial == $0.serial }
        }
        let credit = roster.credit(of: pool)
        return queues[queue].next(withLow: hasLowShare(credit), free: credit.free) { [jobs] in
            jobs[$0.job]?.ticket.serial == $0.serial
        }
    }

    private mutating func assign(
        _ id: JobID, to worker: WorkerID, for holder: FlowID
    ) {
        guard var job = jobs[id] else { return }
        queues[job.pool.index].leave(job.ticket)
        loads[job.load].leave(job)
        job.place = .held(by: worker)
        job.holder = holder
        job.ticket = .none
        job.waited += now.fractionalMilliseconds(since: job.waitingSince)
        figures.assigned(job.stage, since: job.waitingSince, at: now)
        job.cap = now.adding(milliseconds: limits.jobMilliseconds.milliseconds(job.stage))
        job.told = job.effective
        job.stoppedAt = nil
        let overdue = job.told.deadline.adding(milliseconds: limits.overdueMilliseconds)
        job.alarm = overdue
        jobs[id] = job
        alarms.set(id, at: overdue)
        roster.gave(worker, low: job.told.priority == .low)
        queues[job.pool.index].began(job)
        if job.stage == .fetch { complete(.began(id, numbers.transfer.next())) }
        actions.append(
            .assign(
                worker,
                Job(
                    id: id, attempt: job.attempt, work: job.work,
                    millisecondsLeft: millisecondsLeft(until: job.told.deadline),
                    priority: job.told.priority, trace: job.submission.trace)))
    }

    // MARK: - Again

    /// A job that its worker did not finish goes to the front of its class, as a new attempt.
    mutating func requeue(_ id: JobID) {
        guard var job = jobs[id] else { return }
        figures.requeued += 1
        if !job.isWaiting { loads[job.load].enter(job) }
        job.place = .queued
        job.attempt += 1
        job.waitingSince = now
        job.alarm = nil
        job.ticket = queues[job.pool.index].putBack(job)
        jobs[id] = job
    }

    /// A job found no space. It waits for a release of something that such workers made, unless
    /// there is nothing that could be released (SEMANTICS §9.5).
    mutating func park(_ id: JobID, hasReaders: Bool) -> Bool {
        guard let job = jobs[id], hasRoomToCome(job.pool) || (job.kind == .cache && hasReaders)
        else { return false }
        setAside(id, .parked)
        parked.append(id, at: now)
        return true
    }

    /// Whether anything that such workers made may be released without anybody finding space first.
    /// Pixels apart are kept by those who may be waiting for it.
    private func hasRoomToCome(_ pool: PoolID) -> Bool {
        guard limits.pools.kind(of: pool) == .decode, pixelBytesApart > 0 else {
            return ledger.hasLiveBlocks(of: pool)
        }
        return usableBytes(of: pool) > 0
    }

    /// Space became free: as many parked jobs of the pool try again as blocks did.
    mutating func unpark(_ pool: PoolID, atMost count: Int) {
        guard !parked.ids.isEmpty else { return }
        unpark(atMost: count) { $0.pool == pool }
    }

    mutating func unpark(atMost count: Int, where isMeant: (ActiveJob) -> Bool) {
        var room = count
        for id in parked.takeAll() {
            guard let job = jobs[id], job.place == .parked else { continue }
            if room > 0, isMeant(job) {
                room -= 1
                requeue(id)
            } else {
                parked.putBack(id)
            }
        }
        parked.startOver(ifEmpty: true)
    }
}
