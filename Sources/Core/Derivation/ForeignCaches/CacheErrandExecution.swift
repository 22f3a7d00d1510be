import Dispatching
import ImageModel
import Messages
import Tables

// Execution of composite cache jobs, which involve external caches (SEMANTICS §5.26). They are
// transparent to the rest of the module: a composite job has a number like any job and completes
// like one.
extension Deriver {
    /// Starts the parts, each in the cache that it concerns.
    mutating func beginErrand(_ submission: Submission, _ parts: [CachePart]) -> JobID {
        let id = dispatcher.nextNumber()
        enter(id, CacheErrand(submission, parts, since: changes.position))
        return id
    }

    private mutating func enter(_ id: JobID, _ errand: CacheErrand) {
        if let input = errand.submission.input { dispatcher.hold(input) }
        errands.begin(id, errand)
        advance(id)
    }

    /// Starts further phases until a part is running or no phase is left.
    private mutating func advance(_ id: JobID) {
        while let errand = errands[id], !errand.isUnderWay {
            guard let phase = errand.phases.first else { return finish(id, errand.outcome) }
            errands[id]?.phases.removeFirst()
            errands[id]?.alarm = nil
            for part in phase { start(part, of: id) }
        }
    }

    mutating func start(_ part: CachePart, of id: JobID) {
        switch part {
        case .own(let work):
            guard let errand = errands[id] else { return }
            run(errand.submission.with(work, errand.urgency), as: part, of: id)
        case .foreign(let cache, let name, let work): question(cache, name, work, part, of: id)
        }
    }

    private mutating func run(_ submission: Submission, as part: CachePart, of id: JobID) {
        let job = dispatcher.submit(submission)
        errands.own(job, by: id)
        errands[id]?.running[job] = part
    }

    // MARK: - External caches

    private mutating func question(
        _ cache: ForeignCache, _ name: String, _ work: JobWork, _ part: CachePart, of id: JobID
    ) {
        guard let errand = errands[id] else { return }
        let moment = now.adding(milliseconds: cache.patience(for: work))
        if part.asks, let text = part.text {
            guard !errands.isDoubted(text) else { return removeDoubted(part, text) }
            // An entry check reports the current state instead of waiting for stores.
            if case .query = work, errands.storing[text] != nil {
                errands.hold(id, until: text)
                errands[id]?.held = part
                return errands.setAlarm(of: id, at: moment)
            }
        }
        if let reason = obstacle(cache, part, errand.submission) {
            return skip(part, name, cache, reason, of: id)
        }
        if errand.alarm.map({ $0 < moment }) ?? true { errands.setAlarm(of: id, at: moment) }
        if part.isStore, let text = part.text { errands.beganStore(of: text) }
        var submission = errand.submission.with(
            work.limited(to: limits.bodyBytesMax), errand.urgency.atMost(moment))
        if !part.isStore { submission.input = nil }
        submission.foreignCache = dispatcher.foreignCache(cache.pool)
        (submission.maker, submission.suspect) = (nil, nil)
        run(submission, as: part, of: id)
    }

    /// Returns the reason why a cache is skipped, or `nil` if it isn't. Removals are attempted even
    /// if the circuit is open.
    private mutating func obstacle(
        _ cache: ForeignCache, _ part: CachePart, _ submission: Submission
    ) -> String? {
        guard let pool = dispatcher.foreignCache(cache.pool) else {
            return "the pool '\(cache.pool)' was not there when the stack was started"
        }
        switch dispatcher.obstacle(in: pool) {
        case .missing: return "no worker of the pool '\(cache.pool)' is connected"
        // A removal in progress continues.
        case .full where part.isLaterStep: break
        case .full: return "too much waits for the pool '\(cache.pool)'"
        case nil: break
        }
        if case .store(let work) = part.work {
            let bytes = work.source.length
            guard bytes <= limits.bodyBytesMax, dispatcher.mayRead(bytes) else {
                return "too many bytes wait for the pool '\(cache.pool)'"
            }
        }
        guard !part.removes else { return nil }
        return errands.circuits[cache.pool, default: CacheCircuit()].admits(at: now)
            ? nil : "the pool '\(cache.pool)' was slow or failed a moment ago"
    }

