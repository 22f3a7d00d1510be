/// What the result is encoded as.
public struct OutputOptions: Hashable, Sendable {
    /// `nil`: the source's format where it can be encoded, else PNG with alpha, JPEG without
    /// (SEMANTICS §11.11).
    public var format: ImageFormat?
    /// 0 to 100 for lossy encoders, ignored by lossless ones; `nil` is `defaultQuality`.
    public var quality: Int?
    /// WebP without loss.
    public var lossless: Bool
    /// How hard a PNG is compressed, 1 (fast) to 12 (small); other formats ignore it; `nil` leaves
    /// it to the encoder.
    public var compression: Int?

    /// What `compression` may be.
    public static let compressionRange = 1...12
    /// The quality of JPEG and WebP where the request names none.
    public static let defaultQuality = 80

    /// Says nothing by default: the source's format at the default quality.
    public init(
        format: ImageFormat? = nil, quality: Int? = nil, lossless: Bool = false,
        compression: Int? = nil
    ) {
        self.format = format
        self.quality = quality
        self.lossless = lossless
        self.compression = compression
    }

    /// Whether the request asks for nothing of its own.
    public var isDefault: Bool { self == OutputOptions() }
}
