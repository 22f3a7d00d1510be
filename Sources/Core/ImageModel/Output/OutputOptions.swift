/// What the result is encoded as.
public struct OutputOptions: Hashable, Sendable {
    /// `nil`: one of those `accepted`, else the source's format where that is JPEG, PNG or WebP,
    /// else PNG with alpha, JPEG without (SEMANTICS §11.11).
    public var format: ImageFormat?
    /// 0 to 100 for lossy encoders, ignored by lossless ones and by GIF; `nil` is `defaultQuality`.
    public var quality: Int?
    /// WebP, AVIF and JPEG XL without loss.
    public var lossless: Bool
    /// How hard a PNG is compressed, 1 (fast) to 12 (small); other formats ignore it; `nil` leaves
    /// it to the encoder.
    public var compression: Int?
    /// What else is said, by setting.
    var settings = SettingValues()

    /// What `compression` may be.
    public static let compressionRange = 1...12
    /// The quality of lossy formats where the request names none.
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

/// How many samples of colour an encoder keeps.
public enum ChromaSubsampling: Int, Hashable, Sendable, CaseIterable {
    /// One for four pixels below quality 90, else one for each.
    case auto = 0
    /// One for four pixels: fewer bytes.
    case yuv420 = 1
    /// One for each pixel: sharp edges of colours.
    case yuv444 = 2
}

// What only some formats have. A format that is named and has no such setting is `invalidRequest`.
extension OutputOptions {
    /// JPEG: several scans, a rough image first. PNG, GIF: interlaced.
    public var isProgressive: Bool {
        get { self[.progressive] != nil }
        set { self[.progressive] = newValue ? 1 : nil }
    }

    /// JPEG: Huffman tables made for this image, some percent fewer bytes for a second pass.
    public var optimisesCoding: Bool {
        get { self[.optimise] != nil }
        set { self[.optimise] = newValue ? 1 : nil }
    }

    /// JPEG, AVIF: how many samples of colour are kept.
    public var subsampling: ChromaSubsampling {
        get { self[.subsampling].flatMap(ChromaSubsampling.init(rawValue:)) ?? .auto }
        set { self[.subsampling] = newValue.rawValue }
    }

    /// PNG, GIF: a palette of at most so many colours, 2 to 256; `nil` is every colour in a PNG,
    /// 256 in a GIF.
    public var colours: Int? {
        get { self[.colours] }
        set { self[.colours] = newValue }
    }

    /// Where there is a palette: how much the error of a pixel is spread over its neighbours, 0 to
    /// 100 hundredths.
    public var dither: Int {
        get { self[.dither] ?? 100 }
        set { self[.dither] = newValue }
    }

    /// How much time the encoder takes to make the file small: `FormatTraits` says which numbers a
    /// format has (PROTOCOL §8.10); `nil` leaves it to the format.
    public var effort: Int? {
        get { self[.effort] }
        set { self[.effort] = newValue }
    }

    /// WebP: without the loss of a lossy encoder, but pixels may change a little, the more the
    /// smaller this is: 0 to 100, where 100 changes none; `nil`: not this way.
    public var nearLossless: Int? {
        get { self[.nearLossless] }
        set { self[.nearLossless] = newValue }
    }

    /// WebP, AVIF with loss: the quality of alpha, 0 to 100, where 100 loses nothing.
    public var alphaQuality: Int {
        get { self[.alphaQuality] ?? 100 }
        set { self[.alphaQuality] = newValue }
    }

    /// WebP with loss: colours are reduced with an eye on sharp edges, which takes longer.
    public var sharpensChroma: Bool {
        get { self[.sharpYUV] != nil }
        set { self[.sharpYUV] = newValue ? 1 : nil }
    }

    /// Bytes of the result at most: where it has more at the quality that is asked for, the quality
    /// is lower; where it has more at any, or has none, the load fails with `limitExceeded`.
    public var maxBytes: Int? {
        get { self[.maxBytes] }
        set { self[.maxBytes] = newValue }
    }

    /// What `maxBytes` may be.
    public static let maxBytesRange = 1...(1 << 30)
    /// How often one image is encoded at most, to come below `maxBytes`.
    package static let triesMax = 7

    /// Whether colours stay as they are in the source, and its ICC profile goes with them; else
    /// they are converted to sRGB. For RGB and grey, and formats that hold a profile
    /// (SEMANTICS §11.21).
    public var keepsProfile: Bool {
        get { self[.icc] == 1 }
        set { self[.icc] = newValue ? 1 : nil }
    }

    /// What of EXIF, XMP and IPTC goes with the result, in formats that hold such
    /// (SEMANTICS §11.22).
    ///
    /// `nil` says nothing: results have none then, but bytes of the source that are delivered as
    /// they came have theirs. `.nothing` asks for a result without.
    public var metadata: MetadataChoice? {
        get { self[.metadata].flatMap(MetadataChoice.init(rawValue:)) }
        set { self[.metadata] = newValue?.rawValue }
    }

    /// JPEG: whether EXIF of the result has a small JPEG of it, of at most 160 × 160 pixels
    /// (SEMANTICS §11.27).
    public var embedsThumbnail: Bool {
        get { self[.embedThumbnail] != nil }
        set { self[.embedThumbnail] = newValue ? 1 : nil }
    }

    /// Bits of a sample, one of `depths`: PNG, TIFF and JPEG XL have 8 and 16, AVIF 8, 10 and 12.
    /// `nil` is 8, or what the source has where `keepsHDR` keeps its colours.
    public var depth: Int? {
        get { self[.depth].flatMap { Self.depths.indices.contains($0) ? Self.depths[$0] : nil } }
        set { self[.depth] = newValue.map { Self.depths.firstIndex(of: $0) ?? -1 } }
    }

    /// What `depth` may be.
    public static let depths = [8, 10, 12, 16]

    /// Whether colours of a high dynamic range (PQ, HLG) stay as they are, with their bits, where
    /// `format` is one that holds them (AVIF, PNG) and no step or other setting needs sRGB; else
    /// they are converted to sRGB (SEMANTICS §11.28).
    public var keepsHDR: Bool {
        get { self[.hdr] != nil }
        set { self[.hdr] = newValue ? 1 : nil }
    }

    /// Whether an encoder that can do without loss does.
    public var isWithoutLoss: Bool { lossless || nearLossless != nil }
}
