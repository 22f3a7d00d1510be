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
    private let arguments: ProgramArguments

    static let valued = Set(["listen", "listen-fd"]).union(settings { $0.placeholder != nil })
    static let flags = settings { $0.placeholder == nil }

    private static func settings(_ isMeant: (GatewaySetting) -> Bool) -> Set<String> {
        Set(GatewaySetting.allCases.filter(isMeant).map(\.rawValue))
    }

    init(_ arguments: ProgramArguments) throws {
        try Self.check(arguments)
        self.arguments = arguments
        place = try Self.place(arguments)
        listener =
            try arguments.value("listen-fd") == nil
            ? nil : Int32(clamping: arguments.number("listen-fd", else: 0))
        metricsPlace = arguments.value("metrics-listen").flatMap { ListenPlace($0) }
        front = WebFrontSettings(try Self.grammar(arguments))
        try Self.checkGrammar(arguments)
        front.root = rootPage
        if let text = arguments.value("offer") { front.offered = try Self.formats(text) }
        // imgproxy makes stills of animations, unless it is told not to, and passes SVG through.
        if arguments.value("grammar") ?? "imgproxy" == "imgproxy" {
            (front.framesMax, front.passesDrawings) = (1, true)
        }
        try takeParts(arguments)
        Self.set(&front.framesMax, .maxAnimationFrames, arguments)
        if arguments.has("no-component") { front.files = nil }
        front.visitorField = arguments.value("visitor-field")
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
            && arguments.value("keys") == nil && arguments.value("post-tokens") == nil
    }

    /// What a grammar does not look at is not left out in silence, least of all signatures.
    private static func checkGrammar(
        _ arguments: ProgramArguments
    ) throws(ConfigurationError) {
        let grammar = arguments.value("grammar") ?? "imgproxy"
        if grammar == "iiif", arguments.value("keys") != nil {
            throw ConfigurationError(
                "--keys: IIIF has no signatures: leave it out, and have a proxy say who may ask")
        }
        if grammar != "iiif", arguments.value("iiif-source") != nil {
            throw ConfigurationError("--iiif-source: it is for --grammar iiif alone")
        }
        for option in ["presets", "save-data-preset"]
        where grammar != "imgproxy" && arguments.value(option) != nil {
            throw ConfigurationError("--\(option): only --grammar imgproxy has presets")
        }
    }

    private var rootPage: RootPage {
        let source = "https://example.com/photo.jpg"
        switch arguments.value("grammar") ?? "imgproxy" {
        case "iiif":
            let path = front.grammar.path(options: "full/300,/0/default.jpg", source: "photo.jpg")
            return RootPage(grammar: "IIIF", example: "/\(path)")
        case let grammar:
            let options = grammar == "thumbor" ? "300x200/smart" : "rs:fit:300:200"
            let path = front.grammar.path(options: options, source: source)
            let isOpen = arguments.has("unsigned") && !arguments.has("only-presets")
            return RootPage(grammar: grammar, example: isOpen ? "/unsafe/\(path)" : nil)
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
        ["keys", "presets", "post-tokens", "fallback"].compactMap { arguments.value($0) }
            .filter { (try? SourceURL($0)) == nil }
    }

    /// The same with what its files hold now.
    func readAgain() throws -> GatewayOptions { try GatewayOptions(arguments) }

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

    /// What is kept of sources, and which are answered as they are.
    private mutating func takeParts(_ arguments: ProgramArguments) throws(ConfigurationError) {
        switch arguments.value("metadata") {
        case "none"?: front.metadata = .nothing
        case "all"?: front.metadata = .all
        default: front.metadata = .copyright
        }
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

    private static func formats(_ text: String) throws(ConfigurationError) -> [ImageFormat] {
        try text.split(separator: ",").map { (word) throws(ConfigurationError) in
            guard let format = ImageFormat.encodable.first(where: { $0.name == word }) else {
                throw ConfigurationError("--offer: '\(word)' is no format that is encoded")
            }
            return format
        }
    }

    // MARK: - Grammars

    /// What the paths of a grammar are for.
    enum Use: Hashable {
        case images
        /// Behind `/info`: no preset changes anything.
        case facts
        /// A token stands for the signature, and the body for the source.
        case uploads
        /// A preset of this name holds where the path says nothing.
        case saving(preset: String)
    }

    static func grammar(
        _ arguments: ProgramArguments, for use: Use = .images
    ) throws -> any URLGrammar {
        do throws(GrammarError) {
            switch arguments.value("grammar") ?? "imgproxy" {
            case "imgproxy": return try imgproxy(arguments, use)
            case "thumbor":
                var settings = ThumborGrammar.Settings()
                settings.keys = try keys(arguments).map(textKey)
                settings.permitsUnsigned = arguments.has("unsigned") || use == .uploads
                if use == .uploads {
                    settings.schemes = SourceSchemes([UploadSettings.scheme])
                    settings.usualScheme = UploadSettings.scheme
                }
                return try ThumborGrammar(settings)
            case "iiif":
                guard let source = arguments.value("iiif-source") else {
                    throw GrammarError(
                        .malformed,
                        "--iiif-source says where images are, such as "
                            + "https://example.com/images/{id}")
                }
                do throws(GrammarError) {
                    return try IIIFGrammar(IIIFGrammar.Settings(source: source))
                } catch {
                    throw GrammarError(.malformed, "--iiif-source: \(error.message)")
                }
            case let other:
                throw GrammarError(
                    .malformed, "--grammar is imgproxy, thumbor or iiif, not '\(other)'")
            }
        } catch {
            throw ConfigurationError(error.message)
        }
    }

    private static func imgproxy(
        _ arguments: ProgramArguments, _ use: Use
    ) throws(GrammarError) -> ImgproxyGrammar {
        var settings = ImgproxyGrammar.Settings()
        settings.keys = try keys(arguments).map(hexKey)
        settings.permitsUnsigned = arguments.has("unsigned") || use == .uploads
        settings.onlyPresets = arguments.has("only-presets") && use != .facts
        if use == .uploads { settings.schemes = SourceSchemes([UploadSettings.scheme]) }
        if let path = arguments.value("presets"), use != .facts {
            var lines = try text(path)
            if case .saving(let preset) = use { lines = try Self.lines(lines, saving: preset) }
            do throws(GrammarError) {
                settings.presets = try ImgproxyPresets(lines: lines)
            } catch {
                throw GrammarError(.malformed, "--presets: \(error.message)")
            }
        }
        return try ImgproxyGrammar(settings)
    }

    /// The preset holds behind that of the name `default`, which every path has.
    private static func lines(
        _ text: String, saving preset: String
    ) throws(GrammarError) -> String {
        let lines = text.split(whereSeparator: \.isNewline)
        let isUsual = { (line: Substring) in
            line.split(separator: "=").first?.trimmedOfBlanks == "default"
        }
        guard lines.contains(where: isUsual) else { return text + "\ndefault=pr:\(preset)\n" }
        return lines.map { isUsual($0) ? "\($0.trimmedOfBlanks)/pr:\(preset)" : String($0) }
            .joined(separator: "\n")
    }

    /// Lines of the key file, without empty ones and those that begin with #.
    private static func keys(_ arguments: ProgramArguments) throws(GrammarError) -> [Substring] {
        guard let path = arguments.value("keys") else { return [] }
        return try text(path).split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") }
    }

    /// `KEY SALT`, in hexadecimal digits.
    private static func hexKey(_ line: Substring) throws(GrammarError) -> SigningKey {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 2, let key = SigningKey(hexKey: words[0], hexSalt: words[1]) else {
            throw GrammarError(
                .malformed, "a line of the key file is KEY SALT, each in hexadecimal digits")
        }
        return key
    }

    private static func textKey(_ line: Substring) throws(GrammarError) -> SigningKey {
        guard let key = SigningKey(key: Array(line.utf8)) else {
            throw GrammarError(.malformed, "a line of the key file is a key")
        }
        return key
    }

    /// Of a file that is named.
    private static let fileBytesMax = 1 << 20

    private static func text(_ path: String) throws(GrammarError) -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    static func bytes(_ path: String) throws(GrammarError) -> [UInt8] {
        do throws(Errno) {
            let file = try FileDescriptor.open(path)
            return try file.readToEnd(bytesMax: fileBytesMax)
        } catch {
            throw GrammarError(.malformed, "\(path) cannot be read: \(error)")
        }
    }
}
