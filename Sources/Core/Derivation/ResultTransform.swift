import Dispatching
import ImageModel
import Messages
import Tables

// Steps and encode, from the pixels of a result to its bytes.
extension Deriver {
    /// An image of one colour needs no pixels, unless somebody else encodes it.
    mutating func paint(_ node: ResultNode.ID, _ canvas: Canvas) {
        var output = results[node].name.key.output
        if dispatcher.encodesElsewhere(output) {
            let info = ImageInfo(format: .pam, size: canvas.size)
            results[node].chain = StepChain([], of: info, encodesElsewhere: true)
            output = OutputOptions(format: .pam)
        }
        let work = PaintWork(
            colour: canvas.colour, size: canvas.size, output: output,
            limits: limits.image.narrowed(by: results[node].name.key.decode.limits)
        ).accepting(atMost: limits.encodingCostMax)
        if let error = work.refusal(atMost: limits.encodingCostMax) {
            if let source = results[node].source { storeOriginal(source) }
            return tearDown(node, .fail(error))
        }
        let job = submit(
            .paint(work), for: .transform(node), reading: nil, results[node].consumers.urgency,
            suspect: .transform(results[node].name.key))
        results[node].beganTransform(job)
    }

    /// The pixels are there: steps and encode follow. Where only facts came, they are the result,
    /// or the source's bytes are.
    mutating func usePixels(_ node: ResultNode.ID) {
        guard let decode = results[node].decode else {
            preconditionFailure("a result waits at its decode until the pixels are there")
        }
        let decoded = decodes[decode].provenance
        results[node].isMade(of: provenance(of: node, decoded))
        results[node].timings += decodes[decode].timings
        results[node].isDamaged = decodes[decode].isDamaged
        if let file = decodes[decode].file { return useFile(node, file) }
        guard let pixels = decodes[decode].pixels else { return useFacts(node) }
        results[node].decoded = DecodeAccount(pixels.info, pixels.frame.layout)
        let key = results[node].name.key
        // Workers of somebody else get one image: all frames are encoded by ours.
        let isElsewhere = dispatcher.encodesElsewhere(key.output)
        results[node].chain = StepChain(
            key.steps, of: pixels.info,
            encodesElsewhere: isElsewhere && pixels.frame.layout.animation == nil)
        transform(node, pixels.frame, pixels.info, reading: pixels.block)
    }

    /// Steps and encode of such pixels, or the next link of them.
    private mutating func transform(
        _ node: ResultNode.ID, _ frame: DecodedImage.Frame, _ info: ImageInfo,
        reading block: BlockHandle
    ) {
        let chain = results[node].chain
        var overlays = overlays(of: node)
        if let chain { overlays = chain.own(overlays, of: results[node].name.key.steps) }
        let work = transformWork(of: node, frame, info, over: overlays, linkOf: chain)
        if let error = work.refusal(atMost: limits.encodingCostMax) {
            return tearDown(node, .fail(error))
        }
        let job = submit(
            .transform(work), for: .transform(node), reading: block,
            beside: overlays.map(\.block), results[node].consumers.urgency,
            suspect: .transform(results[node].name.key))
        results[node].beganTransform(job)
    }

    /// A link is done: the next one reads its pixels, which its job holds from then on.
    private mutating func goOn(
        _ node: ResultNode.ID, with image: EncodedImage, in block: BlockHandle,
        _ chain: StepChain
    ) {
        guard let layout = image.pixelMap else {
            preconditionFailure("outcomes were checked against their jobs")
        }
        var (chain, info) = (chain, chain.source)
        (info.size, info.hasAlpha) = (image.info.size, image.info.hasAlpha)
        chain.goOn(with: block)
        results[node].chain = chain
        leaveProvider(of: node)
        transform(
            node, DecodedImage.Frame(reference: image.reference, layout: layout), info,
            reading: block)
        dispatcher.drop(block)
    }

    /// Only the header was needed: the result is the facts, or the source as it came.
    private mutating func useFacts(_ node: ResultNode.ID) {
        guard let id = results[node].source, sources.contains(id), let info = sources[id].info,
            let body = sources[id].body
        else { preconditionFailure("facts are used in the event that brought them") }
        guard results[node].order.plan.includes(.deliver) else {
            let facts = results[node].decode.flatMap { decodes[$0].facts }
            return completeFacts(node, id, info, facts)
        }
        let metadata = sources[id].metadata(info, tags: results[node].policy.tags)
        // Before the decode is left: the source stays for this delivery.
        sources[id].storing.beganDelivery(
            storing: results[node].policy.tiers, as: results[node].order.names.plainResult)
        leaveProvider(of: node)
        deliver(node, ResultNode.Product(body.block, body.reference, metadata))
    }

    private mutating func completeFacts(
        _ node: ResultNode.ID, _ source: SourceNode.ID, _ info: ImageInfo, _ facts: ImageFacts?
    ) {
        storeOriginal(source)
        let result = results[node]
        var image = DeliveredImage(
            reference: nil, info: info, cacheType: result.provenance.tier,
            key: CacheKey.key(inStored: result.text),
            storedTiers: sources[source].storing.originals.stored(result.order.names.plainOriginal),
            facts: facts)
        image.isDamaged = result.isDamaged
        retire(node)
        complete(result.consumers.members, image, nil, result)
    }

