/// A setting of a gateway: an option of `imagebus-gateway`, and with the prefix `gateway-` of
/// `serve`. The same name is used there, in the help and in errors.
public enum GatewaySetting: String, Hashable, Sendable, CaseIterable {
    /// The URL grammar.
    case grammar
    /// The file of keys for signed paths.
    case keys
    /// Whether unsigned paths are accepted.
    case unsigned
    /// The file of presets.
    case presets
    /// Whether only presets are accepted.
    case onlyPresets = "only-presets"
    /// Request headers that are forwarded to origins.
    case passHeaders = "pass-headers"
    /// The sources that receive them.
    case passHeadersTo = "pass-headers-to"
    /// Headers that are added to responses.
    case responseHeaders = "response-headers"
    /// The location of IIIF images.
    case iiifSource = "iiif-source"
    /// Formats offered in content negotiation.
    case offer
    /// The maximum number of frames of an animation.
    case maxAnimationFrames = "max-animation-frames"
    /// The EXIF, XMP and IPTC metadata retained in responses.
    case metadata
    /// How damaged images are handled.
    case damaged
    /// Formats whose sources are returned unchanged.
    case skipProcessingFormats = "skip-processing-formats"
    /// Trusted proxies.
    case trustedProxy = "trusted-proxy"
    /// The header in which a trusted proxy identifies the HTTP client.
    case clientHeader = "client-header"
    /// An alias of `assumeFresh`.
    case maxAge = "max-age"
    /// Whether images are marked as immutable.
    case immutable
    /// The `Access-Control-Allow-Origin` header.
    case allowOrigin = "allow-origin"
    /// The timeout of a request.
    case timeout
    /// How long a permanently failed source is not retried.
    case rememberFailures = "remember-failures"
    /// The maximum number of seconds for which downstream caches may store an image.
    case maxAgeLimit = "max-age-limit"
    /// Seconds for which a browser may store an image, if shared caches may for longer.
    case browserMaxAge = "browser-max-age"
    /// Seconds for which an image is fresh if its origin states no lifetime.
    case assumeFresh = "assume-fresh"
    /// Seconds for which it may be served stale while it is revalidated.
    case assumeStaleWhileRevalidate = "assume-stale-while-revalidate"
    /// Seconds for which it may be served stale if the origin fails.
    case assumeStaleIfError = "assume-stale-if-error"
    /// The public URL of the listener.
    case publicURL = "public-url"
    /// The image served instead of one that failed.
    case fallback
    /// The failures for which it is served.
    case fallbackFor = "fallback-for"
    /// The status with which it is served.
    case fallbackStatus = "fallback-status"
    /// Seconds for which it may be stored.
    case fallbackMaxAge = "fallback-max-age"
    /// The file of bearer tokens for uploads.
    case postTokens = "post-tokens"
    /// The maximum size of an uploaded image in bytes.
    case postMaxBytes = "post-max-bytes"
    /// The file of operator tokens.
    case operatorTokens = "operator-tokens"
    /// The listener for purges by operators.
    case operatorListen = "operator-listen"
    /// Whether clients are asked for client hints.
    case clientHints = "client-hints"
    /// The image widths produced for client hints.
    case hintWidths = "hint-widths"
    /// The quality for clients that send `Save-Data`.
    case saveDataQuality = "save-data-quality"
    /// The preset for clients that send `Save-Data`.
    case saveDataPreset = "save-data-preset"
    /// Whether the web component is disabled.
    case noComponent = "no-component"
    /// The listener for metrics.
    case metricsListen = "metrics-listen"
    /// Whether each request is logged.
    case accessLog = "access-log"
    /// Whether the `X-Cache` header is omitted.
    case noXCache = "no-x-cache"
    /// The maximum number of bytes of a URL.
    case urlLimit = "url-limit"
    /// The maximum number of bytes of a request line and its headers.
    case headerLimit = "header-limit"
    /// The timeout for receiving a header section or a body.
    case headerTimeout = "header-timeout"
    /// The idle timeout of a connection.
    case idleTimeout = "idle-timeout"
    /// The maximum number of connections.
    case connections
    /// The maximum number of connections per address.
    case connectionsPerAddress = "connections-per-address"

    // Settings of individual grammars.

    /// Presets as inline text.
    case presetLines = "preset-lines"
    /// The size of a signature in bytes.
    case signatureSize = "signature-size"
    /// The algorithm of imagor's signatures.
    case signatureAlgorithm = "signature-algorithm"
    /// The separator of the arguments of an option.
    case argumentsSeparator = "arguments-separator"
    /// The prefix added to source URLs that lack it.
    case baseURL = "base-url"
    /// Replacements of source URL prefixes.
    case urlReplacements = "url-replacements"
    /// The permitted sources.
    case allowedSources = "allowed-sources"
    /// The scheme of sources without one.
    case defaultScheme = "default-scheme"
    /// The schemes of custom loaders.
    case schemes
    /// The watermark image.
    case watermark
    /// The opacity of the watermark.
    case watermarkOpacity = "watermark-opacity"
    /// The prefix of IIIF identifiers.
    case iiifPrefix = "iiif-prefix"

