import Dispatching
import ImageModel
import Messages

// A result and those who want it, from joining to delivery.
extension Scheduler {
    /// Joins the result that is being made, or begins to make it.
    mutating func join(_ id: LiveRequest.ID, _ name: ResultName) {
        if let node = resultTable[name] {
            counters.coalesced.results += 1
            sit(id, at: node)
            spread(node)
        } else {
            if let error = refusal(toMake: name, of: requests[id].order) {
                return reply(id, .failure(error))
            }
            if isPoisoned(name) { return reply(id, .failure(Dispatcher.poisoned)) }
            let node = results.insert(ResultNode(name: name, for: requests[id]))
            resultTable[name] = node
            sit(id, at: node)
            takeOverlays(node, from: id)
            if let canvas = results[node].canvas { paint(node, canvas) } else { attach(node) }
        }
    }

    private mutating func sit(_ id: LiveRequest.ID, at node: ResultNode.ID) {
        let request = requests[id]
        let seat = results[node].waiters.join(id, request.urgency)
        requests[id].standing = .result(node, seat)
        results[node].wish.unite(request.storeWish)
        results[node].knownMissing.formUnion(request.missedTiers)
        if results[node].exists {
            leaveOverlays(id)
            waitsForSpace(node, true)
        }
        tellSource(of: node, about: request)
    }

    /// A delivery waits for space only as long as somebody waits for it: who reads large blocks may
    /// keep them for ever.
    mutating func waitsForSpace(_ node: ResultNode.ID, _ may: Bool) {
        if let job = results[node].job { dispatcher.waitsForSpace(job, may) }
    }

    /// A result needs pixels: those of the decode that is under way, or of a new one.
    private mutating func attach(_ node: ResultNode.ID) {
        let name = results[node].name.decode
        let urgency = results[node].waiters.urgency
        let isNew = decodeTable[name] == nil
        let decode =
            decodeTable[name]
            ?? decodes.insert(DecodeNode(name: name, trace: results[node].order.trace))
        decodeTable[name] = decode
        results[node].decode = decode
        results[node].seat = decodes[decode].results.join(node, urgency)
        if isNew {
            attach(decode, results[node].order)
        } else {
            counters.coalesced.decodes += 1
            spread(decode)
        }
        results[node].source = decodes[decode].source
        for id in results[node].waiters.waiters { tellSource(of: node, about: requests[id]) }
        if case .decoded = decodes[decode].state { usePixels(node) }
    }

    /// A picture of one colour needs no pixels.
    private mutating func paint(_ node: ResultNode.ID, _ canvas: Canvas) {
        let work = PaintWork(
            colour: canvas.colour, size: canvas.size, output: results[node].name.key.output,
            limits: limits.image)
        if let error = work.refusal(atMost: limits.encodingCostMax) {
            if let source = results[node].source { storeOriginal(source) }
            return dissolve(node, .fail(error))
        }
        let job = submit(
            .paint(work), for: .transform(node), reading: nil, results[node].waiters.urgency,
            suspect: .transform(results[node].name.key))
        results[node].beganTransform(job)
    }

    /// The pixels are there: steps and encode. The facts are there: they are the result, or the
    /// source's bytes are.
    mutating func usePixels(_ node: ResultNode.ID) {
        guard let decode = results[node].decode else {
            preconditionFailure("a result waits at its decode until the pixels are there")
        }
        results[node].isMade(of: provenance(of: node, decodes[decode].provenance))
        results[node].timings += decodes[decode].timings
        guard let pixels = decodes[decode].pixels else { return useFacts(node) }
        let overlays = overlays(of: node)
        let key = results[node].name.key
        let work = TransformWork(
            pixels.pixels, pixels.info, key.steps, over: overlays, key.output, limits.image)
        if let error = work.refusal(atMost: limits.encodingCostMax) {
            return dissolve(node, .fail(error))
        }
        let job = submit(
            .transform(work), for: .transform(node), reading: pixels.block,
            beside: overlays.map(\.block), results[node].waiters.urgency,
            suspect: .transform(results[node].name.key))
        results[node].beganTransform(job)
    }

