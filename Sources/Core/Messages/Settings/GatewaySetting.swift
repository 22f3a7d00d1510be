internal import ImageModel

/// What an operator sets of a gateway: an option of `imagebus-gateway`, and with `gateway-` in
/// front one of `serve`. One word names it there, in the help and in errors.
public enum GatewaySetting: String, Hashable, Sendable, CaseIterable {
    /// Whose URLs are read.
    case grammar
    /// A file of keys by which paths are signed.
    case keys
    /// Whether paths without a signature are answered.
    case unsigned
    /// A file of presets.
    case presets
    /// Whether nothing but presets is read.
    case onlyPresets = "only-presets"
    /// Fields of requests that go along to origins.
    case passHeaders = "pass-headers"
    /// The sources that get them.
    case passHeadersTo = "pass-headers-to"
    /// What is added to the heads of answers.
    case responseHeaders = "response-headers"
    /// Where the images of IIIF are.
    case iiifSource = "iiif-source"
    /// Formats where a client may choose.
    case offer
    /// Frames of an animation that are kept.
    case maxAnimationFrames = "max-animation-frames"
    /// What of EXIF, XMP and IPTC answers have.
    case metadata
    /// What becomes of damaged images.
    case damaged
    /// Formats whose sources are answered as they are.
    case skipProcessingFormats = "skip-processing-formats"
    /// Proxies that are believed.
    case trustedProxy = "trusted-proxy"
    /// Where a trusted proxy names its client.
    case visitorField = "visitor-field"
    /// Another name of `assumeFresh`.
    case maxAge = "max-age"
    /// Whether images never change.
    case immutable
    /// Which pages may read what is answered.
    case allowOrigin = "allow-origin"
    /// How long a request may take.
    case timeout
    /// How long a source that failed for good is not asked again.
    case rememberFailures = "remember-failures"
    /// Seconds at most for which others may keep an image.
    case maxAgeMost = "max-age-most"
    /// Seconds for which a browser may keep an image, where others may for longer.
    case browserMaxAge = "browser-max-age"
    /// Seconds for which an image is fresh whose origin says nothing.
    case assumeFresh = "assume-fresh"
    /// Seconds for which it may be shown after that while the origin is asked.
    case assumeStaleWhileRevalidate = "assume-stale-while-revalidate"
    /// Seconds for which it may be shown where the origin fails.
    case assumeStaleIfError = "assume-stale-if-error"
    /// Where clients see the gateway.
    case publicURL = "public-url"
    /// What is shown in the place of an image that failed.
    case fallback
    /// For which failures.
    case fallbackFor = "fallback-for"
    /// With which status.
    case fallbackStatus = "fallback-status"
    /// Seconds for which it may be kept.
    case fallbackMaxAge = "fallback-max-age"
    /// A file of tokens by which images may be sent.
    case postTokens = "post-tokens"
    /// Bytes of an image that is sent.
    case postMaxBytes = "post-max-bytes"
    /// A file of tokens of operators.
    case operatorTokens = "operator-tokens"
    /// Where operators have entries removed.
    case operatorListen = "operator-listen"
    /// Whether clients are asked for their sizes.
    case clientHints = "client-hints"
    /// Widths that are made for them.
    case hintWidths = "hint-widths"
    /// The quality for those who save data.
    case saveDataQuality = "save-data-quality"
    /// The preset for those who save data.
    case saveDataPreset = "save-data-preset"
    /// Whether the web component is not served.
    case noComponent = "no-component"
    /// Where figures are read.
    case metricsListen = "metrics-listen"
    /// Whether each request has a line in the log.
    case accessLog = "access-log"
    /// Whether answers do not say where an image came from.
    case noXCache = "no-x-cache"
    /// Bytes of a URL.
    case urlLimit = "url-limit"
    /// Bytes of the head of a request.
    case headLimit = "head-limit"
    /// How long a head, or a body, may take to come.
    case headTime = "head-time"
    /// How long a connection may do nothing.
    case idleTime = "idle-time"
    /// Connections at a time.
    case connections
    /// Connections of one address.
    case connectionsPerAddress = "connections-per-address"