    private mutating func skip(
        _ part: CachePart, _ name: String, _ cache: ForeignCache, _ reason: String, of id: JobID
    ) {
        errands.count(cache.pool, \.skipped)
        let error = ImageError(.busy, "the cache '\(name)' was not asked: \(reason)")
        noteFailure(part, error, of: id)
    }

    /// Records a failed part. If the part was a removal, the cache may still have the entry.
    mutating func noteFailure(_ part: CachePart, _ error: ImageError, of id: JobID) {
        if part.removes, let text = part.text { errands.doubt(text) }
        let error = errands[id]?.stopped(part, by: error) ?? error
        errands[id]?.note(error, of: part)
    }

    /// Treats a distrusted text as a miss and retries its removal.
    private mutating func removeDoubted(_ part: CachePart, _ text: String) {
        guard case .foreign(let cache, let name, _) = part else { return }
        errands.count(cache.pool, \.skipped)
        removeElsewhere(text, from: cache, name)
    }

    /// Starts a removal from an external cache that nothing waits for.
    private mutating func removeElsewhere(_ text: String, from cache: ForeignCache, _ name: String)
    {
        let work = JobWork.entry(EntryWork(action: .remove, key: text, tiers: .disk))
        let submission = Submission(JobSpec(work), .unbounded(.low))
        beginTail([.foreign(cache, name: name, work)], submission)
    }

    @discardableResult
    mutating func beginTail(_ parts: [CachePart], _ submission: Submission) -> JobID {
        var tail = CacheErrand(submission, parts, since: changes.position)
        (tail.phases, tail.tail, tail.isTail) = ([parts], [], true)
        tail.urgency = tail.urgency.unbounded
        let id = dispatcher.nextNumber()
        enter(id, tail)
        return id
    }

    // MARK: - Answers

    /// Processes the outcome of a job that is part of a composite job; returns `false` if it isn't.
    mutating func errandAnswered(
        _ job: Completion.Ended, _ answer: Result<JobResult, ImageError>,
        _ blocks: ShortList<BlockHandle> = ShortList()
    ) -> Bool {
        guard let id = errands.owner(of: job.id) else { return false }
        errands.disown(job.id)
        errands[id]?.waited += job.waited
        errands[id]?.worked += job.worked
        if let copy = errands[id]?.copying {
            errands[id]?.copying = nil
            copied(copy, answer, by: job.worker, of: id)
        } else if let part = errands[id]?.running.removeValue(forKey: job.id) {
            switch part {
            case .own: ownAnswered(part, answer, blocks, by: job.worker, of: id)
            case .foreign(let cache, let name, _):
                foreignAnswered(part, cache, name, answer, blocks.first, of: id)
            }
        }
        advance(id)
        return true
    }

    private mutating func ownAnswered(
        _ part: CachePart, _ answer: Result<JobResult, ImageError>,
        _ blocks: ShortList<BlockHandle>, by worker: WorkerID?, of id: JobID
    ) {
        errands[id]?.cache = worker
        notePromoted(answer, of: id)
        switch answer {
        case .failure(let error): errands[id]?.note(error, of: part)
        case .success(.hit(let hit)): finish(id, .success(.hit(hit)), blocks)
        case .success(let result):
            if errands[id]?.note(result, of: part) == true { finishFound(id) }
        }
    }

    private mutating func finishFound(_ id: JobID) {
        errands[id]?.error = nil
        if let outcome = errands[id]?.outcome { finish(id, outcome) }
    }

