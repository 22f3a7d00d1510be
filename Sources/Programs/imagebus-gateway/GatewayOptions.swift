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

    static let valued: Set<String> = [
        "listen", "grammar", "keys", "presets", "iiif-source", "offer", "visitor-field",
        "max-age", "allow-origin",
    ]
    static let flags: Set<String> = ["unsigned", "only-presets", "immutable"]

    init(_ arguments: ProgramArguments) throws {
        front = WebFrontSettings(try Self.grammar(arguments))
        if let text = arguments.value("listen") { (address, port) = try Self.place(text) }
        if let text = arguments.value("offer") { front.offered = try Self.formats(text) }
        front.visitorField = arguments.value("visitor-field")
        front.answers.allowedOrigin = arguments.value("allow-origin")
        front.answers.caching.usualSeconds = try arguments.number(
            "max-age", else: front.answers.caching.usualSeconds)
        front.answers.caching.isImmutable = arguments.has("immutable")
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

    private static func grammar(_ arguments: ProgramArguments) throws -> any URLGrammar {
        do throws(GrammarError) {
            switch arguments.value("grammar") ?? "imgproxy" {
            case "imgproxy": return try imgproxy(arguments)
            case "thumbor":
                var settings = ThumborGrammar.Settings()
                settings.keys = try keys(arguments).map(textKey)
                settings.permitsUnsigned = arguments.has("unsigned")
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
        _ arguments: ProgramArguments
    ) throws(GrammarError) -> ImgproxyGrammar {
        var settings = ImgproxyGrammar.Settings()
        settings.keys = try keys(arguments).map(hexKey)
        settings.permitsUnsigned = arguments.has("unsigned")
        settings.onlyPresets = arguments.has("only-presets")
        if let path = arguments.value("presets") {
            settings.presets = try ImgproxyPresets(lines: try text(path))
        }
        return try ImgproxyGrammar(settings)
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

    private static let fileBytesMax = 1 << 20

    private static func text(_ path: String) throws(GrammarError) -> String {
        do throws(Errno) {
            let file = try FileDescriptor.open(path)
            return String(decoding: try file.readToEnd(bytesMax: fileBytesMax), as: UTF8.self)
        } catch {
            throw GrammarError(.malformed, "\(path) cannot be read: \(error)")
        }
    }
}
