/// The encoding of the result.
public struct OutputOptions: Hashable, Sendable {
    /// The format. `nil`: one of `accepted`, otherwise the source's format if that is JPEG, PNG or
    /// WebP, otherwise PNG with alpha and JPEG without (SEMANTICS §11.11).
    public var format: ImageFormat?
    /// The quality, 0 to 100, for lossy encoders; ignored by lossless ones and by GIF. `nil` is
    /// `defaultQuality`.
    public var quality: Int?
    /// Whether WebP, AVIF and JPEG XL are encoded losslessly.
    public var lossless: Bool
    /// The compression level of a PNG, 1 (fast) to 12 (small); ignored by other formats. `nil` is
    /// the encoder's default.
    public var compression: Int?
    /// The other settings.
    var settings = SettingValues()

    /// The valid range of `compression`.
    public static let compressionRange = 1...12
    /// The quality of lossy formats if the request sets none.
    public static let defaultQuality = 80

    /// Creates options; by default the source's format at the default quality.
    public init(
        format: ImageFormat? = nil, quality: Int? = nil, lossless: Bool = false,
        compression: Int? = nil
    ) {
        self.format = format
        self.quality = quality
        self.lossless = lossless
        self.compression = compression
    }

    /// Whether all options have their defaults.
    public var isDefault: Bool { self == OutputOptions() }
}

/// The resolution of the color channels that an encoder keeps.
public enum ChromaSubsampling: Int, Hashable, Sendable, CaseIterable {
    /// 4:2:0 below quality 90, otherwise 4:4:4.
    case auto = 0
    /// 4:2:0, which needs fewer bytes.
    case yuv420 = 1
    /// 4:4:4, which keeps colored edges sharp.
    case yuv444 = 2
}

// Settings of specific formats. A request that names a format without the setting is
// `invalidRequest`.
extension OutputOptions {
    /// JPEG: progressive scans. PNG, GIF: interlaced.
    public var isProgressive: Bool {
        get { self[.progressive] != nil }
        set { self[.progressive] = newValue ? 1 : nil }
    }

    /// JPEG: optimized Huffman tables, a few percent fewer bytes for a second pass.
    public var optimizesCoding: Bool {
        get { self[.optimize] != nil }
        set { self[.optimize] = newValue ? 1 : nil }
    }

    /// JPEG, AVIF: the chroma subsampling.
    public var subsampling: ChromaSubsampling {
        get { self[.subsampling].flatMap(ChromaSubsampling.init(rawValue:)) ?? .auto }
        set { self[.subsampling] = newValue.rawValue }
    }

    /// PNG, GIF: the maximum palette size, 2 to 256; `nil` for full color in a PNG and 256 colors
    /// in a GIF.
    public var colors: Int? {
        get { self[.colors] }
        set { self[.colors] = newValue }
    }

    /// The strength of dithering in palette images, 0 to 100 percent.
    public var dither: Int {
        get { self[.dither] ?? 100 }
        set { self[.dither] = newValue }
    }

    /// The encoding effort; higher values trade time for size. `FormatTraits` has the range of each
    /// format (PROTOCOL §8.10); `nil` is the format's default.
    public var effort: Int? {
        get { self[.effort] }
        set { self[.effort] = newValue }
    }

    /// WebP: near-lossless preprocessing, 0 to 100; smaller values change pixels more, 100 changes
    /// none. `nil` disables it.
    public var nearLossless: Int? {
        get { self[.nearLossless] }
        set { self[.nearLossless] = newValue }
    }

    /// Lossy WebP and AVIF: the quality of alpha, 0 to 100, where 100 is lossless.
    public var alphaQuality: Int {
        get { self[.alphaQuality] ?? 100 }
        set { self[.alphaQuality] = newValue }
    }

    /// Lossy WebP: slower chroma subsampling that preserves sharp edges.
    public var sharpensChroma: Bool {
        get { self[.sharpYUV] != nil }
        set { self[.sharpYUV] = newValue ? 1 : nil }
    }

    /// The maximum size of the result in bytes. A larger result is encoded at a lower quality; if
    /// it is too large at any quality, or its format has none, the load fails with `limitExceeded`.
    public var maxBytes: Int? {
        get { self[.maxBytes] }
        set { self[.maxBytes] = newValue }
    }

    /// The valid range of `maxBytes`.
    public static let maxBytesRange = 1...(1 << 30)
    /// The maximum number of encoding attempts per image to meet `maxBytes`.
    package static let triesMax = 7