    /// Only the header was needed: the result is the facts, or the source as it came.
    private mutating func useFacts(_ node: ResultNode.ID) {
        guard let id = results[node].source, sources.contains(id), let info = sources[id].info,
            let body = sources[id].body
        else { preconditionFailure("facts are used in the event that brought them") }
        guard results[node].order.plan.includes(.deliver) else {
            return completeFacts(node, id, info)
        }
        let metadata = sources[id].metadata(info)
        // Before the decode is left: the source stays for this delivery.
        sources[id].beganDelivery(
            storing: results[node].wish.tiers, as: results[node].order.names.plainResult)
        leaveDecode(node)
        deliver(node, ResultNode.Product(body.block, body.reference, metadata))
    }

    private mutating func completeFacts(
        _ node: ResultNode.ID, _ source: SourceNode.ID, _ info: ImageInfo
    ) {
        storeOriginal(source)
        let result = results[node]
        let image = DeliveredImage(
            reference: nil, info: info, cacheType: result.provenance.tier,
            key: CacheKey.key(inStored: result.text),
            storedTiers: sources[source].originals.stored(result.order.names.plainOriginal))
        retire(node)
        complete(result.waiters.waiters, image, nil, result)
    }

    /// The result exists: the pixels are needed no more, nor by those who wait for it. Where it is
    /// lost they begin again, and gather anew.
    mutating func transformed(
        _ node: ResultNode.ID, _ image: EncodedImage, _ block: BlockHandle
    ) {
        let mark = results[node].provenance.mark
        let metadata = StoredMetadata(
            info: image.info, etag: mark.etag, lastModified: mark.lastModified)
        transcodePixels(of: node, metadata)
        leaveDecode(node)
        leaveOverlays(node)
        for id in results[node].waiters.waiters { leaveOverlays(id) }
        deliver(node, ResultNode.Product(block, image.reference, metadata))
    }

    /// Has the cache copy the result to where clients read, under its key unless no tier may keep
    /// it. It is finished whoever still waits.
    mutating func deliver(_ node: ResultNode.ID, _ product: ResultNode.Product) {
        if results[node].isOriginal { transcodeBody(of: node, product) }
        removeOutdatedResult(of: node)
        let tiers = results[node].plainTiers
        let work = StoreWork(
            key: tiers.isEmpty ? nil : results[node].text, source: product.reference,
            tiers: tiers, delivers: true,
            waitsForDisk: results[node].wish.waitsForDisk && tiers.contains(.disk),
            metadata: product.metadata)
        let job = submit(
            .store(work), for: .delivery(node), reading: product.block,
            results[node].waiters.urgency, maker: .transform(results[node].name.key))
        results[node].beganDelivery(job, of: product)
    }

    /// What a refresh found outdated, and no store of this result takes the place of, is removed.
    /// A serializer that is at work sees to that itself.
    private mutating func removeOutdatedResult(of node: ResultNode.ID) {
        let result = results[node]
        guard result.name.origin.isRevalidation, !result.provenance.isOutdated else { return }
        if result.provenance.keeping == .nowhere {
            removeOutdated(result.order.names.result, exceptIn: .none)
        } else if result.transcode == nil, result.transcoded.isEmpty {
            removeOutdated(result.text, exceptIn: result.plainTiers)
        }
    }

    /// The copy is where clients read: they are answered. Who came while it was being made and
    /// wants it kept in other tiers than it was, waits for another round.
    mutating func delivered(
        _ node: ResultNode.ID, _ report: StoreReport, _ job: Completion.Ended
    ) {
        guard let reference = report.delivered, let product = results[node].product,
            let cache = job.worker
        else {
            preconditionFailure("a delivery was asked for and was checked")
        }
        resultBlocks.notice(reference, of: cache)
        let block = BlockHandle(worker: cache, block: reference.block)
        let result = results[node]
        if !report.tiers.isEmpty {
            overtakeQueries(of: result.text, result.name.key.decode.source)
            if result.name.origin.isRevalidation { outdateQueries(of: result.text) }
        }
        let image = DeliveredImage(
            reference: reference, info: product.metadata.info, cacheType: result.provenance.tier,
            key: CacheKey.key(inStored: result.text),
            storedTiers: report.tiers.union(result.transcoded))
        let waiters = result.waiters.waiters
        let served = waiters.filter { result.serves(requests[$0].storeWish) }
        // With all of them goes the list, which need not be told of each.
        let isLast = served.count == waiters.count
        if !isLast { for id in served { leaveResult(id) } }
        complete(served, image, block, result)
        if isLast { retire(node) } else { deliver(node, product) }
    }

