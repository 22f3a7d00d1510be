import Model

// Processing of completions (PROTOCOL §8.4).
extension WorkGraph {
    /// Processes one completion of a job or departure of a worker. Returns `false` if there was
    /// none.
    func goOn() -> Bool {
        guard dispatcher.completions.count > 0, let completion = dispatcher.nextCompletion() else {
            return false
        }
        conclude(completion)
        return true
    }

    private func conclude(_ completion: Completion) {
        switch completion {
        case .began(let job, let serial):
            if case .source(let node) = purposes[job] { sources[node].freshness.began(serial) }
        case .progressed(let progress, let block): progressed(progress, block)
        case .ended(let job, let answer, let blocks):
            if advanceCompositeJob(job, answer, blocks) { return }
            changes.ended(job.id)
            // Only a composite job can be abandoned after its completion, and then its result has
            // no references: a worker's outcome is handled before anything else happens.
            guard let purpose = purposes.removeValue(forKey: job.id) else {
                return dispatcher.drop(blocks)
            }
            switch answer {
            case .success(let result): succeeded(purpose, job, result, blocks)
            case .failure(let error): failed(purpose, job, error)
            }
        case .workerGone(let departure): workerGone(departure)
        case .unclaimed(let reference, let cache): emit(.noticed(reference, cache))
        }
    }

    private func succeeded(
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
        case (.inquiry, .entry(let tiers)): emit(.answered(job.id, .tiers(tiers)))
        case (.inquiry, .entries(let page)): emit(.answered(job.id, .page(page)))
        // Data read before the removal may come from the removed entry.
        case (.removal(let work, _), .entry): outdateQueries(of: work.key)
        case (.renewal(let text), .entry): renewing.remove(text)
        case (.delivery(let node), .stored(let report)):
            results[node].timings.add(job)
            delivered(node, report, job)
        default: preconditionFailure("outcomes must match their jobs")
        }
    }

    private func sourceEnded(
        _ node: SourceNode.ID, _ result: JobResult, _ block: BlockHandle?
    ) {
        switch (result, block) {
        case (.fetched(let fetched), let block?):
            learnVariance(node, fetched)
            let body = SourceNode.Body(
                block, fetched: fetched,
                takesTags: sources[node].origin.terms?.takesTags ?? false)
            closeRefreshes(at: node)
            if isRefresh(node) { compare(node, body) } else { obtained(node, body) }
        case (.hit(let hit), let block?):
            shared.counters.originalHits += 1
            obtained(node, SourceNode.Body(block, hit: hit))
        default: sourceMissed(node)
        }
    }

    // MARK: - Failure

    /// Handles the failure of a job.
    private func failed(
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
        case .inquiry: emit(.answered(job.id, .failure(error)))
        case .renewal(let text): renewing.remove(text)
        case .partial(let node): partialFailed(node, error)
        case .removal(let work, let isRepeated): if !isRepeated { remove(work, isRepeated: true) }
        }
    }

    private func sourceFailed(_ node: SourceNode.ID, _ error: ImageError) {
        guard sources[node].origin.isFetched else { return sourceMissed(node) }
        if error.code == .cacheNotModified { notModified(node, error) }
        guard sources.contains(node) else { return }
        if error.code != .poisoned { notifyFailed(node, error) }
        tearDown(node, .fail(error))
    }

    private func decodeFailed(_ node: DecodeNode.ID, _ error: ImageError) {
        // A cached original that isn't an image counts as a miss (SEMANTICS §5.2). Bytes from an
        // external cache may be crafted to crash decoders: they are removed and not queried again.
        // The same applies to entries of the built-in cache that may have been promoted from there.
        if case .cache(let query) = decodes[node].name.origin {
            let isExternal =
                layout.mayHavePromoted(query.key)
                || decodes[node].source.flatMap { sources[$0].body?.block.worker }
                    .map { dispatcher.isExternalCache($0) } ?? false
            if isExternal, Self.meansNoGood(error) { removeOutdated(query.key, exceptIn: .none) }
            if error.code == .badImageData || (isExternal && Self.meansNoGood(error)) {
                return tearDown(node, .onward(decodes[node].timings, missed: nil))
            }
        }
        // An image that is too large for an overlay may still be valid by itself.
        let isOurs = decodes[node].name.key.isOverlay && error.code == .limitExceeded
        if let source = decodes[node].source, sources[source].body?.fetched != nil, !isOurs,
            error.code != .poisoned
        {
            notifyFailed(node, of: source, error)
        }
        tearDown(node, .fail(error))
    }

    /// Whether bytes from an external cache must not be tried again after this error.
    private static func meansNoGood(_ error: ImageError) -> Bool {
        [.badImageData, .poisoned, .workerLost].contains(error.code)
    }

    // MARK: - Progress

    /// Reports transfer progress to interested subscribers, and examines the data received so far.
    private func progressed(_ progress: JobProgress, _ block: BlockHandle?) {
        if case .source(let node) = purposes[progress.id], sources[node].hasListeners {
            notifyProgress(progress, of: node)
            if let block { lookAt(progress, block, of: node) }
        }
        if let block { dispatcher.drop(block) }
    }
}