    /// Whether colors remain in the source's color space together with its ICC profile, instead of
    /// being converted to sRGB. For RGB and gray, and formats that hold a profile
    /// (SEMANTICS §11.21).
    public var keepsProfile: Bool {
        get { self[.icc] == 1 }
        set { self[.icc] = newValue ? 1 : nil }
    }

    /// The EXIF, XMP and IPTC metadata retained in formats that can hold it (SEMANTICS §11.22).
    ///
    /// `nil` is the default: results have none, but source bytes delivered as received keep theirs.
    /// `.nothing` asks for a result without metadata.
    public var metadata: MetadataChoice? {
        get { self[.metadata].flatMap(MetadataChoice.init(rawValue:)) }
        set { self[.metadata] = newValue?.rawValue }
    }

    /// JPEG: whether the EXIF of the result embeds a JPEG thumbnail of at most 160 × 160 pixels
    /// (SEMANTICS §11.27).
    public var embedsThumbnail: Bool {
        get { self[.embedThumbnail] != nil }
        set { self[.embedThumbnail] = newValue ? 1 : nil }
    }

    /// Bits per sample, one of `depths`: PNG, TIFF and JPEG XL support 8 and 16, AVIF 8, 10 and 12.
    /// `nil` is 8, or the source's depth if `keepsHDR` retains its colors.
    public var depth: Int? {
        get { self[.depth].flatMap { Self.depths.indices.contains($0) ? Self.depths[$0] : nil } }
        set { self[.depth] = newValue.map { Self.depths.firstIndex(of: $0) ?? -1 } }
    }

    /// The valid values of `depth`.
    public static let depths = [8, 10, 12, 16]

    /// Whether high dynamic range colors (PQ, HLG) are retained with their bit depth if `format`
    /// can hold them (AVIF, PNG) and no step or other setting needs sRGB. Otherwise they are
    /// converted to sRGB (SEMANTICS §11.28).
    public var keepsHDR: Bool {
        get { self[.hdr] != nil }
        set { self[.hdr] = newValue ? 1 : nil }
    }

    /// Whether encoders with an optional lossless mode use it.
    public var isWithoutLoss: Bool { lossless || nearLossless != nil }
}

extension OutputOptions {
    /// The value of a setting; `nil` if it is unset or has its default.
    package subscript(setting: OutputSetting) -> Int? {
        get { settings[setting] }
        set { settings[setting] = newValue == setting.usual ? nil : newValue }
    }

    /// JPEG: the color behind transparent pixels; its alpha is ignored.
    public var background: Color {
        get { OutputSetting.color(of: self[.background] ?? 0xFF_FFFF) }
        set {
            let opaque = Color(argb: 0xFF00_0000 | newValue.argb)
            self[.background] = OutputSetting.value(of: opaque)
        }
    }

    /// The formats that the client can display in addition to JPEG and PNG, the best one first.
    /// Without a `format` the result has the first one that supports its size (SEMANTICS §11.11).
    /// Formats other than `acceptable` are ignored.
    public var accepted: [ImageFormat] {
        get {
            self[.accept].map { OutputSetting.formats(of: $0, among: Self.acceptable) } ?? []
        }
        set {
            let bits = Self.acceptable.indices.filter { newValue.contains(Self.acceptable[$0]) }
            self[.accept] = bits.isEmpty ? nil : bits.reduce(0) { $0 | 1 << $1 }
        }
    }

    /// Returns the first accepted format that supports an image of that size.
    package func acceptedFormat(for size: @autoclosure () -> PixelSize) -> ImageFormat? {
        let accepted = accepted
        guard !accepted.isEmpty else { return nil }
        let size = size()
        return accepted.first { $0.traits.output?.hasRoom(for: size) == true }
    }

    /// The possible formats of `accepted`, in order of ascending file size.
    public static let acceptable: [ImageFormat] = [.avif, .webp, .jxl]

    /// Formats whose sources are delivered as files, regardless of the steps and the format
    /// (SEMANTICS §11.37). Formats other than `passable` are ignored.
    public var passed: [ImageFormat] {
        get { self[.pass].map { OutputSetting.formats(of: $0, among: Self.passable) } ?? [] }
        set {
            let bits = Self.passable.indices.filter { newValue.contains(Self.passable[$0]) }
            self[.pass] = bits.isEmpty ? nil : bits.reduce(0) { $0 | 1 << $1 }
        }
    }

    /// The possible formats of `passed`.
    public static let passable: [ImageFormat] = [
        .jpeg, .png, .gif, .webp, .avif, .heic, .heif, .tiff, .bmp, .ico, .jxl, .svg,
    ]