    /// Requests have their image. Who has to wait for a store begins at once; replies follow.
    private mutating func complete(
        _ ids: [LiveRequest.ID], _ image: DeliveredImage, _ block: BlockHandle?,
        _ result: ResultNode
    ) {
        let waiting = ids.filter {
            requests[$0].waitsForStores
                && (result.name.origin.isFetched || !requests[$0].plan.refreshes)
        }
        guard !waiting.isEmpty else {
            return later(.made(image, result), ids, block: block)
        }
        let early = Set(waiting)
        for id in waiting {
            requests[id].standing = .moving
            complete(id, image, block, result)
        }
        later(.made(image, result), ids.filter { !early.contains($0) }, block: block)
    }

    /// The request has its image. Under `waitStoreCache` it waits for the original, too.
    mutating func complete(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?, _ result: ResultNode
    ) {
        leaveOverlays(id)
        requests[id].timings += result.timings
        if result.provenance.tier != .none { counters.originalUses += 1 }
        var image = image
        if !requests[id].waitsForStores { image.storedTiers = nil }
        if !result.name.origin.isFetched, requests[id].plan.refreshes {
            return answerCached(
                id, image, block, Refreshing(mark: result.provenance.mark, tiers: .none))
        }
        guard requests[id].waitsForStores else { return answer(id, image, block) }
        if let block { resultBlocks.hold(block) }
        let source = requests[id].plan.includes(.storeOriginal) ? result.source : nil
        requests[id].pending = LiveRequest.Pending(image, block, source)
        guard let transcode = result.transcode else { return awaitOriginal(id) }
        requests[id].standing = .transcode(transcode, transcodes[transcode].watchers.join(id))
    }

    /// A request that has its image waits for the store of the original, if there is one.
    mutating func awaitOriginal(_ id: LiveRequest.ID) {
        guard let pending = requests[id].pending else {
            preconditionFailure("who waits for stores has its image")
        }
        guard let source = pending.source, sources.contains(source), sources[source].isStoring
        else { return later(.pending, [id]) }
        requests[id].standing = .original(source, sources[source].watchers.join(id))
    }

    /// Nothing is waited for any more.
    mutating func answerPending(_ id: LiveRequest.ID) {
        guard let pending = requests[id].pending else {
            preconditionFailure("who waits for stores has its image")
        }
        requests[id].pending = nil
        answer(id, pending.image, pending.block)
        if let block = pending.block { letGo(block) }
    }

    // MARK: - Leaving

    /// A request leaves its result, which may go on without it.
    mutating func leaveResult(_ id: LiveRequest.ID) {
        guard case .result(let node, let seat) = requests[id].standing else {
            preconditionFailure("a request leaves the result at which it waits")
        }
        results[node].waiters.leave(seat)
        requests[id].standing = .moving
    }

    /// A result needs no pixels any more.
    private mutating func leaveDecode(_ node: ResultNode.ID) {
        guard let decode = results[node].decode, let seat = results[node].seat else { return }
        results[node].decode = nil
        results[node].seat = nil
        decodes[decode].results.leave(seat)
        if decodes[decode].isNeeded { spread(decode) } else { retire(decode) }
    }

    /// Nor those that are laid over them.
    private mutating func leaveOverlays(_ node: ResultNode.ID) {
        let seats = results[node].overlays
        results[node].overlays = []
        leave(seats)
    }

    /// The node is over: its job is of no use, and what it held is free.
    mutating func retire(_ node: ResultNode.ID) {
        leaveDecode(node)
        leaveOverlays(node)
        guard let result = results.remove(node) else { return }
        if !result.isClosed { resultTable[result.name] = nil }
        if let job = result.job { abandon(job) }
        guard let product = result.product else { return }
        guard result.isOriginal else { return drop(product.block) }
        if let source = result.source, sources.contains(source) {
            sources[source].endedDelivery()
            tidy(source)
        }
    }

    /// Its waiters want it more or less than before.
    mutating func spread(_ node: ResultNode.ID) {
        let urgency = results[node].waiters.urgency
        retune(results[node].job, urgency)
        guard let decode = results[node].decode, let seat = results[node].seat else { return }
        decodes[decode].results.update(seat, urgency)
        spread(decode)
    }
}
