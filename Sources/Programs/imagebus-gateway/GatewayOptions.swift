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
    private let arguments: ProgramArguments
    private let keyLines: [String]
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
        let file = try Self.checked { () throws(GrammarError) in
            try Self.settings(inFileOf: words)
        }
        let peers = try PeerVariables(file + words, environment: CurrentProcess.environment)
        let arguments = try ProgramArguments(
            peers.arguments + file + words,
            valued: Bootstrap.valued.union(Self.valued).union(valued),
            flags: Self.flags.union(flags), formerNames: Self.formerNames)
        try self.init(arguments, keyLines: peers.keyLines, words: words)
    }

    /// Returns the settings that the stack has written to a file from its configuration.
    private static func settings(inFileOf words: [String]) throws(GrammarError) -> [String] {
        guard let place = words.lastIndex(of: "--settings-file").map({ $0 + 1 }),
            words.indices.contains(place)
        else { return [] }
        return GatewayListenerSettings.arguments(inFile: try bytes(words[place]))
    }

    /// The arguments of the program, for options that all programs share.
    var programArguments: ProgramArguments { arguments }

    /// - Parameter keyLines: Keys from the environment.
    private init(_ arguments: ProgramArguments, keyLines: [String], words: [String]) throws {
        try Self.check(arguments)
        (self.arguments, self.keyLines, self.words) = (arguments, keyLines, words)
        place = try Self.place(arguments)
        listener =
            try arguments.value("listen-fd") == nil
            ? nil : Int32(clamping: arguments.number("listen-fd", else: 0))
        metricsPlace = arguments.value("metrics-listen").flatMap { ListenPlace($0) }
        let reader = Self.reader(arguments, keyLines: keyLines)
        self.reader = reader
        try Self.checkGrammar(arguments)
        front = WebFrontSettings(
            try Self.checked { () throws(GrammarError) in try reader.grammar() })
        try Self.checked { () throws(GrammarError) in
            front.offered = try reader.offered() ?? front.offered
            front.output = try reader.output()
            (front.pathPrefix, front.hosts) = (try reader.pathPrefix(), try reader.hosts())
        }
        front.root = rootPage
        front.isServed = Self.areServed(words)
        // By default, imgproxy converts animations to still images and passes SVG through.
        if arguments.value("grammar") ?? "imgproxy" == "imgproxy" {
            (front.framesMax, front.passesDrawings) = (1, true)
        }
        try applyParts(arguments)
        Self.set(&front.framesMax, .maxAnimationFrames, arguments)
        if arguments.has("no-component") { front.files = nil }
        try applyEdge(arguments)
        if let text = arguments.value("allow-origin") {
            front.crossOrigin = try Self.crossOrigin(text)
        }
        front.answers.caching.isImmutable = arguments.has("immutable")
        front.logsRequests = arguments.has("access-log")
        Self.set(&front.timeoutMilliseconds, .timeout, arguments, times: 1_000)
        Self.set(&front.earlierFailureMilliseconds, .rememberFailures, arguments, times: 1_000)
        Self.set(&front.targetBytesMax, .urlLimit, arguments)
        try applyAnswers(arguments)
        applyLimits(arguments)
    }

    /// Whether no request can be answered, whatever the files contain.
    var answersNobody: Bool {
        arguments.value("grammar") != "iiif" && !arguments.has("unsigned")
            && arguments.value("keys") == nil && keyLines.isEmpty
            && arguments.value("post-tokens") == nil
    }

    /// Refuses settings that the grammar doesn't use instead of ignoring them, above all those for
    /// signatures.
    private static func checkGrammar(
        _ arguments: ProgramArguments
    ) throws(ConfigurationError) {
        let grammar = arguments.value("grammar") ?? "imgproxy"
        for setting in GatewaySetting.allCases
        where !setting.applies(to: grammar)
            && (arguments.value(setting.rawValue) != nil || arguments.has(setting.rawValue))
        {
            throw ConfigurationError(
                setting == .keys
                    ? "--keys does not apply to IIIF, whose paths are not signed: leave it out, "
                        + "and restrict access in a proxy"
                    : "--\(setting.rawValue) requires --grammar "
                        + (setting.grammars ?? []).joined(separator: " or ") + ": leave it out")
        }
    }

    private var rootPage: RootPage {
        let source = "https://example.com/photo.jpg"
        switch arguments.value("grammar") ?? "imgproxy" {
        case "iiif":
            let path = front.grammar.path(options: "full/300,/0/default.jpg", source: "photo.jpg")
            return RootPage(grammar: "IIIF", example: "\(front.pathPrefix)/\(path)")
        case let grammar:
            let options = grammar == "thumbor" ? "300x200/smart" : "rs:fit:300:200"
            let path = front.grammar.path(options: options, source: source)
            let isOpen = arguments.has("unsigned") && !arguments.has("only-presets")
            return RootPage(
                grammar: grammar, example: isOpen ? "\(front.pathPrefix)/unsafe/\(path)" : nil)
        }
    }

    /// Applies limits for untrusted clients.
    private mutating func applyLimits(_ arguments: ProgramArguments) {
        Self.set(&limits.connections, .connections, arguments)
        Self.set(&limits.connectionsPerPeer, .connectionsPerAddress, arguments)
        Self.set(&limits.idleSeconds, .idleTimeout, arguments)
        Self.set(&limits.headBytes, .headerLimit, arguments)
        Self.set(&limits.headSeconds, .headerTimeout, arguments)
        if let uploads = front.uploads {
            (limits.bodyBytes, limits.bodies) = (uploads.bytesMax, uploads.atOnce)
        }
    }

    /// The files that are reloaded on SIGHUP.
    var files: [String] {
        ["keys", "presets", "post-tokens", "operator-tokens", "fallback", "settings-file"]
            .compactMap { arguments.value($0) }
            .filter { (try? SourceURL($0)) == nil }
    }

    /// Returns the options with the current contents of the files.
    func readAgain() throws -> GatewayOptions { try GatewayOptions(words: words) }

    private static func check(_ arguments: ProgramArguments) throws(ConfigurationError) {
        for setting in GatewaySetting.allCases where setting.placeholder != nil {
            guard let text = arguments.value(setting.rawValue), !setting.accepts(text) else {
                continue
            }
            throw ConfigurationError("--\(setting.rawValue): '\(text)' is not \(setting.expected)")
        }
    }

    private static func place(_ arguments: ProgramArguments) throws(ConfigurationError)
        -> ListenPlace
    {
        let text = arguments.value("listen") ?? "127.0.0.1:8080"
        guard let place = ListenPlace(text) else {
            throw ConfigurationError("--listen: '\(text)' is not \(ListenPlace.expected)")
        }
        return place
    }

    /// Assigns the number of a setting if it was given.
    static func set<Number: FixedWidthInteger>(
        _ value: inout Number, _ setting: GatewaySetting, _ arguments: ProgramArguments,
        times factor: Number = 1
    ) {
        guard let number = arguments.value(setting.rawValue).flatMap({ setting.number(of: $0) })
        else { return }
        value = Number(number) * factor
    }

    /// Applies the settings for metadata, damaged images and formats sent unchanged.
    private mutating func applyParts(_ arguments: ProgramArguments) throws(ConfigurationError) {
        switch arguments.value("metadata") {
        case "none"?: front.metadata = .nothing
        case "all"?: front.metadata = .all
        default: front.metadata = .copyright
        }
        front.damaged = arguments.value("damaged").flatMap { DamagedImages(name: $0) } ?? .show
        guard let text = arguments.value("skip-processing-formats") else { return }
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
    private mutating func applyEdge(_ arguments: ProgramArguments) throws(ConfigurationError) {
        if let text = arguments.value("trusted-proxy") {
            guard let networks = TrustedNetworks(text) else {
                throw ConfigurationError(
                    "--trusted-proxy: '\(text)' is not a comma-separated list of networks, "
                        + "such as 10.0.0.0/8,2001:db8::1,unix")
            }
            front.edge.trusted = networks
        }
        front.answers.saysCache = !arguments.has("no-x-cache")
        guard let field = arguments.value("client-header") else { return }
        guard !front.edge.trusted.isEmpty else {
            throw ConfigurationError(
                "--client-header '\(field)' requires --trusted-proxy, such as "
                    + "--trusted-proxy 10.0.0.0/8")
        }
        front.edge.clientField = field
    }

    // MARK: - Grammars

    static func reader(_ arguments: ProgramArguments, keyLines: [String] = []) -> GrammarReader {
        GrammarReader(
            keyLines: keyLines,
            value: { arguments.value($0.rawValue) }, has: { arguments.has($0.rawValue) },
            bytes: { (path) throws(GrammarError) in try bytes(path) })
    }

    func grammar(for use: GrammarReader.Use) throws(ConfigurationError) -> any URLGrammar {
        try Self.checked { () throws(GrammarError) in try reader.grammar(for: use) }
    }

    /// Converts grammar errors in the value of a setting to configuration errors.
    static func checked<Value>(
        _ setting: GatewaySetting, _ body: () throws(GrammarError) -> Value
    ) throws(ConfigurationError) -> Value {
        do throws(GrammarError) {
            return try body()
        } catch {
            throw ConfigurationError("--\(setting.rawValue): \(error.message)")
        }
    }

    /// Converts grammar errors in the operator's settings to configuration errors.
    static func checked<Value>(
        _ body: () throws(GrammarError) -> Value
    ) throws(ConfigurationError) -> Value {
        do throws(GrammarError) {
            return try body()
        } catch {
            throw ConfigurationError(error.message)
        }
    }

    /// The maximum size of a file in bytes.
    private static let fileBytesMax = 1 << 20

    static func bytes(_ path: String) throws(GrammarError) -> [UInt8] {
        do throws(Errno) {
            let file = try FileDescriptor.open(path)
            return try file.readToEnd(bytesMax: fileBytesMax)
        } catch {
            throw GrammarError(.malformed, "\(path) cannot be read: \(error)")
        }
    }
}

