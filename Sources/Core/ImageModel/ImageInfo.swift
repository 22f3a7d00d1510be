/// What is known of an encoded image.
public struct ImageInfo: Hashable, Sendable {
    /// Its format.
    public var format: ImageFormat
    /// Displayed size in pixels.
    public var size: PixelSize
    /// Frames or pages, at least one.
    public var pages: Int
    /// Whether it has an alpha channel.
    public var hasAlpha: Bool
    /// How many frames or pages the source has of which this is the first one, at least two; `nil`
    /// where the image shows all that its source has.
    public var stillOf: Int?
    /// Bits of a sample, 9 to 64; 8 where it has no more than these.
    public var bits: Int
    /// Whether its colours are of a high dynamic range: PQ or HLG.
    public var isHDR: Bool

    /// Facts as a decoder or encoder found them.
    public init(
        format: ImageFormat, size: PixelSize, pages: Int = 1, hasAlpha: Bool = false,
        stillOf: Int? = nil, bits: Int = 8, isHDR: Bool = false
    ) {
        self.format = format
        self.size = size
        self.pages = pages
        self.hasAlpha = hasAlpha
        self.stillOf = stillOf
        (self.bits, self.isHDR) = (bits, isHDR)
    }

    /// What `bits` may be.
    package static let bitsRange = 8...64

    /// Parts of one image that whoever shows it needs all of; pages that are images of their own
    /// count for nothing. Of a format that others decode they are frames.
    package var frames: Int { format.traits.input?.pages == .images ? 1 : pages }

    /// The same of what was made of such a source, of one colour where there is none: one page of
    /// several is a still. An encoder may join frames that are the same.
    package func made(of source: ImageInfo?) -> ImageInfo {
        var info = self
        info.stillOf = source.flatMap { pages == 1 && $0.pages > 1 ? $0.pages : nil }
        return info
    }
}