    // What the grammars leave to the operator.

    /// Presets as text.
    case presetLines = "preset-lines"
    /// Bytes of a signature.
    case signatureSize = "signature-size"
    /// What stands between the arguments of an option.
    case argumentsSeparator = "arguments-separator"
    /// What stands before sources.
    case baseURL = "base-url"
    /// What takes the place of the beginnings of sources.
    case urlReplacements = "url-replacements"
    /// Sources that may be loaded.
    case allowedSources = "allowed-sources"
    /// The scheme of sources that name none.
    case defaultScheme = "default-scheme"
    /// Schemes of the operator's own loaders.
    case schemes
    /// The image that is laid over others.
    case watermark
    /// How much of it is seen.
    case watermarkOpacity = "watermark-opacity"
    /// What stands before identifiers of IIIF.
    case iiifPrefix = "iiif-prefix"

    /// The host that clients name.
    case host
    /// What stands before all paths.
    case pathPrefix = "path-prefix"

    // How images are written where URLs do not say it.

    /// The quality.
    case quality
    /// The quality by format.
    case formatQuality = "format-quality"
    /// Formats of which a rough image comes first.
    case progressive
    /// The effort by format.
    case effort

    enum Values {
        case flag
        case text(String)
        case word([String])
        case count(ClosedRange<Int>)
        case seconds(ClosedRange<Int>)
        case bytes(ClosedRange<Int>)
        case place
        case part
    }

    var values: Values {
        switch self {
        case .unsigned, .onlyPresets, .immutable, .accessLog, .noXCache, .clientHints, .noComponent:
            .flag
        case .grammar: .word(["imgproxy", "thumbor", "iiif"])
        case .keys, .presets, .postTokens, .operatorTokens: .text("FILE")
        case .iiifSource, .publicURL, .fallback: .text("URL")
        case .responseHeaders: .text("HEADERS")
        case .fallbackFor: .text("LIST")
        case .fallbackStatus: .text("STATUS")
        case .hintWidths: .text("WIDTHS")
        case .saveDataPreset: .text("NAME")
        case .offer, .skipProcessingFormats: .text("FORMATS")
        case .metadata: .word(["none", "copyright", "all"])
        case .damaged: .word(DamagedImages.allCases.map(\.name))
        case .trustedProxy: .text("NETWORKS")
        case .visitorField: .text("NAME")
        case .allowOrigin: .text("ORIGINS")
        case .metricsListen, .operatorListen: .place
        case .maxAgeMost, .browserMaxAge, .fallbackMaxAge: .count(0...366 * 86_400)
        case .maxAge, .assumeFresh, .assumeStaleWhileRevalidate, .assumeStaleIfError:
            .count(0...Int(AssumedLifetime.range.upperBound))
        case .saveDataQuality: .count(0...100)
        case .connections: .count(1...1_000_000)
        case .maxAnimationFrames: .count(1...RequestLimits.framesMax)
        case .connectionsPerAddress: .count(0...1_000_000)
        case .timeout: .seconds(1...3_600)
        case .rememberFailures: .seconds(0...3_600)
        case .headTime: .seconds(1...3_600)
        case .idleTime: .seconds(1...86_400)
        case .postMaxBytes: .bytes(1...64 << 20)
        case .urlLimit: .bytes(64...64 << 10)
        case .headLimit: .bytes(1 << 10...1 << 20)
        case .presetLines: .text("LINES")
        case .signatureSize: .count(8...32)
        case .argumentsSeparator: .text("TEXT")
        case .baseURL, .watermark: .text("URL")
        case .urlReplacements, .allowedSources, .passHeadersTo, .formatQuality, .effort:
            .text("LIST")
        case .defaultScheme: .text("SCHEME")
        case .schemes, .passHeaders: .text("NAMES")
        case .watermarkOpacity: .part
        case .iiifPrefix, .pathPrefix: .text("PATH")
        case .host: .text("NAMES")
        case .quality: .count(1...100)
        case .progressive: .text("FORMATS")
        }
    }

