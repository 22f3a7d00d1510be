import Dispatching

/// What a node that is over has kept, and what has to be let go of now.
enum Remains: Sendable {
    case nothing
    /// Pixels, and the flow that they count for where they are an overlay's.
    case pixels(DecodeNode.Pixels, for: FlowID?)
    /// A file that is the result.
    case file(BlockHandle)
    /// The overlays of a result, and its bytes, or the source whose bytes it delivered; and the
    /// partial image that is made for its waiters.
    case result(
        overlays: [Need<DecodeNode>], product: BlockHandle?, original: SourceNode.ID?,
        partial: PartialNode.ID?)
    /// Bytes of a source, the stored bytes that they were compared with, and stores that watchers
    /// wait for.
    case source(body: BlockHandle?, staged: BlockHandle?, storing: OriginalStores?)
}
