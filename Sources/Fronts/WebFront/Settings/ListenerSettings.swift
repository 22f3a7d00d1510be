import MicroHTTPD
package import Model
import ProcessRuntime
import WebGrammar

// The settings of a listener besides those of its grammar.
extension SettingsReader {
    /// Returns the settings of the listener.
    package func settings() throws -> WebFrontSettings {
        try check()
        var front = WebFrontSettings(grammar: try grammar())
        front.metricsPlace = values[.metricsListen].flatMap { ListenPlace($0) }
        front.operatorPlace = values[.operatorListen].flatMap { ListenPlace($0) }
        front.offered = try offered() ?? front.offered
        front.output = try output()
        (front.pathPrefix, front.hosts) = (try pathPrefix(), try hosts())
        front.root = rootPage(front)
        front.metadata = values[.metadata].flatMap { Self.metadata[$0] } ?? .copyright
        front.damaged = values[.damaged].flatMap { DamagedImages(name: $0) } ?? .show
        front.skippedFormats = try read(.skipProcessingFormats, passableFormats) ?? []
        try applyEdge(&front)
        front.crossOrigin =
            try read(
                .allowOrigin,
                mustBe: "* or comma-separated origins, such as "
                    + "https://example.com,https://www.example.com"
            ) { CrossOriginAccess($0) } ?? front.crossOrigin
        try applyGrammar(&front)
        try applyFallback(&front)
        try applyTokens(&front)
        try applyHints(&front)
        for (setting, apply) in Self.fields {
            guard let text = values[setting] else { continue }
            apply(&front, setting.number(of: text) ?? 0)
        }
        try applyHeaders(&front)
        if let uploads = front.uploads { front.limits.bodyBytes = uploads.bytesMax }
        return front
    }

    /// Whether no request can be answered, whatever the files contain.
    package var answersNobody: Bool {
        !listener.isOpen && keyLines.isEmpty
            && [.unsigned, .keys, .postTokens].allSatisfy { !has($0) }
    }

    private static let metadata: [String: MetadataChoice] = ["none": .nothing, "all": .all]

    /// The flags and the numbers that determine a field each.
    private static let fields: [GatewaySetting: @Sendable (inout WebFrontSettings, Int) -> Void] = [
        .noComponent: { front, _ in front.files = nil },
        .immutable: { front, _ in front.answers.caching.isImmutable = true },
        .noXCache: { front, _ in front.answers.saysCache = false },
        .accessLog: { front, _ in front.logsRequests = true },
        .maxAnimationFrames: { $0.framesMax = $1 },
        .timeout: { $0.timeoutMilliseconds = $1 * 1_000 },
        .rememberFailures: { $0.earlierFailureMilliseconds = $1 * 1_000 },
        .urlLimit: { $0.targetBytesMax = $1 },
        .connections: { $0.limits.connections = $1 },
        .connectionsPerAddress: { $0.limits.connectionsPerPeer = $1 },
        .idleTimeout: { $0.limits.idleSeconds = $1 },
        .headerLimit: { $0.limits.headBytes = $1 },
        .headerTimeout: { $0.limits.headSeconds = $1 },
        .postMaxBytes: { $0.uploads?.bytesMax = $1 },
        .fallbackMaxAge: { $0.answers.fallbackSeconds = $1 },
        .maxAge: assumeFresh, .assumeFresh: assumeFresh,
        .assumeStaleWhileRevalidate: { $0.assumedLifetime.whileRevalidate = Int64($1) },
        .assumeStaleIfError: { $0.assumedLifetime.ifError = Int64($1) },
        .maxAgeLimit: { $0.answers.caching.mostSeconds = $1 },
        .browserMaxAge: { $0.answers.caching.browserSeconds = $1 },
    ]

    private static func assumeFresh(_ front: inout WebFrontSettings, _ seconds: Int) {
        front.assumedLifetime.fresh = Int64(seconds)
        front.answers.caching.usualSeconds = seconds
    }

    /// Checks the syntax of all settings. Refuses settings that the grammar doesn't use instead of
    /// ignoring them, above all those for signatures.
    private func check() throws {
        for setting in GatewaySetting.allCases {
            guard let text = values[setting] else { continue }
            if setting.placeholder != nil, !setting.accepts(text) {
                throw fault(setting, "'\(text)' is not \(setting.expected)")
            }
            guard !setting.applies(to: grammarName) else { continue }
            throw ConfigurationError(
                setting == .keys
                    ? "--keys does not apply to \(listener.title), whose URLs are not signed: "
                        + "leave it out, and restrict access in a proxy"
                    : "--\(setting.rawValue) requires --grammar "
                        + (setting.grammars ?? []).joined(separator: " or ") + ": leave it out")
        }
        guard !has(.maxAge) || !has(.assumeFresh) else {
            throw ConfigurationError("--max-age and --assume-fresh are aliases: use one of them")
        }
    }

