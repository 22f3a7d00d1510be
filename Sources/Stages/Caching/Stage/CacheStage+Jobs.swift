internal import ImageModel
internal import Linux
public import Messages

extension CacheStage {
    /// Takes a job; its outcome is among these actions, or among later ones.
    public func perform(_ job: Job, now: UnixTime) -> [CacheAction] {
        let id = CacheJob(id: job.id, attempt: job.attempt)
        if beginRound(id, job.work, now) { return settle(now) }
        switch job.work {
        case .query(let work): query(id, work, now)
        case .store(let work): store(id, work, now)
        case .entry(let work): attendSeveral(id, to: work, now)
        case .fetch, .decode, .transform, .paint:
            let error = ImageError(
                .protocolViolation, "the cache does no \(job.work.kind.name) job")
            answer(id, .failed(error))
        }
        return settle(now)
    }

    /// Ends a job that nobody wants any more: it is answered at once. A store goes on without it.
    public func cancel(_ id: JobID, now: UnixTime) -> [CacheAction] {
        endRound(of: id)
        for (ticket, work) in pending {
            guard let job = work.job, job.id == id else { continue }
            withdraw(ticket, work)
            answer(job, .failed(ImageError(.cancelled, "cancelled")))
        }
        for (number, waiting) in waiters {
            for waiter in waiting where waiter.job.id == id {
                answer(waiter.job, .failed(ImageError(.cancelled, "cancelled")))
            }
            waiters[number] = waiting.filter { $0.job.id != id }
        }
        return settle(now)
    }

    /// Takes the answers of the threads; to be called after `wake`.
    public func collect(now: UnixTime) -> [CacheAction] {
        for answer in inbox.takeAll() {
            switch answer {
            case .copy(let answer): copied(answer, now)
            case .disk(let answer): answered(answer, now)
            case .readOnly(let answer): answered(answer, now)
            }
        }
        return settle(now)
    }

    /// These blocks were used; in batches, late is early enough.
    public func touched(_ blocks: [BlockID]) {
        for block in blocks {
            guard let key = memory.touch(block) else { continue }
            noteUse(key)
            writeWithheld(block)
        }
    }

    /// These blocks have no receiver any more. Unknown ones are ignored.
    public func release(_ blocks: [BlockID], now: UnixTime) -> [CacheAction] {
        for block in blocks where staged.removeValue(forKey: block) == nil {
            departing.release(block)
        }
        return settle(now)
    }

    /// A new life of the coordinator: its predecessor's jobs are not answered, and what only they
    /// had is freed. Entries with keys stay, and so does what is on its way to the disk.
    public func beginEpoch(now: UnixTime) -> [CacheAction] {
        for (ticket, work) in pending where work.job != nil { withdraw(ticket, work) }
        waiters = [:]
        rounds = [:]
        turnsEnded = []
        staged = [:]
        apply(memory.removeKeyless())
        departing.distrust(bodies.values)
        return settle(now)
    }

    /// The passing of time: about once a second. `uptime` is in monotonic nanoseconds.
    public func tick(now: UnixTime, uptime: UInt64? = nil) -> [CacheAction] {
        lookForStalls(now, uptime: uptime ?? MonotonicClock.now())
        if !touches.isEmpty, ask(.touch(Array(touches)), .noting, now) { touches = [] }
        followClock(now)
        tellPolicy(now)
        removeAgain(now)
        checkDirectories()
        maintain(now)
        return settle(now)
    }

    // MARK: - Inside

    /// What follows from any step: further caches have their turns, the next write begins, and
    /// the end may be reached.
    func settle(_ now: UnixTime) -> [CacheAction] {
        if !turnsEnded.isEmpty { goRound(now) }
        pumpWrites(now)
        continueDraining(now)
        return takeActions()
    }

    func maintain(_ now: UnixTime) {
        guard maintains, !isMaintaining, draining == .no else { return }
        isMaintaining = ask(.maintain, .maintaining, now)
    }

    /// A clock that was set back would keep entries of memory until it is there again: what was
    /// left of their time is left of it now.
    private func followClock(_ now: UnixTime) {
        if let last = lastTick, now < last {
            memory.moveExpiries(by: now.milliseconds - last.milliseconds)
        }
        lastTick = now
    }

    private func answered(_ answer: DiskAnswer, _ now: UnixTime) {
        counts.disk = answer.status
        guard let work = pending.removeValue(forKey: answer.ticket) else { return }
        switch (work, answer.result) {
        case (.looking(let job, let query), let result): looked(result, job, query, now)
        case (.reading(let job, let query, let located, let body), .read(let row)):
            didRead(row != nil, row ?? located, body, job, query, now)
        case (.writing(let writes), .written(let results)): didWrite(writes, results, now)
        case (.removing(let key), .removed(false)): outdate(key)
        case (.attending(let job, let work, let tiers), let result):
            attended(job, to: work, inMemory: tiers, result)
        case (.scanning(let job, let work, let page, let scan), .scanned(let step)):
            scanned(step, job, work, page, scan, now)
        case (.trimming(let job, let page, let before), .maintained(let more)):
            trimmed(more, job, page, before: before, now)
        case (.clearing, .removed(let isDone)): owesClear = !isDone
        case (.commanding(let id), .removed(let isDone)): act(.commanded(id, isDone))
        case (.maintaining, .maintained(let more)):
            isMaintaining = false
            if more { maintain(now) }
        case (.flushing, .done): draining = .done
        default: break
        }
    }

    /// Takes a job out of work that is under way: a query is dropped with its bytes, a store goes
    /// on unanswered where something is kept.
    private func withdraw(_ ticket: UInt64, _ work: PendingWork) {
        if case .copying(.store(_, let store, let plan), let body) = work,
            plan.toMemory || plan.toDisk
        {
            pending[ticket] = .copying(.store(nil, store, plan), body)
        } else {
            if let job = work.job { sweeps[job.id] = nil }
            pending[ticket] = nil
        }
    }
}