    private mutating func foreignAnswered(
        _ part: CachePart, _ cache: ForeignCache, _ name: String,
        _ answer: Result<JobResult, ImageError>, _ block: BlockHandle?, of id: JobID
    ) {
        if part.isStore, let text = part.text { storeEnded(of: text) }
        switch answer {
        case .failure(let error): foreignFailed(part, cache, name, error, of: id)
        case .success(let result):
            errands.circuits[cache.pool]?.answered()
            if part.isStore || part.removes, let text = part.text { errands.believe(text) }
            errands.count(cache.pool, result.figure)
            if goOn(with: part, after: result, of: id) { return }
            if case .hit(let hit) = result, let block {
                let isOutdated = part.text.map { hit.metadata.isOutdated(under: $0) } ?? false
                guard isOutdated else { return found(hit, block, part, of: id) }
                dispatcher.drop(block)
                if errands[id]?.note(.miss, of: part) == true { finishFound(id) }
            } else if errands[id]?.note(result, of: part) == true {
                finishFound(id)
            }
        }
    }

    private mutating func foreignFailed(
        _ part: CachePart, _ cache: ForeignCache, _ name: String, _ error: ImageError, of id: JobID
    ) {
        // An unsupported operation says nothing about the health of the cache.
        if error.code != .notSupported {
            errands.count(cache.pool, \.errors)
            errands.circuits[cache.pool, default: CacheCircuit()].failed(at: now)
        }
        let said = "the cache '\(name)' failed: \(error.message)"
        noteFailure(part, ImageError(error.code.ofForeignCache, said), of: id)
    }

    /// Handles a hit of an external cache. A decoder reads the bytes in place; clients read a copy
    /// that the built-in cache makes and verifies.
    private mutating func found(
        _ hit: CacheHit, _ block: BlockHandle, _ part: CachePart, of id: JobID
    ) {
        guard let errand = errands[id], case .query(let query) = errand.submission.spec.work else {
            return dispatcher.drop(block)
        }
        var hit = hit
        (hit.tier, hit.metadata.digest) = (.disk, nil)
        let promotion = promotion(of: hit, part, errand)
        guard query.destination == .results else {
            if case .source(let node)? = purposes[id] { sources[node].promotion = promotion }
            return finish(id, .success(.hit(hit)), ShortList(block))
        }
        beginCopy(hit, block, part, resultPromotion(promotion, for: id), of: id)
        dispatcher.drop(block)
        errands[id]?.alarm = nil
    }

    /// Starts the copy of a hit to where clients read; the built-in cache also stores it if it is
    /// promoted.
    mutating func beginCopy(
        _ hit: CacheHit, _ block: BlockHandle, _ part: CachePart, _ promotion: Promotion?,
        of id: JobID
    ) {
        guard let errand = errands[id] else { return }
        var copy = StoreWork(
            key: promotion?.text, source: hit.reference, tiers: promotion?.tiers ?? .none,
            delivers: true, waitsForDisk: false, metadata: hit.metadata)
        copy.isPromotion = promotion != nil
        var submission = errand.submission.with(.store(copy), errand.urgency)
        (submission.input, submission.rank) = (block, 0)
        let job = dispatcher.submit(submission)
        errands.own(job, by: id)
        errands[id]?.copying = CacheErrand.Copy(
            job: job, hit: hit, producer: block.worker, part: part)
        if let promotion { errands.beganPromotion(id, promotion) }
    }

    private mutating func copied(
        _ copy: CacheErrand.Copy, _ answer: Result<JobResult, ImageError>, by worker: WorkerID?,
        of id: JobID
    ) {
        notePromoted(answer, of: id)
        switch answer {
        case .success(.stored(let report)):
            guard let reference = report.delivered else { return }
            var hit = copy.hit
            (hit.reference, hit.metadata.digest) = (reference, report.digest)
            errands[id]?.cache = worker
            finish(id, .success(.hit(hit)))
        case .failure(let error) where error.code == .badImageData:
            guard case .foreign(let cache, let name, _) = copy.part, let text = copy.part.text
            else { return }
            errands.count(cache.pool, \.refused)
            removeElsewhere(text, from: cache, name)
        case .success, .failure: break
        }
    }

