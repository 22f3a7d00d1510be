import Model

// Execution of composite cache jobs, which involve external caches (SEMANTICS §5.26). They are
// transparent to the rest of the module: a composite job has a number like any job and completes
// like one.
extension WorkGraph {
    /// Starts the parts, each in the cache that it concerns.
    func beginCompositeJob(_ submission: Submission, _ parts: [CachePart]) -> JobID {
        let id = dispatcher.nextNumber()
        enter(id, CompositeCacheJob(submission, parts, since: changes.position))
        return id
    }

    private func enter(_ id: JobID, _ compositeJob: CompositeCacheJob) {
        if let input = compositeJob.submission.input { dispatcher.hold(input) }
        compositeJobs.begin(id, compositeJob)
        advance(id)
    }

    /// Starts further phases until a part is running or no phase is left.
    private func advance(_ id: JobID) {
        while let compositeJob = compositeJobs[id], !compositeJob.isUnderWay {
            guard let phase = compositeJob.phases.first else {
                return finish(id, compositeJob.outcome)
            }
            compositeJobs[id]?.phases.removeFirst()
            compositeJobs[id]?.alarm = nil
            for part in phase { start(part, of: id) }
        }
    }

    func start(_ part: CachePart, of id: JobID) {
        switch part {
        case .own(let work):
            guard let compositeJob = compositeJobs[id] else { return }
            run(compositeJob.submission.with(work, compositeJob.urgency), as: part, of: id)
        case .external(let cache, let name, let work): question(cache, name, work, part, of: id)
        }
    }

    private func run(_ submission: Submission, as part: CachePart, of id: JobID) {
        let job = dispatcher.submit(submission)
        compositeJobs.own(job, by: id)
        compositeJobs[id]?.running[job] = part
    }

    // MARK: - External caches

    private func question(
        _ cache: ExternalCache, _ name: String, _ work: JobWork, _ part: CachePart, of id: JobID
    ) {
        guard let compositeJob = compositeJobs[id] else { return }
        let moment = now.adding(milliseconds: cache.timeout(for: work))
        if part.asks, let text = part.text {
            guard !compositeJobs.isDistrusted(text) else { return removeDistrusted(part, text) }
            // An entry check reports the current state instead of waiting for stores.
            if case .query = work, compositeJobs.storing[text] != nil {
                compositeJobs.hold(id, until: text)
                compositeJobs[id]?.held = part
                return compositeJobs.setAlarm(of: id, at: moment)
            }
        }
        if let reason = obstacle(cache, part, compositeJob.submission) {
            return skip(part, name, cache, reason, of: id)
        }
        if compositeJob.alarm.map({ $0 < moment }) ?? true {
            compositeJobs.setAlarm(of: id, at: moment)
        }
        if part.isStore, let text = part.text { compositeJobs.beganStore(of: text) }
        var submission = compositeJob.submission.with(
            work.limited(to: limits.bodyBytesMax), compositeJob.urgency.atMost(moment))
        if !part.isStore { submission.input = nil }
        submission.externalCache = dispatcher.externalCache(cache.pool)
        (submission.maker, submission.suspect) = (nil, nil)
        run(submission, as: part, of: id)
    }

    /// Returns the reason why a cache is skipped, or `nil` if it isn't. Removals are attempted even
    /// if the circuit is open.
    private func obstacle(
        _ cache: ExternalCache, _ part: CachePart, _ submission: Submission
    ) -> String? {
        guard let pool = dispatcher.externalCache(cache.pool) else {
            return "the pool '\(cache.pool)' did not exist when the stack was started"
        }
        switch dispatcher.obstacle(in: pool) {
        case .missing: return "no worker of the pool '\(cache.pool)' is connected"
        // A removal in progress continues.
        case .full where part.isLaterStep: break
        case .full: return "the queue of the pool '\(cache.pool)' is full"
        case nil: break
        }
        if case .store(let work) = part.work {
            let bytes = work.source.length
            guard bytes <= limits.bodyBytesMax, dispatcher.mayRead(bytes) else {
                return "too many bytes are queued for the pool '\(cache.pool)'"
            }
        }
        guard !part.removes else { return nil }
        return compositeJobs.circuits[cache.pool, default: CacheCircuit()].admits(at: now)
            ? nil : "the pool '\(cache.pool)' was recently slow or failing"
    }

