import Linux
import MicroHTTPD
import Model
import ProcessRuntime
import WebFront
import WebGrammar

struct GatewayOptions {
    var place: ListenPlace
    /// An inherited socket to use instead of creating one.
    var listener: Int32?
    var limits = HTTPLimits()
    var front: WebFrontSettings
    /// The address for metrics; `nil` for none.
    var metricsPlace: ListenPlace?
    /// The address for removals by operators; `nil` for none.
    var operatorPlace: ListenPlace?
    /// The settings for removals; `nil` if they are disabled.
    var operators: OperatorSettings?
    /// The arguments of the program, for options that all programs share.
    let programArguments: ProgramArguments
    private let words: [String]
    private let reader: GrammarReader

    static let valued = Set(["listen", "listen-fd", "settings-file"]).union(
        settings { $0.placeholder != nil })
    static let flags = settings { $0.placeholder == nil }
    /// Former names of settings, with those that replaced them.
    private static let formerNames: [String: String] = Dictionary(
        uniqueKeysWithValues: GatewaySetting.allCases.flatMap { setting in
            setting.formerNames.map { ($0, setting.rawValue) }
        })

    /// Whether `imagebus serve` runs the program and holds the socket.
    static func areServed(_ words: [String]) -> Bool { words.contains("--listen-fd") }

    private static func settings(_ isMeant: (GatewaySetting) -> Bool) -> Set<String> {
        Set(GatewaySetting.allCases.filter(isMeant).map(\.rawValue))
    }

    /// Reads a command line, together with the environment and the file of `--settings-file`.
    ///
    /// - Parameters:
    ///   - valued: Additional options with a value.
    ///   - flags: Additional flags.
    init(words: [String], besides valued: Set<String> = [], flags: Set<String> = []) throws {
        do {
            let file = try Self.settings(inFileOf: words)
            let peers = try Self.peerSettings(besides: file + words)
            let arguments = try ProgramArguments(
                peers.arguments + file + words,
                valued: Bootstrap.valued.union(Self.valued).union(valued),
                flags: Self.flags.union(flags), formerNames: Self.formerNames)
            try self.init(arguments, keyLines: peers.keyLines, words: words)
        } catch let error as GrammarError {
            throw ConfigurationError(error.message)
        }
    }

    /// Returns the settings that the stack has written to a file from its configuration.
    private static func settings(inFileOf words: [String]) throws(GrammarError) -> [String] {
        guard let place = words.lastIndex(of: "--settings-file").map({ $0 + 1 }),
            words.indices.contains(place)
        else { return [] }
        return GatewayListenerSettings.arguments(inFile: try bytes(words[place]))
    }

    /// - Parameter keyLines: Keys from the environment.
    private init(_ arguments: ProgramArguments, keyLines: [String], words: [String]) throws {
        try Self.check(arguments)
        (programArguments, self.words) = (arguments, words)
        guard let place = ListenPlace(arguments.value("listen") ?? "127.0.0.1:8080") else {
            throw ConfigurationError(
                "--listen: '\(arguments.value("listen") ?? "")' is not \(ListenPlace.expected)")
        }
        self.place = place
        listener =
            try arguments.value("listen-fd") == nil
            ? nil : Int32(clamping: arguments.number("listen-fd", else: 0))
        metricsPlace = arguments.value("metrics-listen").flatMap { ListenPlace($0) }
        operatorPlace = arguments.value("operator-listen").flatMap { ListenPlace($0) }
        reader = GrammarReader(
            keyLines: keyLines,
            value: { arguments.value($0.rawValue) }, has: { arguments.has($0.rawValue) },
            bytes: { (path) throws(GrammarError) in try Self.bytes(path) })
        front = WebFrontSettings(try reader.grammar())
        front.offered = try reader.offered() ?? front.offered
        front.output = try reader.output()
        (front.pathPrefix, front.hosts) = (try reader.pathPrefix(), try reader.hosts())
        front.root = rootPage
        front.isServed = Self.areServed(words)
        // By default, imgproxy converts animations to still images and passes SVG through.
        if grammar == "imgproxy" { (front.framesMax, front.passesDrawings) = (1, true) }
        try applyParts()
        try applyEdge()
        if let text = value(.allowOrigin) { front.crossOrigin = try Self.crossOrigin(text) }
        applyFlagsAndLimits()
        try applyProperties()
        try applyFallback()
        try applyUploads()
        try applyOperators()
        try applyHints()
        try applyLifetimes()
        try applyHeaders()
        if let uploads = front.uploads {
            (limits.bodyBytes, limits.bodies) = (uploads.bytesMax, uploads.atOnce)
        }
    }

    private var grammar: String { value(.grammar) ?? "imgproxy" }

