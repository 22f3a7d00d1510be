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