    /// The page with an example, if a path without a signature is accepted; `nil` if there are no
    /// signatures and none is accepted.
    private func rootPage(_ front: WebFrontSettings) -> RootPage? {
        let isOpen = listener.isOpen || (has(.unsigned) && !has(.onlyPresets))
        guard isOpen || listener.isSigned else { return nil }
        let path = front.grammar.path(options: listener.options, source: listener.source)
        let signature = listener.isSigned ? "unsafe/" : ""
        return RootPage(
            grammar: listener.title,
            example: isOpen ? "\(front.pathPrefix)/\(signature)\(path)" : nil)
    }

    /// Applies the settings for trusted proxies and the field in which they name their clients.
    private func applyEdge(_ front: inout WebFrontSettings) throws {
        if let text = values[.trustedProxy] {
            guard let networks = TrustedNetworks(text) else {
                throw fault(
                    .trustedProxy,
                    "'\(text)' is not a comma-separated list of networks, such as "
                        + "10.0.0.0/8,2001:db8::1,unix")
            }
            front.edge.trusted = networks
        }
        guard let field = values[.clientHeader] else { return }
        guard !front.edge.trusted.isEmpty else {
            throw ConfigurationError(
                "--client-header '\(field)' requires --trusted-proxy, such as "
                    + "--trusted-proxy 10.0.0.0/8")
        }
        front.edge.clientField = field
    }

    /// Applies what depends on the grammar: the form of image properties, and how its original
    /// server behaves.
    private func applyGrammar(_ front: inout WebFrontSettings) throws {
        front.propertiesForm = listener.form
        front.healthPath = listener.healthPath
        // Required by Level 1.
        if listener.form == .iiif, front.crossOrigin.isNone, let all = CrossOriginAccess("*") {
            front.crossOrigin = all
        }
        if listener.form == .plain {
            // By default, imgproxy converts animations to still images and passes SVG through.
            (front.framesMax, front.passesDrawings) = (1, true)
            front.infoGrammar = try grammar(for: .properties)
        }
        front.publicURL = try read(
            .publicURL,
            mustBe: "the URL of this listener for clients, such as https://example.com, without a "
                + "trailing slash"
        ) { url in
            let isURL = url.hasPrefix("http://") || url.hasPrefix("https://")
            return isURL && !url.hasSuffix("/") ? url : nil
        }
    }

    private func applyFallback(_ front: inout WebFrontSettings) throws {
        if let place = values[.fallback] {
            let isURL = (try? SourceURL(place)) != nil
            front.fallback = FallbackSettings(
                image: try isURL ? .url(place) : .bytes(contents(of: .fallback) ?? []))
        }
        let causes = try read(
            .fallbackFor,
            mustBe: "a list of statuses and error names, such as 404,badImageData"
        ) { FallbackSettings.Causes($0) }
        if let causes {
            guard front.fallback != nil else {
                throw ConfigurationError("--fallback-for requires --fallback with a URL or path")
            }
            front.fallback?.causes = causes
        }
        let statuses: UInt16?? = try read(
            .fallbackStatus, mustBe: "a status that allows a body, or error"
        ) { word in
            if word == "error" { return .some(nil) }
            // Responses with these statuses have no body (RFC 9110 §6.4.1).
            guard let status = UInt16(word), word == "200" || (201...599).contains(status),
                ![204, 205, 206, 304].contains(status)
            else { return nil }
            return status
        }
        if let status = statuses { front.answers.fallbackStatus = status }
    }

    /// Applies the settings for uploads and for operators, who can request revalidation by
    /// `no-cache` and remove entries.
    private func applyTokens(_ front: inout WebFrontSettings) throws {
        if let tokens = try tokens(.postTokens) {
            guard listener.isSigned else {
                throw fault(.postTokens, "\(listener.title) does not support uploads")
            }
            front.uploads = UploadSettings(
                grammar: try grammar(for: .uploads), tokens: tokens)
        }
        front.operators = try tokens(.operatorTokens)
        guard front.operatorPlace != nil else { return }
        guard let tokens = front.operators else {
            throw ConfigurationError(
                "--operator-listen requires --operator-tokens FILE, the tokens for removing "
                    + "entries")
        }
        front.removals = OperatorSettings(
            tokens: tokens, grammar: try grammar(for: .removals), pathPrefix: front.pathPrefix)
    }

    /// Returns the tokens in the file named by a setting; `nil` if it isn't set.
    private func tokens(_ setting: GatewaySetting) throws -> BearerTokens? {
        guard let bytes = try contents(of: setting) else { return nil }
        guard let tokens = BearerTokens(file: bytes) else {
            throw fault(
                setting,
                "invalid tokens in \(values[setting] ?? ""): expected \(BearerTokens.expected)")
        }
        return tokens
    }

