public import Messages

/// Every limit of what is made, besides those of jobs.
public struct DerivationLimits: Hashable, Sendable {
    /// Images that serializers encode anew at a time; one more is not written to the disk.
    public var transcodesMax = 64
    /// Bytes of pixels that are kept to be laid over others, beside the budget of decodes. A
    /// request that needs more is `busy`. So is one whose owner would hold more than three times
    /// what is left.
    public var overlayBytesMax: UInt64 = 256 << 20
    /// Pixels of one of them, as many as an image of 3840 × 2160 has: four of that size with
    /// transparency, which one request may hold for as long as its image is on its way, are about
    /// half of `overlayBytesMax`, so that others find room beside it.
    public var overlayPixelsMax = 8_294_400
    /// Bytes of a fetched body.
    public var bodyBytesMax: UInt64 = 64 << 20
    /// Pixels of a result times how slow its encoder is (`JobWork.cost`): 25 megapixels of WebP
    /// without loss, which takes about a second for each of them; others reach `image` first.
    public var encodingCostMax: UInt64 = 1_000_000_000
    /// Frames of an image that a decoder may hand over; results are made of the first, and the
    /// others are kept for as long.
    public var framesMax = 1
    /// Limits of an image, at admission for what the request itself says, and in every job.
    public var image = ImageLimits()

    /// Limits of an image that is laid over another one.
    var overlay: ImageLimits {
        var limits = image
        limits.pixelsMax = min(limits.pixelsMax, overlayPixelsMax)
        return limits
    }

    /// The defaults.
    public init() {}
}
