import Model

/// One result, shared by all of its subscribers.
///
///     awaitingPixels ──pixels──► transforming ──bytes──► delivering ──► gone
///                                (one job, or the links of a chain in sequence)
///           └─────────the result is the original────────────┘
///
/// A solid-color image needs no pixels and starts in `transforming`.
///
/// From `delivering` on, the result exists and is stored even if no subscriber is left.
struct ResultNode: ClosableNode {
    static func table(of graph: WorkGraph) -> NodeTable<ResultNode> { graph.results }

    enum State: Sendable {
        /// Waiting for a decode.
        case awaitingPixels
        /// Running the steps and the encoder.
        case transforming(JobID)
        /// The cache is copying the result to where clients read, and storing it in the requested
        /// tiers.
        case delivering(JobID, Product, StorePolicy)
    }

    /// The encoded bytes of the result, in the segment of the worker that produced them.
    final class Product: Sendable {
        let block: BlockHandle
        let reference: BlockReference
        let metadata: StoredMetadata

        init(_ block: BlockHandle, _ reference: BlockReference, _ metadata: StoredMetadata) {
            self.block = block
            self.reference = reference
            self.metadata = metadata
        }
    }

    var name: ResultName
    var key: ResultName { name }
    /// The request of the first subscriber. Header spelling may differ between subscribers; steps
    /// and output are the same for all.
    let request: AdmittedRequest
    var state = State.awaitingPixels
    var consumers = SubscriberList<Subscriber>()
    var policy: StorePolicy
    /// Tiers that were queried for the result and missed.
    var knownMissing: CacheTypes = .none
    /// The decode, while its pixels are needed.
    var need: Need<DecodeNode>?
    /// Progress through the steps if external workers run some of them.
    var chain: StepChain?
    /// The overlays in the order of the steps, until they are applied.
    var overlays: [Need<DecodeNode>] = []
    /// Whether no further subscriber may join; the result is no longer found by its name.
    var isClosed = false
    /// The source, which may be gone once the result exists.
    var source: SourceNode.ID?
    /// The provenance of the source's bytes.
    var provenance = Provenance()
    /// The text of the key under which the result is stored; final once the source is known.
    private(set) var text: String
    var timings = StageTimings()
    /// Accounts of the decode and the transform, once known.
    var decoded: DecodeAccount?
    /// Whether pixels are missing because the source is damaged. Such a result is not stored: loads
    /// that reject damaged images must not find it, and the origin may soon have the complete
    /// image.
    var isDamaged = false
    var transformed: TransformAccount?
    /// The serialization in progress, and the tiers that have stored it.
    var transcode: TranscodeNode.ID?
    var transcoded = CacheTypes.none
    /// The partial image in progress, and the number of source bytes in the latest one.
    var partial: PartialNode.ID?
    var partialBytes: UInt64 = 0

    init(name: ResultName, for subscriber: Subscriber) {
        self.name = name
        request = subscriber.request
        text = name.text
        policy = subscriber.storePolicy
    }

    var decode: DecodeNode.ID? { need?.node }

    /// A result that exists is stored even without subscribers.
    var isInUse: Bool { !consumers.isEmpty || exists }

    var job: JobID? {
        switch state {
        case .awaitingPixels: nil
        case .transforming(let job), .delivering(let job, _, _): job
        }
    }

    var product: Product? {
        if case .delivering(_, let product, _) = state { return product }
        return nil
    }

    /// The worker that produced the block from which the result is made or that holds it.
    var producer: WorkerID? { (product?.block ?? chain?.carried)?.worker }

    /// Whether the result exists, so that a cancel no longer stops work.
    var exists: Bool { product != nil }

    /// Whether the result is the source's own bytes.
    var isOriginal: Bool { !request.plan.includes(.transform) }

    /// The canvas to paint if no source bytes are needed.
    var canvas: Canvas? {
        if case .canvas(let canvas) = name.origin { return canvas }
        return nil
    }

    /// Sets the provenance once the source is known.
    mutating func recordProvenance(_ provenance: Provenance) {
        self.provenance = provenance
        if case .variant(let variant) = provenance.keeping {
            text = request.names.varied(by: variant).result
        }
    }

