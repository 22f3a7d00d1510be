import Model

// Delivery of a finished result to where clients read, and to the tiers that store it.
extension WorkGraph {
    /// Submits the delivery, under the result's key unless no tier may store it. The delivery
    /// finishes even if no subscriber is left.
    func deliver(_ node: ResultNode.ID, _ product: ResultNode.Product) {
        if results[node].isOriginal || results[node].chain != nil {
            transcodeBody(of: node, product)
        }
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

    /// Answers the subscribers after a delivery. If subscribers that joined meanwhile want other
    /// tiers, another delivery follows.
    func delivered(
        _ node: ResultNode.ID, _ report: StoreReport, _ job: Completion.Ended
    ) {
        guard let reference = report.delivered, let product = results[node].product,
            let cache = job.worker
        else {
            preconditionFailure("a delivery must have been requested and checked")
        }
        emit(.noticed(reference, cache))
        let block = BlockHandle(worker: cache, block: reference.block)
        let result = results[node]
        if !report.tiers.isEmpty {
            overtakeQueries(of: result.text, result.name.key.decode.source)
            if result.name.origin.isRevalidation { outdateQueries(of: result.text) }
        }
        var image = DeliveredImage(
            reference: reference, info: product.metadata.info, cacheType: result.provenance.tier,
            key: CacheKey.key(inStored: result.text),
            storedTiers: report.tiers.union(result.transcoded))
        (image.digest, image.isDamaged) = (report.digest, result.isDamaged)
        let served = results[node].consumers.removeAll { result.serves($0.storePolicy) }
        complete(served, image, block, result)
        if results[node].consumers.isEmpty { retire(node) } else { deliver(node, product) }
    }

    /// Completes subscribers. Those with `waitStoreCache` start waiting for the remaining stores
    /// before they are answered.
    func complete(
        _ subscribers: [Subscriber], _ image: DeliveredImage, _ block: BlockHandle?,
        _ result: ResultNode
    ) {
        let product = FinishedProduct(
            image: image, timings: result.timings, provenance: result.provenance,
            isFetched: result.name.origin.isFetched, decoded: result.decoded,
            transformed: result.transformed)
        let isLast = { (subscriber: Subscriber) in
            product.isFetched || !subscriber.request.plan.refreshes
        }
        for subscriber in subscribers where subscriber.request.waitsForStores && isLast(subscriber)
        {
            emit(.kept(product, block, subscriber.id, standBy(subscriber, result, image, block)))
        }
        notify(
            subscribers.filter { !$0.request.waitsForStores || !isLast($0) }, .produced(product),
            block: block)
    }

    /// Sets whether the delivery may wait for space. It may only while there are subscribers,
    /// because readers can retain large blocks indefinitely.
    func waitsForSpace(_ node: ResultNode.ID, _ may: Bool) {
        if let job = results[node].job { mayWaitForSpace(job, may) }
    }
}

/// A subscriber that has its image and waits for stores before it is answered.
struct Watcher: Sendable {
    let id: Subscriber.ID
    /// The cache that has the image; `nil` for image properties.
    let cache: WorkerID?
    /// The source whose store to wait for after the serialization.
    let source: SourceNode.ID?
    /// The text of the original if only that is stored.
    let original: String?
    /// Tiers that have stored it so far.
    var stored: CacheTypes
}

typealias WatcherList = StableArray<Watcher>

/// A watcher whose stores have finished, and the tiers that have its image.
struct Stored: Sendable {
    let id: Subscriber.ID
    let tiers: CacheTypes
}

// Watchers: subscribers that have their image and wait for stores (`waitStoreCache`).
extension WorkGraph {
    /// Makes a subscriber with `waitStoreCache` a watcher of the serialization of its image and of
    /// the store of the original.
    func standBy(
        _ subscriber: Subscriber, _ result: ResultNode, _ image: DeliveredImage,
        _ block: BlockHandle?
    ) -> Place? {
        let request = subscriber.request
        let watcher = Watcher(
            id: subscriber.id, cache: block?.worker,
            source: request.plan.includes(.storeOriginal) ? result.source : nil,
            original: request.image.infoOnly ? request.names.plainOriginal : nil,
            stored: image.storedTiers ?? .none)
        guard let transcode = result.transcode else { return awaitOriginal(watcher) }
        return .transcode(transcode, transcodes[transcode].watchers.join(watcher))
    }

    /// Makes a watcher wait for the store of the original, if there is one.
    func awaitOriginal(_ watcher: Watcher) -> Place? {
        guard let source = watcher.source, sources.contains(source),
            sources[source].storing.isUnderWay
        else { return nil }
        return .original(source, sources[source].storing.watchers.join(watcher))
    }

    /// Answers the watchers once no store of the original is in flight.
    func notifyStored(_ storing: OriginalStores) {
        guard !storing.watchers.isEmpty else { return }
        emit(
            .stored(
                storing.watchers.map { watcher in
                    Stored(
                        id: watcher.id,
                        tiers: watcher.original.map(storing.originals.stored) ?? watcher.stored)
                }))
    }
}
