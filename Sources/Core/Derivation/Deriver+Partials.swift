import Dispatching
import ImageModel
import Messages
import Tables

// Images of what has arrived so far, while the rest comes (SEMANTICS §2.11).
extension Deriver {
    /// Bytes have arrived. Where it is time to look at them, each result that wants to see
    /// something begins a partial image of them, as long as a decoder is free. Who has seen least
    /// goes first.
    mutating func lookAt(
        _ progress: JobProgress, _ block: BlockHandle, of node: SourceNode.ID
    ) {
        guard let arrived = progress.arrived, !sources[node].early.isGivenUp,
            sources[node].early.pace.permits(
                arrived.length, of: progress.isPreview ? arrived.length : progress.expected,
                at: now),
            dispatcher.isIdle(.decode)
        else { return }
        let eager = sources[node].consumers.members.flatMap { decodes[$0].results }
            .sorted { results[$0].partialBytes < results[$1].partialBytes }
        for result in eager {
            guard dispatcher.isIdle(.decode) else { return }
            beginPartial(of: result, progress, arrived, block, from: node)
        }
    }

    private mutating func beginPartial(
        of result: ResultNode.ID, _ progress: JobProgress, _ arrived: BlockReference,
        _ block: BlockHandle, from node: SourceNode.ID
    ) {
        guard results[result].partial == nil,
            arrived.length > results[result].partialBytes,
            let need = progress.isPreview
                ? preview(of: result) : early(of: result, progress.format, from: node)
        else { return }
        let key = results[result].name.key.decode
        let suspect = suspect(sources[node].name.key, need, in: block)
        guard !isSuspected(suspect, for: results[result].name) else { return }
        // A preview is other bytes: what becomes of it is no evidence against the image.
        let accused = progress.isPreview ? nil : suspect
        let work = DecodeWork(
            source: arrived, frame: key.frame, need: need, keeps: key.keeps,
            limits: limits.image.narrowed(by: key.limits), isPartial: !progress.isPreview)
        results[result].partialBytes = arrived.length
        sources[node].early.pace.begins(of: arrived.length)
        let partial = partials.insert(
            PartialNode(
                result: result, source: node, progress: progress, need: need, began: now))
        results[result].partial = partial
        partials[partial].job = submit(
            .decode(work), for: .partial(partial), reading: block, urgency(of: partial),
            suspect: accused)
    }

    /// What is to be made of the bytes: pixels, where somebody wants to see them and they can be
    /// shown; else what the header says, until that is known.
    private func early(
        of result: ResultNode.ID, _ format: ImageFormat?, from node: SourceNode.ID
    ) -> DecodeNeed? {
        let wishes = results[result].consumers.members.reduce(into: Waiter.Wishes()) {
            $0.formUnion($1.wishes)
        }
        if wishes.contains(.partials), results[result].name.key.isOurs,
            dispatcher.mayShowPartially(format)
        {
            let need = results[result].name.key.decode.need
            return need == .header ? .full : need
        }
        let isNew = sources[node].early.info == nil
        return isNew && !wishes.isDisjoint(with: .early) ? .header : nil
    }

    /// The pixels of a whole image, of whatever format, where somebody wants to see them. What it
    /// says of itself is not said of the image to come.
    private func preview(of result: ResultNode.ID) -> DecodeNeed? {
        let isWanted = results[result].consumers.members.contains { $0.wishes.contains(.partials) }
        guard isWanted, results[result].name.key.isOurs else { return nil }
        let need = results[result].name.key.decode.need
        return need == .header ? .full : need
    }

    /// Behind all that somebody waits for.
    private func urgency(of partial: PartialNode.ID) -> Urgency {
        let wanted = results[partials[partial].result].consumers.urgency
        return Urgency(priority: .low, deadline: wanted.deadline, flows: wanted.flows)
    }

    // MARK: - What comes of its jobs

    mutating func continuePartial(
        _ partial: PartialNode.ID, _ job: Completion.Ended, _ result: JobResult,
        _ blocks: ShortList<BlockHandle>
    ) {
        switch result {
        case .decoded(let image):
            encode(partial, image, blocks)
        case .transformed(let image):
            if let block = blocks.first { deliver(partial, image, block) }
        case .stored(let report):
            tellPartial(partial, report, job)
            endPartial(partial, .shown)
        default: endPartial(partial, .fruitless)
        }
        // A job that follows holds what it reads.
        dispatcher.drop(blocks)
    }

    private mutating func encode(
        _ partial: PartialNode.ID, _ image: DecodedImage, _ blocks: ShortList<BlockHandle>
    ) {
        let node = partials[partial]
        if !node.progress.isPreview, sources[node.source].early.learn(image.info) {
            tellProgress(node.progress, of: node.source)
        }
        guard let frame = image.frames.first, let block = blocks.first else {
            return endPartial(partial, node.need == .header ? .shown : .fruitless)
        }
        guard dispatcher.isIdle(.transform) else { return endPartial(partial) }
        let overlays = overlays(of: node.result)
        let info = node.need.info(ofPixels: image.info)
        let work = transformWork(of: node.result, frame, info, over: overlays)
        guard work.refusal(atMost: limits.encodingCostMax) == nil else {
            return endPartial(partial, .fruitless)
        }
        partials[partial].job = submit(
            .transform(work), for: .partial(partial), reading: block,
            beside: overlays.map(\.block), urgency(of: partial),
            suspect: .transform(results[node.result].name.key))
    }

    private mutating func deliver(
        _ partial: PartialNode.ID, _ image: EncodedImage, _ block: BlockHandle
    ) {
        partials[partial].info = image.info
        partials[partial].made = now
        let work = StoreWork(
            key: nil, source: image.reference, tiers: .none, delivers: true, waitsForDisk: false,
            metadata: StoredMetadata(info: image.info))
        partials[partial].job = submit(
            .store(work), for: .partial(partial), reading: block, urgency(of: partial),
            maker: .transform(results[partials[partial].result].name.key))
    }

    private mutating func tellPartial(
        _ partial: PartialNode.ID, _ report: StoreReport, _ job: Completion.Ended
    ) {
        let node = partials[partial]
        guard let reference = report.delivered, let cache = job.worker, let info = node.info
        else { return }
        tell(.noticed(reference, cache))
        var image = DeliveredImage(
            reference: reference, info: info, cacheType: .none,
            key: CacheKey.key(inStored: results[node.result].text))
        image.digest = report.digest
        let block = BlockHandle(worker: cache, block: reference.block)
        let bytes = node.progress.arrived?.length ?? 0
        figures.partials += 1
        tell(results[node.result].consumers.members.filter { $0.wishes.contains(.partials) }) {
            .partial(Transfer(source: node.source), image, block, bytes, $0)
        }
    }
}