// Cache misses of originals. If all subscribers would next fetch from the origin with the same
// terms, the nodes are kept and continue with the fetch instead of being torn down and rebuilt.
extension WorkGraph {
    /// Handles a miss or a failed query: all subscribers continue with the next stage, unless the
    /// original was stored in the meantime.
    func sourceMissed(_ node: SourceNode.ID) {
        if sources[node].freshness.isOvertaken {
            return obtain(node, sources[node].consumers.urgency)
        }
        if fetchInstead(node) { return }
        tearDown(node, .onward(sources[node].timings, missed: sources[node].queriedText))
    }

    /// Continues the same nodes with a fetch. Returns `false` if a subscriber must take another
    /// stage, would join other work, or would be refused.
    private func fetchInstead(_ node: SourceNode.ID) -> Bool {
        guard case .cache = sources[node].origin, let request = firstRequest(of: node),
            request.plan.includes(.fetch), mayBegin(request, instead: node)
        else { return false }
        let origin = request.network
        let timings = sources[node].timings
        emit(subscribers(of: node)) { .fetching(timings, $0) }
        for decode in sources[node].consumers.members {
            let name = DecodeName(key: decodes[decode].name.key, origin: origin)
            for result in decodes[decode].results {
                results.rename(result) { $0.name = $0.name.with(name) }
            }
            decodes.rename(decode) { $0.name = name }
        }
        sources[node].rename(origin, JobSpec(.fetch(fetchWork(request)), host: request.names.host))
        noteMissing(node)
        obtain(node, sources[node].consumers.urgency)
        return true
    }

    private func firstRequest(of node: SourceNode.ID) -> AdmittedRequest? {
        sources[node].consumers.members.first.flatMap { decodes[$0].results.first }
            .flatMap { results[$0].consumers.members.first?.request }
    }

    /// Whether the source may be fetched with this request's terms for all of its subscribers.
    private func mayBegin(_ request: AdmittedRequest, instead node: SourceNode.ID) -> Bool {
        let origin = request.network
        let isRoom =
            dispatcher.hasRoom(.download) && !dispatcher.isFull(.fetch)
            && !dispatcher.isFull(.decode) && !dispatcher.isFull(.transform)
            && !dispatcher.isFull(.store)
        guard isRoom, sources.serving(sources[node].key, origin) == nil else { return false }
        return !sources[node].consumers.contains { !mayFetch(request, origin, $0) }
    }

    private func mayFetch(
        _ request: AdmittedRequest, _ origin: ByteSource, _ decode: DecodeNode.ID
    ) -> Bool {
        let name = DecodeName(key: decodes[decode].name.key, origin: origin)
        guard !name.key.isOverlay, decodes.first(under: name) == nil else { return false }
        return decodes[decode].results.allSatisfy { result in
            let name = results[result].name.with(name)
            let isSame = !results[result].consumers.contains {
                $0.request !== request
                    && !($0.request.plan.includes(.fetch) && $0.request.network == origin)
            }
            return isSame && results.first(under: name) == nil && !isPoisoned(name)
        }
    }

    /// Records the missed tiers so that subscribers that join later don't query them again.
    private func noteMissing(_ node: SourceNode.ID) {
        for subscriber in subscribers(of: node) {
            sources[node].storing.originals.noteMissing(
                subscriber.request.plan.originalQueryTiers, subscriber.request.names.plainOriginal)
        }
    }
}

// Effects of a lost worker (SEMANTICS §7.4).
extension WorkGraph {
    /// Handles the departure of a worker. Its jobs go to other workers and its output is lost.
    /// Queued or running work that needs that output is torn down, and its subscribers start again.
    /// They find what has been stored meanwhile, so that no more is repeated than necessary.
    func workerGone(_ departure: Departure) {
        let worker = departure.worker
        if departure.pool == PoolID(.cache) { cacheGone(worker) }
        removeFromCompositeJobs(worker)
        giveUpPartials(after: departure)
        for node in results.ids
        where results.contains(node) && results[node].producer == worker {
            tearDown(node, .again)
        }
        // A result that ends also ends the decodes of its overlays.
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

    /// Handles the loss of a source's bytes: its stores and decodes are useless.
    private func lose(_ node: SourceNode.ID) {
        endStores(of: node)
        endTranscodes { $0.keepsSource && $0.source == node }
        guard sources.contains(node) else { return }
        tearDown(node, .again)
        tidy(node)
    }

    /// Handles the loss of the cache with its memory tier. Queries and deliveries wait for its
    /// return; images whose reply is still pending are produced again.
    private func cacheGone(_ worker: WorkerID) {
        emit(.withdrawn(.cacheGone(worker)))
        var lost: [Subscriber.ID] = []
        for node in sources.ids {
            lost += Self.removeLost(&sources[node].storing.watchers, with: worker)
        }
        for node in transcodes.ids {
            lost += Self.removeLost(&transcodes[node].watchers, with: worker)
        }
        if !lost.isEmpty { emit(.lost(lost)) }
    }

    /// Removes and returns the watchers whose image was in that cache; they no longer wait for a
    /// store.
    private static func removeLost(
        _ watchers: inout WatcherList, with cache: WorkerID
    ) -> [Subscriber.ID] {
        let leaving = watchers.seats { $0.cache == cache }
        return leaving.map { watchers.leave($0).id }
    }
}