    /// The grammars that it says something of; `nil`: all of them.
    public var grammars: [String]? {
        switch self {
        case .presets, .presetLines, .onlyPresets, .saveDataPreset, .signatureSize,
            .argumentsSeparator, .watermark, .watermarkOpacity:
            ["imgproxy"]
        case .iiifSource, .iiifPrefix: ["iiif"]
        case .keys: ["imgproxy", "thumbor"]
        default: nil
        }
    }

    /// Whether it says something of a grammar.
    public func applies(to grammar: String) -> Bool { grammars?.contains(grammar) ?? true }

    /// What stands for its value in the help; nil: it is a flag.
    public var placeholder: String? {
        switch values {
        case .flag: nil
        case .text(let word): word
        case .word: "WORD"
        case .count: "N"
        case .seconds: "TIME"
        case .bytes: "BYTES"
        case .place: "ADDRESS:PORT"
        case .part: "0..1"
        }
    }

    /// What the help says of it.
    public var help: String {
        switch self {
        case .grammar: "whose URLs are read: imgproxy, thumbor or iiif (imgproxy)"
        case .keys:
            "keys by which paths are signed, a line each: KEY SALT in\n"
                + "hexadecimal digits for imgproxy, the key itself for thumbor;\n"
                + "SIGHUP reads it anew"
        case .unsigned: "answer paths with a wrong signature, or none, too"
        case .presets: "presets of imgproxy, a line NAME=OPTIONS each; SIGHUP reads it anew"
        case .onlyPresets: "read names of presets in place of options"
        case .passHeaders:
            "headers of requests that go along to origins, such as cookie; images\n"
                + "are kept apart by their values"
        case .passHeadersTo:
            "beginnings of the source URLs that get them, such as\n"
                + "https://*.example.com/; cookie and authorization need it"
        case .responseHeaders: "headers for all answers: NAME=VALUE, with \\; between several"
        case .iiifSource: "where images of IIIF are: a URL with {id}"
        case .offer: "formats where the client may choose, or none (avif,webp)"
        case .maxAnimationFrames:
            "frames of an animation that are kept; one with more comes as a still\n"
                + "(imgproxy: 1; thumbor, iiif: all)"
        case .metadata:
            "EXIF, XMP and IPTC of images: none, copyright, or all, the place too\n"
                + "(copyright)"
        case .damaged:
            "damaged images: show the pixels that are there, marked and for 60s at\n"
                + "most, or refuse them (show)"
        case .skipProcessingFormats:
            "answer sources of these formats as they are, without steps: jpeg,\n"
                + "png, gif, webp, svg; with --metadata all also avif, heic, tiff"
        case .trustedProxy:
            "networks of proxies whose X-Forwarded-For, X-Request-Id and\n"
                + "traceparent are believed, such as 10.0.0.0/8,unix (none)"
        case .visitorField:
            "field in which --trusted-proxy names its client\n(X-Forwarded-For)"
        case .maxAge: "the same as --assume-fresh"
        case .immutable: "say that images never change"
        case .allowOrigin:
            "pages that may read what is answered: * or origins, with commas\n"
                + "between"
        case .timeout: "longest time for one request (30s)"
        case .rememberFailures: "how long a source that failed is not asked again (10s)"
        case .maxAgeMost: "seconds for which an image may be kept at most (31536000)"
        case .browserMaxAge:
            "seconds for which a browser may keep an image, where caches\nbetween may for longer"
        case .assumeFresh:
            "seconds for which an image is fresh whose origin says nothing of\n"
                + "that (3600); it and caches behind it keep it for so long"
        case .assumeStaleWhileRevalidate:
            "seconds after that for which it is shown while the origin is\nasked (600)"
        case .assumeStaleIfError:
            "seconds after that for which it is shown where the origin fails\n(86400)"
        case .publicURL: "as clients see this listener, for IIIF: such as https://example.com"
        case .fallback: "an image, or the path of one, in the place of those that fail"
        case .fallbackFor: "for these statuses and errors alone, such as 404,badImageData"
        case .fallbackStatus: "status of fallbacks, or error: that of the failure (200)"
        case .fallbackMaxAge: "seconds for which it may be kept (60)"
        case .postTokens: "take images by POST from whoever shows a token of it, a line each"
        case .postMaxBytes: "largest image that is sent"
        case .operatorTokens:
            "tokens of operators, a line each: with one Cache-Control: no-cache\n"
                + "revalidates with the origin; SIGHUP reloads it"
        case .operatorListen:
            "take PURGE and POST /-/purge of operators there (ADDRESS:PORT or\nunix:/PATH)"
        case .clientHints: "ask clients for widths, densities and whether they save data"
        case .hintWidths: "widths that are made for them, such as 320,640,1280"
        case .saveDataQuality: "quality for clients that save data; 0: as for others"
        case .saveDataPreset: "a preset for those who save data"
        case .noComponent: "do not serve <bus-image>"
        case .metricsListen: "answer /metrics for Prometheus there, and nowhere else"
        case .accessLog:
            "a line of JSON for each request, without signature and query, to\nstderr"
        case .noXCache: "leave out X-Cache, which says where an image came from"
        case .urlLimit: "of a URL; a longer one is 414 (8192)"
        case .headLimit: "that a connection has for a request's line and fields (32K)"
        case .headTime: "in which the head of a request, or a body, has to come (30s)"
        case .idleTime: "for which a connection may do nothing (60s)"
        case .connections: "connections at a time (12000)"
        case .connectionsPerAddress:
            "connections of one address, except --trusted-proxy (512;\n0: no limit)"
        case .presetLines:
            "presets as text, NAME=OPTIONS lines, besides those of\n--presets"
        case .signatureSize: "bytes of imgproxy's signatures (32)"
        case .argumentsSeparator: "text between the arguments of imgproxy's options (:)"
        case .baseURL: "prefix of sources that do not begin with it"
        case .urlReplacements:
            "PATTERN=REPLACEMENT;… for the beginnings of sources, * and ${1}\nas in imgproxy"
        case .allowedSources:
            "beginnings of the URLs that may be loaded, such as\n"
                + "https://*.example.com/,s3://bucket/ (any)"
        case .defaultScheme:
            "scheme of sources that name none, or none (thumbor: http, others:\nnone)"
        case .schemes: "schemes of your own loaders, such as photos,scans"
        case .watermark:
            "image of imgproxy's watermark option: a URL; `imagebus serve` also\n"
                + "takes the path of a file or a data: URL"
        case .watermarkOpacity: "opacity of the watermark, multiplied by that of the URL (1)"
        case .iiifPrefix: "path before identifiers of IIIF, such as iiif/3"
        case .host: "host names to answer, with commas between; others are 421 (any)"
        case .pathPrefix: "path before all URLs, such as /img (none)"
        case .quality: "quality where the URL names none (80)"
        case .formatQuality: "quality by format, such as webp=75,avif=60"
        case .progressive: "formats that are written progressively: jpeg, png, gif (none)"
        case .effort: "encoder effort by format, such as avif=4,webp=6: more is smaller and\nslower"
        }
    }

