import Bootstrap
import ImageModel
import Linux
import Messages
import MicroHTTPD
import WebFront
import WebGrammar

/// What the program was told.
struct GatewayOptions {
    /// Where it listens.
    var place: ListenPlace
    /// The socket that it inherits, in place of one of its own.
    var listener: Int32?
    var limits = HTTPLimits()
    var front: WebFrontSettings
    /// Where figures are read; nil: nowhere.
    var metricsPlace: ListenPlace?
    /// Where operators have entries removed; nil: nowhere.
    var operatorPlace: ListenPlace?
    /// How that is answered; nil: it is not.
    var operators: OperatorSettings?
    private let arguments: ProgramArguments
    private let keyLines: [String]
    private let words: [String]
    private let reader: GrammarReader

    static let valued = Set(["listen", "listen-fd", "settings-file"]).union(
        settings { $0.placeholder != nil })
    static let flags = settings { $0.placeholder == nil }

    /// Whether `imagebus serve` runs the program: it holds the socket.
    static func areServed(_ words: [String]) -> Bool { words.contains("--listen-fd") }

    private static func settings(_ isMeant: (GatewaySetting) -> Bool) -> Set<String> {
        Set(GatewaySetting.allCases.filter(isMeant).map(\.rawValue))
    }

    /// Reads a command line, with what the environment and the file of `--settings-file` add.
    ///
    /// - Parameters:
    ///   - valued: options with a value that are known besides those of a gateway.
    ///   - flags: the same of flags.
    init(words: [String], besides valued: Set<String> = [], flags: Set<String> = []) throws {
        let file = try Self.checked { () throws(GrammarError) in
            try Self.settings(inFileOf: words)
        }
        let peers = try PeerVariables(file + words, environment: CurrentProcess.environment)
        let arguments = try ProgramArguments(
            peers.arguments + file + words,
            valued: Bootstrap.valued.union(Self.valued).union(valued),
            flags: Self.flags.union(flags))
        try self.init(arguments, keyLines: peers.keyLines, words: words)
    }

    /// What the stack has left there of its configuration.
    private static func settings(inFileOf words: [String]) throws(GrammarError) -> [String] {
        guard let place = words.lastIndex(of: "--settings-file").map({ $0 + 1 }),
            words.indices.contains(place)
        else { return [] }
        return GatewayListenerSettings.arguments(inFile: try bytes(words[place]))
    }

    /// The arguments that it was started with, for those of every program.
    var programArguments: ProgramArguments { arguments }

