public import ImageModel
import Nettle

/// How the paths of one listener are read: one of imgproxy's, thumbor's and IIIF's grammars
/// (`Proto/WEB.md`). It reads text and knows nothing of sockets or clocks.
public protocol URLGrammar: Sendable {
    /// What a request target wants: the bytes as they came, nothing decoded. What is behind its
    /// first `?` is not looked at.
    ///
    /// - Parameter now: seconds since 1970, for targets that expire.
    func read(_ target: [UInt8], now: Int) throws(GrammarError) -> WebRequest

    /// What stands behind the signature of a target: options as the grammar writes them, without
    /// slashes around them, and the source, or for IIIF its identifier.
    func path(options: String, source: String) -> String

    /// The target of such a path: with a signature by the first key, or, without keys, with the
    /// word that stands for one.
    ///
    /// - Throws: `signature` where neither keys nor unsigned paths are known.
    func target(ofPath path: String) throws(GrammarError) -> String
}

/// Limits of a request target, whatever its grammar.
public enum GrammarLimits {
    /// Bytes of a target.
    public static let targetBytesMax = 8_192
    /// Options that a target names.
    public static let optionsMax = 64
    /// Options that a target comes to with those of its presets.
    public static let appliedMax = 256
    /// Bytes of a file name and of a cache buster.
    public static let textBytesMax = 255
}

/// What a request target wants.
public struct WebRequest: Hashable, Sendable {
    /// What is answered.
    public enum Kind: Hashable, Sendable {
        /// The image.
        case image
        /// The bytes of the source as they are, whatever they are.
        case source
        /// Facts of the source, in the words of the grammar: thumbor's metadata, IIIF's
        /// `info.json`. The request asks for facts only.
        case facts
        /// Nothing but where the facts are: the base URI of IIIF is answered 303 with the path of
        /// its `info.json`.
        case redirect(path: String)
    }

    /// What is answered.
    public var kind: Kind
    /// What is asked of the stack.
    public var image: ImageRequest
    /// The qualities that were said for formats by name, where the format is left open: whoever
    /// chooses one takes that of it. Empty where the output says all.
    public var formatQualities: [ImageFormat: Int]
    /// Formats whose sources are answered as they are, unless the output is of another one.
    public var skippedFormats: [ImageFormat]
    /// Frames of an animation that are kept at most; `nil`: not said.
    public var framesMax: Int?
    /// Seconds since 1970 until which an answer may be given, and so be kept; `nil`: without end.
    public var expires: Int?
    /// Seconds that an answer may be kept for; `nil`: not said.
    public var maxAge: Int?
    /// What a file of it is called; `nil`: not said.
    public var fileName: String?
    /// Whether browsers are to save it, rather than show it.
    public var isAttachment: Bool
    /// A text that makes another URL of the same image: it is in no key of the stack.
    public var cacheBuster: String?
    /// The presets that were used, in their order.
    public var presets: [String]
    /// IIIF: the name of the image, decoded; `nil` in other grammars.
    public var identifier: String?
    /// Whether the path says how many pixels a point its sizes have, so that no client does.
    public var saysPixelRatio: Bool
    /// What the image has to measure, 0 for a side that follows: where it comes out smaller, the
    /// source is smaller, and the answer is an error (IIIF Image API 3.0, section 4.2). `nil`: as
    /// it comes.
    public var leastSize: PixelSize?

    /// An image as the request says, and nothing else.
    public init(_ image: ImageRequest, kind: Kind = .image) {
        (self.image, self.kind) = (image, kind)
        (formatQualities, skippedFormats) = ([:], [])
        isAttachment = false
        saysPixelRatio = false
        presets = []
    }

    /// Whether the format of the image is left to what the client accepts.
    public var negotiatesFormat: Bool { kind == .image && image.output.format == nil }
}

extension WebRequest {
    /// Whether a result of that size has its least size; one that is not known has.
    public func isLargeEnough(_ size: PixelSize?) -> Bool {
        guard let leastSize, let size else { return true }
        return size.width >= leastSize.width && size.height >= leastSize.height
    }

    /// The same, once it is known that the stack will not refuse it for what it says.
    func checked() throws(GrammarError) -> WebRequest {
        do throws(ImageError) {
            try checkImage()
        } catch {
            throw GrammarError(.malformed, error.message, option: error.details["step"])
        }
        return self
    }

    private func checkImage() throws(ImageError) {
        _ = try SourceURL(image.url)
        guard image.steps.count <= RequestLimits.stepsMax else {
            throw ImageError(
                .invalidRequest,
                "the options come to more than \(RequestLimits.stepsMax) steps: use fewer")
        }
        guard image.overlays.count <= RequestLimits.overlaysMax else {
            throw ImageError(
                .invalidRequest,
                "at most \(RequestLimits.overlaysMax) watermarks are accepted: use fewer")
        }
        for step in image.steps { try step.form.check(pixelsMax: RequestLimits.pixelsMax) }
        try image.output.check()
        try image.facts.check()
    }
}

