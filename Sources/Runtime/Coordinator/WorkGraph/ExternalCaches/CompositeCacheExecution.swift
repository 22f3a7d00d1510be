import Model

// Execution of composite cache jobs, which involve external caches (SEMANTICS §5.26). They are
// transparent to the rest of the work graph: a composite job has a number like any job and
// completes like one.
extension WorkGraph {
    /// Starts the parts, each in the cache that it concerns. Nothing waits for those of a tail.
    @discardableResult
    func beginCompositeJob(
        _ submission: Submission, _ parts: [CachePart], isTail: Bool = false
    ) -> CompositeCacheJob {
        let job = CompositeCacheJob(
            dispatcher.jobs.nextID(), submission, parts, isTail: isTail, since: changes.position)
        if let input = submission.input { dispatcher.hold(input) }
        compositeJobs.jobs[job.id] = job
        advance(job)
        return job
    }

    /// Starts further phases until a part is running or no phase is left.
    private func advance(_ job: CompositeCacheJob) {
        while !job.isOver, !job.isUnderWay {
            guard !job.phases.isEmpty else { return finish(job, job.outcome) }
            job.alarm = nil
            for part in job.phases.removeFirst() { start(part, of: job) }
        }
    }

    func start(_ part: CachePart, of job: CompositeCacheJob) {
        switch part {
        case .own(let work): run(job.submission.with(work, job.urgency), as: part, of: job)
        case .external(let cache, let name, let work): question(cache, name, work, part, of: job)
        }
    }

    private func run(_ submission: Submission, as part: CachePart, of job: CompositeCacheJob) {
        let id = dispatcher.submit(submission)
        compositeJobs.owners[id] = job
        job.running[id] = part
    }

    /// Abandons a running part.
    private func endPart(_ id: JobID, of job: CompositeCacheJob) {
        (compositeJobs.owners[id], job.running[id]) = (nil, nil)
        dispatcher.abandon(id)
    }

    // MARK: - External caches

    private func question(
        _ cache: ExternalCache, _ name: String, _ work: JobWork, _ part: CachePart,
        of job: CompositeCacheJob
    ) {
        let moment = now.adding(milliseconds: cache.timeout(for: work))
        if part.asks, let text = part.text {
            // A distrusted text is a miss, and its removal is retried.
            guard !compositeJobs.isDistrusted(text) else {
                compositeJobs.count(cache.pool, .skipped)
                return removeElsewhere(text, from: cache, name)
            }
            // An entry check reports the current state instead of waiting for stores.
            if case .query = work, compositeJobs.storing[text] != nil {
                job.held = part
                return compositeJobs.alarms.set(job, at: moment)
            }
        }
        if let reason = obstacle(cache, part, job.submission) {
            compositeJobs.count(cache.pool, .skipped)
            return noteFailure(part, .busy, "was skipped: \(reason)", of: job)
        }
        if job.alarm.map({ $0 < moment }) ?? true { compositeJobs.alarms.set(job, at: moment) }
        if part.isStore, let text = part.text { compositeJobs.beganStore(of: text) }
        var work = work
        if case .query(var query) = work {
            query.bytesMax = limits.bodyBytesMax
            work = .query(query)
        }
        var submission = job.submission.with(work, job.urgency.atMost(moment))
        if !part.isStore { submission.input = nil }
        submission.externalCache = dispatcher.externalCache(cache.pool)
        (submission.maker, submission.suspect) = (nil, nil)
        run(submission, as: part, of: job)
    }

