package import Model
import Nettle

/// The URL syntax of a listener: that of imgproxy, thumbor, imagor, IIIF or weserv (`Proto/WEB.md`).
/// Parses text without sockets or a clock.
package protocol URLGrammar: Sendable {
    /// The names of the options in the query, without those of sources; empty if the query is
    /// ignored.
    var queryOptions: Set<String> { get }

    /// Parses a request target, given as undecoded bytes. Everything after the first `?` is
    /// ignored unless the grammar has `queryOptions`.
    ///
    /// - Parameter now: The current time in seconds since 1970, for targets that expire.
    func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest

    /// Returns the part of a target after its signature: options as the grammar writes them,
    /// without enclosing slashes, and the source, or for IIIF its identifier. For weserv that is
    /// the query.
    func path(options: String, source: String) -> String

    /// Returns the target for such a path: signed with the first key, or, without keys, with the
    /// word for unsigned paths.
    ///
    /// - Throws: `signature` if there are no keys and unsigned paths are not permitted.
    func target(ofPath path: String) throws(GrammarError) -> String
}

extension URLGrammar {
    package var queryOptions: Set<String> { [] }
}

/// The limits of a request target in any grammar.
package enum GrammarLimits {
    /// The maximum length of a target in bytes.
    package static let targetBytesMax = 8_192
    /// The maximum number of options in a target.
    package static let optionsMax = 64
    /// The maximum number of options including those of presets.
    package static let appliedMax = 256
    /// The maximum length of a file name and a cache buster, in bytes.
    package static let textBytesMax = 255
}

/// The result of parsing a request target.
package struct WebRequest: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case image
        /// The unchanged bytes of the source, whatever they are.
        case source
        /// Properties of the source in the format of the grammar: thumbor's metadata, IIIF's
        /// `info.json`, weserv's `output=json`. The request asks for properties only.
        case properties
        /// A redirect: the base URI of IIIF results in a 303 with the path of its `info.json`.
        case redirect(path: String)
    }

    package var kind: Kind
    /// The request for the stack.
    package var image: ImageRequest
    /// Qualities by format, to be applied when the format has been chosen. Empty if the output
    /// options specify the quality.
    package var formatQualities: [ImageFormat: Int] = [:]
    /// Whether the output is progressive or interlaced, if the format that has been chosen can be.
    package var isProgressive = false
    /// The formats whose sources are sent unchanged, unless the output has another format.
    package var skippedFormats: [ImageFormat] = []
    /// The maximum number of frames of an animation to keep; `nil` if not specified.
    package var framesMax: Int?
    /// The URL of the image to send if this one cannot be loaded; `nil` for the listener's.
    package var fallback: String?
    /// The time until which the URL is valid, and thus the response may be cached, in seconds since
    /// 1970; `nil` for no limit.
    package var expires: Int?
    /// The lifetime of the response in seconds; `nil` if not specified.
    package var maxAge: Int?
    /// The file name for saving the image; `nil` if not specified.
    package var fileName: String?
    /// Whether browsers should save the image instead of displaying it.
    package var isAttachment = false
    /// The presets used, in order.
    package var presets: [String] = []
    /// For IIIF, the decoded identifier of the image; `nil` in other grammars.
    package var identifier: String?
    /// Whether the path specifies the pixel ratio of its sizes, so that client hints are ignored.
    package var saysPixelRatio = false
    /// The minimum size of the result, with 0 for a side determined by the other: a smaller result
    /// means that the source is too small, and is an error (IIIF Image API 3.0, section 4.2). `nil`
    /// for no minimum.
    package var leastSize: PixelSize?

    package init(_ image: ImageRequest, kind: Kind = .image) {
        (self.image, self.kind) = (image, kind)
    }

    /// Whether the format is negotiated with the client.
    package var negotiatesFormat: Bool { kind == .image && image.output.format == nil }
}

