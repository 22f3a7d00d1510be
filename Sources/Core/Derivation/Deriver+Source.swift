import Dispatching
import ImageModel
import Messages
import Tables

// The bytes of a source, from fetch or query to the store of the original.
extension Deriver {
    /// The source of those bytes that is there, or on its way. What a refresh brought is as good
    /// as a transfer of one's own, but no answer to a refresh that begins later.
    func source(_ name: Sourced<SourceKey>) -> SourceNode.ID? {
        let known = sources.all(under: name.key).filter {
            sources[$0].name.origin.terms == name.origin.terms && !sources[$0].freshness.isClosed
        }
        let isPlain = name.origin.isNetwork
        if isPlain, let newest = known.first(where: { sources[$0].isReplacing }) { return newest }
        let same = known.first {
            sources[$0].name.origin == name.origin
                && !(name.origin.isRevalidation && sources[$0].kept != nil)
        }
        if let same { return same }
        guard name.origin.isUnconditional else { return nil }
        return known.first {
            sources[$0].name.origin.isUnconditional && (isPlain || sources[$0].kept == nil)
        }
    }

    /// Whether the bytes are here already, or are being fetched since the cache does not have them.
    package func isFetching(_ order: Order) -> Bool {
        let name = Sourced(key: order.key.decode.source, origin: order.network)
        guard let node = source(name) else { return false }
        return sources[node].body != nil
            || order.plan.originalQueryTiers.isSubset(
                of: sources[node].storing.originals.missing(order.names.plainOriginal))
    }

    /// Begins to obtain bytes: from the URL, or from the cache, unless they came along.
    mutating func beginSource(
        _ name: Sourced<SourceKey>, _ order: Order, _ urgency: Urgency
    ) -> SourceNode.ID {
        if let upload = order.upload { return hold(upload, as: name, order) }
        let work: JobWork =
            switch name.origin {
            case .cache(let query): .query(query)
            case .network: .fetch(fetchWork(order))
            case .revalidation(let mark, _): .fetch(fetchWork(order, mark.validators))
            case .canvas: preconditionFailure("a canvas is painted and needs no bytes")
            }
        // The job follows at once; it needs to know the node.
        let spec = JobSpec(work, host: name.origin.isFetched ? order.names.host : nil)
        let node = sources.insert(
            SourceNode(name: name, spec: spec, order: order, job: JobID(0)))
        obtain(node, urgency)
        return node
    }

    /// Gives its work out.
    mutating func obtain(_ node: SourceNode.ID, _ urgency: Urgency) {
        guard let spec = sources[node].spec else {
            preconditionFailure("bytes that came along are there")
        }
        let name = sources[node].name
        let job = submit(
            spec, for: .source(node), reading: nil, urgency,
            suspect: name.origin.isFetched ? .fetch(name.key) : nil)
        sources[node].askAgain(job)
    }

    func fetchWork(_ order: Order, _ validators: Validators? = nil) -> FetchWork {
        FetchWork(
            url: order.image.url, headers: order.image.headers,
            bodyBytesMax: limits.bodyBytesMax, validators: validators,
            sources: order.terms.sources)
    }

    /// The source of bytes that came along has nothing to wait for.
    private mutating func hold(
        _ upload: Upload, as name: Sourced<SourceKey>, _ order: Order
    ) -> SourceNode.ID {
        dispatcher.hold(upload.block)
        return sources.insert(SourceNode(name: name, order: order, upload: upload))
    }

    /// What a waiter that joined a result wants of its source.
    mutating func tellSource(of node: ResultNode.ID, about waiter: Waiter, _ missed: MissedTiers) {
        guard let source = results[node].source, sources.contains(source) else { return }
        if waiter.wantsProgress { sources[source].hasListeners = true }
        tell(
            source, of: waiter.order, waitsForDisk: waiter.order.waitsForStores,
            storing: waiter.originalTiers, missed: missed.original(of: waiter.order))
    }

    /// What an overlay wants of its source: its original is kept like that of an image.
    mutating func tellSource(of node: DecodeNode.ID, about layer: Gathering.Layer) {
        guard let source = decodes[node].source, sources.contains(source) else { return }
        tell(
            source, of: layer.order, waitsForDisk: false,
            storing: layer.order.image.originalStoreCacheTypes, missed: layer.missed)
    }