    private func skip(
        _ part: CachePart, _ name: String, _ cache: ExternalCache, _ reason: String, of id: JobID
    ) {
        compositeJobs.count(cache.pool, \.skipped)
        let error = ImageError(.busy, "the cache '\(name)' was skipped: \(reason)")
        noteFailure(part, error, of: id)
    }

    /// Records a failed part. If the part was a removal, the cache may still have the entry.
    func noteFailure(_ part: CachePart, _ error: ImageError, of id: JobID) {
        if part.removes, let text = part.text { compositeJobs.distrust(text) }
        let error = compositeJobs[id]?.stopped(part, by: error) ?? error
        compositeJobs[id]?.note(error, of: part)
    }

    /// Treats a distrusted text as a miss and retries its removal.
    private func removeDistrusted(_ part: CachePart, _ text: String) {
        guard case .external(let cache, let name, _) = part else { return }
        compositeJobs.count(cache.pool, \.skipped)
        removeElsewhere(text, from: cache, name)
    }

    /// Starts a removal from an external cache that nothing waits for.
    private func removeElsewhere(_ text: String, from cache: ExternalCache, _ name: String) {
        let work = JobWork.entry(EntryWork(action: .remove, key: text, tiers: .disk))
        let submission = Submission(JobSpec(work), .unbounded(.low))
        beginTail([.external(cache, name: name, work)], submission)
    }

    @discardableResult
    func beginTail(_ parts: [CachePart], _ submission: Submission) -> JobID {
        var tail = CompositeCacheJob(submission, parts, since: changes.position)
        (tail.phases, tail.tail, tail.isTail) = ([parts], [], true)
        tail.urgency = tail.urgency.unbounded
        let id = dispatcher.nextNumber()
        enter(id, tail)
        return id
    }

    // MARK: - Answers

    /// Processes the outcome of a job that is part of a composite job; returns `false` if it isn't.
    func advanceCompositeJob(
        _ job: Completion.Ended, _ answer: Result<JobResult, ImageError>,
        _ blocks: ShortList<BlockHandle> = ShortList()
    ) -> Bool {
        guard let id = compositeJobs.owner(of: job.id) else { return false }
        compositeJobs.disown(job.id)
        compositeJobs[id]?.waited += job.waited
        compositeJobs[id]?.worked += job.worked
        if let copy = compositeJobs[id]?.copying {
            compositeJobs[id]?.copying = nil
            copied(copy, answer, by: job.worker, of: id)
        } else if let part = compositeJobs[id]?.running.removeValue(forKey: job.id) {
            switch part {
            case .own: ownAnswered(part, answer, blocks, by: job.worker, of: id)
            case .external(let cache, let name, _):
                handleExternalAnswer(part, cache, name, answer, blocks.first, of: id)
            }
        }
        advance(id)
        return true
    }

    private func ownAnswered(
        _ part: CachePart, _ answer: Result<JobResult, ImageError>,
        _ blocks: ShortList<BlockHandle>, by worker: WorkerID?, of id: JobID
    ) {
        compositeJobs[id]?.cache = worker
        notePromoted(answer, of: id)
        switch answer {
        case .failure(let error): compositeJobs[id]?.note(error, of: part)
        case .success(.hit(let hit)): finish(id, .success(.hit(hit)), blocks)
        case .success(let result):
            if compositeJobs[id]?.note(result, of: part) == true { finishFound(id) }
        }
    }

    private func finishFound(_ id: JobID) {
        compositeJobs[id]?.error = nil
        if let outcome = compositeJobs[id]?.outcome { finish(id, outcome) }
    }

    private func handleExternalAnswer(
        _ part: CachePart, _ cache: ExternalCache, _ name: String,
        _ answer: Result<JobResult, ImageError>, _ block: BlockHandle?, of id: JobID
    ) {
        if part.isStore, let text = part.text { storeEnded(of: text) }
        switch answer {
        case .failure(let error): handleExternalFailure(part, cache, name, error, of: id)
        case .success(let result):
            compositeJobs.circuits[cache.pool]?.answered()
            if part.isStore || part.removes, let text = part.text { compositeJobs.trust(text) }
            compositeJobs.count(cache.pool, result.metric)
            if goOn(with: part, after: result, of: id) { return }
            if case .hit(let hit) = result, let block {
                let isOutdated = part.text.map { hit.metadata.isOutdated(under: $0) } ?? false
                guard isOutdated else { return found(hit, block, part, of: id) }
                dispatcher.drop(block)
                if compositeJobs[id]?.note(.miss, of: part) == true { finishFound(id) }
            } else if compositeJobs[id]?.note(result, of: part) == true {
                finishFound(id)
            }
        }
    }

