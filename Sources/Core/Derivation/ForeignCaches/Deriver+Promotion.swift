import Dispatching
import ImageModel
import Messages
import Tables

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