// Responses other than images: image properties, fallbacks, uploads, client hints and lifetimes.
extension GatewayOptions {
    mutating func applyAnswers(_ arguments: ProgramArguments) throws {
        try readProperties(arguments)
        try applyFallback(arguments)
        try applyUploads(arguments)
        try applyOperators(arguments)
        try applyHints(arguments)
        try applyLifetimes(arguments)
        try applyHeaders(arguments)
    }

    /// Applies the fields passed to origins and those added to responses.
    private mutating func applyHeaders(_ arguments: ProgramArguments) throws(ConfigurationError) {
        if let text = arguments.value("response-headers") {
            front.responseHeaders = try Self.checked(.responseHeaders) { () throws(GrammarError) in
                try ResponseHeaders(text)
            }
        }
        guard let names = arguments.value("pass-headers") else {
            guard arguments.value("pass-headers-to") == nil else {
                throw ConfigurationError("--pass-headers-to requires --pass-headers")
            }
            return
        }
        let sources = try Self.checked(.passHeadersTo) { () throws(GrammarError) in
            try arguments.value("pass-headers-to").map { (text) throws(GrammarError) in
                try SourcePattern.list(text)
            }
        }
        front.passedHeaders = try Self.checked(.passHeaders) { () throws(GrammarError) in
            try PassedHeaders(names: names, sources: sources)
        }
        guard front.operators == nil || !front.passedHeaders.has("authorization") else {
            throw ConfigurationError(
                "--pass-headers: authorization cannot be combined with --operator-tokens, which "
                    + "would be sent to origins: leave one of them out")
        }
    }

