package import Model
import Nettle
import ProcessRuntime
package import WebGrammar

/// Interprets an operator's settings of a listener. Doesn't open files itself.
package struct SettingsReader {
    /// The settings; flags that are set have an empty text.
    package let values: [GatewaySetting: String]
    /// Lines of keys from the environment, in addition to those of the file.
    package let keyLines: [String]
    /// Returns the contents of a file named by a setting.
    private let bytes: (_ path: String) throws -> [UInt8]

    package init(
        _ values: [GatewaySetting: String], keyLines: [String] = [],
        bytes: @escaping (_ path: String) throws -> [UInt8]
    ) {
        (self.values, self.keyLines, self.bytes) = (values, keyLines, bytes)
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

    // MARK: - Values

    func has(_ setting: GatewaySetting) -> Bool { values[setting] != nil }

    /// Returns the number of a setting; `nil` if it isn't set.
    func number(_ setting: GatewaySetting) -> Int? {
        values[setting].flatMap { setting.number(of: $0) }
    }

    /// Returns what a setting is converted to; `nil` if it isn't set. Errors name the setting.
    func read<Value>(
        _ setting: GatewaySetting, _ convert: (String) throws -> Value
    ) throws -> Value? {
        try values[setting].map { text in try named(setting) { try convert(text) } }
    }

    /// Returns what a setting is converted to; `nil` if it isn't set. The error for a text that
    /// can't be converted says what is expected.
    func read<Value>(
        _ setting: GatewaySetting, mustBe expected: String, _ convert: (String) -> Value?
    ) throws -> Value? {
        try values[setting].map { text in
            guard let value = convert(text) else {
                throw ConfigurationError("--\(setting.rawValue) must be \(expected); not '\(text)'")
            }
            return value
        }
    }

    /// Returns the contents of the file named by a setting; `nil` if it isn't set.
    func contents(of setting: GatewaySetting) throws -> [UInt8]? { try read(setting, bytes) }

    func named<Value>(
        _ setting: GatewaySetting, _ body: () throws -> Value
    ) throws -> Value {
        do { return try body() } catch { throw fault(setting, "\(error)") }
    }

    func fault(_ setting: GatewaySetting, _ message: String) -> ConfigurationError {
        ConfigurationError("--\(setting.rawValue): \(message)")
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }
}

/// How a listener serves the URLs of a grammar.
struct GrammarListener: Sendable {
    /// The name in texts.
    let title: String
    let form: PropertiesForm
    /// The health check path of the grammar's original server.
    var healthPath: String?
    /// The options and the source of an example.
    let options: String
    var source = "https://example.com/photo.jpg"
    /// Whether paths begin with a signature.
    var isSigned = true
    /// Whether URLs are accepted without an option that permits unsigned ones.
    var isOpen = false
    let grammar: @Sendable (SettingsReader, SettingsReader.Use) throws -> any URLGrammar

    static let imgproxy = GrammarListener(
        title: "imgproxy", form: .plain, options: "rs:fit:300:200"
    ) { try ImgproxyGrammar($0.imgproxy(for: $1)) }

    /// The listeners by the names of the grammars.
    static let all = [
        "imgproxy": imgproxy,
        "thumbor": GrammarListener(
            title: "thumbor", form: .thumbor, healthPath: "/healthcheck", options: "300x200/smart"
        ) { try ThumborGrammar($0.thumbor(for: $1)) },
        "imagor": GrammarListener(
            title: "imagor", form: .thumbor, healthPath: "/healthcheck", options: "300x200/smart"
        ) { try ThumborGrammar($0.thumbor(for: $1)) },
        "iiif": GrammarListener(
            title: "IIIF", form: .iiif, options: "full/300,/0/default.jpg", source: "photo.jpg",
            isSigned: false, isOpen: true
        ) { reader, _ in try reader.named(.iiifSource) { try IIIFGrammar(reader.iiif()) } },
        "weserv": GrammarListener(
            title: "weserv", form: .weserv, options: "w=300&h=200&fit=cover", isSigned: false
        ) { WeservGrammar(try $0.weserv(for: $1)) },
    ]
}

// Grammars.
extension SettingsReader {
    /// The name of the grammar.
    package var grammarName: String { values[.grammar] ?? "imgproxy" }

    /// The listener of the grammar; names are validated before.
    var listener: GrammarListener { GrammarListener.all[grammarName] ?? .imgproxy }

    /// Returns the grammar of the paths.
    package func grammar(for use: Use = .images) throws -> any URLGrammar {
        try listener.grammar(self, use)
    }

    /// Returns the settings of imgproxy's grammar.
    package func imgproxy(for use: Use = .images) throws -> ImgproxyGrammar.Settings {
        var settings = ImgproxyGrammar.Settings()
        settings.keys = try keys { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 2, let key = SigningKey(hexKey: words[0], hexSalt: words[1]) else {
                throw ConfigurationError(
                    "each line of the key file must be KEY SALT in hexadecimal digits")
            }
            return key
        }
        settings.permitsUnsigned = permitsUnsigned(use)
        settings.onlyPresets = has(.onlyPresets) && use != .properties
        settings.isForProperties = use == .properties
        settings.signatureBytes = number(.signatureSize) ?? settings.signatureBytes
        settings.separator = values[.argumentsSeparator] ?? settings.separator
        settings.sources = try sources(for: use)
        settings.optionSources = try sources(for: .images)
        settings.watermark = try values[.watermark].map(watermark)
        settings.watermarkOpacity =
            values[.watermarkOpacity].flatMap { PlainNumber.decimal($0) }
            ?? settings.watermarkOpacity
        if use != .properties {
            settings.presets = try presets(separator: settings.separator, use)
        }
        return settings
    }

    /// Returns the settings of thumbor's grammar, or of imagor's dialect of it.
    package func thumbor(for use: Use = .images) throws -> ThumborGrammar.Settings {
        var settings = ThumborGrammar.Settings(grammarName == "imagor" ? .imagor : .thumbor)
        settings.keys = try keys { line in
            guard let key = SigningKey(key: Array(line.utf8)) else {
                throw ConfigurationError("each line of the key file must be a key")
            }
            return key
        }
        settings.permitsUnsigned = permitsUnsigned(use)
        settings.algorithm =
            values[.signatureAlgorithm].flatMap(HMAC.init) ?? settings.algorithm
        settings.signatureBytes = number(.signatureSize)
        settings.sources = try sources(for: use, defaultScheme: settings.sources.defaultScheme)
        if use == .uploads { settings.sources.defaultScheme = UploadSettings.scheme }
        return settings
    }

    /// Returns the settings of IIIF's grammar.
    package func iiif() throws -> IIIFGrammar.Settings {
        guard let source = values[.iiifSource] else {
            throw ConfigurationError("required for IIIF, such as https://example.com/images/{id}")
        }
        var settings = IIIFGrammar.Settings(source: source)
        settings.sources = try sources(for: .images)
        settings.prefix = String((values[.iiifPrefix] ?? "").trimmed(of: "/"))
        return settings
    }

    /// Returns the settings of weserv's grammar.
    package func weserv(for use: Use = .images) throws -> WeservGrammar.Settings {
        var settings = WeservGrammar.Settings()
        settings.permitsUnsigned = permitsUnsigned(use)
        settings.sources = try sources(for: use, defaultScheme: settings.sources.defaultScheme)
        return settings
    }

    private func permitsUnsigned(_ use: Use) -> Bool {
        has(.unsigned) || use == .uploads || use == .removals
    }

    private func sources(for use: Use, defaultScheme: String = "") throws -> SourceRules {
        var sources = SourceRules()
        sources.defaultScheme = defaultScheme
        guard use != .uploads else {
            sources.schemes = SourceSchemes([UploadSettings.scheme])
            return sources
        }
        if let names = try read(.schemes, schemes) {
            sources.schemes = sources.schemes.adding(names)
        }
        if let word = values[.defaultScheme] {
            guard word == "none" || sources.schemes.names.contains(word.lowercased()) else {
                throw fault(
                    .defaultScheme,
                    "'\(word.prefix(40))' is neither none nor a known scheme; add schemes with "
                        + "--schemes")
            }
            sources.defaultScheme = word == "none" ? "" : word.lowercased()
        }
        sources.base = values[.baseURL] ?? ""
        sources.replacements = try read(.urlReplacements, SourceReplacement.list) ?? []
        sources.allowed = try read(.allowedSources, SourcePattern.list)
        return sources
    }

    /// Parses comma-separated scheme names (RFC 3986, section 3.1).
    private func schemes(_ text: String) throws -> [String] {
        let names = text.split(separator: ",").map { String($0.trimmedOfBlanks) }
        guard !names.isEmpty, names.allSatisfy({ SourceURL.isScheme($0.utf8) }) else {
            throw ConfigurationError(
                "'\(text.prefix(60))' is not a list of schemes, such as photos,scans")
        }
        return names
    }

    /// Validates the URL of the watermark, which the stack loads.
    private func watermark(_ url: String) throws -> String {
        guard (try? SourceURL(url)) != nil, url.contains("://") else {
            throw fault(
                .watermark,
                "'\(url.prefix(60))' is not the URL of an image, such as "
                    + "https://example.com/mark.png or local:///mark.png; 'imagebus serve "
                    + "--gateway-watermark' also accepts file paths")
        }
        return url
    }

    /// Returns the path prefix of all URLs, without a trailing slash.
    package func pathPrefix() throws -> String {
        let path = (values[.pathPrefix] ?? "").trimmed(of: "/")
        let isPath = path.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && !"?#%\\".utf8.contains(byte)
        }
        guard isPath, !path.contains("//") else {
            throw fault(.pathPrefix, "'\(path.prefix(60))' is not a path such as /img")
        }
        return path.isEmpty ? "" : "/\(path)"
    }

    /// Returns the host names in lowercase.
    package func hosts() throws -> [String] {
        let names = (values[.host] ?? "").split(separator: ",")
            .map { $0.trimmedOfBlanks.lowercased() }
        guard names.allSatisfy({ !$0.isEmpty && ($0.hasPrefix("[") || !$0.contains(":")) }) else {
            throw ConfigurationError(
                "--host must be host names without ports, such as img.example.com,img.example.org")
        }
        return names
    }

    private func presets(separator: String, _ use: Use) throws -> ImgproxyPresets {
        var lines = try values[.presets].map(text) ?? ""
        if let more = values[.presetLines] { lines += "\n\(more)" }
        if case .saving(let preset) = use {
            lines = self.lines(lines, saving: preset, separator: separator)
        }
        return try named(has(.presets) ? .presets : .presetLines) {
            try ImgproxyPresets(lines: lines, separator: separator)
        }
    }

    /// Adds the preset after the preset `default`, which applies to every path.
    private func lines(_ text: String, saving preset: String, separator: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline)
        let isUsual = { (line: Substring) in
            line.split(separator: "=").first?.trimmedOfBlanks == "default"
        }
        let option = "pr\(separator)\(preset)"
        guard lines.contains(where: isUsual) else { return text + "\ndefault=\(option)\n" }
        return lines.map { isUsual($0) ? "\($0.trimmedOfBlanks)/\(option)" : String($0) }
            .joined(separator: "\n")
    }

    /// Returns the keys in the lines of the environment and the key file, except for empty lines
    /// and comments, which begin with `#`.
    private func keys(_ key: (_ line: String) throws -> SigningKey) throws -> [SigningKey] {
        let lines = try values[.keys].map(text)?.split(whereSeparator: \.isNewline) ?? []
        return try (keyLines + lines.map(String.init).filter { !$0.hasPrefix("#") }).map(key)
    }
}
