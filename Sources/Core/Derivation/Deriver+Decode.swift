import Dispatching
import ImageModel
import Messages
import Tables

// A decode and the results that are made of its pixels.
extension Deriver {
    /// A decode needs bytes: those of the source that is there, or of a new one.
    mutating func attach(_ node: DecodeNode.ID, _ order: Order) {
        let name = Sourced(key: decodes[node].name.key.source, origin: decodes[node].name.origin)
        let known = source(name)
        if known != nil { figures.joinedSources += 1 }
        let source = known ?? beginSource(name, order, decodes[node].consumers.urgency)
        decodes[node].source = source
        join(source, node, for: node)
        if sources[source].body != nil {
            beginDecode(node)
        } else if known != nil {
            propagate(source)
        }
    }

    /// The bytes are there.
    mutating func beginDecode(_ node: DecodeNode.ID) {
        guard let source = decodes[node].source, let body = sources[source].body else {
            preconditionFailure("a decode begins when its source has arrived")
        }
        decodes[node].provenance = Provenance(
            tier: body.tier, mark: body.mark, keeping: sources[source].keeping,
            began: sources[source].freshness.began, isOutdated: sources[source].freshness.isOutdated
        )
        decodes[node].isVaried = sources[source].isVaried
        decodes[node].timings += sources[source].timings
        let key = decodes[node].name.key
        let work = DecodeWork(
            source: body.reference, need: key.need,
            limits: key.isOverlay ? limits.overlay : limits.image)
        let job = submit(
            .decode(work), for: .decode(node), reading: body.block,
            decodes[node].consumers.urgency,
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
        tellProven(node, source)
        if let pixels = image.pixels, let block {
            keep(pixels, block, image.info, of: node)
        } else {
            decodes[node].decoded(nil)
        }
        if decodes.contains(node) {
            for result in decodes[node].results { usePixels(result) }
        }
        // Whoever needed but the facts is answered, and the decode may be over.
        if decodes.contains(node) { cameOverlay(node) }
        storeOriginal(source)
        if isNews, sources.contains(source), sources[source].isReplacing {
            removeUnreplacedOriginals(of: source)
            outdateOthers(of: source)
        }
        if decodes.contains(node) { leaveProvider(of: node) }
        tidy(source)
    }

    /// Pixels are there, for as long as anybody needs them. Of those that are laid over others
    /// there are only so many.
    private mutating func keep(
        _ pixels: DecodedImage.Pixels, _ block: BlockHandle, _ info: ImageInfo,
        of node: DecodeNode.ID
    ) {
        guard decodes[node].name.key.isOverlay else {
            return decodes[node].decoded(DecodeNode.Pixels(block, pixels, info))
        }
        let (bytes, holder) = (pixels.reference.length, decodes[node].consumers.urgency.flows.first)
        guard overlayBytes.admits(bytes, for: holder) else {
            if let source = decodes[node].source { storeOriginal(source) }
            dispatcher.drop(block)
            return tearDown(node, .fail(Self.noOverlayRoom))
        }
        overlayBytes.keep(bytes, for: holder)
        decodes[node].holder = holder
        decodes[node].decoded(DecodeNode.Pixels(block, pixels, info))
    }

    /// Nobody joins it any more.
    mutating func close(_ node: DecodeNode.ID) {
        guard !decodes[node].isClosed else { return }
        decodes[node].isClosed = true
        decodes.hide(node)
    }
}