    private func handleExternalFailure(
        _ part: CachePart, _ cache: ExternalCache, _ name: String, _ error: ImageError, of id: JobID
    ) {
        // An unsupported operation says nothing about the health of the cache.
        if error.code != .notSupported {
            compositeJobs.count(cache.pool, \.errors)
            compositeJobs.circuits[cache.pool, default: CacheCircuit()].failed(at: now)
        }
        let message = "the cache '\(name)' failed: \(error.message)"
        noteFailure(part, ImageError(error.code.ofExternalCache, message), of: id)
    }

    /// Handles a hit of an external cache. A decoder reads the bytes in place; clients read a copy
    /// that the built-in cache makes and verifies.
    private func found(
        _ hit: CacheHit, _ block: BlockHandle, _ part: CachePart, of id: JobID
    ) {
        guard let compositeJob = compositeJobs[id],
            case .query(let query) = compositeJob.submission.spec.work
        else {
            return dispatcher.drop(block)
        }
        var hit = hit
        (hit.tier, hit.metadata.digest) = (.disk, nil)
        let promotion = promotion(of: hit, part, compositeJob)
        guard query.destination == .results else {
            if case .source(let node)? = purposes[id] { sources[node].promotion = promotion }
            return finish(id, .success(.hit(hit)), ShortList(block))
        }
        beginCopy(hit, block, part, resultPromotion(promotion, for: id), of: id)
        dispatcher.drop(block)
        compositeJobs[id]?.alarm = nil
    }

    /// Starts the copy of a hit to where clients read; the built-in cache also stores it if it is
    /// promoted.
    func beginCopy(
        _ hit: CacheHit, _ block: BlockHandle, _ part: CachePart, _ promotion: Promotion?,
        of id: JobID
    ) {
        guard let compositeJob = compositeJobs[id] else { return }
        var copy = StoreWork(
            key: promotion?.text, source: hit.reference, tiers: promotion?.tiers ?? .none,
            delivers: true, waitsForDisk: false, metadata: hit.metadata)
        copy.isPromotion = promotion != nil
        var submission = compositeJob.submission.with(.store(copy), compositeJob.urgency)
        (submission.input, submission.rank) = (block, 0)
        let job = dispatcher.submit(submission)
        compositeJobs.own(job, by: id)
        compositeJobs[id]?.copying = CompositeCacheJob.Copy(
            job: job, hit: hit, producer: block.worker, part: part)
        if let promotion { compositeJobs.beganPromotion(id, promotion) }
    }

    private func copied(
        _ copy: CompositeCacheJob.Copy, _ answer: Result<JobResult, ImageError>,
        by worker: WorkerID?,
        of id: JobID
    ) {
        notePromoted(answer, of: id)
        switch answer {
        case .success(.stored(let report)):
            guard let reference = report.delivered else { return }
            var hit = copy.hit
            (hit.reference, hit.metadata.digest) = (reference, report.digest)
            compositeJobs[id]?.cache = worker
            finish(id, .success(.hit(hit)))
        case .failure(let error) where error.code == .badImageData:
            guard case .external(let cache, let name, _) = copy.part, let text = copy.part.text
            else { return }
            compositeJobs.count(cache.pool, \.refused)
            removeElsewhere(text, from: cache, name)
        case .success, .failure: break
        }
    }

    /// Records the end of a promotion, and counts it if any tier now has the entry.
    private func notePromoted(_ answer: Result<JobResult, ImageError>, of id: JobID) {
        guard let promotion = compositeJobs[id]?.promotion else { return }
        compositeJobs.endedPromotion(id)
        guard case .success(.stored(let report)) = answer, !report.tiers.isEmpty else { return }
        compositeJobs.count(promotion.pool, \.promoted)
    }

    // MARK: - Completion

