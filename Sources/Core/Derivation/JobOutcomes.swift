import Dispatching
import ImageModel
import Messages
import Tables

// collect: what came of it? (PROTOCOL §8.4)
extension Deriver {
    /// Goes on with what became of one job, or of one worker; `false` where nothing did.
    package mutating func goOn() -> Bool {
        guard dispatcher.completions.count > 0, let completion = dispatcher.nextCompletion() else {
            return false
        }
        conclude(completion)
        return true
    }

    private mutating func conclude(_ completion: Completion) {
        switch completion {
        case .began(let job, let serial):
            if case .source(let node) = purposes[job] { sources[node].freshness.began(serial) }
        case .progressed(let progress, let block): progressed(progress, block)
        case .done(let job, let result, let blocks):
            if errandAnswered(job, .success(result), blocks) { return }
            changes.ended(job.id)
            guard let purpose = purposes.removeValue(forKey: job.id) else {
                return abandoned(result, blocks, at: job.worker)
            }
            succeeded(purpose, job, result, blocks)
        case .failed(let job, let error):
            if errandAnswered(job, .failure(error)) { return }
            changes.ended(job.id)
            if let purpose = purposes.removeValue(forKey: job.id) { failed(purpose, job, error) }
        case .workerGone(let departure): workerGone(departure)
        case .unclaimed(let reference, let cache): tell(.noticed(reference, cache))
        }
    }

    /// Nobody wants the result any more, because of something else in the same event.
    private mutating func abandoned(
        _ result: JobResult, _ blocks: ShortList<BlockHandle>, at worker: WorkerID?
    ) {
        dispatcher.drop(blocks)
        guard let worker else { return }
        for reference in result.references where reference.arena == .results {
            tell(.noticed(reference, worker))
        }
    }

    private mutating func succeeded(
        _ purpose: JobPurpose, _ job: Completion.Ended, _ result: JobResult,
        _ blocks: ShortList<BlockHandle>
    ) {
        switch (purpose, result) {
        case (.lookup(let node), .hit(let hit)): lookup(node, found: hit, job)
        case (.lookup(let node), _): lookupMissed(node, job)
        case (.validity(let node), .validity(let known)): validityKnown(node, known, job)
        case (.validity(let node), _): validityKnown(node, nil, job)
        case (.source(let node), _):
            sources[node].timings.add(job)
            sourceEnded(node, result, blocks.first)
        case (.comparing(let node), _):
            sources[node].timings.add(job)
            compared(node, result, blocks.first)
        case (.original(let node), .stored(let report)):
            originalStored(node, job.id, tiers: report.tiers)
        case (.transcode(let node), _): transcoded(node, result, blocks)
        case (.decode(let node), .decoded(let image)):
            decodes[node].timings.add(job)
            decoded(node, image, blocks)
        case (.transform(let node), .transformed(let image)):
            results[node].timings.add(job)
            if let block = blocks.first { transformed(node, image, block) }
        case (.partial(let node), _): continuePartial(node, job, result, blocks)
        case (.inquiry, .entry(let tiers)): tell(.answered(job.id, .tiers(tiers)))
        case (.inquiry, .entries(let page)): tell(.answered(job.id, .page(page)))
        // What was read before the removal may have come from there.
        case (.removal(let work, _), .entry): outdateQueries(of: work.key)
        case (.renewal(let text), .entry): renewing.remove(text)
        case (.delivery(let node), .stored(let report)):
            results[node].timings.add(job)
            delivered(node, report, job)
        default: preconditionFailure("outcomes were checked against their jobs")
        }
    }

    private mutating func sourceEnded(
        _ node: SourceNode.ID, _ result: JobResult, _ block: BlockHandle?
    ) {
        switch (result, block) {
        case (.fetched(let fetched), let block?):
            learnVariance(node, fetched)
            let body = SourceNode.Body(
                block, fetched: fetched,
                takesTags: sources[node].name.origin.terms?.takesTags ?? false)
            closeRefreshes(at: node)
            if isRefresh(node) { compare(node, body) } else { obtained(node, body) }
        case (.hit(let hit), let block?):
            figures.originalHits += 1
            obtained(node, SourceNode.Body(block, hit: hit))
        default: sourceMissed(node)
        }
    }

    // MARK: - Failure

