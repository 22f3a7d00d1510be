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

extension OutputOptions {
    /// `nil` where it is not said, or is as usual.
    package subscript(setting: OutputSetting) -> Int? {
        get { settings[setting] }
        set { settings[setting] = newValue == setting.usual ? nil : newValue }
    }

    /// JPEG: what is seen behind transparent pixels; its alpha says nothing.
    public var background: Colour {
        get { OutputSetting.colour(of: self[.background] ?? 0xFF_FFFF) }
        set {
            let opaque = Colour(argb: 0xFF00_0000 | newValue.argb)
            self[.background] = OutputSetting.value(of: opaque)
        }
    }

    /// The formats that whoever asks can show beside JPEG and PNG, the best one first: without a
    /// `format` the result is of the first one that it fits into (SEMANTICS §11.11). Others than
    /// `acceptable` are left out.
    public var accepted: [ImageFormat] {
        get {
            self[.accept].map { OutputSetting.formats(of: $0, among: Self.acceptable) } ?? []
        }
        set {
            let bits = Self.acceptable.indices.filter { newValue.contains(Self.acceptable[$0]) }
            self[.accept] = bits.isEmpty ? nil : bits.reduce(0) { $0 | 1 << $1 }
        }
    }

    /// The first of those accepted that has room for an image of that size.
    package func acceptedFormat(for size: @autoclosure () -> PixelSize) -> ImageFormat? {
        let accepted = accepted
        guard !accepted.isEmpty else { return nil }
        let size = size()
        return accepted.first { $0.traits.output?.hasRoom(for: size) == true }
    }

    /// What `accepted` may have, the smallest files first.
    public static let acceptable: [ImageFormat] = [.avif, .webp, .jxl]

    /// Formats of which a source is delivered as a file, whatever the steps and the format are
    /// (SEMANTICS §11.37). Others than `passable` are left out.
    public var passed: [ImageFormat] {
        get { self[.pass].map { OutputSetting.formats(of: $0, among: Self.passable) } ?? [] }
        set {
            let bits = Self.passable.indices.filter { newValue.contains(Self.passable[$0]) }
            self[.pass] = bits.isEmpty ? nil : bits.reduce(0) { $0 | 1 << $1 }
        }
    }

    /// What `passed` may have.
    public static let passable: [ImageFormat] = [
        .jpeg, .png, .gif, .webp, .avif, .heic, .heif, .tiff, .bmp, .ico, .jxl, .svg,
    ]

    /// Whether no setting is said.
    var isUsual: Bool { settings.isEmpty }

    /// The settings that are said, in the order of the table.
    package var said: [(setting: OutputSetting, text: String)] {
        if settings.isEmpty { return [] }
        return OutputSetting.allCases.compactMap { setting in
            self[setting].map { (setting, setting.text(of: $0)) }
        }
    }

    /// Those as they are on the wire.
    package var settingTexts: [String: String] {
        Dictionary(uniqueKeysWithValues: said.map { ($0.setting.name, $0.text) })
    }

    /// Takes settings as they are on the wire; false where one is none of this version, or has the
    /// text of something else.
    package mutating func take(settings texts: [String: String]) -> Bool {
        for (name, text) in texts {
            guard let setting = OutputSetting(name: name), let value = setting.value(of: text)
            else { return false }
            self[setting] = value
        }
        return true
    }

    /// Takes what another one says; of what both say, that of the other one counts.
    package mutating func take(settingsOf other: OutputOptions) {
        for setting in OutputSetting.allCases {
            if let value = other[setting] { self[setting] = value }
        }
    }

    /// Throws what it is refused for before anything is loaded.
    package func check() throws(ImageError) {
        if let format, !format.mayBeEncoded { throw .notEncoded(format) }
        if let quality, !(0...100).contains(quality) {
            throw ImageError(.invalidRequest, "the quality is a number from 0 to 100")
        }
        if let compression, !Self.compressionRange.contains(compression) {
            throw ImageError(.invalidRequest, "the compression is a number from 1 to 12")
        }
        for (setting, _) in said { try check(setting) }
    }

    private func check(_ setting: OutputSetting) throws(ImageError) {
        guard let value = self[setting], setting.permits(value) else {
            throw .setting(setting, "\(setting.name) is \(setting.expected)")
        }
        guard let format else { return }
        let formats = setting.row.formats
        guard formats.contains(format) else {
            throw .setting(
                setting,
                "\(format.name) has no setting \(setting.name): leave it out, or ask for "
                    + formats.map(\.name).joined(separator: " or "))
        }
        if setting == .depth { try checkDepth(of: format) }
        guard setting == .effort, let range = format.traits.output?.efforts?.range else { return }
        guard range.contains(value) else {
            throw .setting(
                setting,
                "the effort of \(format.name) is a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound)")
        }
    }
}

extension OutputOptions {
    /// Throws where the format has no samples of so many bits, or these come from a palette.
    private func checkDepth(of format: ImageFormat) throws(ImageError) {
        guard let depth else { return }
        guard format.depths.contains(depth) else {
            let words = format.depths.map { "\($0)" }
            throw .setting(
                .depth,
                "the depth of \(format.name) is one of " + words.joined(separator: ", "))
        }
        guard depth == 8 || colours == nil else {
            throw .setting(
                .depth, "a palette has colours of 8 bits: leave colours out, or ask for depth 8")
        }
    }
}

extension ImageError {
    fileprivate static func setting(_ setting: OutputSetting, _ message: String) -> ImageError {
        ImageError(.invalidRequest, message, details: ["setting": setting.name])
    }
}

/// A value for each setting that is said. In one piece, since requests are copied and compared.
struct SettingValues: Hashable, Sendable {
    private var values = SIMD32<Int16>(repeating: SettingValues.unsaid)
    private var wide = SIMD2<Int32>(repeating: SettingValues.wideUnsaid)

    private static let unsaid = Int16.min
    private static let wideUnsaid = Int32.min

    var isEmpty: Bool {
        self == SettingValues()
    }

    subscript(setting: OutputSetting) -> Int? {
        get {
            if let place = setting.widePlace {
                return wide[place] == Self.wideUnsaid ? nil : Int(wide[place])
            }
            let value = values[setting.rawValue]
            return value == Self.unsaid ? nil : Int(value)
        }
        set {
            if let place = setting.widePlace {
                wide[place] = newValue.map { max(-1, Int32(clamping: $0)) } ?? Self.wideUnsaid
            } else {
                values[setting.rawValue] =
                    newValue.map { max(-1, Int16(clamping: $0)) } ?? Self.unsaid
            }
        }
    }

    /// By words: element by element costs more than all else that is compared of a request.
    static func == (one: SettingValues, other: SettingValues) -> Bool {
        one.words == other.words && one.wide == other.wide
    }

    private var words: SIMD8<UInt64> { unsafeBitCast(values, to: SIMD8<UInt64>.self) }

    func hash(into hasher: inout Hasher) {
        // Most requests say none.
        guard !isEmpty else { return }
        hasher.combine(values)
        hasher.combine(wide)
    }
}
