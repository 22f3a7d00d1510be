/// The operator's settings for a transfer besides its URL and headers (SEMANTICS §10.13). Not part
/// of cache keys, except for the secrets, which are part of the identity, and for unverified TLS.
///
/// Contains secrets: never write it to a log, an error or the status.
public struct TransferTerms: Hashable, Sendable {
    /// Names of headers that are not sent, including those the loader adds by default.
    public var removedHeaders: [String] = []
    /// Names of headers without which no request is sent.
    public var requiredHeaders: [String] = []
    /// Changes to the header section of the response.
    public var response = ResponseChange()
    /// Transformations to undo on the body, in this order.
    public var decryptors: [Decryptor] = []
    /// The HTTP credential.
    public var credential: TransferCredential?
    /// The certificate presented to an origin over TLS.
    public var certificate: ClientCertificate?
    /// The name of the cookie jar; identities never share one.
    public var cookieJar: String?
    /// Lower-case names of headers whose values are secrets of the configuration, even if their
    /// names are not those of credentials (`HTTPHeader.isCredential`): they are never sent to
    /// another origin.
    public var secretHeaders: [String] = []
    /// Whether the origin's certificate is not verified (SEMANTICS §10.22).
    public var isUnverified = false

    /// Creates empty settings.
    public init() {}

    /// Whether nothing is set.
    public var isEmpty: Bool { self == TransferTerms() }

    /// The maximum total size of all texts in bytes: together with their overhead they fit into one
    /// message to a worker.
    public static let bytesMax = 3 * 1024
    /// The maximum number of names per list, of headers and of statuses.
    public static let countMax = 16
    /// The maximum number of bytes of each text.
    public static let textBytesMax = 1024

    /// The total size in bytes of all texts except the URL.
    public var byteCount: Int {
        let headers = response.headers.flatMap { [$0.name, $0.value] }
        let texts =
            removedHeaders + requiredHeaders + secretHeaders + response.removedHeaders
            + headers + secrets
        return texts.reduce(0) { $0 + $1.utf8.count }
    }

    /// Texts that identify the caller or contain a key; empty if nothing is secret. They separate
    /// the entries and the work of different identities (SEMANTICS §4.6).
    public var secrets: [String] {
        var texts: [String] = []
        if let credential {
            texts += ["credential", credential.method.rawValue, credential.user]
            texts.append(credential.password)
        }
        if let certificate { texts += ["certificate", certificate.path, certificate.keyPath] }
        if let cookieJar { texts += ["cookies", cookieJar] }
        for case .aes256GCM(let key) in decryptors { texts += ["key", key.hex] }
        return texts
    }
}

/// Changes that rules make to the status and headers of a response, before status and type are
/// checked.
public struct ResponseChange: Hashable, Sendable {
    /// Replacements by status.
    public var statuses: [Int: Int] = [:]
    /// The replacement of any other status; `nil` to leave it.
    public var everyStatus: Int?
    /// Headers to set; those of the same name are replaced.
    public var headers: [HTTPHeader] = []
    /// Names of headers to remove.
    public var removedHeaders: [String] = []

    /// Creates an empty change.
    public init() {}

    /// Whether nothing is changed.
    public var isEmpty: Bool { self == ResponseChange() }

    /// Returns the replacement of a status.
    public func status(_ status: Int) -> Int { statuses[status] ?? everyStatus ?? status }
}

/// User name and password for an origin that requires them.
public struct TransferCredential: Hashable, Sendable {
    /// The authentication scheme (RFC 7617, RFC 7616).
    public enum Method: String, Hashable, Sendable, CaseIterable {
        /// Sent in plain text with the first request.
        case basic
        /// Sent as a digest after a challenge by the origin.
        case digest
    }

    /// The authentication scheme.
    public var method: Method
    /// The user name.
    public var user: String
    /// The password, a secret.
    public var password: String

    /// Creates a credential.
    public init(_ method: Method, user: String, password: String) {
        (self.method, self.user, self.password) = (method, user, password)
    }
}

/// A client certificate: PEM files that the download worker reads.
public struct ClientCertificate: Hashable, Sendable {
    /// The path of the certificate, followed by its intermediates.
    public var path: String
    /// The path of its unencrypted private key.
    public var keyPath: String

    /// Creates a certificate from two paths.
    public init(path: String, keyPath: String) { (self.path, self.keyPath) = (path, keyPath) }
}

/// Replacements of parts of a URL (SEMANTICS §10.13); unset parts are left unchanged.
public struct URLRewrite: Hashable, Sendable {
    /// `http` or `https`.
    public var scheme: String?
    /// The host, with or without a port.
    public var host: String?
    /// The prefix of the path, starting with `/`.
    public var pathPrefix: String?
    /// The query without its `?`; empty to remove it.
    public var query: String?

    /// Creates a rewrite that changes nothing.
    public init() {}