    /// The host names that are served.
    case host
    /// The prefix of all paths.
    case pathPrefix = "path-prefix"

    // Encoding defaults for URLs that don't specify it.

    /// The quality.
    case quality
    /// The quality by format.
    case formatQuality = "format-quality"
    /// Formats that are encoded progressively.
    case progressive
    /// The effort by format.
    case effort

    private var form: SettingForm<Int> {
        switch self {
        case .unsigned, .onlyPresets, .immutable, .accessLog, .noXCache, .clientHints, .noComponent:
            SettingForm(placeholder: nil, expected: "a flag without a value") { _ in nil }
        case .grammar: .choice(Self.grammarNames)
        case .keys, .presets, .postTokens, .operatorTokens: .text("FILE", expected: "a path")
        case .iiifSource, .publicURL, .fallback, .baseURL, .watermark: .text("URL")
        case .responseHeaders: .text("HEADERS")
        case .fallbackStatus: .text("STATUS")
        case .hintWidths: .text("WIDTHS")
        case .saveDataPreset, .clientHeader: .text("NAME")
        case .offer, .skipProcessingFormats, .progressive: .text("FORMATS")
        case .metadata: .choice(["none", "copyright", "all"])
        case .damaged: .choice(DamagedImages.allCases.map(\.name))
        case .trustedProxy: .text("NETWORKS")
        case .allowOrigin: .text("ORIGINS")
        case .metricsListen, .operatorListen:
            .text("ADDRESS:PORT", expected: ListenPlace.expected) { ListenPlace($0) != nil }
        case .maxAgeLimit, .browserMaxAge, .fallbackMaxAge: .integer(0...366 * 86_400)
        case .maxAge, .assumeFresh, .assumeStaleWhileRevalidate, .assumeStaleIfError:
            .integer(0...Int(AssumedLifetime.range.upperBound))
        case .saveDataQuality: .integer(0...100)
        case .connections: .integer(1...1_000_000)
        case .maxAnimationFrames: .integer(1...RequestLimits.framesMax)
        case .connectionsPerAddress: .integer(0...1_000_000)
        case .timeout, .headerTimeout: .seconds(1...3_600)
        case .rememberFailures: .seconds(0...3_600)
        case .idleTimeout: .seconds(1...86_400)
        case .postMaxBytes: .size(1...64 << 20)
        case .urlLimit: .size(64...64 << 10)
        case .headerLimit: .size(1 << 10...1 << 20)
        case .presetLines: .text("LINES")
        case .signatureSize: .integer(8...32)
        case .signatureAlgorithm: .choice(["sha1", "sha256", "sha512"])
        case .argumentsSeparator: .text("TEXT")
        case .fallbackFor, .urlReplacements, .allowedSources, .passHeadersTo, .formatQuality,
            .effort:
            .text("LIST")
        case .defaultScheme: .text("SCHEME")
        case .schemes, .passHeaders, .host: .text("NAMES")
        case .watermarkOpacity:
            .text("0..1", expected: "a number from 0 to 1") { text in
                PlainNumber.decimal(text).map { (0...1).contains($0) } ?? false
            }
        case .iiifPrefix, .pathPrefix: .text("PATH")
        case .quality: .integer(1...100)
        }
    }

    /// The former names, which are accepted too.
    public var formerNames: [String] {
        switch self {
        case .clientHeader: ["visitor-field"]
        case .maxAgeLimit: ["max-age-most"]
        case .headerLimit: ["head-limit"]
        case .headerTimeout: ["head-time"]
        case .idleTimeout: ["idle-time"]
        default: []
        }
    }

    /// The names of the URL grammars, the default one first.
    public static let grammarNames = ["imgproxy", "thumbor", "imagor", "iiif", "weserv"]

    /// The grammars that the setting applies to; `nil` for all.
    public var grammars: [String]? {
        switch self {
        case .presets, .presetLines, .onlyPresets, .saveDataPreset, .argumentsSeparator,
            .watermark, .watermarkOpacity:
            ["imgproxy"]
        case .signatureSize: ["imgproxy", "imagor"]
        case .signatureAlgorithm: ["imagor"]
        case .iiifSource, .iiifPrefix: ["iiif"]
        case .keys: ["imgproxy", "thumbor", "imagor"]
        default: nil
        }
    }

    /// Returns whether the setting applies to a grammar.
    public func applies(to grammar: String) -> Bool { grammars?.contains(grammar) ?? true }

    /// The placeholder of the value in the help; nil for a flag.
    public var placeholder: String? { form.placeholder }

