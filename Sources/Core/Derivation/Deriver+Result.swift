package import Dispatching
package import ImageModel
import Messages
import Tables

// A result and those who want it, from joining to delivery.
extension Deriver {
    /// Joins the result that is being made of such bytes, or begins to make it; throws why it
    /// cannot be begun.
    package mutating func join(
        _ waiter: Waiter, of origin: ByteSource, _ urgency: Urgency, missed: MissedTiers
    ) throws(ImageError) -> Place {
        let name = waiter.order.result(of: origin)
        if let node = results.first(under: name) {
            figures.joinedResults += 1
            let place = sit(waiter, at: node, urgency, missed)
            propagate(node)
            return place
        }
        if let error = refusal(toMake: name, of: waiter.order) { throw error }
        let node = results.insert(ResultNode(name: name, for: waiter))
        let place = sit(waiter, at: node, urgency, missed)
        takeOverlays(node, from: waiter.id, urgency)
        if let canvas = results[node].canvas {
            paint(node, canvas)
        } else {
            attach(node, for: waiter, missed)
        }
        return place
    }

    /// Whether a result is being made of such bytes, after those tiers were asked for it.
    package func isMaking(_ order: Order, of origin: ByteSource, afterAsking tiers: CacheTypes)
        -> Bool
    {
        guard let node = results.first(under: order.result(of: origin)) else { return false }
        return tiers.isSubset(of: results[node].knownMissing)
    }

    private mutating func sit(
        _ waiter: Waiter, at node: ResultNode.ID, _ urgency: Urgency, _ missed: MissedTiers
    ) -> Place {
        let seat = results[node].consumers.join(waiter, urgency)
        results[node].policy.unite(waiter.storePolicy)
        results[node].knownMissing.formUnion(missed.result)
        if results[node].exists {
            leaveOverlays(waiter.id)
            waitsForSpace(node, true)
        }
        tellSource(of: node, about: waiter, missed)
        return Place(.result(Need(node: node, seat: seat)))
    }

    /// A delivery waits for space only as long as somebody waits for it: who reads large blocks may
    /// keep them for ever.
    mutating func waitsForSpace(_ node: ResultNode.ID, _ may: Bool) {
        if let job = results[node].job { dispatcher.waitsForSpace(job, may) }
    }

    /// A result needs pixels: those of the decode that is under way, or of a new one.
    private mutating func attach(
        _ node: ResultNode.ID, for waiter: Waiter, _ missed: MissedTiers
    ) {
        let name = results[node].name.decode
        let known = decodes.first(under: name)
        let decode = known ?? decodes.insert(DecodeNode(name: name, trace: waiter.order.trace))
        join(decode, .result(node), for: node)
        if known == nil {
            attach(decode, waiter.order)
        } else {
            figures.joinedDecodes += 1
            propagate(decode)
        }
        results[node].source = decodes[decode].source
        tellSource(of: node, about: waiter, missed)
        if case .decoded = decodes[decode].state { usePixels(node) }
    }

    /// An image of one colour needs no pixels.
    private mutating func paint(_ node: ResultNode.ID, _ canvas: Canvas) {
        let work = PaintWork(
            colour: canvas.colour, size: canvas.size, output: results[node].name.key.output,
            limits: limits.image)
        if let error = work.refusal(atMost: limits.encodingCostMax) {
            if let source = results[node].source { storeOriginal(source) }
            return tearDown(node, .fail(error))
        }
        let job = submit(
            .paint(work), for: .transform(node), reading: nil, results[node].consumers.urgency,
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
            return tearDown(node, .fail(error))
        }
        let job = submit(
            .transform(work), for: .transform(node), reading: pixels.block,
            beside: overlays.map(\.block), results[node].consumers.urgency,
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
        sources[id].storing.beganDelivery(
            storing: results[node].policy.tiers, as: results[node].order.names.plainResult)
        leaveProvider(of: node)
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
            storedTiers: sources[source].storing.originals.stored(result.order.names.plainOriginal))
        retire(node)
        complete(result.consumers.members, image, nil, result)
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
        leaveProvider(of: node)
        leaveOverlays(node)
        for waiter in results[node].consumers.members { leaveOverlays(waiter.id) }
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
            waitsForDisk: results[node].policy.waitsForDisk && tiers.contains(.disk),
            metadata: product.metadata)
        let job = submit(
            .store(work), for: .delivery(node), reading: product.block,
            results[node].consumers.urgency, maker: .transform(results[node].name.key))
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
        tell(.noticed(reference, cache))
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
        let served = results[node].consumers.takeAll { result.serves($0.storePolicy) }
        complete(served, image, block, result)
        if results[node].consumers.isEmpty { retire(node) } else { deliver(node, product) }
    }

    /// Waiters have their image. Who has to wait for a store begins at once; replies follow.
    private mutating func complete(
        _ waiters: [Waiter], _ image: DeliveredImage, _ block: BlockHandle?, _ result: ResultNode
    ) {
        let made = Made(image, result)
        let isLast = { (waiter: Waiter) in made.isFetched || !waiter.order.plan.refreshes }
        for waiter in waiters where waiter.order.waitsForStores && isLast(waiter) {
            tell(.kept(made, block, waiter.id, standBy(waiter, result, image, block)))
        }
        tell(waiters.filter { !$0.order.waitsForStores || !isLast($0) }) {
            .made(made, block, $0)
        }
    }

    /// Under `waitStoreCache` who has its image waits for what a serializer makes of it, and for
    /// the original.
    private mutating func standBy(
        _ waiter: Waiter, _ result: ResultNode, _ image: DeliveredImage, _ block: BlockHandle?
    ) -> Place? {
        let order = waiter.order
        let watcher = Watcher(
            id: waiter.id, cache: block?.worker,
            source: order.plan.includes(.storeOriginal) ? result.source : nil,
            original: order.image.infoOnly ? order.names.plainOriginal : nil,
            stored: image.storedTiers ?? .none)
        guard let transcode = result.transcode else { return awaitOriginal(watcher) }
        return Place(.transcode(transcode, transcodes[transcode].watchers.join(watcher)))
    }

    /// Who has its image waits for the store of the original, if there is one.
    mutating func awaitOriginal(_ watcher: Watcher) -> Place? {
        guard let source = watcher.source, sources.contains(source),
            sources[source].storing.isUnderWay
        else { return nil }
        return Place(.original(source, sources[source].storing.watchers.join(watcher)))
    }

    // MARK: - Leaving

    /// A result needs no more what is laid over its pixels.
    private mutating func leaveOverlays(_ node: ResultNode.ID) {
        let seats = results[node].overlays
        results[node].overlays = []
        leave(seats)
    }
}