    /// Records the end of a promotion, and counts it if any tier now has the entry.
    private mutating func notePromoted(_ answer: Result<JobResult, ImageError>, of id: JobID) {
        guard let promotion = errands[id]?.promotion else { return }
        errands.endedPromotion(id)
        guard case .success(.stored(let report)) = answer, !report.tiers.isEmpty else { return }
        errands.count(promotion.pool, \.promoted)
    }

    // MARK: - Completion

    private mutating func finish(
        _ id: JobID, _ outcome: Result<JobResult, ImageError>,
        _ blocks: ShortList<BlockHandle> = ShortList()
    ) {
        guard let errand = errands.remove(id) else { return dispatcher.drop(blocks) }
        if case .success = outcome, !errand.tail.isEmpty {
            beginTail(errand.tail, errand.submission)
        }
        endJobs(of: errand)
        guard !errand.isTail else { return }
        let ended = Completion.Ended(
            id, errand.submission.spec.stage, worker: errand.cache, waited: errand.waited,
            worked: errand.worked)
        switch outcome {
        case .success(let result): dispatcher.conclude(.done(ended, result, blocks))
        case .failure(let error): dispatcher.conclude(.failed(ended, error))
        }
    }

    /// Drops a composite job that is no longer wanted.
    mutating func abandonErrand(_ id: JobID) {
        if let errand = errands.remove(id) { endJobs(of: errand) }
    }

    private mutating func endJobs(of errand: CacheErrand) {
        for job in errand.running.keys.sorted() { dispatcher.abandon(job) }
        if let copy = errand.copying { dispatcher.abandon(copy.job) }
        if let input = errand.submission.input { dispatcher.drop(input) }
        for part in errand.running.values where part.isForeign && part.isStore {
            if let text = part.text { storeEnded(of: text) }
        }
    }

    /// Starts the queries that waited for the store.
    private mutating func storeEnded(of text: String) {
        for id in errands.endedStore(of: text) {
            guard let part = errands[id]?.held else { continue }
            errands[id]?.held = nil
            start(part, of: id)
            advance(id)
        }
    }

    /// Handles the timeout of a composite job. Returns `false` if the timer was obsolete.
    mutating func ringErrand() -> Bool {
        guard let id = errands.takeFirstAlarm(), let errand = errands[id] else { return false }
        errands[id]?.alarm = nil
        if case .foreign(let cache, _, _)? = errand.held {
            errands.release(id)
            errands.count(cache.pool, \.slow)
        }
        for job in errand.running.keys.sorted() {
            guard let part = errand.running[job], case .foreign(let cache, let name, _) = part
            else { continue }
            // A job that was never assigned was delayed by the coordinator and says nothing about
            // the pool.
            let wasGiven = !dispatcher.isWaiting(job)
            dispatcher.abandon(job)
            errands.disown(job)
            errands[id]?.running[job] = nil
            errands.count(cache.pool, \.slow)
            if wasGiven { errands.circuits[cache.pool, default: CacheCircuit()].failed(at: now) }
            if part.isStore, let text = part.text { storeEnded(of: text) }
            let said = "the cache '\(name)' did not answer in time"
            noteFailure(part, ImageError(.deadlineExceeded, said), of: id)
        }
        advance(id)
        return true
    }

    // MARK: - Lost workers

    /// Handles the loss of a worker and its bytes. The nodes handle the loss of the bytes of a
    /// pending store; jobs that nothing waits for end here.
    mutating func errandsLose(_ worker: WorkerID) {
        for id in errands.ids {
            guard let errand = errands[id] else { continue }
            if errand.isTail, errand.submission.input?.worker == worker {
                abandonErrand(id)
            } else if let copy = errand.copying, copy.producer == worker {
                dispatcher.abandon(copy.job)
                errands.disown(copy.job)
                errands.endedPromotion(id)
                errands[id]?.copying = nil
                advance(id)
            }
        }
    }