    /// The job is over without a result.
    private mutating func failed(
        _ purpose: JobPurpose, _ job: Completion.Ended, _ error: ImageError
    ) {
        switch purpose {
        case .lookup(let node): lookupMissed(node, job)
        case .validity(let node): validityKnown(node, nil, job)
        case .source(let node): sourceFailed(node, error)
        case .comparing(let node): foundChanged(node)
        case .original(let node): originalStored(node, job.id, tiers: .none)
        case .transcode(let node): endTranscode(node)
        case .decode(let node): decodeFailed(node, error)
        case .transform(let node), .delivery(let node): tearDown(node, .fail(error))
        case .inquiry: tell(.answered(job.id, .failure(error)))
        case .renewal(let text): renewing.remove(text)
        case .partial(let node): partialFailed(node, error)
        case .removal(let work, let isRepeated): if !isRepeated { removeAgain(work) }
        }
    }

    private mutating func sourceFailed(_ node: SourceNode.ID, _ error: ImageError) {
        guard sources[node].name.origin.isFetched else { return sourceMissed(node) }
        if error.code == .cacheNotModified { notModified(node, error) }
        guard sources.contains(node) else { return }
        if error.code != .poisoned { tellFailed(node, error) }
        tearDown(node, .fail(error))
    }

    private mutating func decodeFailed(_ node: DecodeNode.ID, _ error: ImageError) {
        // A cached original that is no image is as good as none (SEMANTICS §5.2). What a cache of
        // others has may be made to kill decoders: it goes from there, and is not asked for again.
        // So does what our own may have from there.
        if case .cache(let query) = decodes[node].name.origin {
            let isForeign =
                layout.mayHavePromoted(query.key)
                || decodes[node].source.flatMap { sources[$0].body?.block.worker }
                    .map { dispatcher.isForeignCache($0) } ?? false
            if isForeign, Self.meansNoGood(error) { removeOutdated(query.key, exceptIn: .none) }
            if error.code == .badImageData || (isForeign && Self.meansNoGood(error)) {
                return tearDown(node, .onward(decodes[node].timings, missed: nil))
            }
        }
        // An image that is too large for an overlay may still be a good image by itself.
        let isOurs = decodes[node].name.key.isOverlay && error.code == .limitExceeded
        if let source = decodes[node].source, sources[source].body?.fetched != nil, !isOurs,
            error.code != .poisoned
        {
            tellFailed(node, of: source, error)
        }
        tearDown(node, .fail(error))
    }

    /// Whether bytes of others are not to be tried again.
    private static func meansNoGood(_ error: ImageError) -> Bool {
        [.badImageData, .poisoned, .workerLost].contains(error.code)
    }

    // MARK: - Progress

    /// Tells waiters that asked for progress how far their transfer is, and looks at what has
    /// arrived.
    private mutating func progressed(_ progress: JobProgress, _ block: BlockHandle?) {
        if case .source(let node) = purposes[progress.id], sources[node].hasListeners {
            tellProgress(progress, of: node)
            if let block { lookAt(progress, block, of: node) }
        }
        if let block { dispatcher.drop(block) }
    }
}

// The cache does not have an original. Where all waiters would ask its origin next, on the same
// terms, their nodes stay as they are and go on with the fetch. Nothing is torn down to be built
// again.
extension Deriver {
    /// The cache does not have the original, or cannot say: everybody goes on to the next way,
    /// unless it was stored in the meantime.
    mutating func sourceMissed(_ node: SourceNode.ID) {
        if sources[node].freshness.isOvertaken {
            return obtain(node, sources[node].consumers.urgency)
        }
        if fetchInstead(node) { return }
        tearDown(node, .onward(sources[node].timings, missed: sources[node].queriedText))
    }

    /// `false` where a waiter goes another way, would join work that is under way, or would be
    /// refused.
    private mutating func fetchInstead(_ node: SourceNode.ID) -> Bool {
        guard case .cache = sources[node].name.origin, let order = firstOrder(of: node),
            order.plan.includes(.fetch), mayBegin(order, instead: node)
        else { return false }
        let origin = order.network
        let timings = sources[node].timings
        tell(waiters(of: node)) { .fetching(timings, $0) }
        for decode in sources[node].consumers.members {
            for result in decodes[decode].results {
                results.rename(result) { $0.rename(origin) }
            }
            decodes.rename(decode) { $0.rename(origin) }
        }
        sources[node].rename(origin, JobSpec(.fetch(fetchWork(order)), host: order.names.host))
        noteMissing(node)
        obtain(node, sources[node].consumers.urgency)
        return true
    }

