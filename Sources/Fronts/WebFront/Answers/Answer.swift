package import Model
import WebGrammar

/// A response to a request.
package struct Answer: Hashable, Sendable {
    package var status: UInt16
    package var fields: HTTPFields
    /// The body; empty for an image.
    package var body: [UInt8] = []
    /// The range of the image's bytes to send; `nil` for an answer without an image.
    package var bytes: Range<Int>?
    /// The error that it reports; `nil` if it reports none.
    package var failure: Failure?

    /// An error of a request.
    package struct Failure: Hashable, Sendable {
        /// The name, as in `X-Imagebus-Error`.
        package let name: String
        /// The human-readable message.
        package let message: String
    }
}

/// The fields of a response, in order.
package struct HTTPFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package private(set) var lines: [HTTPHeader]

    /// Creates fields; those without a value are omitted.
    package init(dictionaryLiteral fields: (String, String?)...) {
        lines = fields.compactMap { name, value in value.map { HTTPHeader(name: name, value: $0) } }
    }

    /// The value of a field, whose name is case-insensitive. A new one keeps the place of the field,
    /// or is appended; setting `nil` changes nothing.
    package subscript(_ name: String) -> String? {
        get { lines.first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            guard let newValue else { return }
            let line = HTTPHeader(name: name, value: newValue)
            if let place = lines.firstIndex(where: { $0.name == name }) {
                lines[place] = line
            } else {
                lines.append(line)
            }
        }
    }

    /// Adds a request field to `Vary`.
    mutating func vary(on name: String) {
        guard let known = self["Vary"] else { return self["Vary"] = name }
        if known != "*" { self["Vary"] = "\(known), \(name)" }
    }

    /// The fields as an HTTP server takes them.
    var pairs: [(name: String, value: String)] { lines.map { ($0.name, $0.value) } }

    static func + (fields: HTTPFields, more: HTTPFields) -> HTTPFields {
        var fields = fields
        fields.lines += more.lines
        return fields
    }

    /// Returns the fields with others added, which replace those of the same name.
    func replacing(with others: HTTPFields) -> HTTPFields {
        if others.lines.isEmpty { return self }
        let names = Set(others.lines.map { $0.name.lowercased() })
        var fields = self
        fields.lines.removeAll { names.contains($0.name.lowercased()) }
        return fields + others
    }
}

/// What is known about a successful load when its response is created.
package struct DeliveredProperties: Hashable, Sendable {
    /// The format and size of the image; `nil` for a cache miss and for something other than an
    /// image.
    var info: ImageInfo?
    /// The requested image properties.
    var properties: ImageProperties?
    /// The size of the image in bytes; `nil` if there is none.
    var byteCount: Int?
    var digest: ContentDigest?
    var validity: Validity?
    var timings = StageTimings()
    /// The tiers that had the image, or the original it was produced from; none if that was
    /// fetched.
    var tiers = CacheTypes.none
    /// Whether the bytes are a compressed SVG (`.svgz`).
    var isGzipped = false
    /// Whether the source is damaged and pixels are missing.
    var isDamaged = false
    /// The error because of which this is the fallback image.
    var fallbackFor: ImageError?
}

extension StageTimings {
    /// The `Server-Timing` field (W3C Server Timing): stages with nonzero durations, in
    /// milliseconds.
    package var serverTiming: String {
        let stages = [
            ("queue", queue), ("query", query), ("fetch", fetch), ("decode", decode),
            ("transform", transform), ("store", store),
        ].filter { $0.1 > 0 }
        return (stages + [("total", total)]).map { "\($0.0);dur=\(Self.tenths($0.1))" }
            .joined(separator: ", ")
    }

