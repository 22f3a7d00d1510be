import ImageModel
import Messages

// A decode and the results that are made of its pixels.
extension Scheduler {
    /// A decode needs bytes: those of the source that is there, or of a new one.
    mutating func attach(_ node: DecodeNode.ID, for result: ResultNode) {
        let name = result.name.source
        let urgency = decodes[node].results.urgency
        let known = source(name)
        if known != nil { counters.coalesced.sources += 1 }
        let source = known ?? beginSource(name, for: result, urgency)
        decodes[node].source = source
        decodes[node].seat = sources[source].decodes.join(node, urgency)
        if sources[source].body != nil { beginDecode(node) } else if known != nil { spread(source) }
    }

    /// The bytes are there.
    mutating func beginDecode(_ node: DecodeNode.ID) {
        guard let source = decodes[node].source, let body = sources[source].body else {
            preconditionFailure("a decode begins when its source has arrived")
        }
        decodes[node].provenance = Provenance(
            tier: body.tier, mark: body.mark, keeping: sources[source].keeping)
        decodes[node].timings += sources[source].timings
        let work = DecodeWork(
            source: body.reference, need: decodes[node].name.key.need, limits: limits.image)
        let job = submit(
            .decode(work), for: .decode(node), reading: body.block,
            decodes[node].results.urgency,
            suspect: .decode(sources[source].name.key))
        decodes[node].began(job)
    }

    /// The source is proven to be an image: it is stored now, and every result uses the pixels.
    mutating func decoded(
        _ node: DecodeNode.ID, _ image: DecodedImage, _ block: BlockHandle?
    ) {
        guard let source = decodes[node].source else {
            preconditionFailure("a decode keeps its source until it ends")
        }
        let isNews = sources[source].info == nil
        sources[source].info = image.info
        leaveBlacklist(node, source)
        if let pixels = image.pixels, let block {
            decodes[node].decoded(DecodeNode.Pixels(block, pixels, image.info))
        } else {
            decodes[node].decoded(nil)
        }
        for result in decodes[node].results.waiters { usePixels(result) }
        storeOriginal(source)
        if isNews, sources.contains(source), sources[source].isReplacing {
            removeUnreplacedOriginals(of: source)
            outdateOthers(of: source)
        }
        if decodes.contains(node) { leaveSource(node) }
        tidy(source)
    }

    /// A decode needs no bytes any more.
    private mutating func leaveSource(_ node: DecodeNode.ID) {
        guard let source = decodes[node].source, let seat = decodes[node].seat else { return }
        decodes[node].seat = nil
        sources[source].decodes.leave(seat)
        if !sources[source].decodes.isEmpty { spread(source) }
    }

    /// The node is over: its job is of no use, and what it held is free.
    mutating func retire(_ node: DecodeNode.ID) {
        leaveSource(node)
        guard let decode = decodes.remove(node) else { return }
        decodeTable[decode.name] = nil
        if let job = decode.job { abandon(job) }
        if let pixels = decode.pixels { drop(pixels.block) }
        if let source = decode.source { tidy(source) }
    }

    /// Its results are wanted more or less than before.
    mutating func spread(_ node: DecodeNode.ID) {
        let urgency = decodes[node].results.urgency
        retune(decodes[node].job, urgency)
        guard let source = decodes[node].source, let seat = decodes[node].seat else { return }
        sources[source].decodes.update(seat, urgency)
        spread(source)
    }
}
