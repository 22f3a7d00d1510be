import Nettle

/// imgproxy's URLs: `/SIGNATURE/OPTIONS…/plain/URL@FORMAT`, or the URL in Base64
/// (`Proto/WEB.md`).
public struct ImgproxyGrammar: URLGrammar {
    /// What is the same for every URL.
    public struct Settings: Hashable, Sendable {
        /// Pairs of key and salt, any of which may have signed.
        public var keys: [SigningKey] = []
        /// Bytes of a signature, 8 to 32: the first ones of an HMAC-SHA256.
        public var signatureBytes = 32
        /// Whether any text may stand for a signature, such as `unsafe` and `_`.
        public var permitsUnsigned = false
        /// Named options; that of the name `default` is applied to every URL.
        public var presets = ImgproxyPresets()
        /// Whether URLs name presets and nothing else.
        public var onlyPresets = false
        /// What stands between the arguments of an option: one character or more, no `/`.
        public var separator = ":"
        /// What becomes of the sources that URLs name.
        public var sources = SourceRules()
        /// The URL of the image that `watermark` lays over; `nil`: there is none.
        public var watermark: String?
        /// How much of that is seen where the option says 1, 0 to 1.
        public var watermarkOpacity = 1.0

        /// Nobody may ask for anything.
        public init() {}
    }

    let settings: Settings
    private let signature: PathSignature

    /// Throws where settings are beyond their limits.
    public init(_ settings: Settings) throws(GrammarError) {
        guard (8...32).contains(settings.signatureBytes) else {
            throw GrammarError(.malformed, "a signature has from 8 to 32 bytes")
        }
        guard !settings.separator.isEmpty, !settings.separator.contains("/") else {
            throw GrammarError(.malformed, "a separator of arguments has characters, and no slash")
        }
        guard (0...1).contains(settings.watermarkOpacity) else {
            throw GrammarError(.malformed, "the opacity of the watermark is a number from 0 to 1")
        }
        self.settings = settings
        signature = PathSignature(
            algorithm: .sha256, keys: settings.keys, byteCount: settings.signatureBytes)
        try checkPresets()
    }

    /// What a target wants; see `URLGrammar`.
    public func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest {
        let path = try RequestTarget.path(of: target)
        let signed = try signedPart(of: path)
        let text = try RequestTarget.text(of: ImgproxyPath.repaired(signed))
        var options = ImgproxyOptions(now: now)
        try use("default", in: &options, isOptional: true)
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let rest = try readOptions(of: parts, into: &options)
        let source = try ImgproxySource(rest, settings)
        if let format = source.format, !options.isRaw {
            try options.takeFormat(OptionArguments("extension", [format]))
        }
        return try options.request(for: source.url, settings)
    }

    /// What is signed, without the slash that it begins with. A path that a proxy normalised is
    /// signed as it was before.
    private func signedPart(of path: [UInt8]) throws(GrammarError) -> [UInt8] {
        guard let (first, rest) = RequestTarget.split(path) else {
            throw GrammarError(
                .malformed, "the path has no signature and source: /SIGNATURE/OPTIONS/plain/URL")
        }
        if settings.permitsUnsigned { return rest }
        guard let code = Base64URL.decode(first) else { throw .notSigned(signature) }
        let slash = UInt8(ascii: "/")
        let isAsItCame = signature.verifies(code, of: [slash] + rest)
        let isRepaired = signature.verifies(code, of: [slash] + ImgproxyPath.repaired(rest))
        guard isAsItCame || isRepaired else { throw .notSigned(signature) }
        return rest
    }

    /// The source in plain text; see `URLGrammar`.
    public func path(options: String, source: String) -> String {
        (options.isEmpty ? "" : "\(options)/") + "plain/\(PercentText.source(source))"
    }

    /// Signed with the slash that it begins with; see `URLGrammar`.
    public func target(ofPath path: String) throws(GrammarError) -> String {
        if let text = signature.text(for: Array("/\(path)".utf8)) { return "/\(text)/\(path)" }
        guard settings.permitsUnsigned else { throw .notSigned(signature) }
        return "/unsafe/\(path)"
    }

    // MARK: - Options

    /// Takes the options of a path; what is left names the source.
    private func readOptions(
        of parts: [String], into options: inout ImgproxyOptions
    ) throws(GrammarError) -> ArraySlice<String> {
        if settings.onlyPresets {
            let names = parts[0].split(settings.separator)
            for name in names { try use(name, in: &options) }
            return parts.dropFirst()
        }
        if ImgproxyOptions.Mode(rawValue: parts[0]) != nil {
            throw .malformed(parts[0], "this is imgproxy's basic form of old: use rs:\(parts[0])")
        }
        let named = parts.prefix { $0.contains(settings.separator) }
        guard named.count <= GrammarLimits.optionsMax else {
            throw GrammarError(
                .malformed, "there are more than \(GrammarLimits.optionsMax) options: use fewer")
        }
        for part in named {
            let words = part.split(settings.separator)
            let arguments = OptionArguments(words[0], Array(words.dropFirst()))
            guard ImgproxyOption.preset.names.contains(arguments.option) else {
                try options.take(arguments)
                continue
            }
            for name in arguments.values { try use(name, in: &options) }
        }
        return parts[named.endIndex...]
    }

    /// Applies a preset.
    private func use(
        _ name: String, in options: inout ImgproxyOptions, isOptional: Bool = false
    ) throws(GrammarError) {
        guard let preset = settings.presets.flattened[name] else {
            if isOptional { return }
            throw .malformed(
                "preset", "'\(name.prefix(40))' is no preset of this server: use another")
        }
        options.presets += preset.names
        guard options.presets.count <= GrammarLimits.appliedMax else { throw .tooManyOptions }
        for arguments in preset.options { try options.take(arguments) }
    }

    /// Every preset is applied once, so that a mistake in one is found before it is used.
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
        "the options and those of their presets are more than \(GrammarLimits.appliedMax): use "
            + "fewer")
}

extension String {
    /// The parts between separators, empty ones too.
    func split(_ separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