    /// Returns the rewritten URL and its text. User info is retained, a fragment is removed. Throws
    /// `invalidURL` if the result is invalid.
    public func apply(
        to url: SourceURL
    ) throws(ImageError) -> (url: SourceURL, text: String) {
        let bytes = Array(url.withoutUserInfo.utf8.dropFirst(url.scheme.utf8.count + 3))
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let pathStart = bytes[..<end].firstIndex(where: SourceURL.endsAuthority) ?? end
        let mark = bytes[pathStart..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        let place = host ?? String(decoding: bytes[..<pathStart], as: UTF8.self)
        let user = url.userInfo.map { $0 + "@" } ?? ""
        let text =
            "\(scheme ?? url.scheme)://\(user)\(place)" + path(of: bytes[pathStart..<mark])
            + query(of: bytes[mark..<end])
        return (try SourceURL(text), text)
    }

    private func path(of bytes: ArraySlice<UInt8>) -> String {
        let path = bytes.isEmpty ? "/" : String(decoding: bytes, as: UTF8.self)
        guard let pathPrefix else { return path }
        let isDoubled = pathPrefix.utf8.last == UInt8(ascii: "/")
        return (isDoubled ? String(pathPrefix.dropLast()) : pathPrefix) + path
    }

    private func query(of bytes: ArraySlice<UInt8>) -> String {
        guard let query else { return String(decoding: bytes, as: UTF8.self) }
        return query.isEmpty ? "" : "?" + query
    }
}

/// A transformation to undo on a whole body before it is inspected (SEMANTICS §10.15).
public enum Decryptor: Hashable, Sendable {
    /// AES-256-GCM: a 12-byte nonce, the ciphertext, and a 16-byte tag; the key has 32 bytes.
    case aes256GCM(key: [UInt8])
    /// One or more gzip members (RFC 1952).
    case gzip
    /// Base64 (RFC 4648 §4); other characters are ignored, as in SDWebImage.
    case base64

    /// The size of a key in bytes.
    public static let keyBytes = 32
    /// The maximum number of decryptors per transfer.
    public static let countMax = 4

    /// Parses 64 hexadecimal digits into 32 bytes; returns `nil` for anything else.
    public static func key(ofHex text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(\.hexDigitValue)
        guard digits.count == 2 * keyBytes, text.utf8.count == digits.count else { return nil }
        return (0..<keyBytes).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] }
    }
}

extension [UInt8] {
    /// The bytes as lowercase hexadecimal digits.
    public var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }
        return String(decoding: text, as: UTF8.self)
    }
}

/// An HTTP header of a request or response.
public struct HTTPHeader: Hashable, Sendable {
    /// The name: case-insensitive, kept as given.
    public var name: String
    /// The value, without line breaks; admission rejects them.
    public var value: String

    /// Accepts any text; `isValid` checks whether it can be sent.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the name is a token (RFC 9110 §5.6.2) and the value has no control characters.
    public var isValid: Bool {
        Self.isToken(name)
            && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }

    /// Whether the header may identify the caller. Entries are then shared only between requests
    /// with equal values, and the header is dropped on redirects to another host. Every header not
    /// known to be anonymous is treated as a credential because applications choose their own
    /// names.
    public var isCredential: Bool { !Self.anonymous.contains(name.lowercased()) }

    /// The two conditional headers are set by the loader itself.
    private static let anonymous: Set<String> = [
        "accept", "accept-language", "cache-control", "dnt", "dpr", "if-modified-since",
        "if-none-match", "pragma", "priority", "save-data", "traceparent", "tracestate",
        "user-agent", "viewport-width", "width", "x-request-id",
    ]

    /// Why the header is forbidden to clients and operators; `nil` if it is permitted.
    ///
    /// `Host` would select another site than the URL, which `sources` and the address policy have
    /// checked. Some headers delimit messages or control a shared connection (RFC 9110 §7.6.1,
    /// RFC 9112 §11.2). Others request something other than the image, such as a range, which would
    /// then be stored as the image.
    public var refusal: String? {
        let name = name.lowercased()
        if name == "host" { return "the Host header is always taken from the URL" }
        if name == "accept-encoding" {
            return "the loader sets the content codings that it accepts"
        }
        if Self.conditions.contains(name) {
            return "the loader requests the whole image and sets its own conditions"
        }
        guard Self.framing.contains(name) || name.hasPrefix("proxy-") else { return nil }
        return "the loader controls message framing and connections"
    }

    /// RFC 9110 §13.1 and §14.2.
    private static let conditions: Set<String> = [
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "range",
    ]

    private static let framing: Set<String> = [
        "connection", "content-length", "expect", "http2-settings", "keep-alive", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// Compares bytes: Swift compares strings by canonical equivalence, which is wrong for
    /// credentials.
    public static func == (left: HTTPHeader, right: HTTPHeader) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8)
            && left.value.utf8.elementsEqual(right.value.utf8)
    }

    /// Returns whether a text is a token (RFC 9110 §5.6.2).
    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }
}
