import Model

// Transform and encode: from the pixels of a result to its bytes.
extension WorkGraph {
    /// Paints a solid-color image, which needs no pixels unless an external worker encodes it.
    func paint(_ node: ResultNode.ID, _ canvas: Canvas) {
        var output = results[node].name.key.output
        if dispatcher.encodesElsewhere(output) {
            let info = ImageInfo(format: .pam, size: canvas.size)
            results[node].chain = StepChain([], of: info, encodesElsewhere: true)
            output = OutputOptions(format: .pam)
        }
        let work = PaintWork(
            color: canvas.color, size: canvas.size, output: output,
            limits: limits.image.narrowed(by: results[node].name.key.decode.limits)
        ).accepting(atMost: limits.encodingCostMax)
        if let error = work.refusal(atMost: limits.encodingCostMax) {
            if let source = results[node].source { storeOriginal(source) }
            return tearDown(node, .fail(error))
        }
        let job = submit(
            .paint(work), for: .transform(node), reading: nil, results[node].consumers.urgency,
            suspect: .transform(results[node].name.key))
        results[node].state = .transforming(job)
    }

    /// Continues with the transform once the decode has finished. If it returned only image
    /// properties, they are the result, or the source's bytes are.
    func usePixels(_ node: ResultNode.ID) {
        guard let decode = results[node].decode else {
            preconditionFailure("a result must wait at its decode for the pixels")
        }
        let decoded = decodes[decode].provenance
        results[node].recordProvenance(provenance(of: node, decoded))
        results[node].timings += decodes[decode].timings
        results[node].isDamaged = decodes[decode].isDamaged
        if let file = decodes[decode].file { return useFile(node, file) }
        guard let pixels = decodes[decode].pixels else { return useProperties(node) }
        results[node].decoded = DecodeAccount(pixels.info, pixels.frame.layout)
        let key = results[node].name.key
        // External workers receive a single image; animations are always encoded by built-in
        // workers.
        let isElsewhere = dispatcher.encodesElsewhere(key.output)
        results[node].chain = StepChain(
            key.steps, of: pixels.info,
            encodesElsewhere: isElsewhere && pixels.frame.layout.animation == nil)
        transform(node, pixels.frame, pixels.info, reading: pixels.block)
    }

    /// Submits the transform of the pixels, or its next link.
    private func transform(
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
        results[node].state = .transforming(job)
    }

    /// Continues with the next link of a chain; its job holds the pixels from then on.
    private func goOn(
        _ node: ResultNode.ID, with image: EncodedImage, in block: BlockHandle,
        _ chain: StepChain
    ) {
        guard let layout = image.pixelMap else {
            preconditionFailure("outcomes must match their jobs")
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

    /// Completes a result that needed only the header: the result consists of the image properties,
    /// or of the source's bytes.
    private func useProperties(_ node: ResultNode.ID) {
        guard let id = results[node].source, sources.contains(id), let info = sources[id].info,
            let body = sources[id].body
        else { preconditionFailure("properties must be used in the event that delivered them") }
        guard results[node].request.plan.includes(.deliver) else {
            let properties = results[node].decode.flatMap { decodes[$0].properties }
            return completeProperties(node, id, info, properties)
        }
        let metadata = sources[id].metadata(info, tags: results[node].policy.tags)
        // Registered before leaving the decode, so that the source stays for this delivery.
        sources[id].storing.deliveries += 1
        sources[id].storing.originals.attempt(
            results[node].policy.tiers, results[node].request.names.plainResult)
        leaveProvider(of: node)
        deliver(node, ResultNode.Product(body.block, body.reference, metadata))
    }

    private func completeProperties(
        _ node: ResultNode.ID, _ source: SourceNode.ID, _ info: ImageInfo,
        _ properties: ImageProperties?
    ) {
        storeOriginal(source)
        let result = results[node]
        var image = DeliveredImage(
            reference: nil, info: info, cacheType: result.provenance.tier,
            key: CacheKey.key(inStored: result.text),
            storedTiers: sources[source].storing.originals.stored(
                result.request.names.plainOriginal),
            properties: properties)
        image.isDamaged = result.isDamaged
        retire(node)
        complete(result.consumers.members, image, nil, result)
    }

    /// Handles the transformed result, which no longer needs its pixels. If the result is lost
    /// later, its subscribers start again and gather overlays again.
    func transformed(
        _ node: ResultNode.ID, _ image: EncodedImage, _ block: BlockHandle
    ) {
        let chain = results[node].chain
        if let chain, !chain.isLast { return goOn(node, with: image, in: block, chain) }
        results[node].transformed = image.account
        let source = chain?.source ?? results[node].decode.flatMap { decodes[$0].pixels?.info }
        let metadata = results[node].provenance.metadata(
            image.info.derived(from: source), tags: results[node].policy.tags)
        transcodePixels(of: node, metadata)
        produced(node, ResultNode.Product(block, image.reference, metadata))
    }

    /// Uses the file that the decoder returned as the result.
    private func useFile(_ node: ResultNode.ID, _ file: DecodeNode.File) {
        let metadata = results[node].provenance.metadata(
            file.info, tags: results[node].policy.tags)
        dispatcher.hold(file.block)
        produced(node, ResultNode.Product(file.block, file.reference, metadata))
    }

    /// Delivers the finished result and releases its inputs.
    private func produced(_ node: ResultNode.ID, _ product: ResultNode.Product) {
        leaveProvider(of: node)
        leaveOverlays(of: node)
        for subscriber in results[node].consumers.members { leaveOverlays(subscriber.id) }
        deliver(node, product)
    }
}

/// The chain of jobs for a result of which external workers run some steps or the encode. Each link
/// is one job of one worker. Between links, images are passed as uncompressed PAM, with the
/// orientation applied.
///
///     built-in: preceding steps ──► external: one step ──► built-in: remaining steps and encode
///                                                      └──► external: encode
///
/// External links may follow each other. The first link is built-in, even without steps, because it
/// converts the decoded image to PAM. So is the last one, unless an external pool is granted the
/// format.
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

    /// The properties of the image from which the pixels of the first link were decoded.
    let source: ImageInfo
    private let links: [Link]
    /// The current link.
    private var index = 0
    /// The output of the previous link; the job of the current link holds it.
    private(set) var carried: BlockHandle?

    /// Returns `nil` if built-in workers run everything. `encodesElsewhere` means that an external
    /// worker encodes the result.
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

    /// Whether the current link produces the result.
    var isLast: Bool { index == links.count - 1 }

    /// Whether an external worker runs the current link.
    var isExternal: Bool {
        if case .ours = links[index] { false } else { true }
    }

    /// Continues with the next link; `carried` is the output of the finished one.
    mutating func goOn(with carried: BlockHandle) {
        index += 1
        self.carried = carried
    }

    /// Returns the overlays that the current link applies.
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

    /// Returns the part of the steps and encode that the current link runs.
    func link(of whole: TransformWork) -> TransformWork {
        var work = whole
        work.steps = Array(whole.steps[links[index].steps])
        if !isLast { work.output = OutputOptions(format: .pam) }
        return work
    }
}