    /// Ends background stores of entries that are being removed.
    mutating func endTails(where isMeant: (_ text: String, _ tags: [String]) -> Bool) {
        for id in errands.ids {
            guard let errand = errands[id], errand.isTail,
                case .store(let work) = errand.submission.spec.work
            else { continue }
            let texts = errand.running.values.compactMap(\.text)
            if texts.contains(where: { isMeant($0, work.metadata.tags) }) { abandonErrand(id) }
        }
    }

    // MARK: - Urgency

    /// Updates the urgency of a job after its subscribers changed.
    mutating func hurry(_ id: JobID, _ urgency: Urgency) {
        guard let errand = errands[id] else { return dispatcher.reprioritise(id, urgency) }
        errands[id]?.urgency = urgency
        for job in errand.running.keys.sorted() {
            let isForeign = errand.running[job]?.isForeign == true
            let limit = isForeign ? errand.alarm : nil
            dispatcher.reprioritise(job, limit.map { urgency.atMost($0) } ?? urgency)
        }
        if let copy = errand.copying { dispatcher.reprioritise(copy.job, urgency) }
    }

    /// Sets whether a job may wait for space.
    mutating func mayWaitForSpace(_ id: JobID, _ may: Bool) {
        guard let errand = errands[id] else { return dispatcher.waitsForSpace(id, may) }
        errands[id]?.submission.waitsForSpace = may
        for job in errand.running.keys.sorted() { dispatcher.waitsForSpace(job, may) }
    }

    /// Returns the job that must finish before the subscribers can continue.
    func awaited(_ id: JobID) -> JobID { errands[id]?.awaited ?? id }
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
    fileprivate var figure: WritableKeyPath<ForeignCacheFigures, UInt64> {
        switch self {
        case .hit: \.hits
        case .miss: \.misses
        case .stored, .entry, .entries, .validity, .fetched, .decoded, .transformed, .failed:
            \.writes
        }
    }
}

extension ErrorCode {
    /// The error codes that an external program may report to operators.
    fileprivate var ofForeignCache: ErrorCode {
        switch self {
        case .notSupported, .workerLost, .deadlineExceeded, .busy: self
        default: .internalError
        }
    }
}

// Stepwise removals from external caches (SEMANTICS §5.26). Each step is a separate job, so that
// other jobs run in between and none waits longer than for any single removal.
extension Deriver {
    /// Records a step of a removal and starts the next one. Returns `false` if the part has ended.
    mutating func goOn(with part: CachePart, after result: JobResult, of id: JobID) -> Bool {
        guard case .entries(let page) = result, case .foreign(let cache, let name, let work) = part,
            case .entry(var entry) = work, entry.inSteps
        else { return false }
        errands[id]?.removals[name, default: StepwiseRemoval()].add(page)
        guard page.isUnfinished else { return true }
        tellProgress(of: id)
        let steps = errands[id]?.removals[name]?.steps ?? 0
        guard page.next != entry.after, steps < StepwiseRemoval.stepsMax else {
            failRemoval(part, name, of: id)
            return true
        }
        entry.after = page.next
        start(.foreign(cache, name: name, .entry(entry)), of: id)
        return true
    }

    /// Reports the progress of a removal to the operator who waits for it.
    private mutating func tellProgress(of id: JobID) {
        guard case .inquiry? = purposes[id], let page = errands[id]?.progress else { return }
        tell(.answered(id, .progress(page)))
    }

    private mutating func failRemoval(_ part: CachePart, _ name: String, of id: JobID) {
        let error = ImageError(
            .internalError, "the cache '\(name)' failed: its removal does not come to an end")
        noteFailure(part, error, of: id)
    }
}
