import Model

/// One decode, shared by all results made from its pixels or by all images that use them as an
/// overlay.
///
///     awaitingSource ──bytes──► decoding ──pixels──► decoded ──no consumers left──► gone
struct DecodeNode: ClosableNode {
    static func table(of graph: WorkGraph) -> NodeTable<DecodeNode> { graph.decodes }

    enum State: Sendable {
        /// The source isn't available yet.
        case awaitingSource
        /// The job is queued or running.
        case decoding(JobID)
        /// The pixels are available, or `nil` if only image properties were needed.
        case decoded(Pixels?)
    }

    /// The pixels of all returned frames; transformers read the first. One worker produced all of
    /// them.
    final class Pixels: Sendable {
        /// The blocks of the frames, in order.
        let blocks: ShortList<BlockHandle>
        /// The block of the first frame.
        let block: BlockHandle
        let frame: DecodedImage.Frame
        /// The total size of all blocks.
        let byteCount: UInt64
        /// The image properties that steps assume for the pixels.
        let info: ImageInfo

        /// Returns `nil` if the image has no frames.
        init?(_ image: DecodedImage, for need: DecodeNeed, in blocks: ShortList<BlockHandle>) {
            guard let block = blocks.first, let frame = image.frames.first else { return nil }
            (self.blocks, self.block, self.frame) = (blocks, block, frame)
            byteCount = image.frames.reduce(0) { $0 + $1.reference.length }
            info = need.info(ofPixels: image.info)
        }
    }

    /// A file that serves as the result for all consumers instead of pixels; they use it within the
    /// event that delivered it.
    struct File: Sendable {
        let block: BlockHandle
        let reference: BlockReference
        let info: ImageInfo

        /// Returns `nil` if there are pixels or no file.
        init?(_ image: DecodedImage, in blocks: ShortList<BlockHandle>) {
            guard let reference = image.file, let block = blocks.first else { return nil }
            (self.block, self.reference, info) = (block, reference, image.info)
        }
    }

    var name: DecodeName
    var key: DecodeName { name }
    /// Log context of the request that started the decode.
    let logContext: LogContext
    var state = State.awaitingSource
    /// The consumers of the pixels. All consumers of one name are of the same kind.
    var consumers = SubscriberList<PixelConsumer>()
    /// The flow to which the pixels of an overlay are charged.
    var holder: FlowID?
    /// Whether no further consumer may join; the decode is no longer found by its name.
    var isClosed = false
    /// The source, which may be gone after the decode.
    var source: SourceNode.ID?
    /// The source's bytes, until they are decoded.
    var need: Need<SourceNode>?
    /// The provenance of the source's bytes.
    var provenance = Provenance()
    /// Whether the bytes depend on request headers.
    var isVaried = false
    var timings = StageTimings()
    /// The requested image properties beyond those of the pixels.
    var properties: ImageProperties?
    /// The file returned instead of pixels.
    var file: File?
    /// Whether pixels are missing because the source is damaged.
    var isDamaged = false

    var job: JobID? {
        if case .decoding(let job) = state { return job }
        return nil
    }

    var pixels: Pixels? {
        if case .decoded(let pixels) = state { return pixels }
        return nil
    }

    /// Results made from the pixels.
    var results: [ResultNode.ID] {
        consumers.members.compactMap { if case .result(let id) = $0 { id } else { nil } }
    }

    /// The consumers that use the pixels as an overlay.
    var overlays: [PixelConsumer] {
        consumers.members.filter { if case .result = $0 { false } else { true } }
    }

    func releaseResources(in graph: WorkGraph) {
        if let file { graph.dispatcher.drop(file.block) }
        guard let pixels else { return }
        if let holder { graph.overlayBytes.giveBack(pixels.byteCount, of: holder.owner) }
        graph.dispatcher.drop(pixels.blocks)
    }
}

/// A consumer of a decode's pixels.
enum PixelConsumer: Hashable, Sendable {
    /// A result made from them.
    case result(ResultNode.ID)
    /// A subscriber with this index of the overlay.
    case subscriber(Subscriber.ID, Int)
    /// A result in production on which they are overlaid.
    case overlaid(ResultNode.ID)
}

// The outcome of a decode.
extension WorkGraph {
    /// Handles a successful decode: the source has proven to be an image and is stored, and all
    /// results use the pixels.
    func decoded(
        _ node: DecodeNode.ID, _ image: DecodedImage, _ blocks: ShortList<BlockHandle>
    ) {
        guard let source = decodes[node].source else {
            preconditionFailure("a decode must hold its source until it ends")
        }
        let isNews = sources[source].info == nil
        sources[source].info = image.info
        notifyProven(node, source)
        decodes[node].isDamaged = image.isDamaged
        decodes[node].properties = image.properties?.only(decodes[node].name.key.properties.kinds)
        let need = decodes[node].name.key.need
        if let pixels = DecodeNode.Pixels(image, for: need, in: blocks) {
            keep(pixels, of: node)
        } else {
            decodes[node].file = DecodeNode.File(image, in: blocks)
            decodes[node].state = .decoded(nil)
        }
        if decodes.contains(node) {
            for result in decodes[node].results { usePixels(result) }
        }
        // Consumers that only needed image properties are done, and the decode may have ended.
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

    /// Keeps pixels while they are needed. Overlay pixels have a separate budget.
    private func keep(_ pixels: DecodeNode.Pixels, of node: DecodeNode.ID) {
        guard decodes[node].name.key.isOverlay else {
            return decodes[node].state = .decoded(pixels)
        }
        let holder = decodes[node].consumers.urgency.flows.first
        guard overlayBytes.admits(pixels.byteCount, for: holder.owner) else {
            if let source = decodes[node].source { storeOriginal(source) }
            dispatcher.drop(pixels.blocks)
            return tearDown(node, .fail(Self.noOverlayRoom))
        }
        overlayBytes.take(pixels.byteCount, for: holder.owner)
        decodes[node].holder = holder
        decodes[node].state = .decoded(pixels)
    }
}