    private func finish(
        _ id: JobID, _ outcome: Result<JobResult, ImageError>,
        _ blocks: ShortList<BlockHandle> = ShortList()
    ) {
        guard let compositeJob = compositeJobs.remove(id) else { return dispatcher.drop(blocks) }
        if case .success = outcome, !compositeJob.tail.isEmpty {
            beginTail(compositeJob.tail, compositeJob.submission)
        }
        endJobs(of: compositeJob)
        guard !compositeJob.isTail else { return }
        let ended = Completion.Ended(
            id, compositeJob.submission.spec.stage, worker: compositeJob.cache,
            waited: compositeJob.waited,
            worked: compositeJob.worked)
        switch outcome {
        case .success(let result): dispatcher.conclude(.done(ended, result, blocks))
        case .failure(let error): dispatcher.conclude(.failed(ended, error))
        }
    }

    /// Drops a composite job that is no longer wanted.
    func abandonCompositeJob(_ id: JobID) {
        if let compositeJob = compositeJobs.remove(id) { endJobs(of: compositeJob) }
    }

    private func endJobs(of compositeJob: CompositeCacheJob) {
        for job in compositeJob.running.keys.sorted() { dispatcher.abandon(job) }
        if let copy = compositeJob.copying { dispatcher.abandon(copy.job) }
        if let input = compositeJob.submission.input { dispatcher.drop(input) }
        for part in compositeJob.running.values where part.isExternal && part.isStore {
            if let text = part.text { storeEnded(of: text) }
        }
    }

    /// Starts the queries that waited for the store.
    private func storeEnded(of text: String) {
        for id in compositeJobs.endedStore(of: text) {
            guard let part = compositeJobs[id]?.held else { continue }
            compositeJobs[id]?.held = nil
            start(part, of: id)
            advance(id)
        }
    }

    /// Handles the timeout of a composite job. Returns `false` if the timer was obsolete.
    func fireCompositeJobTimer() -> Bool {
        guard let id = compositeJobs.removeFirstAlarm(), let compositeJob = compositeJobs[id] else {
            return false
        }
        compositeJobs[id]?.alarm = nil
        if case .external(let cache, _, _)? = compositeJob.held {
            compositeJobs.release(id)
            compositeJobs.count(cache.pool, \.slow)
        }
        for job in compositeJob.running.keys.sorted() {
            guard let part = compositeJob.running[job],
                case .external(let cache, let name, _) = part
            else { continue }
            // A job that was never assigned was delayed by the coordinator and says nothing about
            // the pool.
            let wasGiven = !dispatcher.isWaiting(job)
            dispatcher.abandon(job)
            compositeJobs.disown(job)
            compositeJobs[id]?.running[job] = nil
            compositeJobs.count(cache.pool, \.slow)
            if wasGiven {
                compositeJobs.circuits[cache.pool, default: CacheCircuit()].failed(at: now)
            }
            if part.isStore, let text = part.text { storeEnded(of: text) }
            let message = "the cache '\(name)' did not answer in time"
            noteFailure(part, ImageError(.deadlineExceeded, message), of: id)
        }
        advance(id)
        return true
    }

    // MARK: - Lost workers

    /// Handles the loss of a worker and its bytes. The nodes handle the loss of the bytes of a
    /// pending store; jobs that nothing waits for end here.
    func removeFromCompositeJobs(_ worker: WorkerID) {
        for id in compositeJobs.ids {
            guard let compositeJob = compositeJobs[id] else { continue }
            if compositeJob.isTail, compositeJob.submission.input?.worker == worker {
                abandonCompositeJob(id)
            } else if let copy = compositeJob.copying, copy.producer == worker {
                dispatcher.abandon(copy.job)
                compositeJobs.disown(copy.job)
                compositeJobs.endedPromotion(id)
                compositeJobs[id]?.copying = nil
                advance(id)
            }
        }
    }

    /// Ends background stores of entries that are being removed.
    func endTails(where isMeant: (_ text: String, _ tags: [String]) -> Bool) {
        for id in compositeJobs.ids {
            guard let compositeJob = compositeJobs[id], compositeJob.isTail,
                case .store(let work) = compositeJob.submission.spec.work
            else { continue }
            let texts = compositeJob.running.values.compactMap(\.text)
            if texts.contains(where: { isMeant($0, work.metadata.tags) }) {
                abandonCompositeJob(id)
            }
        }
    }