extension WebRequest {
    /// Whether a result has at least the minimum size; an unknown size counts as sufficient.
    package func isLargeEnough(_ size: PixelSize?) -> Bool {
        guard let leastSize, let size else { return true }
        return size.width >= leastSize.width && size.height >= leastSize.height
    }

    /// Returns the request after validating that the stack won't refuse it as invalid.
    func checked() throws(GrammarError) -> WebRequest {
        try require(
            image.steps.count <= RequestLimits.stepsMax,
            "the options require more than \(RequestLimits.stepsMax) steps: use fewer")
        try require(
            image.overlays.count <= RequestLimits.overlaysMax,
            "at most \(RequestLimits.overlaysMax) watermarks are allowed")
        do throws(ImageError) {
            _ = try SourceURL(image.url)
            for step in image.steps { try step.form.check(pixelsMax: RequestLimits.pixelsMax) }
            try image.output.check()
            try image.properties.check()
        } catch {
            throw GrammarError(.malformed, error.message, option: error.typedDetails.step)
        }
        return self
    }
}

/// Why a request target is refused.
package struct GrammarError: Error, Hashable, Sendable {
    /// The raw value is the machine-readable name.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The target doesn't follow the grammar.
        case malformed = "malformedURL"
        /// The signature is missing or not by a known key.
        case signature = "notSigned"
        /// The operator does not allow the source.
        case forbidden = "sourceForbidden"
        /// The target doesn't have the form of any path of the grammar.
        case nowhere = "notFound"
        case expired
        /// The target is too long.
        case tooLong = "urlTooLong"
        /// The grammar has this feature, but this server doesn't support it.
        case notOffered
    }

    package let kind: Kind
    /// The invalid option as written in the URL; `nil` if the error concerns the whole target.
    package let option: String?
    /// A human-readable message that names the option, what is wrong and what to do.
    package let message: String

    /// Creates an error; the option is put before the message.
    package init(_ kind: Kind, _ message: String, option: String? = nil) {
        (self.kind, self.option) = (kind, option)
        self.message = option.map { "\($0): \(message)" } ?? message
    }

    /// The HTTP status (RFC 9110): 404 for expired URLs, as in imgproxy, and for paths that are not
    /// of the IIIF Image API, as it requires, or of weserv; 501 for unsupported features.
    package var status: Int {
        switch kind {
        case .malformed: 400
        case .signature, .forbidden: 403
        case .nowhere, .expired: 404
        case .tooLong: 414
        case .notOffered: 501
        }
    }
}

extension GrammarError: CustomStringConvertible {
    package var description: String { message }

    package static func malformed(_ message: String) -> GrammarError {
        GrammarError(.malformed, message)
    }

    static func malformed(_ option: String, _ message: String) -> GrammarError {
        GrammarError(.malformed, message, option: option)
    }

    static func notOffered(_ option: String, _ message: String) -> GrammarError {
        GrammarError(.notOffered, message, option: option)
    }

    /// The error for an invalid signature; without keys, no signature is valid.
    static func notSigned(_ signature: PathSignature) -> GrammarError {
        GrammarError(
            .signature,
            signature.keys.isEmpty
                ? "this server has no keys and requires signatures: its operator must configure "
                    + "keys or allow unsigned paths"
                : "the signature does not match the path: sign it with a key of this server")
    }
}

/// Throws `malformed` if a part of a target, such as an option, isn't valid.
package func require(
    _ isValid: Bool, _ message: @autoclosure () -> String, of option: String? = nil
) throws(GrammarError) {
    if !isValid { throw GrammarError(.malformed, message(), option: option) }
}

/// Throws `notOffered` if a feature isn't supported.
package func requireSupported(
    _ isSupported: Bool, _ message: @autoclosure () -> String, of option: String? = nil
) throws(GrammarError) {
    if !isSupported { throw GrammarError(.notOffered, message(), option: option) }
}