    private mutating func tell(
        _ source: SourceNode.ID, of order: Order, waitsForDisk: Bool, storing tiers: CacheTypes,
        missed: CacheTypes
    ) {
        let plain = order.names.plainOriginal
        let isNew = sources[source].storing.originals.enter(plain)
        if isNew { teachVariance(of: source, plain) }
        sources[source].storing.originals.noteMissing(missed, plain)
        if !tiers.isEmpty {
            sources[source].storing.originals.want(
                StorePolicy(tiers: tiers, waitsForDisk: waitsForDisk, serializer: order.serializer),
                as: plain)
            storeOriginal(source)
        }
        if isNew, sources[source].isReplacing {
            removeUnreplacedOriginals(of: source, under: plain)
        }
    }

    /// The bytes are there: every decode begins.
    mutating func obtained(_ node: SourceNode.ID, _ body: SourceNode.Body) {
        sources[node].obtained(body)
        for decode in sources[node].consumers.members { beginDecode(decode) }
    }

    /// The cache does not have the original, or cannot say: everybody goes on to the next way,
    /// unless it was stored in the meantime.
    mutating func sourceMissed(_ node: SourceNode.ID) {
        if sources[node].freshness.isOvertaken {
            return obtain(node, sources[node].consumers.urgency)
        }
        if fetchInstead(node) { return }
        tearDown(node, .onward(sources[node].timings, missed: sources[node].queriedText))
    }

    // MARK: - The original

    /// Stores a fetched source that decodes, in the tiers that are wanted and were not tried yet.
    /// With the cache's queue full it is not stored: at worst a miss. What replaces other bytes is.
    mutating func storeOriginal(_ node: SourceNode.ID) {
        guard sources.contains(node), let body = sources[node].body, body.isOriginal,
            sources[node].keeping != .nowhere, !sources[node].freshness.isOutdated,
            let info = sources[node].info,
            dispatcher.hasRoom(.cache) || sources[node].isReplacing
        else { return }
        let urgency = sources[node].consumers.urgency.unbounded
        while let wanted = sources[node].storing.originals.takeUnattempted() {
            // Beside what a serializer makes no tier takes the bytes as they are.
            let isOthers = isTranscoding(node, as: wanted.text)
            let tiers = isOthers ? .none : wanted.policy.plainTiers
            if transcodeOriginal(node, wanted.policy, as: wanted.text) || tiers.isEmpty { continue }
            let work = StoreWork(
                key: sources[node].text(of: wanted.text), source: body.reference, tiers: tiers,
                delivers: false, waitsForDisk: wanted.policy.waitsForDisk && tiers.contains(.disk),
                metadata: sources[node].metadata(info))
            sources[node].storing.began(
                submit(.store(work), for: .original(node), reading: body.block, urgency),
                wanted.text)
        }
    }

    /// A store ended, well or not: `tiers` have the original now.
    mutating func originalStored(_ node: SourceNode.ID, _ job: JobID, tiers: CacheTypes) {
        let plain = sources[node].storing.ended(job, tiers: tiers)
        if let plain, !tiers.isEmpty {
            overtakeQueries(of: sources[node].text(of: plain), sources[node].name.key)
            if sources[node].isReplacing { outdateOthers(of: node) }
        }
        tidy(node)
    }

    // MARK: - Leaving

    /// Answers those who waited for the original, and lets go of bytes that nobody uses.
    mutating func tidy(_ node: SourceNode.ID) {
        guard sources.contains(node) else { return }
        if !sources[node].storing.isUnderWay {
            tellStored(sources[node].storing)
            sources[node].storing.watchers = WatcherList()
        }
        if !sources[node].isInUse { retire(node) }
    }

    /// Nothing of the original is on its way to a tier any more: nobody waits for that.
    mutating func tellStored(_ storing: OriginalStores) {
        guard !storing.watchers.isEmpty else { return }
        tell(
            .stored(
                storing.watchers.map { watcher in
                    Stored(
                        id: watcher.id,
                        tiers: watcher.original.map(storing.originals.stored) ?? watcher.stored)
                }))
    }

    /// The bytes were lost with their producer: stores and decodes of them are of no use.
    mutating func lose(_ node: SourceNode.ID) {
        for job in sources[node].storing.jobs.map(\.job) {
            abandon(job)
            sources[node].storing.ended(job, tiers: .none)
        }
        endTranscodes { $0.keepsSource && $0.material.source == node }
        guard sources.contains(node) else { return }
        tearDown(node, .again)
        tidy(node)
    }
}