    /// A text in which options of `imagebus-gateway` have the names that they have in `serve`.
    public static func served(_ text: String) -> String {
        let parts = text.split(separator: "--", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts[0])) { text, part in
            let name = part.prefix { $0.isASCII && $0.isLowercase || $0 == "-" }
            let isSetting = GatewaySetting(rawValue: String(name)) != nil
            return text + (isSetting ? "--gateway-" : "--") + part
        }
    }

    /// Whether a text is a value of it. What files and words mean is seen where they are used.
    public func accepts(_ text: String) -> Bool {
        switch values {
        case .flag: false
        case .text: !text.isEmpty
        case .word(let words): words.contains(text)
        case .count, .seconds, .bytes: number(of: text) != nil
        case .place: ListenPlace(text) != nil
        case .part: PlainNumber.decimal(text).map { (0...1).contains($0) } ?? false
        }
    }

    /// The number of a text: a count, seconds or bytes; nil for anything else.
    public func number(of text: String) -> Int? {
        switch values {
        case .count(let range): PlainNumber.integer(text).flatMap { within(range, $0) }
        case .seconds(let range):
            DurationText.seconds(of: text).flatMap { within(range, Int($0)) }
        case .bytes(let range):
            PlainNumber.scaled(text, by: 1_024).flatMap { within(range, $0) }
        case .flag, .text, .word, .place, .part: nil
        }
    }

    /// What a text of it is, for errors.
    public var expected: String {
        switch values {
        case .flag: "a flag without a value"
        case .text(let word): word == "FILE" ? "a path" : "a text"
        case .word(let words): words.dropLast().joined(separator: ", ") + " or \(words.last ?? "")"
        case .count(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .seconds(let range):
            "\(DurationText.expected), from \(range.lowerBound)s to \(range.upperBound)s"
        case .bytes(let range):
            "a number of bytes, such as 8192 or 8K, from \(range.lowerBound) to "
                + "\(range.upperBound)"
        case .place: ListenPlace.expected
        case .part: "a number from 0 to 1"
        }
    }

    private func within(_ range: ClosedRange<Int>, _ number: Int) -> Int? {
        range.contains(number) ? number : nil
    }
}

