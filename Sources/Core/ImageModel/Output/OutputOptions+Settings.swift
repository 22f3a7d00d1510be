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
