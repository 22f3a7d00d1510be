import Model

/// A hit of an external cache to be stored in the built-in cache (SEMANTICS §5.26).
struct Promotion: Sendable {
    /// The text under which the built-in cache stores it.
    let text: String
    /// The tiers that it may enter.
    var tiers: CacheTypes
    /// The text under which it was found.
    let source: String
    /// The pool that had it.
    let pool: String
    let metadata: StoredMetadata
    /// The position in the change log when the query began.
    let since: UInt64

    /// Whether a store or removal makes the promotion obsolete. The age of the bytes is unknown.
    func isVoided(by work: JobWork) -> Bool {
        switch work {
        case .store(let store):
            store.key.map { CacheKey.moved($0, to: "") } == CacheKey.moved(text, to: "")
        case .entry(let entry): entry.action.removes && isVoided(by: entry)
        case .query, .fetch, .decode, .transform, .paint: false
        }
    }

    /// Whether a removal makes the promotion obsolete.
    func isVoided(by work: EntryWork) -> Bool {
        [text, source].contains { work.removes($0, tags: metadata.tags, ofAnyAge: true) }
    }
}

// Promotion of external cache hits to the built-in cache (SEMANTICS §5.26). A result is stored by
// the copy that is delivered. An original is read in place and copied in the background once a
// decoder has accepted it.
extension WorkGraph {
    /// Returns what may be stored of a hit found by this composite job, or `nil` if nothing may.
    func promotion(of hit: CacheHit, _ part: CachePart, _ job: CompositeCacheJob) -> Promotion? {
        guard case .external(let cache, let name, let work) = part, case .query(let asked) = work,
            case .query(let query) = job.submission.spec.work,
            let text = layout.promotionTarget(of: query, foundIn: name)
        else { return nil }
        return Promotion(
            text: text, tiers: cache.promotion.tiers, source: asked.key, pool: cache.pool,
            metadata: hit.metadata, since: job.since)
    }

    /// Restricts a promotion to the tiers in which the subscribers store results.
    func resultPromotion(
        _ promotion: Promotion?, for job: JobID
    ) -> Promotion? {
        guard var promotion, case .lookup(let node)? = purposes[job] else { return nil }
        let wanted = lookups[node].consumers.members.reduce(into: CacheTypes.none) {
            $0.formUnion($1.request.image.storeCacheTypes)
        }
        promotion.tiers.formIntersection(wanted)
        return !promotion.tiers.isEmpty && changes.permits(promotion) ? promotion : nil
    }

    /// Stores an original from an external cache after a decoder has read it.
    func promoteOriginal(_ node: SourceNode.ID) {
        guard sources.contains(node), let body = sources[node].body,
            var promotion = sources[node].promotion, dispatcher.hasRoom(.cache)
        else { return }
        let wanted = sources[node].storing.originals.wanted.reduce(into: CacheTypes.none) {
            $0.formUnion($1.tiers)
        }
        promotion.tiers.formIntersection(wanted)
        guard !promotion.tiers.isEmpty else { return }
        sources[node].promotion = nil
        guard changes.permits(promotion) else { return }
        var work = StoreWork(
            key: promotion.text, source: body.reference, tiers: promotion.tiers, delivers: false,
            waitsForDisk: false, metadata: promotion.metadata)
        work.isPromotion = true
        var submission = Submission(JobSpec(.store(work)), .unbounded(.low))
        (submission.input, submission.rank) = (body.block, 1)
        submission.waitsForSpace = false
        submission.logContext = sources[node].logContext
        beginPromotion(
            promotion, of: beginCompositeJob(submission, [.own(.store(work))], isTail: true))
    }

    /// Records that the built-in cache is storing a hit. Ignored if the job is over.
    func beginPromotion(_ promotion: Promotion, of job: CompositeCacheJob) {
        guard !job.isOver else { return }
        job.promotion = promotion
        compositeJobs.promoting[job.id] = job
    }

    /// Records that the promotion has ended or has been canceled.
    func endPromotion(of job: CompositeCacheJob) {
        if compositeJobs.promoting.removeValue(forKey: job.id) != nil { job.promotion = nil }
    }

    /// Records the end of a promotion, and counts it if any tier now has the entry.
    func notePromoted(_ answer: Result<JobResult, ImageError>, of job: CompositeCacheJob) {
        guard let promotion = job.promotion else { return }
        endPromotion(of: job)
        guard case .success(.stored(let report)) = answer, !report.tiers.isEmpty else { return }
        compositeJobs.count(promotion.pool, .promoted)
    }