    /// Whether no setting is set.
    var hasDefaultSettings: Bool { settings.isEmpty }

    /// The settings that are set, in the order of the table.
    package var explicitSettings: [(setting: OutputSetting, text: String)] {
        if settings.isEmpty { return [] }
        return OutputSetting.allCases.compactMap { setting in
            self[setting].map { (setting, setting.text(of: $0)) }
        }
    }

    /// The settings as encoded on the wire.
    package var settingTexts: [String: String] {
        Dictionary(uniqueKeysWithValues: explicitSettings.map { ($0.setting.name, $0.text) })
    }

    /// Applies settings as encoded on the wire; returns false if one is unknown to this version or
    /// has an invalid text.
    package mutating func apply(settings texts: [String: String]) -> Bool {
        for (name, text) in texts {
            guard let setting = OutputSetting(name: name), let value = setting.value(of: text)
            else { return false }
            self[setting] = value
        }
        return true
    }

    /// Applies the settings of another value, which take precedence.
    package mutating func apply(settingsOf other: OutputOptions) {
        for setting in OutputSetting.allCases {
            if let value = other[setting] { self[setting] = value }
        }
    }

    /// Throws if the options are invalid; called before anything is loaded.
    package func check() throws(ImageError) {
        if let format, !format.mayBeEncoded { throw .notEncoded(format) }
        if let quality, !(0...100).contains(quality) {
            throw ImageError(.invalidRequest, "the quality must be a number from 0 to 100")
        }
        if let compression, !Self.compressionRange.contains(compression) {
            throw ImageError(.invalidRequest, "the compression must be a number from 1 to 12")
        }
        for (setting, _) in explicitSettings { try check(setting) }
    }

    private func check(_ setting: OutputSetting) throws(ImageError) {
        guard let value = self[setting], setting.permits(value) else {
            throw .setting(setting, "\(setting.optionName) must be \(setting.expected)")
        }
        guard let format else { return }
        let formats = setting.row.formats
        guard formats.contains(format) else {
            throw .setting(
                setting,
                "\(format.name) has no setting \(setting.optionName): leave it out, or use "
                    + formats.map(\.name).joined(separator: " or "))
        }
        if setting == .depth { try checkDepth(of: format) }
        guard setting == .effort, let range = format.traits.output?.efforts?.range else { return }
        guard range.contains(value) else {
            throw .setting(
                setting,
                "the effort of \(format.name) must be an integer from \(range.lowerBound) to "
                    + "\(range.upperBound)")
        }
    }
}

extension OutputOptions {
    /// Throws if the format doesn't support this bit depth, or if the samples come from a palette.
    private func checkDepth(of format: ImageFormat) throws(ImageError) {
        guard let depth else { return }
        guard format.depths.contains(depth) else {
            let words = format.depths.map { "\($0)" }
            throw .setting(
                .depth,
                "the depth of \(format.name) must be one of " + words.joined(separator: ", "))
        }
        guard depth == 8 || colors == nil else {
            throw .setting(
                .depth, "a palette requires depth 8: leave colors out, or set depth 8")
        }
    }
}

extension ImageError {
    fileprivate static func setting(_ setting: OutputSetting, _ message: String) -> ImageError {
        ImageError(.invalidRequest, message) { $0.setting = setting.name }
    }
}

/// The values of all settings. Stored inline because requests are copied and compared often.
struct SettingValues: Hashable, Sendable {
    private var values = SIMD32<Int16>(repeating: SettingValues.unset)
    private var wide = SIMD2<Int32>(repeating: SettingValues.wideUnsaid)

    private static let unset = Int16.min
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
            return value == Self.unset ? nil : Int(value)
        }
        set {
            if let place = setting.widePlace {
                wide[place] = newValue.map { max(-1, Int32(clamping: $0)) } ?? Self.wideUnsaid
            } else {
                values[setting.rawValue] =
                    newValue.map { max(-1, Int16(clamping: $0)) } ?? Self.unset
            }
        }
    }

    /// Compares whole words; comparing elements would dominate the comparison of requests.
    static func == (one: SettingValues, other: SettingValues) -> Bool {
        one.words == other.words && one.wide == other.wide
    }

    private var words: SIMD8<UInt64> { unsafeBitCast(values, to: SIMD8<UInt64>.self) }

    func hash(into hasher: inout Hasher) {
        // Most requests set none.
        guard !isEmpty else { return }
        hasher.combine(values)
        hasher.combine(wide)
    }
}
