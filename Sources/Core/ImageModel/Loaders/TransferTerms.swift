/// What the operator's rules say of a transfer besides its URL and headers (SEMANTICS §10.13): in
/// no key of a cache, but for its secrets, which are part of the identity, and for TLS that is not
/// verified.
///
/// It holds secrets: it stands in no log, no error and no status.
public struct TransferTerms: Hashable, Sendable {
    /// Names of headers that are not sent, those that the loader would add by itself as well.
    public var removedHeaders: [String] = []
    /// Names of headers without which nothing is asked.
    public var requiredHeaders: [String] = []
    /// What is changed in the head of the answer.
    public var response = ResponseChange()
    /// What is undone of the body, in this order.
    public var decryptors: [Decryptor] = []
    /// Who asks.
    public var credential: TransferCredential?
    /// What is shown to an origin behind TLS.
    public var certificate: ClientCertificate?
    /// The cookie jar; no two identities share one.
    public var cookieJar: String?
    /// Names of headers, in lower case, whose values are secrets of the configuration, though their
    /// names are not those of credentials (`HTTPHeader.isCredential`): no other origin gets them.
    public var secretHeaders: [String] = []
    /// Whether the certificate of the origin is not verified (SEMANTICS §10.22).
    public var isUnverified = false

    /// Says nothing.
    public init() {}

    /// Whether nothing is said.
    public var isEmpty: Bool { self == TransferTerms() }

    /// Bytes of all texts at most: with everything around them they fit a message to a worker.
    public static let bytesMax = 3 * 1024
    /// Names in each list, headers and statuses at most.
    public static let countMax = 16
    /// Bytes of each text at most.
    public static let textBytesMax = 1024

    /// Bytes of all texts but the URL.
    public var byteCount: Int {
        let headers = response.headers.flatMap { [$0.name, $0.value] }
        let texts =
            removedHeaders + requiredHeaders + secretHeaders + response.removedHeaders
            + headers + secrets
        return texts.reduce(0) { $0 + $1.utf8.count }
    }

    /// Texts that say who asks, or with which key; empty: nothing of it is a secret. What they say
    /// keeps entries and work of others apart (SEMANTICS §4.6).
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

/// What rules change in the head of an answer, before its status and type are looked at.
public struct ResponseChange: Hashable, Sendable {
    /// Statuses, and what is put in their place.
    public var statuses: [Int: Int] = [:]
    /// What is put in the place of each other status; `nil`: it stays.
    public var everyStatus: Int?
    /// Headers; those of the same name are replaced.
    public var headers: [HTTPHeader] = []
    /// Names of headers that are taken out.
    public var removedHeaders: [String] = []

    /// Nothing.
    public init() {}

    /// Whether nothing is changed.
    public var isEmpty: Bool { self == ResponseChange() }

    /// What becomes of a status.
    public func status(_ status: Int) -> Int { statuses[status] ?? everyStatus ?? status }
}

/// Who asks an origin that wants a name and a password.
public struct TransferCredential: Hashable, Sendable {
    /// How they are told (RFC 7617, RFC 7616).
    public enum Method: String, Hashable, Sendable, CaseIterable {
        /// As they are, with the first request.
        case basic
        /// As a digest, once the origin has asked for that.
        case digest
    }

    /// How they are told.
    public var method: Method
    /// The name.
    public var user: String
    /// A secret.
    public var password: String

    /// Of somebody.
    public init(_ method: Method, user: String, password: String) {
        (self.method, self.user, self.password) = (method, user, password)
    }
}

/// A client certificate: files in PEM that the download worker reads.
public struct ClientCertificate: Hashable, Sendable {
    /// The certificate, with those that it needs behind it.
    public var path: String
    /// Its private key, without a password.
    public var keyPath: String

    /// Of two files.
    public init(path: String, keyPath: String) { (self.path, self.keyPath) = (path, keyPath) }
}

/// What takes the place of parts of a URL (SEMANTICS §10.13); what is not said stays.
public struct URLRewrite: Hashable, Sendable {
    /// `http` or `https`.
    public var scheme: String?
    /// Host, with a port or without.
    public var host: String?
    /// What is put before the path, from a `/` on.
    public var pathPrefix: String?
    /// The query, without its `?`; empty: there is none.
    public var query: String?

    /// Leaves all as it is.
    public init() {}

    /// The URL with what takes the place of its parts, and its text. User info stays, a fragment
    /// goes. Throws `invalidURL` where that is none.
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

/// What is undone of a whole body before anybody looks at it (SEMANTICS §10.15).
public enum Decryptor: Hashable, Sendable {
    /// AES-256-GCM: 12 bytes of nonce, the ciphertext, 16 bytes of tag; the key has 32 bytes.
    case aes256GCM(key: [UInt8])
    /// One or more streams of gzip (RFC 1952).
    case gzip
    /// Base64 (RFC 4648 §4); other characters are left out, as upstream.
    case base64

    /// Bytes of a key.
    public static let keyBytes = 32
    /// Decryptors of a transfer at most.
    public static let countMax = 4

    /// 32 bytes of 64 digits in hex; `nil` for anything else.
    public static func key(ofHex text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { digit(of: $0) }
        guard digits.count == 2 * keyBytes, text.utf8.count == digits.count else { return nil }
        return (0..<keyBytes).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] }
    }

    private static func digit(of byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

extension [UInt8] {
    /// Two digits for each byte.
    public var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A request header for the origin.
public struct HTTPHeader: Hashable, Sendable {
    /// Case-insensitive; kept as given.
    public var name: String
    /// Without line breaks; admission refuses them.
    public var value: String

    /// Takes the text as it is; `isValid` says whether it may be sent.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// A token of RFC 9110 §5.6.2 as name, no control characters in the value.
    public var isValid: Bool {
        Self.isToken(name)
            && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }

    /// Whether it may say who asks: then entries are shared with nobody who says something else,
    /// and it does not go along where a redirect leads to another host. Only what is known to say
    /// nothing of who asks is no credential; applications name theirs as they like.
    public var isCredential: Bool { !Self.anonymous.contains(name.lowercased()) }

    /// The two conditions are the loader's own.
    private static let anonymous: Set<String> = [
        "accept", "accept-language", "cache-control", "dnt", "dpr", "if-modified-since",
        "if-none-match", "pragma", "priority", "save-data", "traceparent", "tracestate",
        "user-agent", "viewport-width", "width", "x-request-id",
    ]

    /// Why neither clients nor operators may say it; `nil` for all that they may.
    ///
    /// `Host` would name another site than the URL, for which `sources` and the address policy were
    /// asked. Some say where a message ends, or what becomes of a connection that transfers share
    /// (RFC 9110 §7.6.1, RFC 9112 §11.2). Others ask for something else than the image, such as a
    /// part of it, which would then be stored as the image.
    public var refusal: String? {
        let name = name.lowercased()
        if name == "host" { return "the host is that of the URL" }
        if name == "accept-encoding" { return "the loader says which codings it undoes" }
        if Self.conditions.contains(name) {
            return "the loader asks for the whole image, and under its own conditions"
        }
        guard Self.framing.contains(name) || name.hasPrefix("proxy-") else { return nil }
        return "how messages and connections end is said by the loader"
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

    /// The same bytes: Swift's texts are equal by meaning, and credentials must not be.
    public static func == (left: HTTPHeader, right: HTTPHeader) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8)
            && left.value.utf8.elementsEqual(right.value.utf8)
    }

    /// Whether a text is a token (RFC 9110 §5.6.2).
    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