    /// - Parameter keyLines: keys of the environment.
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
        // imgproxy makes stills of animations, unless it is told not to, and passes SVG through.
        if arguments.value("grammar") ?? "imgproxy" == "imgproxy" {
            (front.framesMax, front.passesDrawings) = (1, true)
        }
        try takeParts(arguments)
        Self.set(&front.framesMax, .maxAnimationFrames, arguments)
        if arguments.has("no-component") { front.files = nil }
        try takeEdge(arguments)
        if let text = arguments.value("allow-origin") {
            front.crossOrigin = try Self.crossOrigin(text)
        }
        front.answers.caching.isImmutable = arguments.has("immutable")
        front.logsRequests = arguments.has("access-log")
        Self.set(&front.timeoutMilliseconds, .timeout, arguments, times: 1_000)
        Self.set(&front.earlierFailureMilliseconds, .rememberFailures, arguments, times: 1_000)
        Self.set(&front.targetBytesMax, .urlLimit, arguments)
        try takeAnswers(arguments)
        takeLimits(arguments)
    }

    /// Whether nothing that is asked can be answered, whatever files will say.
    var answersNobody: Bool {
        arguments.value("grammar") != "iiif" && !arguments.has("unsigned")
            && arguments.value("keys") == nil && keyLines.isEmpty
            && arguments.value("post-tokens") == nil
    }

    /// What a grammar does not look at is not left out in silence, least of all signatures.
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
                    ? "--keys: IIIF has no signatures: leave it out, and have a proxy say who may "
                        + "ask"
                    : "--\(setting.rawValue) is only for --grammar "
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

    /// What the server takes of strangers.
    private mutating func takeLimits(_ arguments: ProgramArguments) {
        Self.set(&limits.connections, .connections, arguments)
        Self.set(&limits.connectionsPerPeer, .connectionsPerAddress, arguments)
        Self.set(&limits.idleSeconds, .idleTime, arguments)
        Self.set(&limits.headBytes, .headLimit, arguments)
        Self.set(&limits.headSeconds, .headTime, arguments)
        if let uploads = front.uploads {
            (limits.bodyBytes, limits.bodies) = (uploads.bytesMax, uploads.atOnce)
        }
    }

    /// Files that are read again at SIGHUP.
    var files: [String] {
        ["keys", "presets", "post-tokens", "operator-tokens", "fallback", "settings-file"]
            .compactMap { arguments.value($0) }
            .filter { (try? SourceURL($0)) == nil }
    }

    /// The same with what its files hold now.
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

    /// The number of a setting, where it was given.
    static func set<Number: FixedWidthInteger>(
        _ value: inout Number, _ setting: GatewaySetting, _ arguments: ProgramArguments,
        times factor: Number = 1
    ) {
        guard let number = arguments.value(setting.rawValue).flatMap({ setting.number(of: $0) })
        else { return }
        value = Number(number) * factor
    }

    /// What is kept of sources, what becomes of damaged ones, and which are answered as they are.
    private mutating func takeParts(_ arguments: ProgramArguments) throws(ConfigurationError) {
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

    /// Which proxies are believed, and where they name their clients.
    private mutating func takeEdge(_ arguments: ProgramArguments) throws(ConfigurationError) {
        if let text = arguments.value("trusted-proxy") {
            guard let networks = TrustedNetworks(text) else {
                throw ConfigurationError(
                    "--trusted-proxy: '\(text)' is not a list of networks with commas between, "
                        + "such as 10.0.0.0/8,2001:db8::1,unix")
            }
            front.edge.trusted = networks
        }
        front.answers.saysCache = !arguments.has("no-x-cache")
        guard let field = arguments.value("visitor-field") else { return }
        guard !front.edge.trusted.isEmpty else {
            throw ConfigurationError(
                "--visitor-field '\(field)' is believed of proxies alone: name them with "
                    + "--trusted-proxy, such as --trusted-proxy 10.0.0.0/8")
        }
        front.edge.clientField = field
    }

    // MARK: - Grammars

    /// Makes grammars of the arguments.
    static func reader(_ arguments: ProgramArguments, keyLines: [String] = []) -> GrammarReader {
        GrammarReader(
            keyLines: keyLines,
            value: { arguments.value($0.rawValue) }, has: { arguments.has($0.rawValue) },
            bytes: { (path) throws(GrammarError) in try bytes(path) })
    }

    func grammar(for use: GrammarReader.Use) throws(ConfigurationError) -> any URLGrammar {
        try Self.checked { () throws(GrammarError) in try reader.grammar(for: use) }
    }

    /// The same of the value of one setting.
    static func checked<Value>(
        _ setting: GatewaySetting, _ body: () throws(GrammarError) -> Value
    ) throws(ConfigurationError) -> Value {
        do throws(GrammarError) {
            return try body()
        } catch {
            throw ConfigurationError("--\(setting.rawValue): \(error.message)")
        }
    }

    /// Errors of what the operator says are mistakes of the configuration.
    static func checked<Value>(
        _ body: () throws(GrammarError) -> Value
    ) throws(ConfigurationError) -> Value {
        do throws(GrammarError) {
            return try body()
        } catch {
            throw ConfigurationError(error.message)
        }
    }

    /// Of a file that is named.
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