    /// The result exists, and no longer needs its pixels. Where the result is lost its waiters
    /// begin again, and gather overlays anew.
    mutating func transformed(
        _ node: ResultNode.ID, _ image: EncodedImage, _ block: BlockHandle
    ) {
        let chain = results[node].chain
        if let chain, !chain.isLast { return goOn(node, with: image, in: block, chain) }
        results[node].transformed = image.account
        let source = chain?.source ?? results[node].decode.flatMap { decodes[$0].pixels?.info }
        let metadata = metadata(of: node, image.info.made(of: source))
        transcodePixels(of: node, metadata)
        made(node, ResultNode.Product(block, image.reference, metadata))
    }

    /// The file that the decoder handed over is the result.
    private mutating func useFile(_ node: ResultNode.ID, _ file: DecodeNode.File) {
        let metadata = metadata(of: node, file.info)
        dispatcher.hold(file.block)
        made(node, ResultNode.Product(file.block, file.reference, metadata))
    }

    /// What is stored of a result beside its bytes.
    private func metadata(of node: ResultNode.ID, _ info: ImageInfo) -> StoredMetadata {
        let provenance = results[node].provenance
        var metadata = StoredMetadata(
            info: info, etag: provenance.mark.etag, lastModified: provenance.mark.lastModified,
            caching: provenance.caching)
        metadata.tags = CacheTag.union(results[node].policy.tags, provenance.tags)
        metadata.extendedData = provenance.extendedData
        return metadata
    }

    /// The result exists: what it was made of is no longer needed.
    private mutating func made(_ node: ResultNode.ID, _ product: ResultNode.Product) {
        leaveProvider(of: node)
        leaveOverlays(of: node)
        for waiter in results[node].consumers.members { leaveOverlays(waiter.id) }
        deliver(node, product)
    }
}

/// A result of which workers of somebody else do a part, steps or the encode: a row of links, each
/// of which one worker does. Between two links there are pixels as they are, PAM, as shown.
///
///     ours: the steps before ──► theirs: one step ──► ours: the steps after, and the encode
///                                                 └──► theirs: the encode
///
/// Theirs may follow each other. The first link is ours, also where it has no steps: whatever was
/// decoded becomes PAM. So is the last one, unless a pool of theirs is granted the format.
struct StepChain: Sendable {
    private enum Link: Sendable {
        case ours(Range<Int>)
        case step(Int)
        case encode

        var steps: Range<Int> {
            switch self {
            case .ours(let range): range
            case .step(let place): place..<place + 1
            case .encode: 0..<0
            }
        }
    }

    /// What the pixels of the first link were made of.
    let source: ImageInfo
    private let links: [Link]
    /// The link that is done now.
    private var index = 0
    /// What the link before made; the job of this one holds it.
    private(set) var carried: BlockHandle?

    /// `encodesElsewhere`: somebody else encodes it. `nil` where all of it is ours.
    init?(_ steps: [TransformStep], of source: ImageInfo, encodesElsewhere: Bool) {
        let customs = steps.indices.filter { steps[$0].isCustom }
        guard encodesElsewhere || !customs.isEmpty else { return nil }
        var links: [Link] = []
        var begin = 0
        for place in customs {
            if begin < place || links.isEmpty { links.append(.ours(begin..<place)) }
            links.append(.step(place))
            begin = place + 1
        }
        let isNeeded = begin < steps.count || links.isEmpty || !encodesElsewhere
        if isNeeded { links.append(.ours(begin..<steps.count)) }
        if encodesElsewhere { links.append(.encode) }
        self.links = links
        self.source = source
    }

    /// Whether what is made now is the result.
    var isLast: Bool { index == links.count - 1 }

    /// Whether workers of somebody else do what is done now.
    var isForeign: Bool {
        if case .ours = links[index] { false } else { true }
    }

    /// The link is done; it made that.
    mutating func goOn(with carried: BlockHandle) {
        index += 1
        self.carried = carried
    }

    /// What the link lays over its pixels, of what all of these steps do.
    func own(_ overlays: [DecodeNode.Pixels], of steps: [TransformStep]) -> [DecodeNode.Pixels] {
        guard !overlays.isEmpty else { return [] }
        let isOverlay = { (step: TransformStep) in
            if case .overlay = step { true } else { false }
        }
        let range = links[index].steps
        let before = steps[..<range.lowerBound].count(where: isOverlay)
        let own = steps[range].count(where: isOverlay)
        return Array(overlays.dropFirst(before).prefix(own))
    }

    /// What the link does of the steps and of the encode of all.
    func link(of whole: TransformWork) -> TransformWork {
        var work = whole
        work.steps = Array(whole.steps[links[index].steps])
        if !isLast { work.output = OutputOptions(format: .pam) }
        return work
    }
}
