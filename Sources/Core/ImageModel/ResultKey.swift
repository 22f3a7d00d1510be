/// Which result: equal keys share all work (SEMANTICS §3.1). Wishes (priority, deadline, cache
/// tiers, options that say how to ask) are in no key.
public struct ResultKey: Hashable, Sendable {
    /// Which pixels it is made of.
    public let decode: DecodeKey
    /// What is done to them, in order.
    public let steps: [TransformStep]
    /// How they are encoded.
    public let output: OutputOptions
    /// Only facts.
    public let infoOnly: Bool
    /// Whose bytes are laid over them, in the order of the steps.
    public let overlays: [SourceKey]

    /// Whether our own workers do all steps, and encode it or may do so.
    package var isOurs: Bool {
        !steps.contains(where: \.isCustom) && output.format?.isEncodable ?? true
    }

    /// The key of a request and of what is laid over its image.
    public init(_ request: ImageRequest, overlays: [SourceKey] = []) {
        self.init(request, of: SourceKey(request), overlays: overlays)
    }

    /// The same, where the key of its source is known.
    public init(
        _ request: ImageRequest, of source: SourceKey, overlays: [SourceKey],
        limits: LimitSettings = LimitSettings(), coders: [String] = [],
        showsDamaged: Bool = false
    ) {
        decode = DecodeKey(
            request, of: source, limits: limits, coders: coders, showsDamaged: showsDamaged)
        steps = request.allSteps
        output = request.output
        infoOnly = request.infoOnly
        self.overlays = overlays
    }
}