    /// Returns the reason why a cache is skipped, or `nil` if it isn't. Removals are attempted even
    /// if the circuit is open.
    private func obstacle(
        _ cache: ExternalCache, _ part: CachePart, _ submission: Submission
    ) -> String? {
        guard let pool = dispatcher.externalCache(cache.pool) else {
            return "the pool '\(cache.pool)' did not exist when the stack was started"
        }
        guard dispatcher.roster.credit(of: pool).window > 0 else {
            return "no worker of the pool '\(cache.pool)' is connected"
        }
        // A removal in progress continues.
        guard part.isLaterStep || dispatcher.hasShortQueue(pool) else {
            return "the queue of the pool '\(cache.pool)' is full"
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

    /// Records why an external cache failed to run a part. If the part was a removal, the cache may
    /// still have the entry.
    func noteFailure(
        _ part: CachePart, _ code: ErrorCode, _ reason: String, of job: CompositeCacheJob
    ) {
        guard case .external(_, let name, _) = part else { return }
        let error = ImageError(code, "the cache '\(name)' \(reason)")
        if part.removes, let text = part.text { compositeJobs.distrust(text) }
        job.note(job.stopped(part, by: error), of: part)
    }

    /// Starts a removal from an external cache that nothing waits for.
    private func removeElsewhere(_ text: String, from cache: ExternalCache, _ name: String) {
        let work = JobWork.entry(EntryWork(action: .remove, key: text, tiers: .disk))
        beginCompositeJob(
            Submission(JobSpec(work), .unbounded(.low)),
            [.external(cache, name: name, work)], isTail: true)
    }

    // MARK: - Answers

    /// Processes the outcome of a job that is part of a composite job; returns `false` if it isn't.
    func advanceCompositeJob(
        _ ended: Completion.Ended, _ answer: Result<JobResult, ImageError>,
        _ blocks: ShortList<BlockHandle>
    ) -> Bool {
        guard !compositeJobs.owners.isEmpty,
            let job = compositeJobs.owners.removeValue(forKey: ended.id),
            let part = job.running.removeValue(forKey: ended.id)
        else { return false }
        job.waited += ended.waited
        job.worked += ended.worked
        if let copy = job.copying.take() {
            copied(copy, answer, by: ended.worker, of: job)
        } else if case .external(let cache, _, _) = part {
            externalAnswered(part, cache, answer, blocks.first, of: job)
        } else {
            ownAnswered(part, answer, blocks, by: ended.worker, of: job)
        }
        advance(job)
        return true
    }

    private func ownAnswered(
        _ part: CachePart, _ answer: Result<JobResult, ImageError>,
        _ blocks: ShortList<BlockHandle>, by worker: WorkerID?, of job: CompositeCacheJob
    ) {
        job.cache = worker
        notePromoted(answer, of: job)
        switch answer {
        case .failure(let error): job.note(error, of: part)
        case .success(.hit(let hit)): finish(job, .success(.hit(hit)), blocks)
        case .success(let result): note(result, of: part, job)
        }
    }

    /// Records the answer of a part, which may complete the job.
    private func note(_ result: JobResult, of part: CachePart, _ job: CompositeCacheJob) {
        guard job.note(result, of: part) else { return }
        job.error = nil
        finish(job, job.outcome)
    }

    private func externalAnswered(
        _ part: CachePart, _ cache: ExternalCache, _ answer: Result<JobResult, ImageError>,
        _ block: BlockHandle?, of job: CompositeCacheJob
    ) {
        storeEnded(part)
        switch answer {
        case .failure(let error):
            // An unsupported operation says nothing about the health of the cache.
            if error.code != .notSupported { countFailure(of: cache, .errors) }
            noteFailure(part, error.code.ofExternalCache, "failed: \(error.message)", of: job)
        case .success(let result):
            compositeJobs.circuits[cache.pool]?.answered()
            if part.isStore || part.removes, let text = part.text { compositeJobs.trust(text) }
            compositeJobs.count(cache.pool, result.metric)
            if goOn(with: part, after: result, of: job) { return }
            guard case .hit(let hit) = result, let block else { return note(result, of: part, job) }
            let isOutdated = part.text.map { hit.metadata.isOutdated(under: $0) } ?? false
            guard isOutdated else { return found(hit, block, part, of: job) }
            dispatcher.drop(block)
            note(.miss, of: part, job)
        }
    }

    private func countFailure(of cache: ExternalCache, _ metric: ExternalCacheMetric) {
        compositeJobs.count(cache.pool, metric)
        compositeJobs.circuits[cache.pool, default: CacheCircuit()].failed(at: now)
    }

    /// Handles a hit of an external cache. A decoder reads the bytes in place; clients read a copy
    /// that the built-in cache makes and verifies.
    private func found(
        _ hit: CacheHit, _ block: BlockHandle, _ part: CachePart, of job: CompositeCacheJob
    ) {
        guard case .query(let query) = job.submission.spec.work else {
            return dispatcher.drop(block)
        }
        var hit = hit
        (hit.tier, hit.metadata.digest) = (.disk, nil)
        let promotion = promotion(of: hit, part, job)
        guard query.destination == .results else {
            if case .source(let node)? = purposes[job.id] { sources[node].promotion = promotion }
            return finish(job, .success(.hit(hit)), ShortList(block))
        }
        beginCopy(hit, block, part, resultPromotion(promotion, for: job.id), of: job)
        dispatcher.drop(block)
        job.alarm = nil
    }

    /// Starts the copy of a hit to where clients read; the built-in cache also stores it if it is
    /// promoted.
    private func beginCopy(
        _ hit: CacheHit, _ block: BlockHandle, _ part: CachePart, _ promotion: Promotion?,
        of job: CompositeCacheJob
    ) {
        var copy = StoreWork(
            key: promotion?.text, source: hit.reference, tiers: promotion?.tiers ?? .none,
            delivers: true, waitsForDisk: false, metadata: hit.metadata)
        copy.isPromotion = promotion != nil
        var submission = job.submission.with(.store(copy), job.urgency)
        (submission.input, submission.rank) = (block, 0)
        run(submission, as: .own(.store(copy)), of: job)
        job.copying = CompositeCacheJob.Copy(hit: hit, block: block, part: part)
        if let promotion { beginPromotion(promotion, of: job) }
    }

    /// Restarts a copy without the promotion. The new job holds the block before the old one drops
    /// it.
    func copyAgain(_ copy: CompositeCacheJob.Copy, of job: CompositeCacheJob) {
        let old = job.jobs
        beginCopy(copy.hit, copy.block, copy.part, nil, of: job)
        for id in old { endPart(id, of: job) }
    }

    private func copied(
        _ copy: CompositeCacheJob.Copy, _ answer: Result<JobResult, ImageError>,
        by worker: WorkerID?, of job: CompositeCacheJob
    ) {
        notePromoted(answer, of: job)
        switch answer {
        case .success(.stored(let report)):
            guard let reference = report.delivered else { return }
            var hit = copy.hit
            (hit.reference, hit.metadata.digest) = (reference, report.digest)
            job.cache = worker
            finish(job, .success(.hit(hit)))
        case .failure(let error) where error.code == .badImageData:
            guard case .external(let cache, let name, _) = copy.part, let text = copy.part.text
            else { return }
            compositeJobs.count(cache.pool, .refused)
            removeElsewhere(text, from: cache, name)
        case .success, .failure: break
        }
    }

    // MARK: - Completion

    private func finish(
        _ job: CompositeCacheJob, _ outcome: Result<JobResult, ImageError>,
        _ blocks: ShortList<BlockHandle> = ShortList()
    ) {
        if case .success = outcome, !job.tail.isEmpty {
            beginCompositeJob(job.submission, job.tail, isTail: true)
        }
        abandonCompositeJob(job)
        guard !job.isTail else { return }
        let ended = Completion.Ended(
            id: job.id, stage: job.submission.spec.stage, worker: job.cache, waited: job.waited,
            worked: job.worked)
        dispatcher.complete(.ended(ended, outcome, blocks))
    }

    /// Removes a composite job, and ends its parts.
    func abandonCompositeJob(_ job: CompositeCacheJob) {
        compositeJobs.remove(job)
        for part in job.jobs { dispatcher.abandon(part) }
        if let input = job.submission.input { dispatcher.drop(input) }
        for part in job.running.values { storeEnded(part) }
    }

    /// Starts the queries that waited for the part if it was a store to an external cache.
    private func storeEnded(_ part: CachePart) {
        guard part.isExternal, part.isStore, let text = part.text else { return }
        for job in compositeJobs.endedStore(of: text) {
            guard let part = job.held.take() else { continue }
            start(part, of: job)
            advance(job)
        }
    }

    /// Handles the timeout of a composite job. Returns `false` if the timer was obsolete.
    func fireCompositeJobTimer() -> Bool {
        guard let job = compositeJobs.alarms.popFirst(of: compositeJobs.jobs) else { return false }
        job.alarm = nil
        if case .external(let cache, _, _)? = job.held.take() {
            compositeJobs.count(cache.pool, .slow)
        }
        for id in job.jobs {
            guard let part = job.running[id], case .external(let cache, _, _) = part else {
                continue
            }
            // A job that was never assigned was delayed by the coordinator and says nothing about
            // the pool.
            if dispatcher.isWaiting(id) {
                compositeJobs.count(cache.pool, .slow)
            } else {
                countFailure(of: cache, .slow)
            }
            endPart(id, of: job)
            storeEnded(part)
            noteFailure(part, .deadlineExceeded, "did not answer in time", of: job)
        }
        advance(job)
        return true
    }

    // MARK: - Lost workers

    /// Handles the loss of a worker and its bytes. The nodes handle the loss of the bytes of a
    /// pending store; jobs that nothing waits for end here.
    func removeFromCompositeJobs(_ worker: WorkerID) {
        for job in compositeJobs.all where !job.isOver {
            if job.isTail, job.submission.input?.worker == worker {
                abandonCompositeJob(job)
            } else if let copy = job.copying, copy.block.worker == worker {
                for id in job.jobs { endPart(id, of: job) }
                endPromotion(of: job)
                job.copying = nil
                advance(job)
            }
        }
    }

    /// Ends background stores of entries that are being removed.
    func endTails(where isMeant: (_ text: String, _ tags: [String]) -> Bool) {
        for job in compositeJobs.all where !job.isOver && job.isTail {
            guard case .store(let work) = job.submission.spec.work else { continue }
            let texts = job.running.values.compactMap(\.text)
            if texts.contains(where: { isMeant($0, work.metadata.tags) }) {
                abandonCompositeJob(job)
            }
        }
    }

    // MARK: - Urgency

    /// Updates the urgency of a job after its subscribers changed.
    func updatePriority(_ id: JobID, _ urgency: Urgency) {
        guard let job = compositeJobs.jobs[id] else { return dispatcher.reprioritize(id, urgency) }
        job.urgency = urgency
        for part in job.jobs {
            let limit = job.running[part]?.isExternal == true ? job.alarm : nil
            dispatcher.reprioritize(part, limit.map { urgency.atMost($0) } ?? urgency)
        }
    }

    /// Sets whether a job may wait for space.
    func mayWaitForSpace(_ id: JobID, _ may: Bool) {
        guard let job = compositeJobs.jobs[id] else { return dispatcher.waitsForSpace(id, may) }
        job.submission.waitsForSpace = may
        for part in job.jobs { dispatcher.waitsForSpace(part, may) }
    }

    /// Returns the job that must finish before the subscribers can continue.
    func awaited(_ id: JobID) -> JobID { compositeJobs.jobs[id]?.awaited ?? id }
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

extension JobResult {
    fileprivate var metric: ExternalCacheMetric {
        switch self {
        case .hit: .hits
        case .miss: .misses
        default: .writes
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
