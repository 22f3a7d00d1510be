import Nettle

/// imgproxy's URLs: `/SIGNATURE/OPTIONS…/plain/URL@FORMAT`, or with the URL in Base64
/// (`Proto/WEB.md`).
package struct ImgproxyGrammar: URLGrammar {
    /// The settings that apply to every URL.
    package struct Settings: Hashable, Sendable {
        /// Pairs of key and salt; a signature by any of them is accepted.
        package var keys: [SigningKey] = []
        /// The length of a signature in bytes, 8 to 32: HMAC-SHA256 truncated to its first bytes.
        package var signatureBytes = 32
        /// Whether any text is accepted as a signature, such as `unsafe` and `_`.
        package var permitsUnsigned = false
        /// Named option lists; the one named `default` applies to every URL.
        package var presets = ImgproxyPresets()
        /// Whether URLs may only name presets.
        package var onlyPresets = false
        /// The separator between the arguments of an option: one or more characters, but not `/`.
        package var separator = ":"
        /// The rules for source URLs.
        package var sources = SourceRules()
        /// The rules for URLs in options, of which only schemes and allowed sources apply. They
        /// differ from those of sources for uploads.
        package var optionSources = SourceRules()
        /// The URL of the image used by `watermark`; `nil` if there is none.
        package var watermark: String?
        /// The opacity of that image if the option specifies 1, from 0 to 1.
        package var watermarkOpacity = 1.0
        /// Whether paths request properties of the source (`/info`).
        package var isForProperties = false

        /// Creates settings that accept no URLs.
        package init() {}
    }

    let settings: Settings
    private let signature: PathSignature

    /// Throws if settings are out of range.
    package init(_ settings: Settings) throws(GrammarError) {
        try require(
            (8...32).contains(settings.signatureBytes),
            "the signature size must be between 8 and 32 bytes")
        try require(
            !settings.separator.isEmpty && !settings.separator.contains("/"),
            "argument separators must not be empty or contain /")
        try require(
            (0...1).contains(settings.watermarkOpacity),
            "the watermark opacity must be between 0 and 1")
        self.settings = settings
        signature = PathSignature(
            algorithm: .sha256, keys: settings.keys, byteCount: settings.signatureBytes)
        try checkPresets()
    }

    /// Parses a request target; see `URLGrammar`.
    package func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest {
        let path = try RequestTarget.path(of: target)
        let signed = try signedPart(of: path)
        let text = try RequestTarget.text(of: ImgproxyPath.repaired(signed))
        var options = ImgproxyOptions(now: now)
        try use("default", in: &options, isOptional: true)
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let rest = try readOptions(of: parts, into: &options)
        let source = try ImgproxySource(rest, settings)
        if let format = source.format, options.request.kind == .image {
            try options.applyFormat(OptionArguments("extension", [format]))
        }
        return try options.request(for: source.url, settings)
    }

    /// Verifies the signature and returns the signed part without its leading slash. If a proxy has
    /// normalized the path, the signature is that of the original path.
    private func signedPart(of path: [UInt8]) throws(GrammarError) -> [UInt8] {
        guard let (first, rest) = RequestTarget.split(path) else {
            throw .malformed("the path must be /SIGNATURE/OPTIONS/plain/URL")
        }
        if settings.permitsUnsigned { return rest }
        guard let code = Base64URL.decode(first) else { throw .notSigned(signature) }
        let slash = UInt8(ascii: "/")
        let isAsItCame = signature.verifies(code, of: [slash] + rest)
        let isRepaired = signature.verifies(code, of: [slash] + ImgproxyPath.repaired(rest))
        guard isAsItCame || isRepaired else { throw .notSigned(signature) }
        return rest
    }

    /// Returns a path with the source in plain text; see `URLGrammar`.
    package func path(options: String, source: String) -> String {
        (options.isEmpty ? "" : "\(options)/") + "plain/\(PercentText.source(source))"
    }

    /// Returns the signed target; the leading slash of the path is part of the signed text; see
    /// `URLGrammar`.
    package func target(ofPath path: String) throws(GrammarError) -> String {
        if let text = signature.text(for: Array("/\(path)".utf8)) { return "/\(text)/\(path)" }
        guard settings.permitsUnsigned else { throw .notSigned(signature) }
        return "/unsafe/\(path)"
    }

    // MARK: - Options

    /// Parses the options of a path and returns the remainder, which specifies the source.
    private func readOptions(
        of parts: [String], into options: inout ImgproxyOptions
    ) throws(GrammarError) -> ArraySlice<String> {
        if settings.onlyPresets {
            let names = parts[0].split(settings.separator)
            for name in names { try use(name, in: &options) }
            return parts.dropFirst()
        }
        if ImgproxyOptions.Mode(rawValue: parts[0]) != nil {
            throw .malformed(parts[0], "the basic URL format is not supported: use rs:\(parts[0])")
        }
        let named = parts.prefix { $0.contains(settings.separator) }
        try require(
            named.count <= GrammarLimits.optionsMax,
            "at most \(GrammarLimits.optionsMax) options are allowed")
        for part in named {
            let words = part.split(settings.separator)
            let arguments = OptionArguments(words[0], Array(words.dropFirst()))
            if settings.isForProperties, ImgproxyOption.ofProperties.contains(words[0]) {
                throw arguments.notOffered("all properties are always returned: leave it out")
            }
            guard ImgproxyOption.preset.names.contains(arguments.option) else {
                try options.apply(arguments)
                continue
            }
            for name in arguments.values { try use(name, in: &options) }
        }
        let rest = parts[named.endIndex...]
        try requireSupported(
            rest.first != "-", "chained pipelines are not supported: use one list of options",
            of: "-")
        return rest
    }

    /// Applies a preset.
    private func use(
        _ name: String, in options: inout ImgproxyOptions, isOptional: Bool = false
    ) throws(GrammarError) {
        guard let preset = settings.presets.flattened[name] else {
            if isOptional { return }
            throw .malformed("preset", "'\(name.prefix(40))' is not a preset of this server")
        }
        options.request.presets += preset.names
        guard options.request.presets.count <= GrammarLimits.appliedMax else {
            throw .tooManyOptions
        }
        for arguments in preset.options { try options.apply(arguments) }
    }

    /// Applies every preset once, so that errors in them are found early.
    private func checkPresets() throws(GrammarError) {
        for name in settings.presets.flattened.keys.sorted() {
            var options = ImgproxyOptions(now: 0)
            try use(name, in: &options)
            _ = try options.request(for: "https://example.org/", settings)
        }
    }
}