    private func value(_ setting: GatewaySetting) -> String? { reader.value(setting) }

    /// Whether no request can be answered, whatever the files contain.
    var answersNobody: Bool {
        grammar != "iiif" && !reader.has(.unsigned) && value(.keys) == nil
            && reader.keyLines.isEmpty && value(.postTokens) == nil
    }

    /// The files that are reloaded on SIGHUP.
    var files: [String] {
        ["keys", "presets", "post-tokens", "operator-tokens", "fallback", "settings-file"]
            .compactMap { programArguments.value($0) }
            .filter { (try? SourceURL($0)) == nil }
    }

    /// Returns the options with the current contents of the files.
    func readAgain() throws -> GatewayOptions { try GatewayOptions(words: words) }

    /// Checks the syntax of all settings. Refuses settings that the grammar doesn't use instead of
    /// ignoring them, above all those for signatures.
    private static func check(_ arguments: ProgramArguments) throws(ConfigurationError) {
        let grammar = arguments.value("grammar") ?? "imgproxy"
        for setting in GatewaySetting.allCases {
            let (name, text) = (setting.rawValue, arguments.value(setting.rawValue))
            if let text, setting.placeholder != nil, !setting.accepts(text) {
                throw ConfigurationError("--\(name): '\(text)' is not \(setting.expected)")
            }
            guard !setting.applies(to: grammar), text != nil || arguments.has(name) else {
                continue
            }
            throw ConfigurationError(
                setting == .keys
                    ? "--keys does not apply to IIIF, whose paths are not signed: leave it out, "
                        + "and restrict access in a proxy"
                    : "--\(name) requires --grammar "
                        + (setting.grammars ?? []).joined(separator: " or ") + ": leave it out")
        }
    }

    private var rootPage: RootPage {
        let source = "https://example.com/photo.jpg"
        guard grammar != "iiif" else {
            let path = front.grammar.path(options: "full/300,/0/default.jpg", source: "photo.jpg")
            return RootPage(grammar: "IIIF", example: "\(front.pathPrefix)/\(path)")
        }
        let options = grammar == "thumbor" ? "300x200/smart" : "rs:fit:300:200"
        let path = front.grammar.path(options: options, source: source)
        let isOpen = reader.has(.unsigned) && !reader.has(.onlyPresets)
        return RootPage(
            grammar: grammar, example: isOpen ? "\(front.pathPrefix)/unsafe/\(path)" : nil)
    }

    /// The maximum size of a file in bytes.
    private static let fileBytesMax = 1 << 20

    private static func bytes(_ path: String) throws(GrammarError) -> [UInt8] {
        do throws(Errno) {
            let file = try FileDescriptor.open(path)
            return try file.readToEnd(bytesMax: fileBytesMax)
        } catch {
            throw GrammarError(.malformed, "\(path) cannot be read: \(error)")
        }
    }
}

// Applying settings to those of the front.
extension GatewayOptions {
    /// Applies flags, and limits for untrusted clients.
    private mutating func applyFlagsAndLimits() {
        if reader.has(.noComponent) { front.files = nil }
        front.answers.caching.isImmutable = reader.has(.immutable)
        front.answers.saysCache = !reader.has(.noXCache)
        front.logsRequests = reader.has(.accessLog)
        reader.set(&front.framesMax, .maxAnimationFrames)
        reader.set(&front.timeoutMilliseconds, .timeout, times: 1_000)
        reader.set(&front.earlierFailureMilliseconds, .rememberFailures, times: 1_000)
        reader.set(&front.targetBytesMax, .urlLimit)
        reader.set(&limits.connections, .connections)
        reader.set(&limits.connectionsPerPeer, .connectionsPerAddress)
        reader.set(&limits.idleSeconds, .idleTimeout)
        reader.set(&limits.headBytes, .headerLimit)
        reader.set(&limits.headSeconds, .headerTimeout)
    }

    /// Applies the settings for metadata, damaged images and formats sent unchanged.
    private mutating func applyParts() throws(ConfigurationError) {
        switch value(.metadata) {
        case "none"?: front.metadata = .nothing
        case "all"?: front.metadata = .all
        default: front.metadata = .copyright
        }
        front.damaged = value(.damaged).flatMap { DamagedImages(name: $0) } ?? .show
        guard let text = value(.skipProcessingFormats) else { return }
        front.skippedFormats = try text.split(separator: ",").map {
            (word) throws(ConfigurationError) in
            guard let format = ImageFormat(name: String(word)),
                OutputOptions.passable.contains(format)
            else {
                throw ConfigurationError(
                    "--skip-processing-formats: '\(word)' cannot be passed through: use some of "
                        + OutputOptions.passable.map(\.name).joined(separator: ", "))
            }
            return format
        }
    }

