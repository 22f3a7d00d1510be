package import Model
package import WebGrammar

/// Creates a grammar from an operator's options for a listener. Doesn't open files itself.
package struct GrammarReader {
    /// Returns the value of an option; `nil` if it isn't set.
    package var value: (GatewaySetting) -> String?
    /// Returns whether a flag is set.
    package var has: (GatewaySetting) -> Bool
    /// Returns the contents of a file named by an option.
    package var bytes: (_ path: String) throws(GrammarError) -> [UInt8]
    /// Lines of keys from the environment, in addition to those of the file.
    package var keyLines: [String]

    package init(
        keyLines: [String] = [], value: @escaping (GatewaySetting) -> String?,
        has: @escaping (GatewaySetting) -> Bool,
        bytes: @escaping (_ path: String) throws(GrammarError) -> [UInt8]
    ) {
        (self.value, self.has, self.bytes, self.keyLines) = (value, has, bytes, keyLines)
    }

    /// The purpose of a grammar's paths.
    package enum Use: Hashable, Sendable {
        case images
        /// Requests to `/info`: presets have no effect.
        case properties
        /// Uploads: a token replaces the signature, and the body replaces the source.
        case uploads
        /// Removals: an operator's token replaces the signature.
        case removals
        /// Clients that save data: this preset applies if the path doesn't specify otherwise.
        case saving(preset: String)
    }

    /// Returns the grammar of the paths.
    package func grammar(for use: Use = .images) throws(GrammarError) -> any URLGrammar {
        switch value(.grammar) ?? "imgproxy" {
        case "imgproxy": return try ImgproxyGrammar(imgproxy(for: use))
        case "thumbor": return try ThumborGrammar(thumbor(for: use))
        case "iiif":
            return try Self.named(.iiifSource) { () throws(GrammarError) in
                try IIIFGrammar(iiif())
            }
        case let other:
            throw .malformed("--grammar: '\(other)' is not imgproxy, thumbor or iiif")
        }
    }

    // MARK: - Grammars

    /// Returns the settings of imgproxy's grammar.
    package func imgproxy(for use: Use = .images) throws(GrammarError) -> ImgproxyGrammar.Settings {
        var settings = ImgproxyGrammar.Settings()
        settings.keys = try keys(Self.hexKey)
        settings.permitsUnsigned = has(.unsigned) || use == .uploads || use == .removals
        settings.onlyPresets = has(.onlyPresets) && use != .properties
        settings.signatureBytes = number(.signatureSize) ?? settings.signatureBytes
        settings.separator = value(.argumentsSeparator) ?? settings.separator
        settings.sources = try sources(for: use)
        settings.watermark = try value(.watermark).map(Self.watermark)
        settings.watermarkOpacity =
            value(.watermarkOpacity).flatMap { PlainNumber.decimal($0) }
            ?? settings.watermarkOpacity
        if use != .properties {
            settings.presets = try presets(separator: settings.separator, use)
        }
        return settings
    }

    /// Returns the settings of thumbor's grammar.
    package func thumbor(for use: Use = .images) throws(GrammarError) -> ThumborGrammar.Settings {
        var settings = ThumborGrammar.Settings()
        settings.keys = try keys(Self.textKey)
        settings.permitsUnsigned = has(.unsigned) || use == .uploads || use == .removals
        let usual = settings.sources.defaultScheme
        settings.sources = try sources(for: use)
        if use == .uploads {
            settings.sources.defaultScheme = UploadSettings.scheme
        } else if value(.defaultScheme) == nil {
            settings.sources.defaultScheme = usual
        }
        return settings
    }

    /// Returns the settings of IIIF's grammar.
    package func iiif() throws(GrammarError) -> IIIFGrammar.Settings {
        guard let source = value(.iiifSource) else {
            throw .malformed("required for IIIF, such as https://example.com/images/{id}")
        }
        var settings = IIIFGrammar.Settings(source: source)
        settings.sources = try sources(for: .images)
        settings.prefix = Self.withoutSlashes(value(.iiifPrefix) ?? "")
        return settings
    }

    private static func withoutSlashes(_ text: String) -> String {
        var text = text[...]
        while text.first == "/" { text.removeFirst() }
        while text.last == "/" { text.removeLast() }
        return String(text)
    }

    // MARK: - Sources

    private func sources(for use: Use) throws(GrammarError) -> SourceRules {
        var sources = SourceRules()
        guard use != .uploads else {
            sources.schemes = SourceSchemes([UploadSettings.scheme])
            return sources
        }
        if let text = value(.schemes) {
            sources.schemes = sources.schemes.adding(try Self.schemes(text))
        }
        if let word = value(.defaultScheme) {
            guard word == "none" || sources.schemes.names.contains(word.lowercased()) else {
                throw .malformed(
                    "--default-scheme: '\(word.prefix(40))' is neither none nor a known scheme; "
                        + "add schemes with --schemes")
            }
            sources.defaultScheme = word == "none" ? "" : word.lowercased()
        }
        sources.base = value(.baseURL) ?? ""
        if let text = value(.urlReplacements) {
            sources.replacements = try Self.named(.urlReplacements) { () throws(GrammarError) in
                try SourceReplacement.list(text)
            }
        }
        sources.allowed = try patterns(.allowedSources)
        return sources
    }

    /// Parses comma-separated scheme names (RFC 3986, section 3.1).
    private static func schemes(_ text: String) throws(GrammarError) -> [String] {
        let names = text.split(separator: ",").map { String($0.trimmedOfBlanks) }
        guard !names.isEmpty, names.allSatisfy({ SourceURL.isScheme($0.utf8) }) else {
            throw .malformed(
                "--schemes: '\(text.prefix(60))' is not a list of schemes, such as photos,scans")
        }
        return names
    }

    /// Validates the URL of the watermark, which the stack loads.
    private static func watermark(_ url: String) throws(GrammarError) -> String {
        guard (try? SourceURL(url)) != nil, url.contains("://") else {
            throw .malformed(
                "--watermark: '\(url.prefix(60))' is not the URL of an image, such as "
                    + "https://example.com/mark.png or local:///mark.png; 'imagebus serve "
                    + "--gateway-watermark' also accepts file paths")
        }
        return url
    }

    // MARK: - Routing

    /// Returns the path prefix of all URLs, without a trailing slash.
    package func pathPrefix() throws(GrammarError) -> String {
        let path = Self.withoutSlashes(value(.pathPrefix) ?? "")
        let isPath = path.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && !"?#%\\".utf8.contains(byte)
        }
        guard isPath, !path.contains("//") else {
            throw .malformed("--path-prefix: '\(path.prefix(60))' is not a path such as /img")
        }
        return path.isEmpty ? "" : "/\(path)"
    }

    /// Returns the host names in lowercase.
    package func hosts() throws(GrammarError) -> [String] {
        let names = (value(.host) ?? "").split(separator: ",")
            .map { $0.trimmedOfBlanks.lowercased() }
        guard names.allSatisfy({ !$0.isEmpty && ($0.hasPrefix("[") || !$0.contains(":")) }) else {
            throw .malformed(
                "--host must be host names without ports, such as img.example.com,img.example.org")
        }
        return names
    }

    // MARK: - Presets

    private func presets(
        separator: String, _ use: Use
    ) throws(GrammarError) -> ImgproxyPresets {
        var lines = try value(.presets).map { (path) throws(GrammarError) in try text(path) } ?? ""
        if let more = value(.presetLines) { lines += "\n\(more)" }
        if case .saving(let preset) = use {
            lines = Self.lines(lines, saving: preset, separator: separator)
        }
        return try Self.named(value(.presets) == nil ? .presetLines : .presets) {
            () throws(GrammarError) in
            try ImgproxyPresets(lines: lines, separator: separator)
        }
    }

    /// Adds the preset after the preset `default`, which applies to every path.
    private static func lines(
        _ text: String, saving preset: String, separator: String
    ) -> String {
        let lines = text.split(whereSeparator: \.isNewline)
        let isUsual = { (line: Substring) in
            line.split(separator: "=").first?.trimmedOfBlanks == "default"
        }
        let option = "pr\(separator)\(preset)"
        guard lines.contains(where: isUsual) else { return text + "\ndefault=\(option)\n" }
        return lines.map { isUsual($0) ? "\($0.trimmedOfBlanks)/\(option)" : String($0) }
            .joined(separator: "\n")
    }

    // MARK: - Keys

    /// Returns the lines of the key file and the environment, without empty lines and comments,
    /// which begin with `#`.
    private func keys(
        _ key: (_ line: String) throws(GrammarError) -> SigningKey
    ) throws(GrammarError) -> [SigningKey] {
        var lines = keyLines
        if let path = value(.keys) {
            lines += try text(path).split(whereSeparator: \.isNewline).map(String.init)
                .filter { !$0.hasPrefix("#") }
        }
        var keys: [SigningKey] = []
        for line in lines { keys.append(try key(line)) }
        return keys
    }

    /// Parses `KEY SALT` in hexadecimal.
    private static func hexKey(_ line: String) throws(GrammarError) -> SigningKey {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 2, let key = SigningKey(hexKey: words[0], hexSalt: words[1]) else {
            throw .malformed("each line of the key file must be KEY SALT in hexadecimal digits")
        }
        return key
    }

    private static func textKey(_ line: String) throws(GrammarError) -> SigningKey {
        guard let key = SigningKey(key: Array(line.utf8)) else {
            throw .malformed("each line of the key file must be a key")
        }
        return key
    }

    // MARK: - Values

    /// Returns the contents of the file named by an option; `nil` if it isn't set.
    package func contents(of setting: GatewaySetting) throws(GrammarError) -> [UInt8]? {
        guard let path = value(setting) else { return nil }
        return try Self.named(setting) { () throws(GrammarError) in try bytes(path) }
    }

    private func text(_ path: String) throws(GrammarError) -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    /// Returns the number of an option; `nil` if it isn't set.
    package func number(_ setting: GatewaySetting) -> Int? {
        value(setting).flatMap { setting.number(of: $0) }
    }

    /// Assigns the number of an option, multiplied by a factor, if it is set.
    package func set<Number: FixedWidthInteger>(
        _ value: inout Number, _ setting: GatewaySetting, times factor: Number = 1
    ) {
        if let number = number(setting) { value = Number(number) * factor }
    }

    private static func named<Value>(
        _ setting: GatewaySetting, _ body: () throws(GrammarError) -> Value
    ) throws(GrammarError) -> Value {
        do throws(GrammarError) {
            return try body()
        } catch {
            throw GrammarError(error.kind, "--\(setting.rawValue): \(error.message)")
        }
    }
}

