import Dispatching
import ImageModel
import Messages
import Tables

// The outcome of a decode.
extension Deriver {
    /// The source is proven to be an image: it is stored now, and every result uses the pixels.
    mutating func decoded(
        _ node: DecodeNode.ID, _ image: DecodedImage, _ blocks: ShortList<BlockHandle>
    ) {
        guard let source = decodes[node].source else {
            preconditionFailure("a decode keeps its source until it ends")
        }
        let isNews = sources[source].info == nil
        sources[source].info = image.info
        tellProven(node, source)
        decodes[node].isDamaged = image.isDamaged
        decodes[node].facts = image.facts?.only(decodes[node].name.key.facts.kinds)
        let need = decodes[node].name.key.need
        if let pixels = DecodeNode.Pixels(image, for: need, in: blocks) {
            keep(pixels, of: node)
        } else {
            decodes[node].file = DecodeNode.File(image, in: blocks)
            decodes[node].decoded(nil)
        }
        if decodes.contains(node) {
            for result in decodes[node].results { usePixels(result) }
        }
        // Whoever needed but the facts is answered, and the decode may be over.
        if decodes.contains(node) { cameOverlay(node) }
        storeOriginal(source)
        promoteOriginal(source)
        if isNews, sources.contains(source), sources[source].isReplacing {
            removeUnreplacedOriginals(of: source)
            outdateOthers(of: source)
        }
        if decodes.contains(node) { leaveProvider(of: node) }
        tidy(source)
    }

    /// Keeps pixels for as long as they are needed. Pixels of overlays have a budget of their own.
    private mutating func keep(_ pixels: DecodeNode.Pixels, of node: DecodeNode.ID) {
        guard decodes[node].name.key.isOverlay else { return decodes[node].decoded(pixels) }
        let holder = decodes[node].consumers.urgency.flows.first
        guard overlayBytes.admits(pixels.byteCount, for: holder) else {
            if let source = decodes[node].source { storeOriginal(source) }
            dispatcher.drop(pixels.blocks)
            return tearDown(node, .fail(Self.noOverlayRoom))
        }
        overlayBytes.keep(pixels.byteCount, for: holder)
        decodes[node].holder = holder
        decodes[node].decoded(pixels)
    }
}
