import Dispatching
import ImageModel
import Messages
import Tables

// What waiters want of a source's bytes beside pixels: that they are stored, and that progress is
// told.
extension Deriver {
    /// What a waiter that joined a result wants of its source.
    mutating func tellSource(of node: ResultNode.ID, about waiter: Waiter, _ missed: MissedTiers) {
        guard let source = results[node].source, sources.contains(source) else { return }
        if !waiter.wishes.isEmpty { listen(to: source) }
        if !waiter.wishes.isDisjoint(with: .early) { look(at: source) }
        want(
            of: source, by: waiter.order, waitsForDisk: waiter.order.waitsForStores,
            storing: waiter.originalTiers, missed: missed.original(of: waiter.order))
    }

    /// Somebody wants to know how far its transfer is.
    private mutating func listen(to source: SourceNode.ID) {
        guard !sources[source].hasListeners else { return }
        sources[source].hasListeners = true
        if let job = sources[source].job { dispatcher.listen(to: job) }
    }

    /// Somebody wants to look at what has arrived of its bytes.
    private mutating func look(at source: SourceNode.ID) {
        guard !sources[source].early.isWanted else { return }
        sources[source].early.isWanted = true
        if let job = sources[source].job { dispatcher.look(at: job) }
    }

    /// What an overlay wants of its source: its original is kept like that of an image.
    mutating func tellSource(of node: DecodeNode.ID, about layer: Gathering.Layer) {
        guard let source = decodes[node].source, sources.contains(source) else { return }
        want(
            of: source, by: layer.order, waitsForDisk: false,
            storing: layer.order.image.originalStoreCacheTypes, missed: layer.missed)
    }

    private mutating func want(
        of source: SourceNode.ID, by order: Order, waitsForDisk: Bool, storing tiers: CacheTypes,
        missed: CacheTypes
    ) {
        let plain = order.names.plainOriginal
        let isNew = sources[source].storing.originals.enter(plain)
        if isNew { teachVariance(of: source, plain) }
        sources[source].storing.originals.noteMissing(missed, plain)
        if !tiers.isEmpty {
            sources[source].storing.originals.want(
                StorePolicy(
                    tiers: tiers, waitsForDisk: waitsForDisk, serializer: order.serializer,
                    tags: order.terms.tags),
                as: plain)
            storeOriginal(source)
        }
        if isNew, sources[source].isReplacing {
            removeUnreplacedOriginals(of: source, under: plain)
        }
    }

    // MARK: - Stores

    /// Stores a fetched source that decodes, in the tiers that are wanted and were not tried yet.
    /// With the cache's queue full it is not stored, which costs a miss at worst. Bytes that
    /// replace others are always stored.
    mutating func storeOriginal(_ node: SourceNode.ID) {
        guard sources.contains(node), let body = sources[node].body, body.isOriginal,
            sources[node].keeping != .nowhere, !sources[node].freshness.isOutdated,
            let info = sources[node].info,
            dispatcher.hasRoom(.cache) || sources[node].isReplacing
        else { return }
        let urgency = sources[node].consumers.urgency.unbounded
        while let wanted = sources[node].storing.originals.takeUnattempted() {
            // Where a serializer encodes the original anew, no tier takes the bytes as they are.
            let isOthers = isTranscoding(node, as: wanted.text)
            let tiers = isOthers ? .none : wanted.policy.plainTiers
            if transcodeOriginal(node, wanted.policy, as: wanted.text) || tiers.isEmpty { continue }
            let work = StoreWork(
                key: sources[node].text(of: wanted.text), source: body.reference, tiers: tiers,
                delivers: false, waitsForDisk: wanted.policy.waitsForDisk && tiers.contains(.disk),
                metadata: sources[node].metadata(info, tags: wanted.policy.tags))
            sources[node].storing.began(
                submit(.store(work), for: .original(node), reading: body.block, urgency),
                wanted.text)
        }
    }

    /// The original is not kept, although nothing is wrong with it.
    mutating func endStores(of node: SourceNode.ID) {
        for job in sources[node].storing.jobs.map(\.job) {
            abandon(job)
            sources[node].storing.ended(job, tiers: .none)
        }
    }
}