    /// Handles stores and removals of entries: hits in flight under these keys are delivered but
    /// not stored.
    func voidPromotions(by work: JobWork) {
        guard !compositeJobs.promoting.isEmpty else { return }
        for job in compositeJobs.promoting.values.sorted(by: { $0.id < $1.id })
        where job.promotion?.isVoided(by: work) == true {
            endPromotion(of: job)
            if job.isTail {
                abandonCompositeJob(job)
            } else if let copy = job.copying {
                // The copy is restarted because a lost cache would otherwise store it after its
                // return.
                copyAgain(copy, of: job)
            }
        }
    }
}

/// Stores and removals of cache entries in flight, and the most recently completed ones.
///
/// The answer of an external cache may be older than such a change, so a hit is promoted only if
/// nothing has changed under its key since the query began (SEMANTICS §5.26).
///
///     query begins ──► position ──► … changes … ──► permits(…, since: position)
struct EntryChangeLog: Sendable {
    private enum Change: Sendable {
        /// Stores under this key, which excludes the name of the cache.
        case stores(String)
        case removes(EntryWork)
    }

    /// The number of completed changes.
    private(set) var position: UInt64 = 0
    private var underWay: [JobID: Change] = [:]
    /// The number of stores in flight per key.
    private var storing: [String: Int] = [:]
    /// The position of the last store per key, as far as remembered.
    private var stored: [String: UInt64] = [:]
    private var storedOrder = Deque<(key: String, position: UInt64)>()
    private var removed: [(work: EntryWork, position: UInt64)] = []
    /// Changes up to this position may have been forgotten.
    private var forgotten: UInt64 = 0

    /// The largest numbers of remembered stores and removals. Hits of queries that began before
    /// forgotten changes are not promoted, but later hits are.
    static let storesMax = 4_096
    static let removalsMax = 256

    /// Whether no change is in flight.
    var isQuiet: Bool { underWay.isEmpty && storing.isEmpty }

    /// Records a started cache job; jobs other than stores and removals are ignored.
    mutating func began(_ job: JobID, _ work: JobWork) {
        switch work {
        case .store(let store):
            guard let key = store.key.map(Self.bare) else { return }
            underWay[job] = .stores(key)
            storing[key, default: 0] += 1
        case .entry(let entry) where entry.action.removes: underWay[job] = .removes(entry)
        case .query, .entry, .fetch, .decode, .transform, .paint: break
        }
    }

    /// Records that a job has ended or was abandoned; unknown jobs are ignored.
    mutating func ended(_ job: JobID) {
        guard !underWay.isEmpty, let change = underWay.removeValue(forKey: job) else { return }
        position += 1
        switch change {
        case .stores(let key):
            storing[key] = storing[key].flatMap { $0 > 1 ? $0 - 1 : nil }
            stored[key] = position
            storedOrder.append((key, position))
            while storedOrder.count > Self.storesMax, let oldest = storedOrder.popFirst() {
                if stored[oldest.key] == oldest.position { stored[oldest.key] = nil }
                forgotten = max(forgotten, oldest.position)
            }
        case .removes(let work):
            removed.append((work, position))
            if removed.count > Self.removalsMax {
                forgotten = max(forgotten, removed.removeFirst().position)
            }
        }
    }

    /// Resets the log after a change of the cache layout: hits of earlier queries are not promoted.
    mutating func restart() {
        position += 1
        (stored, storedOrder, removed, forgotten) = ([:], Deque(), [], position)
    }

    /// Whether a hit is still current, given the position at which its query began.
    func permits(_ promotion: Promotion) -> Bool {
        let key = Self.bare(promotion.text)
        return promotion.since >= forgotten && storing[key] == nil
            && stored[key] ?? 0 <= promotion.since
            && !removed.contains {
                $0.position > promotion.since && promotion.isVoided(by: $0.work)
            }
            && !underWay.values.contains { change in
                if case .removes(let work) = change { promotion.isVoided(by: work) } else { false }
            }
    }

    /// Returns the key in the default cache, because a store in any cache may replace another
    /// cache's entry.
    private static func bare(_ text: String) -> String { CacheKey.moved(text, to: "") }
}
