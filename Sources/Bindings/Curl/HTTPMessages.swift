internal import CCurl

/// One GET.
public struct TransferRequest {
    /// Absolute http or https URL; user info in it becomes basic authentication.
    public var url: String
    /// Header fields that are added, or that replace a default of the same name. Names and values
    /// must not hold line breaks.
    public var headers: [(name: String, value: String)]
    /// Names of headers that are not sent, though they would be by themselves.
    public var removedHeaders: [String] = []
    /// Who asks.
    public var authentication = TransferAuthentication()
    /// Bytes of the body at most, counted as they come: content codings are not undone.
    public var bodyBytesMax: Int64
    /// Milliseconds for everything, redirects included.
    public var timeoutMilliseconds: Int
    /// Whether libcurl goes on to where a redirect leads; else the redirect is the response.
    public var followsRedirects: Bool
    /// Whether the certificate of the origin is verified, and its name.
    public var verifiesTLS = true
    /// How it is signed; `nil`: it is not.
    public var signing: TransferSigning?
    /// Addresses with port that this request may be sent to besides those of the policy.
    public var allowedAddresses: Set<SocketAddress> = []

    /// Describes a GET.
    public init(
        url: String, headers: [(name: String, value: String)] = [], bodyBytesMax: Int64,
        timeoutMilliseconds: Int, followsRedirects: Bool = true
    ) {
        self.url = url
        self.headers = headers
        self.bodyBytesMax = bodyBytesMax
        self.timeoutMilliseconds = timeoutMilliseconds
        self.followsRedirects = followsRedirects
    }

    var isSecure: Bool { url.prefix(8).lowercased() == "https://" }

    /// The lines that libcurl wants: `Name: value`, and `Name;` for an empty value. Nil where a
    /// line break would let a value forge a field of its own.
    var headerLines: [String]? {
        let given = headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        guard given.allSatisfy({ !$0.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } }) else {
            return nil
        }
        let removed = Set(removedHeaders.map { $0.lowercased() })
        let names = Set(headers.map { $0.name.lowercased() }).union(removed)
        // libcurl 7.88 signs "accept-encoding" before "accept", which no server does.
        if signing != nil { return given }
        // A name without a value takes back what libcurl would add.
        return Self.defaults.filter { !names.contains($0.name) }.map(\.line) + given
            + removed.sorted().map { "\($0):" }
    }

    /// Source bytes are stored, so they are asked for as they are.
    private static let defaults = [
        (name: "accept", line: "Accept: image/*,*/*;q=0.8"),
        (name: "accept-encoding", line: "Accept-Encoding: identity"),
    ]
}

/// How a transfer says who asks, besides its headers.
public struct TransferAuthentication {
    /// How a name and a password are told.
    public enum Method: Sendable {
        /// At once, as they are (RFC 7617).
        case basic
        /// As a digest, once the origin has asked for that (RFC 7616).
        case digest
    }

    /// With a name and a password.
    public var password: (method: Method, user: String, password: String)?
    /// Paths of a certificate and of its key, in PEM.
    public var certificate: (path: String, keyPath: String)?
    /// Where cookies come from, and go.
    public var cookies: CookieJar?

    /// Says nothing.
    public init() {}

    /// Whether the first answer may be a question that libcurl answers by itself.
    var answersDigest: Bool { password?.method == .digest }
}

/// How a request is signed with a secret key that does not travel: Amazon's Signature Version 4,
/// which S3 servers ask for (`CURLOPT_AWS_SIGV4`).
public struct TransferSigning: Sendable {
    /// Of the signature, such as `eu-central-1`.
    public var region: String
    /// The name of the key.
    public var accessKeyID: String
    /// The key.
    public var secretAccessKey: String

    /// Signs requests to S3.
    public init(region: String, accessKeyID: String, secretAccessKey: String) {
        self.region = region
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
    }

    var provider: String { "aws:amz:\(region):s3" }
}

/// What holds for every transfer of a set.
public struct TransferPolicy: Hashable, Sendable {
    /// Which addresses may be connected to. It holds for the whole set, since transfers share
    /// connections.
    public var addressGuard: AddressGuard
    /// The URL of the proxy through which all goes: `http://HOST:PORT` or `socks5h://HOST:PORT`. It
    /// resolves names, so the guard is asked of addresses that stand in URLs alone.
    public var proxy: String?
    /// A file of certificates in PEM that are trusted in place of the system's.
    public var certificatesFile: String?
    /// `User-Agent`, unless a request brings its own.
    public var userAgent: String
    /// Milliseconds for resolving a name and connecting, TLS included.
    public var connectTimeoutMilliseconds: Int
    /// A transfer slower than this many bytes a second …
    public var lowSpeedBytesPerSecond: Int
    /// … for this many seconds ends as timed out.
    public var lowSpeedSeconds: Int
    /// Redirects followed at most.
    public var redirectsMax: Int
    /// Idle connections kept for later transfers.
    public var idleConnectionsMax: Int

    /// The defaults suit images from the public internet.
    public init(
        addressGuard: AddressGuard = AddressGuard(), proxy: String? = nil,
        certificatesFile: String? = nil,
        userAgent: String,
        connectTimeoutMilliseconds: Int = 10_000, lowSpeedBytesPerSecond: Int = 1_024,
        lowSpeedSeconds: Int = 15, redirectsMax: Int = 10, idleConnectionsMax: Int = 64
    ) {
        self.addressGuard = addressGuard
        self.proxy = proxy
        self.certificatesFile = certificatesFile
        self.userAgent = userAgent
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
        self.lowSpeedBytesPerSecond = lowSpeedBytesPerSecond
        self.lowSpeedSeconds = lowSpeedSeconds
        self.redirectsMax = redirectsMax
        self.idleConnectionsMax = idleConnectionsMax
    }