/// One listener of the HTTP gateway, as the configuration says it: a process of its own.
public struct GatewayListenerSettings: Hashable, Sendable {
    /// Where it listens.
    public var place: ListenPlace
    /// What is set of it; flags that are there have an empty text.
    public var values: [GatewaySetting: String]

    /// Listeners of one stack.
    public static let countMax = 16

    /// A listener that is told nothing else.
    public init(_ place: ListenPlace, values: [GatewaySetting: String] = [:]) {
        (self.place, self.values) = (place, values)
    }

    /// The arguments of `imagebus-gateway`, without its place.
    public var arguments: [String] { Self.arguments(values) }

    /// Settings as `imagebus-gateway` reads them.
    public static func arguments(_ values: [GatewaySetting: String]) -> [String] {
        GatewaySetting.allCases.flatMap { setting -> [String] in
            guard let value = values[setting] else { return [] }
            let name = "--\(setting.rawValue)"
            return setting.placeholder == nil ? [name] : [name, value]
        }
    }

    /// The same as the bytes of a file: each argument, and a zero byte behind it.
    public static func fileBytes(of arguments: [String]) -> [UInt8] {
        arguments.flatMap { Array($0.utf8) + [0] }
    }

    /// The arguments in such a file.
    public static func arguments(inFile bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Where HTTP is listened for, as people write it.
public enum ListenPlace: Hashable, Sendable {
    /// An address in numbers, and a port of TCP; 0: one that the system chooses.
    case tcp(address: String, port: UInt16)
    /// A Unix socket at an absolute path.
    case unix(path: String)

    /// Bytes of the path of a socket.
    public static let pathBytesMax = 107
    /// The mode of a socket: its owner and its group may connect.
    public static let socketMode: UInt32 = 0o660
    private static let unixPrefix = "unix:"

    /// `ADDRESS:PORT`, `:PORT` for every address of IPv4, `[IPv6]:PORT`, `unix:PATH`; nil for
    /// anything else.
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

    /// As it is written.
    public var text: String {
        switch self {
        case .tcp(let address, let port): Self.bracketed(address) + ":\(port)"
        case .unix(let path): Self.unixPrefix + path
        }
    }

    /// Whether each that listens there has a place of its own: a port that the system chooses.
    public var isAnyPort: Bool {
        if case .tcp(_, 0) = self { true } else { false }
    }

    /// What is wanted of a text.
    public static let expected = "ADDRESS:PORT, :PORT, [IPv6]:PORT or unix:/PATH"

    /// What a browser on this machine opens, once the port is known; a Unix socket as it is
    /// written.
    public func url(port: UInt16) -> String {
        guard case .tcp(let address, _) = self else { return text }
        let open =
            switch address {
            case "0.0.0.0": "127.0.0.1"
            case "::": "::1"
            default: address
            }
        return "http://\(Self.bracketed(open)):\(port)/"
    }

    private static func bracketed(_ address: String) -> String {
        address.contains(":") ? "[\(address)]" : address
    }
}
