/// All that a graph depends on: the key under which it can be kept.
public struct ZimgConversion: Hashable, Sendable {
    /// What goes in.
    public var source: ZimgFormat
    /// What comes out; its `region` must be nil.
    public var target: ZimgFormat
    /// For the first plane, and for all of RGB.
    public var filter: ZimgFilter
    /// For chroma.
    public var chromaFilter: ZimgFilter

    /// A conversion; where both sizes are the same, nothing is resampled.
    public init(
        from source: ZimgFormat, to target: ZimgFormat, filter: ZimgFilter = .lanczos3,
        chromaFilter: ZimgFilter? = nil
    ) {
        self.source = source
        self.target = target
        self.filter = filter
        self.chromaFilter = chromaFilter ?? filter
    }
}

/// How samples are made from their neighbours. All but `point` become wider as they reduce, so that
/// nothing is skipped.
public enum ZimgFilter: Hashable, Sendable {
    /// The nearest sample.
    case point
    /// A triangle.
    case bilinear
    /// Mitchell and Netravali's family: (0, 0.5) is Catmull-Rom, (1/3, 1/3) Mitchell.
    case bicubic(b: Double, c: Double)
    /// Lanczos with 3 lobes.
    case lanczos3
}