    /// Returns a text with the options of `imagebus-gateway` renamed to those of `serve`.
    public static func served(_ text: String) -> String {
        let parts = text.split(separator: "--", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts[0])) { text, part in
            let name = part.prefix { $0.isASCII && $0.isLowercase || $0 == "-" }
            let isSetting = GatewaySetting(rawValue: String(name)) != nil
            return text + (isSetting ? "--gateway-" : "--") + part
        }
    }

    /// Returns whether a text is syntactically valid. Files and words are checked where they are
    /// used.
    public func accepts(_ text: String) -> Bool { form.parse(text) != nil }

    /// Parses the value of a setting that is a count, seconds or bytes.
    public func number(of text: String) -> Int? { form.parse(text) }

    /// The description of a valid text, for errors.
    public var expected: String { form.expected }
}

extension SettingForm where Value == Int {
    /// A text without a number; its value has no meaning.
    fileprivate static func text(
        _ placeholder: String, expected: String = "a nonempty text",
        accepts: @escaping (String) -> Bool = { !$0.isEmpty }
    ) -> SettingForm {
        SettingForm(placeholder: placeholder, expected: expected) { accepts($0) ? 0 : nil }
    }

    fileprivate static func choice(_ words: [String]) -> SettingForm {
        .word(words, expected: words.dropLast().joined(separator: ", ") + " or \(words.last ?? "")")
    }

    fileprivate static func size(_ range: ClosedRange<Int>) -> SettingForm {
        .bytes(range, "8192 or 8K, between \(range.lowerBound) and \(range.upperBound)")
    }
}

/// A configured listener of the HTTP gateway, which is a separate process.
public struct GatewayListenerSettings: Hashable, Sendable {
    /// The listening address.
    public var place: ListenPlace
    /// The settings; flags that are set have an empty text.
    public var values: [GatewaySetting: String]

    /// The maximum number of listeners in a stack.
    public static let countMax = 16

    /// Creates a listener; by default without settings.
    public init(_ place: ListenPlace, values: [GatewaySetting: String] = [:]) {
        (self.place, self.values) = (place, values)
    }

    /// The arguments of `imagebus-gateway` without the address.
    public var arguments: [String] { Self.arguments(values) }

    /// Returns settings as arguments of `imagebus-gateway`.
    public static func arguments(_ values: [GatewaySetting: String]) -> [String] {
        GatewaySetting.allCases.flatMap { setting -> [String] in
            guard let value = values[setting] else { return [] }
            let name = "--\(setting.rawValue)"
            return setting.placeholder == nil ? [name] : [name, value]
        }
    }

    /// Returns the arguments as the bytes of a file, each terminated by a null byte.
    public static func fileBytes(of arguments: [String]) -> [UInt8] {
        arguments.flatMap { Array($0.utf8) + [0] }
    }

    /// Returns the arguments in such a file.
    public static func arguments(inFile bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A listening address for HTTP in its textual syntax.
public enum ListenPlace: Hashable, Sendable {
    /// A numeric address and a TCP port; 0 for a port chosen by the system.
    case tcp(address: String, port: UInt16)
    /// A Unix socket at an absolute path.
    case unix(path: String)

    /// The maximum number of bytes of a socket path.
    public static let pathBytesMax = 107
    /// The mode of a socket: owner and group may connect.
    public static let socketMode: UInt32 = 0o660
    private static let unixPrefix = "unix:"

    /// Parses `ADDRESS:PORT`, `:PORT` for all IPv4 addresses, `[IPv6]:PORT` or `unix:PATH`; returns
    /// nil for anything else.
    public init?(_ text: String) {
        if text.hasPrefix(Self.unixPrefix) {
            let path = text.dropFirst(Self.unixPrefix.count)
            guard path.hasPrefix("/"), !path.hasSuffix("/"), path.utf8.count <= Self.pathBytesMax,
                path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else { return nil }
            self = .unix(path: String(path))
            return
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var address = text[..<colon]
        let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
        guard isBracketed || !address.contains(":") else { return nil }
        if isBracketed { address = address.dropFirst().dropLast() }
        self = .tcp(address: address.isEmpty ? "0.0.0.0" : String(address), port: port)
    }

    /// The text that `init` accepts.
    public var text: String {
        switch self {
        case .tcp(let address, let port): Self.bracketed(address) + ":\(port)"
        case .unix(let path): Self.unixPrefix + path
        }
    }

    /// Whether the system chooses the port, so that several listeners don't conflict.
    public var isAnyPort: Bool {
        if case .tcp(_, 0) = self { true } else { false }
    }

    /// The syntax, for errors.
    public static let expected = "ADDRESS:PORT, :PORT, [IPv6]:PORT or unix:/PATH"

    /// Returns the URL once the port is known; for a Unix socket the address itself. `0.0.0.0` and
    /// `[::]` stand for all addresses of the machine.
    public func url(port: UInt16) -> String {
        guard case .tcp(let address, _) = self else { return text }
        return "http://\(Self.bracketed(address)):\(port)/"
    }

    private static func bracketed(_ address: String) -> String {
        address.contains(":") ? "[\(address)]" : address
    }
}