    /// The tiers that store the bytes as they are; none if they store a serialization.
    var plainTiers: CacheTypes {
        transcode != nil || !transcoded.isEmpty ? .none : keptPolicy.plainTiers
    }

    /// The effective store policy. Nothing is stored if the origin's response depends on
    /// everything, is outdated, or the image is damaged.
    var keptPolicy: StorePolicy {
        var policy = policy
        if provenance.keeping == .nowhere || provenance.isOutdated || isDamaged {
            policy.tiers = .none
        }
        return policy
    }

    /// Records the start of a delivery with the store policy at that time. Subscribers that join
    /// later and want more get another store.
    mutating func beganDelivery(_ job: JobID, of product: Product) {
        chain = nil
        state = .delivering(job, product, policy)
    }

    /// Whether the running store satisfies a subscriber's policy.
    func serves(_ policy: StorePolicy) -> Bool {
        guard case .delivering(_, _, let running) = state else { return false }
        return running.covers(policy)
    }

    func releaseResources(in graph: WorkGraph) {
        if let partial { graph.endPartial(partial) }
        for need in overlays { graph.leaveOverlay(need) }
        guard let product else { return }
        guard isOriginal else { return graph.dispatcher.drop(product.block) }
        guard let source, graph.sources.contains(source) else { return }
        graph.sources[source].storing.deliveries -= 1
        graph.tidy(source)
    }
}

// Joining or starting a result.
extension WorkGraph {
    /// Joins the result in production from these bytes, or starts it. Throws if it can't be
    /// started.
    func join(
        _ subscriber: Subscriber, of origin: ByteSource, _ urgency: Urgency
    ) throws(ImageError) -> Place {
        let name = subscriber.request.result(of: origin)
        if let node = results.first(under: name) {
            shared.counters.coalesced.results += 1
            let place = sit(subscriber, at: node, urgency)
            propagate(node)
            return place
        }
        if let error = refusal(toMake: name, of: subscriber.request) { throw error }
        let node = results.insert(ResultNode(name: name, for: subscriber))
        let place = sit(subscriber, at: node, urgency)
        joinOverlays(node, from: subscriber.id, urgency)
        if let canvas = results[node].canvas {
            paint(node, canvas)
        } else {
            obtainPixels(of: node, for: subscriber)
        }
        return place
    }

    /// Whether a result is being produced from these bytes and the given tiers have missed.
    func isMaking(
        _ request: AdmittedRequest, of origin: ByteSource, afterAsking tiers: CacheTypes
    ) -> Bool {
        // Without results, the name isn't even computed.
        guard results.count > 0, let node = results.first(under: request.result(of: origin)) else {
            return false
        }
        return tiers.isSubset(of: results[node].knownMissing)
    }

    private func sit(
        _ subscriber: Subscriber, at node: ResultNode.ID, _ urgency: Urgency
    ) -> Place {
        let seat = results[node].consumers.join(subscriber, urgency)
        results[node].policy.unite(subscriber.storePolicy)
        results[node].knownMissing.formUnion(subscriber.missed.result)
        if results[node].exists {
            leaveOverlays(subscriber.id)
            waitsForSpace(node, true)
        }
        notifySource(of: node, about: subscriber)
        return .result(Need(node: node, seat: seat))
    }

    /// Joins the decode of the pixels that the result needs, or starts one.
    private func obtainPixels(of node: ResultNode.ID, for subscriber: Subscriber) {
        let name = results[node].name.decode
        let known = decodes.first(under: name)
        let decode =
            known
            ?? decodes.insert(DecodeNode(name: name, logContext: subscriber.request.logContext))
        link(node, to: decode, as: .result(node))
        if known == nil {
            obtainBytes(of: decode, subscriber.request)
        } else {
            shared.counters.coalesced.decodes += 1
            propagate(decode)
        }
        results[node].source = decodes[decode].source
        notifySource(of: node, about: subscriber)
        if case .decoded = decodes[decode].state { usePixels(node) }
    }
}