extension GrammarError {
    static let tooManyOptions = GrammarError(
        .malformed,
        "options and presets add up to more than \(GrammarLimits.appliedMax) options: use "
            + "fewer")
}

extension String {
    /// Splits at separators and keeps empty parts.
    func split(_ separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}

/// Reverses the changes that proxies make to imgproxy's paths.
enum ImgproxyPath {
    /// Decodes encoded colons in options, and restores the second slash after the scheme of a plain
    /// URL, and for `file:` and `local:`, which have no host, the third one.
    static func repaired(_ path: [UInt8]) -> [UInt8] {
        guard let start = plainURL(of: path) else { return withColons(path[...]) }
        return withColons(path[..<start]) + withSlashes(path[start...])
    }

    /// Returns where the plain URL begins.
    private static func plainURL(of path: [UInt8]) -> Int? {
        let mark = Array("/plain/".utf8)
        if path.starts(with: mark.dropFirst()) { return mark.count - 1 }
        return path.firstRange(of: mark)?.upperBound
    }

    private static func withColons(_ options: ArraySlice<UInt8>) -> [UInt8] {
        guard options.contains(UInt8(ascii: "%")) else { return Array(options) }
        let text = String(decoding: options, as: UTF8.self)
        return Array(text.replacing("%3A", with: ":").replacing("%3a", with: ":").utf8)
    }

    private static func withSlashes(_ url: ArraySlice<UInt8>) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon > url.startIndex,
            !url[..<colon].contains(slash), url.endIndex - colon > 2, url[colon + 1] == slash,
            url[colon + 2] != slash
        else { return Array(url) }
        let scheme = url[..<colon]
        let isOfFiles = withoutHost.contains { scheme.elementsEqual($0) }
        return url[...colon] + Array(repeating: slash, count: isOfFiles ? 2 : 1)
            + url[(colon + 1)...]
    }

    private static let withoutHost = [Array("file".utf8), Array("local".utf8)]
}

/// The part of an imgproxy path after the options.
struct ImgproxySource {
    let url: String
    /// The extension, if there is one.
    let format: String?