/// Splits and validates request targets.
enum RequestTarget {
    /// Returns the path as bytes, without its leading slash and query.
    static func path(of target: [UInt8]) throws(GrammarError) -> [UInt8] {
        try checkLength(of: target)
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        try require(
            path.isEmpty || path.first == UInt8(ascii: "/"), "the target must start with a slash")
        try require(path.count > 1, "the path is empty: specify a source")
        return Array(path.dropFirst())
    }

    /// Returns the query as bytes, without its question mark. Throws unless the path is `/`.
    static func query(of target: [UInt8]) throws(GrammarError) -> [UInt8] {
        try checkLength(of: target)
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        guard path.elementsEqual("/".utf8) else {
            throw GrammarError(.nowhere, "the path must be /, followed by ?url=HOST/PATH")
        }
        return Array(target.dropFirst(path.count + 1))
    }

    private static func checkLength(of target: [UInt8]) throws(GrammarError) {
        guard target.count > GrammarLimits.targetBytesMax else { return }
        throw GrammarError(
            .tooLong,
            "the URL has \(target.count) bytes: at most \(GrammarLimits.targetBytesMax) are "
                + "accepted")
    }

    /// Splits a path at the first slash.
    static func split(_ path: [UInt8]) -> (first: [UInt8], rest: [UInt8])? {
        guard let slash = path.firstIndex(of: UInt8(ascii: "/")), slash > 0,
            slash + 1 < path.count
        else { return nil }
        return (Array(path[..<slash]), Array(path[(slash + 1)...]))
    }

    /// Returns a path or query as text. URLs contain only visible ASCII characters; others must be
    /// percent-encoded (RFC 3986, section 2).
    static func text(of path: [UInt8]) throws(GrammarError) -> String {
        try require(
            path.allSatisfy({ (0x21...0x7E).contains($0) }),
            "the URL contains non-ASCII characters: percent-encode them")
        return String(decoding: path, as: UTF8.self)
    }
}

/// How a grammar signs paths.
struct PathSignature: Hashable, Sendable {
    let algorithm: HMAC
    let keys: [SigningKey]
    /// The length of a signature in bytes; the code is truncated.
    let byteCount: Int

    /// Returns the signature of a path by the first key, in URL-safe Base64 (RFC 4648, section 5)
    /// without padding; `nil` without keys.
    func text(for path: [UInt8]) -> String? {
        guard let key = keys.first else { return nil }
        let code = algorithm.code(of: [key.salt, path], key: key.key)
        return Base64URL.encode(Array(code.prefix(byteCount)))
    }

    /// Whether bytes are the signature of a path by any key. All keys are tried in any case, and
    /// each comparison takes constant time.
    func verifies(_ signature: [UInt8], of path: [UInt8]) -> Bool {
        var isSigned = false
        for key in keys {
            let code = algorithm.code(of: [key.salt, path], key: key.key)
            let isOne = SecretBytes.areEqual(signature, Array(code.prefix(byteCount)))
            isSigned = isOne || isSigned
        }
        return isSigned
    }
}

/// A secret for signing paths.
package struct SigningKey: Hashable, Sendable {
    /// The key; at least one byte.
    package let key: [UInt8]
    /// The prefix added to every path before signing; only used by imgproxy.
    package let salt: [UInt8]

    /// Returns `nil` for an empty key, with which anyone could sign.
    package init?(key: [UInt8], salt: [UInt8] = []) {
        guard !key.isEmpty else { return nil }
        (self.key, self.salt) = (key, salt)
    }

    /// Parses hexadecimal digits, as in imgproxy's configuration; also returns `nil` for other
    /// texts.
    package init?(hexKey: String, hexSalt: String) {
        guard let key = Self.bytes(hexKey), let salt = Self.bytes(hexSalt) else { return nil }
        self.init(key: key, salt: salt)
    }

    private static func bytes(_ digits: String) -> [UInt8]? {
        let values = digits.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard values.count % 2 == 0, values.allSatisfy({ $0 != nil }) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map {
            UInt8((values[$0] ?? 0) << 4 | (values[$0 + 1] ?? 0))
        }
    }
}
