import Dispatching
import ImageModel
import Messages
import Tables

/// One image of the bytes that have arrived so far, for those waiters of a result that want such
/// (SEMANTICS §2.11).
///
///     decoding ──pixels──► transforming ──bytes──► delivering ──► told
///
/// Nobody waits for it. What fails, finds no free worker, or is overtaken by the whole image ends
/// without a word, and the next bytes that arrive are looked at in its place. A result has one at a
/// time. Its job holds the blocks that it reads.
struct PartialNode: Tabled {
    typealias ID = SlotID<PartialNode>

    /// Whose waiters get it.
    let result: ResultNode.ID
    let source: SourceNode.ID
    /// Of what it is made.
    let progress: JobProgress
    /// What is asked of the decoder.
    let need: DecodeNeed
    /// When it was begun, and when its image was made of the pixels.
    let began: Instant
    var made: Instant?
    /// The job that is being done for it.
    var job: JobID?
    /// What it is, once it is encoded.
    var info: ImageInfo?
}
