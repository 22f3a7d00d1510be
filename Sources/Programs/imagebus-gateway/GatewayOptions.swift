import Bootstrap
import ImageModel
import Linux
import WebFront
import WebGrammar

/// What the program was told.
struct GatewayOptions {
    var address = "127.0.0.1"
    var port: UInt16 = 8_080
    var front: WebFrontSettings

    static let valued = valuedOfAnswers.union([
        "listen", "grammar", "keys", "presets", "iiif-source", "offer", "visitor-field",
        "max-age", "allow-origin",
    ])
    static let flags = flagsOfAnswers.union(["unsigned", "only-presets", "immutable", "no-component"])

    init(_ arguments: ProgramArguments) throws {
        front = WebFrontSettings(try Self.grammar(arguments))
        if let text = arguments.value("listen") { (address, port) = try Self.place(text) }
        if let text = arguments.value("offer") { front.offered = try Self.formats(text) }
        if arguments.has("no-component") { front.files = nil }
        front.visitorField = arguments.value("visitor-field")
        front.answers.allowedOrigin = arguments.value("allow-origin")
        front.answers.caching.usualSeconds = try arguments.number(
            "max-age", else: front.answers.caching.usualSeconds)
        front.answers.caching.isImmutable = arguments.has("immutable")
        try takeAnswers(arguments)
    }

    /// `ADDRESS:PORT`, `:PORT` for every address, `[IPv6]:PORT`.
    private static func place(_ text: String) throws(ConfigurationError) -> (String, UInt16) {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { throw ConfigurationError("--listen is ADDRESS:PORT or :PORT, not '\(text)'") }
        var address = String(text[..<colon])
        if address.hasPrefix("["), address.hasSuffix("]") {
            address = String(address.dropFirst().dropLast())
        }
        return (address.isEmpty ? "0.0.0.0" : address, port)
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
                return try IIIFGrammar(IIIFGrammar.Settings(source: source))
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
            settings.presets = try ImgproxyPresets(lines: lines)
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
        return try text(path).split(separator: "\n").filter { !$0.hasPrefix("#") }
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