// Header fields from the operator's settings.
extension GrammarReader {
    /// Returns the fields that are added to responses; `nil` if the option isn't set.
    package func responseHeaders() throws(GrammarError) -> ResponseHeaders? {
        guard let text = value(.responseHeaders) else { return nil }
        return try Self.named(.responseHeaders) { () throws(GrammarError) in
            try ResponseHeaders(text)
        }
    }

    /// Returns the fields that are passed to origins; `nil` if the option isn't set.
    package func passedHeaders() throws(GrammarError) -> PassedHeaders? {
        guard let names = value(.passHeaders) else { return nil }
        let sources = try patterns(.passHeadersTo)
        return try Self.named(.passHeaders) { () throws(GrammarError) in
            try PassedHeaders(names: names, sources: sources)
        }
    }

    private func patterns(_ setting: GatewaySetting) throws(GrammarError) -> [SourcePattern]? {
        guard let text = value(setting) else { return nil }
        return try Self.named(setting) { () throws(GrammarError) in try SourcePattern.list(text) }
    }
}

// Output options from the operator's settings.
extension GrammarReader {
    /// Returns the options used if URLs don't specify them.
    package func output() throws(GrammarError) -> OutputDefaults {
        var output = OutputDefaults()
        output.quality = value(.quality).flatMap { GatewaySetting.quality.number(of: $0) }
        if let text = value(.formatQuality) {
            output.qualities = try Self.numbers(text, .formatQuality) { _ in 1...100 }
        }
        if let text = value(.progressive) {
            let formats = try Self.formats(text, .progressive)
            if let other = formats.first(where: { ![.jpeg, .png, .gif].contains($0) }) {
                throw .malformed(
                    "--progressive: \(other.name) does not support it: use jpeg, png or gif")
            }
            output.progressive = Set(formats)
        }
        if let text = value(.effort) {
            output.efforts = try Self.numbers(text, .effort) { $0.traits.output?.efforts?.range }
        }
        return output
    }

