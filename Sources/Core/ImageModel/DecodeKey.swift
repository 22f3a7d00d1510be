/// Which pixels: equal keys share one decode (DESIGN §3).
public struct DecodeKey: Hashable, Sendable {
    /// Whose bytes.
    public let source: SourceKey
    /// What the result needs of them at least.
    public let need: DecodeNeed

    /// The key of a request.
    public init(_ request: ImageRequest) {
        source = SourceKey(request)
        need = DecodeNeed(request)
    }
}