    private func firstOrder(of node: SourceNode.ID) -> Order? {
        sources[node].consumers.members.first.flatMap { decodes[$0].results.first }
            .flatMap { results[$0].consumers.members.first?.order }
    }

    /// Whether the source may be fetched by such an order, for all its waiters.
    private func mayBegin(_ order: Order, instead node: SourceNode.ID) -> Bool {
        let origin = order.network
        let isRoom =
            dispatcher.hasRoom(.download) && !dispatcher.isFull(.fetch)
            && !dispatcher.isFull(.decode) && !dispatcher.isFull(.transform)
            && !dispatcher.isFull(.store)
        guard isRoom, sources.serving(Sourced(key: sources[node].name.key, origin: origin)) == nil
        else {
            return false
        }
        return !sources[node].consumers.contains { !mayFetch(order, origin, $0) }
    }

    private func mayFetch(
        _ order: Order, _ origin: ByteSource, _ decode: DecodeNode.ID
    ) -> Bool {
        let name = Sourced(key: decodes[decode].name.key, origin: origin)
        guard !name.key.isOverlay, decodes.first(under: name) == nil else { return false }
        return decodes[decode].results.allSatisfy { result in
            let name = results[result].name.with(origin)
            let isSame = !results[result].consumers.contains {
                $0.order !== order
                    && !($0.order.plan.includes(.fetch) && $0.order.network == origin)
            }
            return isSame && results.first(under: name) == nil && !isPoisoned(name)
        }
    }

    /// Waiters that join later do not ask the same tiers again.
    private mutating func noteMissing(_ node: SourceNode.ID) {
        for waiter in waiters(of: node) {
            sources[node].storing.originals.noteMissing(
                waiter.order.plan.originalQueryTiers, waiter.order.names.plainOriginal)
        }
    }
}

// What is lost with a worker (SEMANTICS §7.4).
extension Deriver {
    /// A worker is gone. Another one does the jobs that it held. What it had made is lost. Work
    /// that needs that is given up, queued or running, and its waiters begin again. They find what
    /// was stored meanwhile, so that no more is repeated than must be.
    mutating func workerGone(_ departure: Departure) {
        let worker = departure.worker
        if departure.pool == PoolID(.cache) { cacheGone(worker) }
        errandsLose(worker)
        giveUpPartials(after: departure)
        for node in results.ids
        where results.contains(node) && results[node].producer == worker {
            tearDown(node, .again)
        }
        // A result that ends takes the decodes of its overlays with it.
        for node in decodes.ids
        where decodes.contains(node) && decodes[node].pixels?.block.worker == worker {
            tearDown(node, .again)
        }
        for node in sources.ids
        where sources.contains(node) && sources[node].kept?.block.worker == worker {
            lose(node)
        }
        endTranscodes { $0.reads(from: worker) }
        compareAgain(after: worker)
        dispatcher.redistribute(after: departure)
    }

    /// The bytes were lost with their producer: stores and decodes of them are of no use.
    private mutating func lose(_ node: SourceNode.ID) {
        endStores(of: node)
        endTranscodes { $0.keepsSource && $0.material.source == node }
        guard sources.contains(node) else { return }
        tearDown(node, .again)
        tidy(node)
    }

    /// The cache is gone, and with it everything that it had in memory. Queries and deliveries
    /// wait for its return; images whose reply has not gone out yet are made again.
    private mutating func cacheGone(_ worker: WorkerID) {
        tell(.cacheGone(worker))
        var lost: [Waiter.ID] = []
        for node in sources.ids {
            lost += Self.takeLost(&sources[node].storing.watchers, with: worker)
        }
        for node in transcodes.ids {
            lost += Self.takeLost(&transcodes[node].watchers, with: worker)
        }
        if !lost.isEmpty { tell(.lost(lost)) }
    }

    /// Takes out the watchers whose image was in that cache: they wait for no store any more.
    private static func takeLost(
        _ watchers: inout WatcherList, with cache: WorkerID
    ) -> [Waiter.ID] {
        let leaving = watchers.seats { $0.cache == cache }
        return leaving.map { watchers.leave($0).id }
    }
}