    /// Returns the formats from which clients may choose; empty for `none`.
    package func offered() throws(GrammarError) -> [ImageFormat]? {
        guard let text = value(.offer) else { return nil }
        return text == "none" ? [] : try Self.formats(text, .offer)
    }

    private static func formats(
        _ text: String, _ setting: GatewaySetting
    ) throws(GrammarError) -> [ImageFormat] {
        var formats: [ImageFormat] = []
        for word in text.split(separator: ",") {
            formats.append(try format(String(word.trimmedOfBlanks), setting))
        }
        return formats
    }

    private static func format(
        _ word: String, _ setting: GatewaySetting
    ) throws(GrammarError) -> ImageFormat {
        guard let format = ImageFormat(name: word), format.isEncodable else {
            throw .malformed(
                "--\(setting.rawValue): '\(word.prefix(40))' is not an output format: use "
                    + ImageFormat.encodable.map(\.name).joined(separator: ", "))
        }
        return format
    }

    /// Parses `FORMAT=NUMBER,…`.
    private static func numbers(
        _ text: String, _ setting: GatewaySetting, _ range: (ImageFormat) -> ClosedRange<Int>?
    ) throws(GrammarError) -> [ImageFormat: Int] {
        var numbers: [ImageFormat: Int] = [:]
        for item in text.split(separator: ",") {
            let words = item.split(separator: "=").map { String($0.trimmedOfBlanks) }
            guard words.count == 2 else {
                throw .malformed(
                    "--\(setting.rawValue): '\(item.prefix(40))' is not FORMAT=NUMBER, such as "
                        + "webp=\(setting == .effort ? 4 : 75)")
            }
            let format = try format(words[0], setting)
            guard let range = range(format) else {
                throw .malformed("--\(setting.rawValue): not supported by \(format.name)")
            }
            guard let number = Int(words[1]), range.contains(number) else {
                throw .malformed(
                    "--\(setting.rawValue): '\(words[1].prefix(20))' is not an integer between "
                        + "\(range.lowerBound) and \(range.upperBound), the range of \(format.name)"
                )
            }
            numbers[format] = number
        }
        return numbers
    }
}