    private func applyHints(_ front: inout WebFrontSettings) throws {
        guard has(.clientHints) else {
            for setting in [GatewaySetting.hintWidths, .saveDataQuality, .saveDataPreset]
            where has(setting) {
                throw ConfigurationError("--\(setting.rawValue) requires --client-hints")
            }
            return
        }
        var hints = HintSettings()
        if let text = values[.hintWidths] { hints.widths = try widths(text) }
        if let preset = values[.saveDataPreset] {
            guard has(.presets) || has(.presetLines), front.infoGrammar != nil else {
                throw ConfigurationError(
                    "--save-data-preset requires --presets and --grammar imgproxy")
            }
            hints.savingGrammar = try grammar(for: .saving(preset: preset))
            hints.savingQuality = nil
        }
        if let quality = number(.saveDataQuality) {
            hints.savingQuality = quality == 0 ? nil : quality
        }
        front.hints = hints
        front.answers.wantedHints =
            HintSettings.ofWidth + HintSettings.ofRatio
            + (hints.looksAtSaving ? [HintSettings.ofSaving] : [])
    }

    private func widths(_ text: String) throws -> [Int] {
        let range = 1...RequestLimits.sideMax
        let widths = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { Int($0) ?? 0 }
        guard widths.allSatisfy(range.contains), widths.count <= 64, widths == widths.sorted()
        else {
            throw ConfigurationError(
                "--hint-widths must be up to 64 widths in ascending order, such as 320,640,1280, "
                    + "each between 1 and \(range.upperBound) pixels")
        }
        return widths
    }

    /// Applies the fields passed to origins and those added to responses.
    private func applyHeaders(_ front: inout WebFrontSettings) throws {
        front.responseHeaders =
            try read(.responseHeaders) { try ResponseHeaders($0) } ?? front.responseHeaders
        let sources = try read(.passHeadersTo, SourcePattern.list)
        guard
            let headers = try read(.passHeaders, { try PassedHeaders(names: $0, sources: sources) })
        else {
            guard sources == nil else {
                throw ConfigurationError("--pass-headers-to requires --pass-headers")
            }
            return
        }
        front.passedHeaders = headers
        guard front.operators == nil || !headers.has("authorization") else {
            throw fault(
                .passHeaders,
                "authorization cannot be combined with --operator-tokens, which would be sent to "
                    + "origins: leave one of them out")
        }
    }
}

// The formats of results.
extension SettingsReader {
    /// Returns the options used if URLs don't specify them.
    package func output() throws -> OutputDefaults {
        var output = OutputDefaults()
        output.quality = number(.quality)
        output.qualities = try numbers(.formatQuality) { _ in 1...100 }
        output.efforts = try numbers(.effort) { $0.traits.output?.efforts?.range }
        guard let formats = try read(.progressive, formats) else { return output }
        if let other = formats.first(where: { ![.jpeg, .png, .gif].contains($0) }) {
            throw fault(.progressive, "\(other.name) does not support it: use jpeg, png or gif")
        }
        output.progressive = Set(formats)
        return output
    }

    /// Returns the formats from which clients may choose; empty for `none`.
    package func offered() throws -> [ImageFormat]? {
        values[.offer] == "none" ? [] : try read(.offer, formats)
    }

    private func formats(_ text: String) throws -> [ImageFormat] {
        try text.split(separator: ",").map { try format(String($0.trimmedOfBlanks)) }
    }

    private func format(_ word: String) throws -> ImageFormat {
        guard let format = ImageFormat(name: word), format.isEncodable else {
            throw ConfigurationError(
                "'\(word.prefix(40))' is not an output format: use "
                    + ImageFormat.encodable.map(\.name).joined(separator: ", "))
        }
        return format
    }

    private func passableFormats(_ text: String) throws -> [ImageFormat] {
        try text.split(separator: ",").map { word in
            guard let format = ImageFormat(name: String(word)),
                OutputOptions.passable.contains(format)
            else {
                throw ConfigurationError(
                    "'\(word)' cannot be passed through: use some of "
                        + OutputOptions.passable.map(\.name).joined(separator: ", "))
            }
            return format
        }
    }

    /// Returns the numbers in `FORMAT=NUMBER,…` by format.
    private func numbers(
        _ setting: GatewaySetting, _ range: (ImageFormat) -> ClosedRange<Int>?
    ) throws -> [ImageFormat: Int] {
        let numbers = try read(setting) { text in
            try text.split(separator: ",").map { item in
                let words = item.split(separator: "=").map { String($0.trimmedOfBlanks) }
                guard words.count == 2 else {
                    throw ConfigurationError(
                        "'\(item.prefix(40))' is not FORMAT=NUMBER, such as "
                            + "webp=\(setting == .effort ? 4 : 75)")
                }
                let format = try format(words[0])
                guard let range = range(format) else {
                    throw ConfigurationError("not supported by \(format.name)")
                }
                guard let number = Int(words[1]), range.contains(number) else {
                    throw ConfigurationError(
                        "'\(words[1].prefix(20))' is not an integer between \(range.lowerBound) "
                            + "and \(range.upperBound), the range of \(format.name)")
                }
                return (format, number)
            }
        }
        return Dictionary(numbers ?? []) { $1 }
    }
}
