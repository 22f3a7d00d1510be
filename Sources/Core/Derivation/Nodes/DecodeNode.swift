import Dispatching
import ImageModel
import Messages
import Tables

/// One decode, for all results that are made of its pixels, or for all images that they are laid
/// over.
///
///     awaitingSource ──bytes──► decoding ──pixels──► decoded ──nobody needs them──► gone
struct DecodeNode: ClosableNode {
    static var table: WritableKeyPath<Deriver, NodeTable<DecodeNode>> { \.decodes }

    enum State: Sendable {
        /// The source is on its way.
        case awaitingSource
        /// A decoder has the bytes, or will.
        case decoding(JobID)
        /// The pixels are there, or only facts where no more was needed.
        case decoded(Pixels?)
    }

    /// The pixels of all frames that came; transformers read the first frame. One worker made all
    /// of them.
    final class Pixels: Sendable {
        /// Where each frame lies, in their order.
        let blocks: ShortList<BlockHandle>
        /// Of the first frame.
        let block: BlockHandle
        let frame: DecodedImage.Frame
        /// Bytes of all blocks.
        let byteCount: UInt64
        /// What steps take them for.
        let info: ImageInfo

        /// `nil` where no frame came.
        init?(_ image: DecodedImage, for need: DecodeNeed, in blocks: ShortList<BlockHandle>) {
            guard let block = blocks.first, let frame = image.frames.first else { return nil }
            (self.blocks, self.block, self.frame) = (blocks, block, frame)
            byteCount = image.frames.reduce(0) { $0 + $1.reference.length }
            info = need.info(ofPixels: image.info)
        }
    }

    /// A file that is the result of everybody who waits for pixels; they use it in the event that
    /// brought it.
    struct File: Sendable {
        let block: BlockHandle
        let reference: BlockReference
        let info: ImageInfo

        /// `nil` where pixels came, or nothing.
        init?(_ image: DecodedImage, in blocks: ShortList<BlockHandle>) {
            guard let reference = image.file, let block = blocks.first else { return nil }
            (self.block, self.reference, info) = (block, reference, image.info)
        }
    }

    private(set) var name: Sourced<DecodeKey>
    var key: Sourced<DecodeKey> { name }
    /// Of the request that began it.
    let logContext: LogContext
    private(set) var state = State.awaitingSource
    /// The consumers of the pixels. All consumers of one name are of one sort.
    var consumers = WaiterList<PixelConsumer>()
    /// The flow that the pixels of an overlay count for.
    var holder: FlowID?
    /// Whether the pixels are only for present consumers: others find no decode of the name.
    var isClosed = false
    /// Its source, which may be gone once it has been decoded.
    var source: SourceNode.ID?
    /// The source's bytes, until they have been decoded.
    var need: Need<SourceNode>?
    /// Of the source's bytes.
    var provenance = Provenance()
    /// Whether these depend on what was said to the origin.
    var isVaried = false
    var timings = StageTimings()
    /// What the decoder said beside the pixels, as far as it was asked.
    var facts: ImageFacts?
    /// What came in the place of pixels.
    var file: File?
    /// Whether pixels are missing that the source should have.
    var isDamaged = false

    init(name: Sourced<DecodeKey>, _ logContext: LogContext) {
        self.name = name
        self.logContext = logContext
    }

    var job: JobID? {
        if case .decoding(let job) = state { return job }
        return nil
    }

    var pixels: Pixels? {
        if case .decoded(let pixels) = state { return pixels }
        return nil
    }

    /// Results that are made of the pixels.
    var results: [ResultNode.ID] {
        consumers.members.compactMap { if case .result(let id) = $0 { id } else { nil } }
    }

    /// The consumers that lay the pixels over others.
    var overlays: [OverlayConsumer] {
        consumers.members.compactMap { if case .overlay(let one) = $0 { one } else { nil } }
    }

    /// Its bytes come from somewhere else.
    mutating func rename(_ origin: ByteSource) { name = Sourced(key: name.key, origin: origin) }

    mutating func began(_ job: JobID) { state = .decoding(job) }

    mutating func decoded(_ pixels: Pixels?) { state = .decoded(pixels) }

    var remains: Remains {
        if let file { return .file(file.block) }
        return pixels.map { .pixels($0, for: holder) } ?? .nothing
    }
}

/// A consumer of the pixels of a decode.
enum PixelConsumer: Hashable, Sendable {
    /// A result that is made of them.
    case result(ResultNode.ID)
    /// One that lays them over an image.
    case overlay(OverlayConsumer)
}

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