/// Why a request target is refused.
public struct GrammarError: Error, Hashable, Sendable {
    /// Which kind of reason it is.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// It says nothing that the grammar knows.
        case malformed
        /// It is not signed, or not by a key that is known.
        case signature
        /// It names a source that the operator does not allow.
        case forbidden
        /// Nothing can be there: it has not the form of any path of the grammar.
        case nowhere
        /// Its time is over.
        case expired
        /// It is longer than any may be.
        case tooLong
        /// It says something that the grammar knows and this server does not do.
        case notOffered

        /// What programs know it by.
        public var name: String {
            switch self {
            case .malformed: "malformedURL"
            case .signature: "notSigned"
            case .forbidden: "sourceForbidden"
            case .nowhere: "notFound"
            case .expired: "expired"
            case .tooLong: "urlTooLong"
            case .notOffered: "notOffered"
            }
        }
    }

    /// Which kind of reason it is.
    public let kind: Kind
    /// The option that is at fault, as it was written; `nil` where that is the target as a whole.
    public let option: String?
    /// One sentence for people, with the name of the option: what is wrong, and what to do.
    public let message: String

    /// Names the reason; the option stands before the sentence.
    public init(_ kind: Kind, _ message: String, option: String? = nil) {
        (self.kind, self.option) = (kind, option)
        self.message = option.map { "\($0): \(message)" } ?? message
    }

    /// The status of the answer (RFC 9110): 404 for what has expired, as imgproxy answers, and for
    /// what is no path of the IIIF Image API, as that asks for; 501 for what is not offered.
    public var status: Int {
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
    /// `400: width: …`
    public var description: String { "\(status): \(message)" }
}

extension GrammarError {
    static func malformed(_ option: String, _ message: String) -> GrammarError {
        GrammarError(.malformed, message, option: option)
    }

    static func notOffered(_ option: String, _ message: String) -> GrammarError {
        GrammarError(.notOffered, message, option: option)
    }

    /// Without keys no signature helps.
    static func notSigned(_ signature: PathSignature) -> GrammarError {
        GrammarError(
            .signature,
            signature.keys.isEmpty
                ? "this server knows no key and takes no path without a signature: its operator "
                    + "names keys, or permits unsigned paths"
                : "the signature is not that of this path: sign it with a key of this server")
    }
}

/// A request target, as far as it may be looked at.
enum RequestTarget {
    /// The path without the slash that it begins with and without its query, as bytes.
    static func path(of target: [UInt8]) throws(GrammarError) -> [UInt8] {
        guard target.count <= GrammarLimits.targetBytesMax else {
            throw GrammarError(
                .tooLong,
                "the URL has \(target.count) bytes: at most \(GrammarLimits.targetBytesMax) are "
                    + "accepted")
        }
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        guard path.isEmpty || path.first == UInt8(ascii: "/") else {
            throw GrammarError(
                .malformed, "the target does not begin with a slash: ask for a path alone")
        }
        guard path.count > 1 else {
            throw GrammarError(.malformed, "the path is empty: name a source")
        }
        return Array(path.dropFirst())
    }

    /// What stands before the first slash, and what stands behind it.
    static func split(_ path: [UInt8]) -> (first: [UInt8], rest: [UInt8])? {
        guard let slash = path.firstIndex(of: UInt8(ascii: "/")), slash > 0,
            slash + 1 < path.count
        else { return nil }
        return (Array(path[..<slash]), Array(path[(slash + 1)...]))
    }

    /// A path as text. Others than visible characters of ASCII are percent-encoded in URLs
    /// (RFC 3986, section 2).
    static func text(of path: [UInt8]) throws(GrammarError) -> String {
        guard path.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw GrammarError(
                .malformed, "the path has characters that are not ASCII: percent-encode them")
        }
        return String(decoding: path, as: UTF8.self)
    }
}

/// How a grammar signs paths.
struct PathSignature: Hashable, Sendable {
    let algorithm: HMAC
    let keys: [SigningKey]
    /// Bytes of a signature: the first ones of the code.
    let byteCount: Int

    /// The signature of a path by the first key, in Base64 (RFC 4648, section 5) without padding;
    /// `nil` without keys.
    func text(for path: [UInt8]) -> String? {
        guard let key = keys.first else { return nil }
        let code = algorithm.code(of: [key.salt, path], key: key.key)
        return Base64URL.encode(Array(code.prefix(byteCount)))
    }

    /// Whether some bytes are the signature of a path, by any of the keys. All keys are tried,
    /// whichever it is, and each is compared in the same time whatever it says.
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

/// A secret that signs paths.
public struct SigningKey: Hashable, Sendable {
    /// What signs; at least one byte.
    public let key: [UInt8]
    /// What stands before every path that is signed; imgproxy alone has one.
    public let salt: [UInt8]

    /// `nil` for a key of no bytes, with which everybody could sign.
    public init?(key: [UInt8], salt: [UInt8] = []) {
        guard !key.isEmpty else { return nil }
        (self.key, self.salt) = (key, salt)
    }

    /// The same, of hexadecimal digits, as imgproxy's configuration has them; `nil` for other texts
    /// too.
    public init?(hexKey: String, hexSalt: String) {
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