    /// Applies the settings for trusted proxies and the field in which they name their clients.
    private mutating func applyEdge() throws(ConfigurationError) {
        if let text = value(.trustedProxy) {
            guard let networks = TrustedNetworks(text) else {
                throw ConfigurationError(
                    "--trusted-proxy: '\(text)' is not a comma-separated list of networks, "
                        + "such as 10.0.0.0/8,2001:db8::1,unix")
            }
            front.edge.trusted = networks
        }
        guard let field = value(.clientHeader) else { return }
        guard !front.edge.trusted.isEmpty else {
            throw ConfigurationError(
                "--client-header '\(field)' requires --trusted-proxy, such as "
                    + "--trusted-proxy 10.0.0.0/8")
        }
        front.edge.clientField = field
    }

    private static func crossOrigin(_ text: String) throws(ConfigurationError) -> CrossOriginAccess
    {
        guard let access = CrossOriginAccess(text) else {
            throw ConfigurationError(
                "--allow-origin must be * or comma-separated origins, such as "
                    + "https://example.com,https://www.example.com; not '\(text)'")
        }
        return access
    }

    private mutating func applyProperties() throws {
        switch grammar {
        case "thumbor":
            front.properties = PropertiesSettings(.thumbor)
            front.healthPath = "/healthcheck"
        case "iiif":
            front.properties = PropertiesSettings(.iiif)
            // Required by Level 1.
            if front.crossOrigin.isNone { front.crossOrigin = try Self.crossOrigin("*") }
        default: front.infoGrammar = try reader.grammar(for: .properties)
        }
        guard let url = value(.publicURL) else { return }
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.hasSuffix("/") else {
            throw ConfigurationError(
                "--public-url must be the URL of this listener for clients, such as "
                    + "https://example.com, without a trailing slash; not '\(url)'")
        }
        front.properties.publicURL = url
    }

    private mutating func applyFallback() throws {
        if let place = value(.fallback) {
            let isURL = (try? SourceURL(place)) != nil
            front.fallback = FallbackSettings(
                try isURL ? .url(place) : .bytes(reader.contents(of: .fallback) ?? []))
        }
        if let words = value(.fallbackFor) {
            guard let causes = FallbackSettings.Causes(words) else {
                throw ConfigurationError(
                    "--fallback-for must be a list of statuses and error names, such "
                        + "as 404,badImageData; not '\(words)'")
            }
            guard front.fallback != nil else {
                throw ConfigurationError("--fallback-for requires --fallback with a URL or path")
            }
            front.fallback?.causes = causes
        }
        reader.set(&front.answers.fallbackSeconds, .fallbackMaxAge)
        guard let word = value(.fallbackStatus), word != "200" else { return }
        let status = UInt16(word).flatMap { (201...599).contains($0) ? $0 : nil }
        // Responses with these statuses have no body (RFC 9110 §6.4.1).
        guard word == "error" || status.map({ ![204, 205, 206, 304].contains($0) }) ?? false else {
            throw ConfigurationError(
                "--fallback-status must be a status that allows a body, or error; "
                    + "not '\(word)'")
        }
        front.answers.fallbackStatus = status
    }

    private mutating func applyUploads() throws {
        guard let tokens = try tokens(.postTokens) else { return }
        guard grammar != "iiif" else {
            throw ConfigurationError("--post-tokens: IIIF does not support uploads")
        }
        var uploads = UploadSettings(tokens: tokens, try reader.grammar(for: .uploads))
        reader.set(&uploads.bytesMax, .postMaxBytes)
        front.uploads = uploads
    }

    /// Applies the settings for operators: revalidation by `no-cache`, and removals.
    private mutating func applyOperators() throws {
        guard let tokens = try tokens(.operatorTokens) else {
            guard operatorPlace == nil else {
                throw ConfigurationError(
                    "--operator-listen requires --operator-tokens FILE, the tokens for removing "
                        + "entries")
            }
            return
        }
        front.operators = tokens
        guard operatorPlace != nil else { return }
        operators = OperatorSettings(tokens, try reader.grammar(for: .removals))
        operators?.pathPrefix = front.pathPrefix
    }

    /// Returns the tokens in the file named by a setting; `nil` if it wasn't given.
    private func tokens(_ setting: GatewaySetting) throws -> BearerTokens? {
        guard let bytes = try reader.contents(of: setting) else { return nil }
        guard let tokens = BearerTokens(file: bytes) else {
            throw ConfigurationError(
                "--\(setting.rawValue): invalid tokens in \(value(setting) ?? ""): expected "
                    + BearerTokens.expected)
        }
        return tokens
    }