    /// Bytes of all heads of a transfer at most, redirects included.
    static let headBytesMax = 128 * 1024
    /// Bytes that libcurl reads at once and hands to the sink.
    static let bufferBytes = 64 * 1024
}

/// Cookies of transfers that take part in it: in memory, on the thread that drives them
/// (RFC 6265). Each goes to the hosts only that its origin may set it for.
public final class CookieJar {
    let pointer: UnsafeMutableRawPointer

    /// Cookies at most; a jar that has more is emptied when the next transfer begins.
    public static let cookiesMax = 256
    /// The same for bytes of them: one cookie may have 4 KiB.
    public static let bytesMax = 64 << 10

    /// An empty jar. Throws where there is no memory.
    public init(_ library: CurlLibrary) throws(CurlError) {
        guard let pointer = curl_share_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        guard ccurl_share_cookies(pointer) == CURLSHE_OK else {
            curl_share_cleanup(pointer)
            throw CurlError(CURLE_OUT_OF_MEMORY)
        }
        self.pointer = pointer
    }

    deinit {
        // Every handle that took part held it, and is gone.
        curl_share_cleanup(pointer)
    }
}

/// Status and header fields of a response.
public struct ResponseHead: Hashable, Sendable {
    /// The status code.
    public let status: Int
    /// The fields in their order.
    public private(set) var fields: [Field] = []

    /// One header field.
    public struct Field: Hashable, Sendable {
        /// In lower case.
        public let name: String
        /// Without white space around it; bytes that are no UTF-8 are replaced.
        public let value: String

        /// A field of a response, as it is to be taken.
        public init(name: String, value: String) {
            (self.name, self.value) = (name.lowercased(), value)
        }
    }

    /// A head as somebody wants it to be taken.
    public init(status: Int, fields: [Field]) { (self.status, self.fields) = (status, fields) }

    /// From a status line, `HTTP/1.1 200 OK` or `HTTP/2 200`; nil for any other line.
    init?(statusLine line: UnsafeRawBufferPointer) {
        guard line.starts(with: "HTTP/".utf8) else { return nil }
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count > 1 else { return nil }
        let digits = parts[1].prefix { (0x30...0x39).contains($0) }
        status = Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }

    /// Adds the field of a line; a line without a colon adds nothing.
    mutating func append(line: UnsafeRawBufferPointer) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        fields.append(Field(name: name, value: Self.trimmed(line[(colon + 1)...])))
    }

    private static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> String {
        let inner = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(decoding: Array(inner), as: UTF8.self)
    }

    /// The first value of a field. The name is in lower case.
    public func value(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// The elements of a field that is a list, of all its lines, in lower case and without empty
    /// ones (RFC 9110 §5.6.1). The name is in lower case.
    public func elements(_ name: String) -> [String] {
        fields.filter { $0.name == name }
            .flatMap { $0.value.split(separator: ",") }
            .map { Self.trimmed($0.utf8).lowercased() }
            .filter { !$0.isEmpty }
    }

    /// Whether the body is sent as it is or chunked, once: the one transfer coding that every
    /// recipient has to know and the only one that was asked for (RFC 9112 §7).
    var hasPlainFraming: Bool {
        value("transfer-encoding") == nil || elements("transfer-encoding") == ["chunked"]
    }

    /// What the origin says the body has, before any content coding is undone; a hint, never
    /// to be trusted. Nil where it says nothing, or nonsense.
    public var contentLength: Int? {
        value("content-length").flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Whether the image is said to be at another location, which is named.
    public var isRedirect: Bool {
        (300..<400).contains(status) && !(value("location") ?? "").isEmpty
    }

    /// Whether a name and a password are asked for, as a digest (RFC 7616 §3.3).
    var asksForDigest: Bool {
        status == 401
            && fields.contains {
                $0.name == "www-authenticate" && $0.value.lowercased().hasPrefix("digest ")
            }
    }

    /// Whether another head of the same exchange follows (RFC 9110 §15.2).
    var isInterim: Bool { (100..<200).contains(status) }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}

/// Where a redirect or a transfer leads: URLs taken apart and put together as libcurl does it
/// (RFC 3986 §5).
public enum Location {
    /// The absolute URL that `reference` means in a response to `base`, with the user info of
    /// `base` only where the reference names no host. `nil` where one of them is no URL.
    public static func resolve(_ reference: String, against base: String) -> String? {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME)
        guard curl_url_set(handle, CURLUPART_URL, base, flags) == CURLUE_OK,
            curl_url_set(
                handle, CURLUPART_URL, reference,
                flags | UInt32(CURLU_URLENCODE) | UInt32(CURLU_ALLOW_SPACE)) == CURLUE_OK
        else { return nil }
        return part(CURLUPART_URL, of: handle)
    }

    /// The host that a transfer of `url` asks for, without percent signs: `127%2e0.0.1` is
    /// `127.0.0.1`. `nil` for what is no URL.
    public static func host(of url: String) -> String? {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK else { return nil }
        return part(CURLUPART_HOST, of: handle)
    }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
