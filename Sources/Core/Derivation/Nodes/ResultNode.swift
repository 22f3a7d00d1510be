package import Dispatching
package import ImageModel
import Messages
import Tables

/// One result, for all its waiters.
///
///     awaitingPixels ──pixels──► transforming ──bytes──► delivering ──► gone
///                                (one job, or the links of a chain one after another)
///           └─────────the result is the original────────────┘
///
/// An image of one colour needs no pixels, and begins with `transforming`.
///
/// From `delivering` on the result exists: it is stored although nobody may wait any more.
struct ResultNode: ClosableNode {
    static var table: WritableKeyPath<Deriver, NodeTable<ResultNode>> { \.results }

    enum State: Sendable {
        /// A decode is on its way.
        case awaitingPixels
        /// Steps and encode.
        case transforming(JobID)
        /// The cache copies it to where clients read, and stores it as wanted.
        case delivering(JobID, Product, StorePolicy)
    }

    /// The encoded bytes of the result, in the segment of the worker that made them.
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

    private(set) var name: ResultName
    var key: ResultName { name }
    /// Of the first waiter: headers as it wrote them; steps and output are the same for all.
    let order: Order
    private(set) var state = State.awaitingPixels
    var consumers = WaiterList<Waiter>()
    var policy: StorePolicy
    /// Tiers that were asked for the result, in vain.
    var knownMissing: CacheTypes = .none
    /// Its pixels, as long as it needs them.
    var need: Need<DecodeNode>?
    /// Where workers of somebody else do some of its steps: how far that is.
    var chain: StepChain?
    /// What is laid over the pixels, in the order of the steps, until it is.
    var overlays: [Need<DecodeNode>] = []
    /// Whether it is only for present waiters: others find no result of the name.
    var isClosed = false
    /// Its source, which may be gone once the result exists.
    var source: SourceNode.ID?
    /// Of the source's bytes.
    private(set) var provenance = Provenance()
    /// The text of the key under which it is stored; known once the source is.
    private(set) var text: String
    var timings = StageTimings()
    /// What was decoded for it and how it was made, as soon as it is known.
    var decoded: DecodeAccount?
    /// Whether pixels of its source are missing. It is kept nowhere then: a load that refuses
    /// damaged images must not find it, and its origin may have the whole image soon.
    var isDamaged = false
    var transformed: TransformAccount?
    /// What a serializer makes of it, while that is under way, and the tiers that have it.
    var transcode: TranscodeNode.ID?
    var transcoded = CacheTypes.none
    /// The partial image that is being made, and the bytes of the source in the last one.
    var partial: PartialNode.ID?
    var partialBytes: UInt64 = 0

    init(name: ResultName, for waiter: Waiter) {
        self.name = name
        order = waiter.order
        text = name.text
        policy = waiter.storePolicy
    }

    var decode: DecodeNode.ID? { need?.node }

    /// Once the result exists it is stored, whoever waits.
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

    /// Whose block it is made of, or that has it.
    var producer: WorkerID? { (product?.block ?? chain?.carried)?.worker }

    /// Whether the result exists, so that a cancel stops no work.
    var exists: Bool { product != nil }

    /// Whether the result is the source's own bytes.
    var isOriginal: Bool { !order.plan.includes(.transform) }

    /// The canvas that is painted, where no bytes are needed.
    var canvas: Canvas? {
        if case .canvas(let canvas) = name.origin { return canvas }
        return nil
    }

    /// Bytes of a transfer that began later replaced those that it is made of.
    mutating func outdate() { provenance.isOutdated = true }

    /// The source is known.
    mutating func isMade(of provenance: Provenance) {
        self.provenance = provenance
        if case .variant(let variant) = provenance.keeping {
            text = order.names.varied(by: variant).result
        }
    }

    /// The tiers that take the bytes as they are: none where they get what a serializer makes.
    var plainTiers: CacheTypes {
        transcode != nil || !transcoded.isEmpty ? .none : keptPolicy.plainTiers
    }

    /// How it is to be kept; nowhere, where the origin's answer depends on everything, or is
    /// outdated, and where it is damaged.
    var keptPolicy: StorePolicy {
        var policy = policy
        if provenance.keeping == .nowhere || provenance.isOutdated || isDamaged {
            policy.tiers = .none
        }
        return policy
    }

    /// Its bytes come from somewhere else.
    mutating func rename(_ origin: ByteSource) { name = name.with(origin) }

    mutating func beganTransform(_ job: JobID) { state = .transforming(job) }

    /// A store does what is wanted at its begin. A waiter that comes later and wants more gets
    /// another store.
    mutating func beganDelivery(_ job: JobID, of product: Product) {
        chain = nil
        state = .delivering(job, product, policy)
    }

    /// Whether the store that runs does for what a waiter wants of it.
    func serves(_ policy: StorePolicy) -> Bool {
        guard case .delivering(_, _, let running) = state else { return false }
        return running.covers(policy)
    }

    var remains: Remains {
        .result(
            overlays: overlays, product: isOriginal ? nil : product?.block,
            original: isOriginal && exists ? source : nil, partial: partial)
    }
}

// A waiter joins the result that is being made, or begins it.
extension Deriver {
    /// Joins the result that is being made of such bytes, or begins to make it. Throws why it
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
            obtainPixels(of: node, for: waiter, missed)
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

    /// A result needs pixels: those of the decode that is under way, or of a new one.
    private mutating func obtainPixels(
        of node: ResultNode.ID, for waiter: Waiter, _ missed: MissedTiers
    ) {
        let name = results[node].name.decode
        let known = decodes.first(under: name)
        let decode =
            known ?? decodes.insert(DecodeNode(name: name, waiter.order.logContext))
        link(node, to: decode, as: .result(node))
        if known == nil {
            obtainBytes(of: decode, waiter.order)
        } else {
            figures.joinedDecodes += 1
            propagate(decode)
        }
        results[node].source = decodes[decode].source
        tellSource(of: node, about: waiter, missed)
        if case .decoded = decodes[decode].state { usePixels(node) }
    }
}