    private static func tenths(_ milliseconds: Double) -> String {
        let tenths = Int((min(max(0, milliseconds), 1e9) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// The `Content-Disposition` field (RFC 6266), with file names that are safe for clients.
package enum FileDisposition {
    /// The maximum length of a name with its extension, in bytes.
    private static let nameBytesMax = 200
    /// The maximum length of a part that counts as the extension of a source's name, in bytes.
    private static let extensionBytesMax = 5

    /// Returns the value of the field.
    ///
    /// - Parameters:
    ///   - name: The file name without extension; `nil` for a generic name.
    ///   - format: The format that determines the extension; `nil` if unknown.
    ///   - isAttachment: Whether browsers should save the file.
    package static func text(
        _ name: String?, _ format: ImageFormat?, isAttachment: Bool
    ) -> String {
        let kind = isAttachment ? "attachment" : "inline"
        let fileExtension = format.map { ".\($0 == .jpeg ? "jpg" : $0.name)" } ?? ""
        let whole =
            cut(name ?? "image", to: nameBytesMax - fileExtension.utf8.count) + fileExtension
        let plain = String(
            decoding: whole.utf8.map { isPlain($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        guard plain != whole else { return "\(kind); filename=\"\(plain)\"" }
        return "\(kind); filename=\"\(plain)\"; filename*=UTF-8''\(percent(whole))"
    }

    /// Returns the file name without extension for a source, from the last part of its path; `nil`
    /// if that is unsuitable.
    package static func name(ofSource url: String) -> String? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let parts = url[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
            .split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard let last = parts.last(where: { !$0.isEmpty }),
            let bytes = PercentCoding.decode(last.utf8),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        var stem = text[...]
        if let dot = text.lastIndex(of: "."), text[dot...].utf8.count - 1 <= extensionBytesMax {
            stem = text[..<dot]
        }
        return stem.allSatisfy { $0 == "." } ? nil : String(stem)
    }

    /// Truncates a text to a number of bytes without splitting characters.
    private static func cut(_ text: String, to bytesMax: Int) -> String {
        var count = 0
        return String(
            text.prefix { character in
                count += character.utf8.count
                return count <= bytesMax
            })
    }

    /// Whether a byte is a letter, a digit or one of `-._`, and thus neither a quote nor a
    /// directory separator nor a control character.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isUnreserved && byte != UInt8(ascii: "~")
    }

    /// Encodes a text according to RFC 8187 §3.2.
    private static func percent(_ text: String) -> String {
        PercentCoding.encode(text.utf8, keeping: isPlain)
    }
}

/// Header fields that the operator adds to all responses (imgproxy's
/// `IMGPROXY_CUSTOM_RESPONSE_HEADERS`).
package struct ResponseHeaders: Hashable, Sendable {
    private(set) var fields: HTTPFields = [:]

    /// The maximum number of fields per listener.
    package static let countMax = 32
    /// The maximum total size in bytes.
    package static let bytesMax = 4_096

    /// Sets no fields.
    init() {}

    /// Parses `NAME=VALUE` fields, separated by line breaks or imgproxy's `\;`. Throws for invalid
    /// fields and for fields that the gateway generates itself.
    init(_ text: String) throws(GrammarError) {
        let lines = text.replacing("\\;", with: "\n").split(whereSeparator: \.isNewline)
        for line in lines { fields = fields + (try Self.field(line)) }
        try require(
            (1...Self.countMax).contains(lines.count) && text.utf8.count <= Self.bytesMax,
            "expected 1 to \(Self.countMax) headers with \(Self.bytesMax) bytes in total")
    }

    private static func field(_ line: Substring) throws(GrammarError) -> HTTPFields {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            .map { String($0.trimmedOfBlanks) }
        let (name, value) = (parts[0], parts.last ?? "")
        try require(
            parts.count == 2 && !value.isEmpty && HTTPHeader(name: name, value: value).isValid,
            "'\(line.prefix(60))' is not a header: use NAME=VALUE, separated by \\;")
        try require(!own.contains(name.lowercased()), "\(name) is set by the server: leave it out")
        return HTTPFields(dictionaryLiteral: (name, value))
    }

    /// Fields that determine the body, its caching and what browsers may do with it.
    private static let own: Set<String> = [
        "accept-ranges", "access-control-allow-origin", "age", "allow", "cache-control",
        "connection", "content-disposition", "content-encoding", "content-length", "content-range",
        "content-security-policy", "content-type", "date", "etag", "expires", "keep-alive",
        "last-modified", "location", "repr-digest", "retry-after", "trailer", "transfer-encoding",
        "upgrade", "vary", "www-authenticate", "x-content-type-options",
    ]
}

/// The origins whose pages may read responses (Fetch standard, section 3.2).
package struct CrossOriginAccess: Hashable, Sendable {
    private var origins: [String] = []

    /// Allows no other origins.
    init() {}

    /// Parses `*` or a comma-separated list of origins such as `https://example.com`; returns `nil`
    /// for other texts.
    package init?(_ text: String) {
        let origins = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { String($0.trimmedOfBlanks) }
        guard origins == ["*"] || origins.allSatisfy(Self.isOrigin) else { return nil }
        self.origins = origins
    }

    private static func isOrigin(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0].count > 1 && parts[0].hasSuffix(":")
            && parts[1].isEmpty && !parts[2].isEmpty
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether no other origins are allowed.
    package var isNone: Bool { origins.isEmpty }

    /// Whether the response depends on the request's `Origin` field.
    package var varies: Bool { origins.count > 1 }

    /// Returns the `Access-Control-Allow-Origin` value; `origin` matters only if several are
    /// allowed.
    package func granted(to origin: String?) -> String? {
        varies ? origins.first { $0 == origin } : origins.first
    }

    /// Returns fields with those of CORS.
    package func added(to fields: HTTPFields, origin: String?) -> HTTPFields {
        var fields = fields
        if varies { fields.vary(on: "Origin") }
        guard let granted = granted(to: origin) else { return fields }
        return fields + [
            "Access-Control-Allow-Origin": granted, "Timing-Allow-Origin": granted,
            "Access-Control-Expose-Headers":
                "Content-Length, ETag, Retry-After, Server-Timing, traceparent, X-Cache, "
                + "X-Imagebus-Damaged, X-Imagebus-Error, X-Imagebus-Fallback, "
                + "X-Imagebus-Still-Of, X-Request-Id",
        ]
    }
}