    private mutating func readProperties(_ arguments: ProgramArguments) throws {
        switch arguments.value("grammar") ?? "imgproxy" {
        case "thumbor":
            front.properties = PropertiesSettings(.thumbor)
            front.healthPath = "/healthcheck"
        case "iiif":
            front.properties = PropertiesSettings(.iiif)
            // Required by Level 1.
            if front.crossOrigin.isNone { front.crossOrigin = try Self.crossOrigin("*") }
        default: front.infoGrammar = try grammar(for: .properties)
        }
        guard let url = arguments.value("public-url") else { return }
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.hasSuffix("/") else {
            throw ConfigurationError(
                "--public-url must be the URL of this listener for clients, such as "
                    + "https://example.com, without a trailing slash; not '\(url)'")
        }
        front.properties.publicURL = url
    }

    static func crossOrigin(_ text: String) throws(ConfigurationError) -> CrossOriginAccess {
        guard let access = CrossOriginAccess(text) else {
            throw ConfigurationError(
                "--allow-origin must be * or comma-separated origins, such as "
                    + "https://example.com,https://www.example.com; not '\(text)'")
        }
        return access
    }

    // MARK: - Fallback

    private mutating func applyFallback(_ arguments: ProgramArguments) throws {
        if let place = arguments.value("fallback") {
            front.fallback = FallbackSettings(try Self.fallback(place))
        }
        if let words = arguments.value("fallback-for") {
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
        Self.set(&front.answers.fallbackSeconds, .fallbackMaxAge, arguments)
        guard let word = arguments.value("fallback-status"), word != "200" else { return }
        let status = UInt16(word).flatMap { (201...599).contains($0) ? $0 : nil }
        // Responses with these statuses have no body (RFC 9110 §6.4.1).
        guard word == "error" || status.map({ ![204, 205, 206, 304].contains($0) }) ?? false else {
            throw ConfigurationError(
                "--fallback-status must be a status that allows a body, or error; "
                    + "not '\(word)'")
        }
        front.answers.fallbackStatus = status
    }

    private static func fallback(_ place: String) throws -> FallbackSettings.Image {
        if (try? SourceURL(place)) != nil { return .url(place) }
        do throws(GrammarError) {
            return .bytes(try bytes(place))
        } catch {
            throw ConfigurationError("--fallback: \(error.message)")
        }
    }

    // MARK: - Uploads

    private mutating func applyUploads(_ arguments: ProgramArguments) throws {
        guard let tokens = try Self.tokens(.postTokens, arguments) else { return }
        guard arguments.value("grammar") != "iiif" else {
            throw ConfigurationError("--post-tokens: IIIF does not support uploads")
        }
        var uploads = UploadSettings(tokens: tokens, try grammar(for: .uploads))
        Self.set(&uploads.bytesMax, .postMaxBytes, arguments)
        front.uploads = uploads
    }

    // MARK: - Hints

    private mutating func applyHints(_ arguments: ProgramArguments) throws {
        guard arguments.has("client-hints") else {
            for name in ["hint-widths", "save-data-quality", "save-data-preset"]
            where arguments.value(name) != nil {
                throw ConfigurationError("--\(name) requires --client-hints")
            }
            return
        }
        var hints = HintSettings()
        if let text = arguments.value("hint-widths") { hints.widths = try Self.widths(text) }
        var quality = hints.savingQuality ?? 0
        Self.set(&quality, .saveDataQuality, arguments)
        hints.savingQuality = quality == 0 ? nil : quality
        if let preset = arguments.value("save-data-preset") {
            guard arguments.value("presets") ?? arguments.value("preset-lines") != nil,
                front.infoGrammar != nil
            else {
                throw ConfigurationError(
                    "--save-data-preset requires --presets and --grammar imgproxy")
            }
            hints.savingGrammar = try grammar(for: .saving(preset: preset))
            if arguments.value("save-data-quality") == nil { hints.savingQuality = nil }
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

    // MARK: - Lifetimes

    private mutating func applyLifetimes(_ arguments: ProgramArguments) throws {
        guard arguments.value("max-age") == nil || arguments.value("assume-fresh") == nil else {
            throw ConfigurationError("--max-age and --assume-fresh are aliases: use one of them")
        }
        let usual = front.assumedLifetime
        var (fresh, whileRevalidate, ifError) = (usual.fresh, usual.whileRevalidate, usual.ifError)
        for setting in [GatewaySetting.maxAge, .assumeFresh] {
            Self.set(&fresh, setting, arguments)
            Self.set(&front.answers.caching.usualSeconds, setting, arguments)
        }
        Self.set(&whileRevalidate, .assumeStaleWhileRevalidate, arguments)
        Self.set(&ifError, .assumeStaleIfError, arguments)
        front.assumedLifetime = AssumedLifetime(
            fresh: fresh, whileRevalidate: whileRevalidate, ifError: ifError)
        Self.set(&front.answers.caching.mostSeconds, .maxAgeLimit, arguments)
        guard arguments.value("browser-max-age") != nil else { return }
        var seconds = 0
        Self.set(&seconds, .browserMaxAge, arguments)
        front.answers.caching.browserSeconds = seconds
    }
}

// The tokens for uploads and for operators.
extension GatewayOptions {
    /// Applies the settings for operators: revalidation by `no-cache`, and removals.
    mutating func applyOperators(_ arguments: ProgramArguments) throws(ConfigurationError) {
        operatorPlace = arguments.value("operator-listen").flatMap { ListenPlace($0) }
        guard let tokens = try Self.tokens(.operatorTokens, arguments) else {
            guard operatorPlace == nil else {
                throw ConfigurationError(
                    "--operator-listen requires --operator-tokens FILE, the tokens for removing "
                        + "entries")
            }
            return
        }
        front.operators = tokens
        guard operatorPlace != nil else { return }
        var settings = OperatorSettings(tokens, try grammar(for: .removals))
        settings.pathPrefix = front.pathPrefix
        operators = settings
    }

    /// Returns the tokens in the file named by a setting; `nil` if it wasn't given.
    static func tokens(
        _ setting: GatewaySetting, _ arguments: ProgramArguments
    ) throws(ConfigurationError) -> BearerTokens? {
        guard let path = arguments.value(setting.rawValue) else { return nil }
        do throws(GrammarError) {
            if let tokens = BearerTokens(file: try bytes(path)) { return tokens }
        } catch {
            throw ConfigurationError("--\(setting.rawValue): \(error.message)")
        }
        throw ConfigurationError(
            "--\(setting.rawValue): invalid tokens in \(path): expected \(BearerTokens.expected)")
    }
}

/// Settings from variables of other servers for a gateway started on its own.
struct PeerVariables {
    /// Arguments to be put before those of the command line, which take precedence.
    private(set) var arguments: [String] = []
    let keyLines: [String]

    /// Throws for an unsupported variable, and for one of another process of the stack.
    init(_ words: [String], environment: [String: String]) throws(ConfigurationError) {
        let place = words.lastIndex(of: "--grammar").map { $0 + 1 }
        let grammar = place.flatMap { words.indices.contains($0) ? words[$0] : nil }
        let translation: PeerSettings.Translation
        do throws(PeerSettings.InvalidVariable) {
            translation = try PeerSettings.translate(environment, grammar: grammar ?? "imgproxy")
        } catch {
            throw ConfigurationError("\(error)")
        }
        keyLines = translation.keyLines
        for entry in translation.entries { try apply(entry) }
    }

    private mutating func apply(
        _ entry: PeerSettings.Translation.Entry
    ) throws(ConfigurationError) {
        let name = entry.option.name
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
        let isFlag = entry.option.value.isEmpty
        arguments += ["--\(own)"] + (isFlag ? [] : [entry.option.value])
    }
}
