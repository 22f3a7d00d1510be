import Dispatching
import ImageModel
import Messages
import Tables

/// One decode, for all results that are made of its pixels, or for all pictures that they are laid
/// over.
///
///     awaitingSource ──bytes──► decoding ──pixels──► decoded ──nobody needs them──► gone
struct DecodeNode: Node {
    enum State: Sendable {
        /// The source is on its way.
        case awaitingSource
        /// A decoder has the bytes, or will.
        case decoding(JobID)
        /// The pixels are there, or only facts where no more was needed.
        case decoded(Pixels?)
    }

    /// Pixels that transformers read.
    final class Pixels: Sendable {
        let block: BlockHandle
        let pixels: DecodedImage.Pixels
        let info: ImageInfo

        init(_ block: BlockHandle, _ pixels: DecodedImage.Pixels, _ info: ImageInfo) {
            self.block = block
            self.pixels = pixels
            self.info = info
        }
    }

    let name: Sourced<DecodeKey>
    var key: Sourced<DecodeKey> { name }
    /// Of the request that began it.
    let trace: TraceContext?
    private(set) var state = State.awaitingSource
    /// Results that wait for the pixels or read them.
    var results = WaiterList<ResultNode.ID>()
    /// Who lays the pixels over others.
    var consumers = WaiterList<OverlayConsumer>()
    /// For whom the pixels are kept, where they are laid over others.
    var holder: FlowID?
    /// Whether the pixels are only for those who have them: others find no decode of the name.
    var isClosed = false
    /// Its source, which may be gone once it has been decoded.
    var source: SourceNode.ID?
    /// Its place among those who need the source's bytes, until it has been decoded.
    var seat: WaiterList<DecodeNode.ID>.Seat?
    /// Of the source's bytes.
    var provenance = Provenance()
    /// Whether these depend on what was said to the origin.
    var isVaried = false
    var timings = StageTimings()

    init(name: Sourced<DecodeKey>, trace: TraceContext?) {
        self.name = name
        self.trace = trace
    }

    var job: JobID? {
        if case .decoding(let job) = state { return job }
        return nil
    }

    var pixels: Pixels? {
        if case .decoded(let pixels) = state { return pixels }
        return nil
    }

    /// Whether anybody needs it.
    var isNeeded: Bool { !results.isEmpty || !consumers.isEmpty }
    /// How badly: those of a name are all of one sort.
    var urgency: Urgency { name.key.isOverlay ? consumers.urgency : results.urgency }

    mutating func began(_ job: JobID) { state = .decoding(job) }

    mutating func decoded(_ pixels: Pixels?) { state = .decoded(pixels) }
}
