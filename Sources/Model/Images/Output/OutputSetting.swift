/// An encoder setting that only some formats support. Its row describes it.
///
/// The row's name is used in keys and on the wire. On the command line and in presets, some
/// settings have another one.
package enum OutputSetting: Int, Hashable, Sendable, CaseIterable {
    case progressive, optimize, subsampling, colors, dither, effort, nearLossless, alphaQuality
    case sharpYUV, background, maxBytes, accept, icc, metadata, embedThumbnail, depth, hdr, pass

    /// The type of a value.
    package enum Values: Hashable, Sendable {
        /// Set or unset.
        case flag
        /// An integer, with its default if there is one.
        case number(ClosedRange<Int>, usual: Int?)
        /// An index into these words, with its default if there is one.
        case word([String], usual: Int?)
        /// An opaque color as the number `RRGGBB`, with its default.
        case color(usual: Int)
        /// A set of these formats: the sum of 1, 2, 4 and so on.
        case formats([ImageFormat])
    }

    /// The description of a setting.
    package struct Row: Sendable {
        package let name: String
        package let values: Values
        /// The formats that support it.
        package let formats: [ImageFormat]

        init(_ name: String, _ values: Values, _ formats: [ImageFormat]) {
            (self.name, self.values, self.formats) = (name, values, formats)
        }
    }

    package var row: Row { Self.rows[rawValue] }

    private static let rows = allCases.map(\.definition)

    private var definition: Row {
        switch self {
        case .progressive: Row("progressive", .flag, [.jpeg, .png, .gif])
        case .optimize: Row("optimise", .flag, [.jpeg])
        case .subsampling:
            Row("subsampling", .word(["auto", "420", "444"], usual: 0), [.jpeg, .avif])
        case .colors: Row("colours", .number(2...256, usual: nil), [.png, .gif])
        case .dither: Row("dither", .number(0...100, usual: 100), [.png, .gif])
        case .effort:
            Row(
                "effort", .number(0...10, usual: nil),
                ImageFormat.encodable.filter { $0.traits.output?.efforts != nil })
        case .nearLossless: Row("near-lossless", .number(0...100, usual: nil), [.webp])
        case .alphaQuality: Row("alpha-quality", .number(0...100, usual: 100), [.webp, .avif])
        case .sharpYUV: Row("sharp-yuv", .flag, [.webp])
        case .background:
            Row(
                "background", .color(usual: 0xFF_FFFF),
                ImageFormat.encodable.filter { !$0.carriesAlpha })
        case .maxBytes:
            Row(
                "max-bytes", .number(OutputOptions.maxBytesRange, usual: nil), ImageFormat.encodable
            )
        case .accept: Row("accept", .formats(OutputOptions.acceptable), ImageFormat.encodable)
        case .icc: Row("icc", .word(["srgb", "keep"], usual: nil), ImageFormat.encodable)
        case .metadata:
            Row("metadata", .word(["none", "copyright", "all"], usual: nil), ImageFormat.encodable)
        case .embedThumbnail: Row("embed-thumbnail", .flag, [.jpeg])
        case .depth:
            Row(
                "depth", .word(OutputOptions.depths.map { "\($0)" }, usual: nil),
                ImageFormat.encodable.filter { $0.depths.count > 1 })
        case .hdr: Row("hdr", .flag, ImageFormat.encodable)
        case .pass: Row("pass", .formats(OutputOptions.passable), ImageFormat.encodable)
        }
    }

    /// The formats that can hold profiles and metadata; other formats omit both.
    static let holders: [ImageFormat] = [.jpeg, .png, .webp, .tiff, .avif, .jxl]
    /// Those that also support gray pixels, and thus a gray profile.
    package static let grayHolders: [ImageFormat] = [.jpeg, .png, .tiff, .jxl]

    /// Looks up a setting by its name on the wire.
    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The name of the setting in keys and on the wire.
    package var name: String { row.name }

    /// The name on the command line, in presets and in errors.
    package var optionName: String {
        switch self {
        case .optimize: "optimize"
        case .colors: "colors"
        default: name
        }
    }

    /// The former names on the command line and in presets, which are accepted too.
    package var formerNames: [String] { optionName == name ? [] : [name] }

    /// The placeholder of the value in the help; `nil` for a flag.
    package var placeholder: String? {
        switch row.values {
        case .flag: nil
        case .number(let range, _): "\(range.lowerBound)..\(range.upperBound)"
        case .word: "WORD"
        case .color: "#RRGGBB"
        case .formats: "FORMATS"
        }
    }

    /// The description of valid values in errors.
    package var expected: String {
        switch row.values {
        case .flag: "nothing"
        case .number(let range, _):
            "an integer from \(range.lowerBound) to \(range.upperBound)"
                + (self == .maxBytes ? ", such as 50000 or 100K" : "")
        case .word(let words, _): "one of " + words.joined(separator: ", ")
        case .color: "an opaque color, #RRGGBB"
        case .formats(let formats):
            "a comma-separated list of \(formats.map(\.name).joined(separator: ", "))"
        }
    }

    /// Parses a value; returns `nil` for the wrong type. Numbers out of range and translucent
    /// colors are returned and rejected later.
    package func value(of text: String) -> Int? {
        switch row.values {
        case .flag: text == Self.isThere ? 1 : nil
        case .number: PlainNumber.integer(text)
        case .word(let words, _): words.firstIndex(of: text)
        case .color: Color(text).map { Self.value(of: $0) }
        case .formats(let formats): Self.value(of: text, among: formats)
        }
    }

    /// Parses a value written by a person: a number of bytes may end in K, M or G.
    package func value(ofWritten text: String) -> Int? {
        self == .maxBytes ? PlainNumber.scaled(text, by: 1_024) : value(of: text)
    }

    /// The words that a value may consist of.
    package var words: [String] {
        switch row.values {
        case .flag, .number, .color: []
        case .word(let words, _): words
        case .formats(let formats): formats.map(\.name)
        }
    }

    func text(of value: Int) -> String {
        switch row.values {
        case .flag: Self.isThere
        case .number: "\(value)"
        case .word(let words, _): words.indices.contains(value) ? words[value] : "\(value)"
        case .color: permits(value) ? Self.color(of: value).hexText : "\(value)"
        case .formats(let formats):
            Self.formats(of: value, among: formats).map(\.name).joined(separator: ",")
        }
    }

    /// Parses names in any order, each at most once.
    private static func value(of text: String, among formats: [ImageFormat]) -> Int? {
        var value = 0
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let place = formats.firstIndex(where: { $0.name == name }) else { return nil }
            guard value & 1 << place == 0 else { return nil }
            value |= 1 << place
        }
        return value
    }

    static func formats(
        of value: Int, among formats: [ImageFormat]
    ) -> [ImageFormat] {
        formats.indices.filter { value & 1 << $0 != 0 }.map { formats[$0] }
    }

    /// Returns an out-of-range number for a translucent color.
    static func value(of color: Color) -> Int {
        let number = Int(color.red) << 16 | Int(color.green) << 8 | Int(color.blue)
        return color.alpha == UInt8.max ? number : -1
    }

    static func color(of value: Int) -> Color {
        Color(argb: 0xFF00_0000 | UInt32(truncatingIfNeeded: value))
    }

    package func permits(_ value: Int) -> Bool {
        switch row.values {
        case .flag: value == 1
        case .number(let range, _): range.contains(value)
        case .word(let words, _): words.indices.contains(value)
        case .color: (0...0xFF_FFFF).contains(value)
        case .formats(let formats): (1..<(1 << formats.count)).contains(value)
        }
    }

    /// The value of a flag on the wire.
    package static let isThere = "true"

    /// The default value.
    var usual: Int? {
        switch row.values {
        case .flag: nil
        case .number(_, let usual): usual
        case .word(_, let usual): usual
        case .color(let usual): usual
        case .formats: nil
        }
    }

    /// The index of settings whose values don't fit into 16 bits.
    var widePlace: Int? {
        switch self {
        case .background: 0
        case .maxBytes: 1
        default: nil
        }
    }
}