    private mutating func applyHints() throws {
        guard reader.has(.clientHints) else {
            for setting in [GatewaySetting.hintWidths, .saveDataQuality, .saveDataPreset]
            where value(setting) != nil {
                throw ConfigurationError("--\(setting.rawValue) requires --client-hints")
            }
            return
        }
        var hints = HintSettings()
        if let text = value(.hintWidths) { hints.widths = try Self.widths(text) }
        var quality = hints.savingQuality ?? 0
        reader.set(&quality, .saveDataQuality)
        hints.savingQuality = quality == 0 ? nil : quality
        if let preset = value(.saveDataPreset) {
            guard value(.presets) ?? value(.presetLines) != nil, front.infoGrammar != nil else {
                throw ConfigurationError(
                    "--save-data-preset requires --presets and --grammar imgproxy")
            }
            hints.savingGrammar = try reader.grammar(for: .saving(preset: preset))
            if value(.saveDataQuality) == nil { hints.savingQuality = nil }
        }
        front.hints = hints
        front.answers.wantedHints =
            HintSettings.ofWidth + HintSettings.ofRatio
            + (hints.looksAtSaving ? [HintSettings.ofSaving] : [])
    }

    private static func widths(_ text: String) throws(ConfigurationError) -> [Int] {
        let widths = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        let range = 1...RequestLimits.sideMax
        let known = widths.compactMap { $0 }.filter(range.contains)
        guard known.count == widths.count, known.count <= 64, known == known.sorted() else {
            throw ConfigurationError(
                "--hint-widths must be up to 64 widths in ascending order, such as 320,640,1280, "
                    + "each between 1 and \(range.upperBound) pixels")
        }
        return known
    }

    private mutating func applyLifetimes() throws(ConfigurationError) {
        guard value(.maxAge) == nil || value(.assumeFresh) == nil else {
            throw ConfigurationError("--max-age and --assume-fresh are aliases: use one of them")
        }
        for setting in [GatewaySetting.maxAge, .assumeFresh] {
            reader.set(&front.assumedLifetime.fresh, setting)
            reader.set(&front.answers.caching.usualSeconds, setting)
        }
        reader.set(&front.assumedLifetime.whileRevalidate, .assumeStaleWhileRevalidate)
        reader.set(&front.assumedLifetime.ifError, .assumeStaleIfError)
        reader.set(&front.answers.caching.mostSeconds, .maxAgeLimit)
        front.answers.caching.browserSeconds = reader.number(.browserMaxAge)
    }

    /// Applies the fields passed to origins and those added to responses.
    private mutating func applyHeaders() throws {
        if let headers = try reader.responseHeaders() { front.responseHeaders = headers }
        guard let headers = try reader.passedHeaders() else {
            guard value(.passHeadersTo) == nil else {
                throw ConfigurationError("--pass-headers-to requires --pass-headers")
            }
            return
        }
        front.passedHeaders = headers
        guard front.operators == nil || !headers.has("authorization") else {
            throw ConfigurationError(
                "--pass-headers: authorization cannot be combined with --operator-tokens, which "
                    + "would be sent to origins: leave one of them out")
        }
    }
}

// Settings from variables of other servers for a gateway started on its own.
extension GatewayOptions {
    /// Returns arguments, to be put before those of the command line, which take precedence, and
    /// lines of keys. Throws for an unsupported variable, and for one of another process of the
    /// stack.
    fileprivate static func peerSettings(
        besides words: [String]
    ) throws(ConfigurationError) -> (arguments: [String], keyLines: [String]) {
        let place = words.lastIndex(of: "--grammar").map { $0 + 1 }
        let grammar = place.flatMap { words.indices.contains($0) ? words[$0] : nil }
        let translation: PeerSettings.Translation
        do throws(PeerSettings.InvalidVariable) {
            translation = try PeerSettings.translate(
                CurrentProcess.environment, grammar: grammar ?? "imgproxy")
        } catch {
            throw ConfigurationError("\(error)")
        }
        var arguments: [String] = []
        for entry in translation.entries { arguments += try Self.arguments(of: entry) }
        return (arguments, translation.keyLines)
    }

    private static func arguments(
        of entry: PeerSettings.Translation.Entry
    ) throws(ConfigurationError) -> [String] {
        let (name, value) = (entry.option.name, entry.option.value)
        let own: String? =
            switch name {
            case "gateway": "listen"
            case "log-level", "log-format": name
            case _ where name.hasPrefix("gateway-"): String(name.dropFirst("gateway-".count))
            default: nil
            }
        guard let own else {
            throw ConfigurationError(
                "\(entry.variable) sets --\(name) of `imagebus serve`, which runs the stack: set "
                    + "that option there, and remove the variable here")
        }
        return ["--\(own)"] + (value.isEmpty ? [] : [value])
    }
}
