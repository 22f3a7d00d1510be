import Dispatching

/// What a node keeps that is over, and what has to be let go of.
enum Remains: Sendable {
    case nothing
    /// Pixels, and for whom they are kept where they are laid over others.
    case pixels(DecodeNode.Pixels, for: FlowID?)
    /// What was to be laid over a result; its bytes, or the source whose bytes it delivered.
    case result(overlays: [Need<DecodeNode>], product: BlockHandle?, original: SourceNode.ID?)
    /// Bytes, those that they were held against, and the stores that somebody waits for.
    case source(body: BlockHandle?, staged: BlockHandle?, storing: OriginalStores?)
}
