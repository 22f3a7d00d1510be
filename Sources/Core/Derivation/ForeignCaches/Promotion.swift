import Dispatching
import ImageModel
import Messages
import Tables

/// A hit of an external cache that enters our own (SEMANTICS §5.26).
struct Promotion: Sendable {
    /// Under which text our own cache keeps it.
    let text: String
    /// The tiers that it may enter.
    var tiers: CacheTypes
    /// Under which text it was found.
    let source: String
    /// The pool that had it.
    let pool: String
    /// What was stored with it.
    let metadata: StoredMetadata
    /// The changes that had ended as its query began.
    let since: UInt64

    /// Whether a store or a removal of entries makes it worthless. Of what age the bytes are is
    /// not known.
    func isVoided(by work: JobWork) -> Bool {
        switch work {
        case .store(let store):
            store.key.map { CacheKey.moved($0, to: "") } == CacheKey.moved(text, to: "")
        case .entry(let entry): entry.action.removes && isVoided(by: entry)
        case .query, .fetch, .decode, .transform, .paint: false
        }
    }

    /// The same of a removal.
    func isVoided(by work: EntryWork) -> Bool {
        [text, source].contains { work.means($0, tags: metadata.tags, ofAnyAge: true) }
    }
}

// Hits of external caches enter our own (SEMANTICS §5.26). A result is kept by the copy that is
// delivered. An original is read where it lies, and copied once a decoder has taken it for an
// image; nobody waits for that.
extension Deriver {
    /// What may be kept of a hit; `nil` where nothing may. The query began with that errand.
    func promotion(of hit: CacheHit, _ part: CachePart, _ errand: CacheErrand) -> Promotion? {
        guard case .foreign(let cache, let name, let work) = part, case .query(let asked) = work,
            case .query(let query) = errand.submission.spec.work,
            let text = layout.promotionTarget(of: query, foundIn: name)
        else { return nil }
        return Promotion(
            text: text, tiers: cache.promotion.tiers, source: asked.key, pool: cache.pool,
            metadata: hit.metadata, since: errand.since)
    }

    /// The same for the tiers in which those who wait store results.
    func resultPromotion(
        _ promotion: Promotion?, for job: JobID
    ) -> Promotion? {
        guard var promotion, case .lookup(let node)? = purposes[job] else { return nil }
        let wanted = lookups[node].consumers.members.reduce(into: CacheTypes.none) {
            $0.formUnion($1.order.image.storeCacheTypes)
        }
        promotion.tiers.formIntersection(wanted)
        return !promotion.tiers.isEmpty && changes.permits(promotion) ? promotion : nil
    }

    /// A decoder read an original that an external cache had: our own keeps it now.
    mutating func promoteOriginal(_ node: SourceNode.ID) {
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
        let id = beginTail([.own(.store(work))], submission)
        errands.beganPromotion(id, promotion)
    }

    /// Something else is kept under these keys from now on, or nothing: hits that are on their way
    /// there are delivered, and not kept.
    mutating func voidPromotions(by work: JobWork) {
        for id in errands.promoting {
            guard let promotion = errands[id]?.promotion, promotion.isVoided(by: work) else {
                continue
            }
            errands.endedPromotion(id)
            if errands[id]?.isTail == true { abandonErrand(id) } else { copyWithoutKey(id) }
        }
    }

    /// The copy begins again, since a cache that was lost would otherwise keep it after its return.
    private mutating func copyWithoutKey(_ id: JobID) {
        guard let copy = errands[id]?.copying else { return }
        let block = BlockHandle(worker: copy.producer, block: copy.hit.reference.block)
        beginCopy(copy.hit, block, copy.part, nil, of: id)
        errands.disown(copy.job)
        dispatcher.abandon(copy.job)
    }
}

/// Stores and removals of cache entries that are under way, and the latest ones that have ended.
///
/// What an external cache answered may be older than such a change, so a hit is promoted only if
/// nothing has changed under its key since the query began (SEMANTICS §5.26).
///
///     query begins ──► position ──► … changes … ──► permits(…, since: position)
struct EntryChangeLog: Sendable {
    private enum Change: Sendable {
        /// Stores under these keys, without the names of their caches.
        case stores(String)
        case removes(EntryWork)
    }

    /// Changes that have ended.
    private(set) var position: UInt64 = 0
    private var underWay: [JobID: Change] = [:]
    /// How many stores of a key are under way.
    private var storing: [String: Int] = [:]
    /// The position of the last store of a key, as far as it is still known.
    private var stored: [String: UInt64] = [:]
    private var storedOrder = Fifo<(key: String, position: UInt64)>()
    private var removed: [(work: EntryWork, position: UInt64)] = []
    /// Changes up to this position may have been forgotten.
    private var forgotten: UInt64 = 0

    /// Ended stores and removals that are remembered at most. Beyond that, hits of queries that
    /// began earlier are not promoted: the next ones are.
    static let storesMax = 4_096
    static let removalsMax = 256

    /// Whether nothing is under way.
    var isQuiet: Bool { underWay.isEmpty && storing.isEmpty }

    /// A job of the cache was given out; others than stores and removals are ignored.
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

    /// A job has ended, or nobody waits for it any more; unknown ones are ignored.
    mutating func ended(_ job: JobID) {
        guard let change = underWay.removeValue(forKey: job) else { return }
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

    /// Caches are arranged differently from now on: what began before is not promoted.
    mutating func restart() {
        position += 1
        (stored, storedOrder, removed, forgotten) = ([:], Fifo(), [], position)
    }

    /// Whether a hit of a query that began at this position is still what its key has.
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

    /// The key in the default cache: a store in any cache may replace what another one has.
    private static func bare(_ text: String) -> String { CacheKey.moved(text, to: "") }
}