    // MARK: - Urgency

    /// Updates the urgency of a job after its subscribers changed.
    func updatePriority(_ id: JobID, _ urgency: Urgency) {
        guard let compositeJob = compositeJobs[id] else {
            return dispatcher.reprioritize(id, urgency)
        }
        compositeJobs[id]?.urgency = urgency
        for job in compositeJob.running.keys.sorted() {
            let isExternal = compositeJob.running[job]?.isExternal == true
            let limit = isExternal ? compositeJob.alarm : nil
            dispatcher.reprioritize(job, limit.map { urgency.atMost($0) } ?? urgency)
        }
        if let copy = compositeJob.copying { dispatcher.reprioritize(copy.job, urgency) }
    }

    /// Sets whether a job may wait for space.
    func mayWaitForSpace(_ id: JobID, _ may: Bool) {
        guard let compositeJob = compositeJobs[id] else { return dispatcher.waitsForSpace(id, may) }
        compositeJobs[id]?.submission.waitsForSpace = may
        for job in compositeJob.running.keys.sorted() { dispatcher.waitsForSpace(job, may) }
    }

    /// Returns the job that must finish before the subscribers can continue.
    func awaited(_ id: JobID) -> JobID { compositeJobs[id]?.awaited ?? id }
}

extension Submission {
    /// Returns a submission for other work with the same inputs and context.
    fileprivate func with(_ work: JobWork, _ urgency: Urgency) -> Submission {
        var submission = Submission(JobSpec(work), urgency)
        (submission.input, submission.rank, submission.logContext) = (input, rank, logContext)
        (submission.suspect, submission.maker) = (suspect, maker)
        submission.waitsForSpace = waitsForSpace
        return submission
    }
}

extension Urgency {
    fileprivate func atMost(_ moment: Instant) -> Urgency {
        Urgency(priority: priority, deadline: min(deadline, moment), flows: flows)
    }
}

extension JobWork {
    fileprivate func limited(to bytes: UInt64) -> JobWork {
        guard case .query(var work) = self else { return self }
        work.bytesMax = bytes
        return .query(work)
    }
}

extension JobResult {
    fileprivate var metric: WritableKeyPath<ExternalCacheMetrics, UInt64> {
        switch self {
        case .hit: \.hits
        case .miss: \.misses
        case .stored, .entry, .entries, .validity, .fetched, .decoded, .transformed, .failed:
            \.writes
        }
    }
}

extension ErrorCode {
    /// The error code for operators. Failures that may pass, such as a server that the external
    /// program cannot reach, are `busy`, as for a cache that was skipped.
    fileprivate var ofExternalCache: ErrorCode {
        switch self {
        case .notSupported, .workerLost, .deadlineExceeded: self
        default: rule.retryable ? .busy : .internalError
        }
    }
}

// Stepwise removals from external caches (SEMANTICS §5.26). Each step is a separate job, so that
// other jobs run in between and none waits longer than for any single removal.
extension WorkGraph {
    /// Records a step of a removal and starts the next one. Returns `false` if the part has ended.
    func goOn(with part: CachePart, after result: JobResult, of id: JobID) -> Bool {
        guard case .entries(let page) = result,
            case .external(let cache, let name, let work) = part,
            case .entry(var entry) = work, entry.inSteps
        else { return false }
        compositeJobs[id]?.removals[name, default: StepwiseRemoval()].add(page)
        guard page.isUnfinished else { return true }
        notifyProgress(of: id)
        let steps = compositeJobs[id]?.removals[name]?.steps ?? 0
        guard page.next != entry.after, steps < StepwiseRemoval.stepsMax else {
            failRemoval(part, name, of: id)
            return true
        }
        entry.after = page.next
        start(.external(cache, name: name, .entry(entry)), of: id)
        return true
    }

    /// Reports the progress of a removal to the operator who waits for it.
    private func notifyProgress(of id: JobID) {
        guard case .inquiry? = purposes[id], let page = compositeJobs[id]?.progress else { return }
        emit(.answered(id, .progress(page)))
    }

    private func failRemoval(_ part: CachePart, _ name: String, of id: JobID) {
        let error = ImageError(
            .internalError, "the cache '\(name)' failed: its removal does not terminate")
        noteFailure(part, error, of: id)
    }
}