    init(
        _ parts: ArraySlice<String>, _ settings: ImgproxyGrammar.Settings
    ) throws(GrammarError) {
        guard let first = parts.first, !(parts.count == 1 && first.isEmpty) else {
            throw .malformed("the source URL is missing: add plain/URL")
        }
        let isPlain = first == "plain" && parts.count > 1
        if first == "enc", parts.count > 1 {
            throw .notOffered("enc", "encrypted URLs are not supported: use plain or Base64")
        }
        let text = isPlain ? parts.dropFirst().joined(separator: "/") : parts.joined()
        let words = text.split(isPlain ? "@" : ".")
        guard words.count <= 2 else {
            if !isPlain, let slip = Self.slip(in: parts) { throw slip }
            throw .malformed(
                isPlain
                    ? "the URL contains more than one @: encode those of the source as %40"
                    : "more than one format is given: use one")
        }
        let bytes = isPlain ? try PercentText.bytes(words[0]) : try Self.decoded(words[0], parts)
        url = try settings.sources.url(bytes)
        format = words.count > 1 && !words[1].isEmpty ? words[1] : nil
    }

    /// Returns an error if the supposed Base64 begins with what was probably meant as an option.
    private static func slip(in parts: ArraySlice<String>) -> GrammarError? {
        guard let first = parts.first, parts.dropFirst().contains("plain") else { return nil }
        return .malformed(
            String(first.prefix(40)), "not an option: expected NAME:ARGUMENTS before plain/")
    }

    private static func decoded(
        _ text: String, _ parts: ArraySlice<String>
    ) throws(GrammarError) -> [UInt8] {
        guard let bytes = Base64URL.decode(text.utf8) else {
            if let slip = slip(in: parts) { throw slip }
            throw .malformed(
                "the source is not Base64: encode it as in RFC 4648 section 5, or put plain/ "
                    + "before it")
        }
        return bytes
    }
}

/// Named lists of imgproxy options.
package struct ImgproxyPresets: Hashable, Sendable {
    /// A preset with the presets that it includes.
    struct Preset: Hashable, Sendable {
        private(set) var names: [String] = []
        private(set) var options: [OptionArguments] = []

        /// Appends the options of a preset. `open` has the names of those that include it.
        fileprivate mutating func include(
            _ name: String, of texts: [String: String], _ separator: String,
            in open: Set<String> = []
        ) throws(GrammarError) {
            guard let text = texts[name] else {
                throw .malformed("preset", "'\(name.prefix(40))' is not a preset")
            }
            try require(!open.contains(name), "'\(name.prefix(40))' refers to itself", of: "preset")
            names.append(name)
            try checkCount()
            for option in text.split("/") {
                let words = option.split(separator)
                try require(
                    words.count > 1, "'\(option.prefix(40))' is not NAME\(separator)ARGUMENTS",
                    of: "preset")
                if ImgproxyOption.preset.names.contains(words[0]) {
                    for other in words.dropFirst() {
                        try include(other, of: texts, separator, in: open.union([name]))
                    }
                } else {
                    options.append(OptionArguments(words[0], Array(words.dropFirst())))
                    try checkCount()
                }
            }
        }

        private func checkCount() throws(GrammarError) {
            guard options.count + names.count <= GrammarLimits.appliedMax else {
                throw .tooManyOptions
            }
        }
    }

    private(set) var flattened: [String: Preset] = [:]

    /// Creates an empty set.
    package init() {}

    /// Creates presets from option lists by name, written as in URLs, such as `rt:fill/q:70`; a
    /// preset may include others. Throws for invalid options, unknown presets and cycles.
    package init(_ texts: [String: String], separator: String = ":") throws(GrammarError) {
        for name in texts.keys {
            var preset = Preset()
            try preset.include(name, of: texts, separator)
            flattened[name] = preset
        }
    }

    /// Parses a file with a line `NAME=OPTIONS` per preset; empty lines and lines that begin with
    /// `#` are ignored.
    package init(lines text: String, separator: String = ":") throws(GrammarError) {
        var texts: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmedOfBlanks
            guard !line.isEmpty, line.first != "#" else { continue }
            let words = line.split(separator: "=", omittingEmptySubsequences: false)
                .map(\.trimmedOfBlanks)
            try require(
                words.count == 2 && !words[0].isEmpty && !words[1].isEmpty,
                "'\(line.prefix(40))' is not NAME=OPTIONS", of: "preset")
            try require(
                texts.updateValue(String(words[1]), forKey: String(words[0])) == nil,
                "'\(words[0].prefix(40))' is defined twice", of: "preset")
        }
        try self.init(texts, separator: separator)
    }
}
