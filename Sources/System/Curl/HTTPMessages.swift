internal import CCurl

/// A GET request. Redirects aren't followed: the redirect is the response.
public struct TransferRequest {
    /// An absolute http or https URL. User info in it is sent as basic authentication.
    public var url: String
    /// Header fields to add, or to use instead of a default field of the same name. Names and
    /// values must not contain line breaks.
    public var headers: [(name: String, value: String)]
    /// Names of default header fields to suppress.
    public var removedHeaders: [String] = []
    /// Credentials.
    public var authentication = TransferAuthentication()
    /// The largest number of body bytes, counted before content codings are decoded.
    public var bodyBytesMax: Int64
    /// The timeout for the whole transfer in milliseconds.
    public var timeoutMilliseconds: Int
    /// Whether to verify the origin's certificate and host name.
    public var verifiesTLS = true
    /// How to sign the request, or `nil` to leave it unsigned.
    public var signing: TransferSigning?
    /// Address and port pairs this request may connect to in addition to those the policy permits.
    public var allowedAddresses: Set<SocketAddress> = []

    /// Creates a GET request.
    public init(
        url: String, headers: [(name: String, value: String)] = [], bodyBytesMax: Int64,
        timeoutMilliseconds: Int
    ) {
        self.url = url
        self.headers = headers
        self.bodyBytesMax = bodyBytesMax
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    var isSecure: Bool { url.prefix(8).lowercased() == "https://" }

    /// The lines in libcurl's format: `Name: value`, or `Name;` for an empty value. `nil` if a line
    /// break would let a value inject another header field.
    var headerLines: [String]? {
        let given = headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        guard given.allSatisfy({ !$0.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } }) else {
            return nil
        }
        let removed = Set(removedHeaders.map { $0.lowercased() })
        let names = Set(headers.map { $0.name.lowercased() }).union(removed)
        // libcurl 7.88 signs "accept-encoding" before "accept", which no server does.
        if signing != nil { return given }
        // A name without a value removes a field that libcurl would add.
        return Self.defaults.filter { !names.contains($0.name) }.map(\.line) + given
            + removed.sorted().map { "\($0):" }
    }

    /// The origin's bytes are stored unchanged, so no content coding is requested.
    private static let defaults = [
        (name: "accept", line: "Accept: image/*,*/*;q=0.8"),
        (name: "accept-encoding", line: "Accept-Encoding: identity"),
    ]
}

/// The credentials of a transfer, apart from its header fields.
public struct TransferAuthentication {
    /// How user name and password are sent.
    public enum Method: Sendable {
        /// Preemptively and in plain text (RFC 7617).
        case basic
        /// As a digest, once the origin has challenged for it (RFC 7616).
        case digest
    }

    /// User name and password.
    public var password: (method: Method, user: String, password: String)?
    /// The paths of a client certificate and its private key, in PEM format.
    public var certificate: (path: String, keyPath: String)?
    /// The jar that cookies are read from and stored in.
    public var cookies: CookieJar?

    /// Creates empty credentials.
    public init() {}

    /// Whether the first response may be a challenge that libcurl answers itself.
    var answersDigest: Bool { password?.method == .digest }
}

/// The key that signs a request without being transmitted: AWS Signature Version 4, which S3
/// servers require (`CURLOPT_AWS_SIGV4`).
public struct TransferSigning: Sendable {
    /// The region of the signature, such as `eu-central-1`.
    public var region: String
    /// The access key ID.
    public var accessKeyID: String
    /// The secret access key.
    public var secretAccessKey: String

    /// Creates a signing configuration for S3.
    public init(region: String, accessKeyID: String, secretAccessKey: String) {
        self.region = region
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
    }

    var provider: String { "aws:amz:\(region):s3" }
}

/// Settings shared by all transfers of a set.
public struct TransferPolicy: Hashable, Sendable {
    /// Decides which addresses may be connected to. It applies to the whole set because transfers
    /// share connections.
    public var addressGuard = AddressGuard()
    /// The URL of the proxy for all traffic: `http://HOST:PORT` or `socks5h://HOST:PORT`. The proxy
    /// resolves names, so the guard only sees IP literals in URLs.
    public var proxy: String?
    /// A PEM file of certificates that are trusted instead of the system's.
    public var certificatesFile: String?
    /// The `User-Agent`, unless a request sets its own.
    public var userAgent: String
    /// The timeout for name resolution and connecting, including TLS, in milliseconds.
    public var connectTimeoutMilliseconds = 10_000
    /// A transfer slower than this rate, in bytes per second, …
    public var lowSpeedBytesPerSecond = 1_024
    /// … for this many seconds times out.
    public var lowSpeedSeconds = 15

    /// Creates a policy with defaults that suit images from the public internet.
    public init(userAgent: String) { self.userAgent = userAgent }

    /// The number of idle connections to keep for later transfers.
    static let idleConnectionsMax = 64
    /// The largest total size in bytes of all response heads of a transfer.
    static let headBytesMax = 128 * 1024
    /// The largest number of bytes that libcurl reads and hands to the sink at a time.
    static let bufferBytes = 64 * 1024
}

/// An in-memory cookie store shared by transfers (RFC 6265). Belongs to the thread that drives
/// them. A cookie is only sent to hosts that its origin may set it for.
public final class CookieJar {
    let pointer: UnsafeMutableRawPointer

    /// The largest number of cookies. A jar that exceeds it is emptied when the next transfer
    /// starts.
    public static let cookiesMax = 256
    /// The largest total size of the cookies in bytes, enforced like `cookiesMax`. One cookie may
    /// have 4 KiB.
    public static let bytesMax = 64 << 10

    /// Creates an empty jar. Throws `outOfMemory` if allocation fails.
    public init(_ library: CurlLibrary) throws(CurlError) {
        guard let pointer = curl_share_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        guard ccurl_share_cookies(pointer) == CURLSHE_OK else {
            curl_share_cleanup(pointer)
            throw CurlError(CURLE_OUT_OF_MEMORY)
        }
        self.pointer = pointer
    }

    deinit {
        // Every handle attached to the jar retained it, so all of them are gone.
        curl_share_cleanup(pointer)
    }
}

/// The status code and header fields of a response.
public struct ResponseHead: Hashable, Sendable {
    /// The status code.
    public let status: Int
    /// The header fields in the order received.
    public private(set) var fields: [Field] = []

    /// One header field.
    public struct Field: Hashable, Sendable {
        /// The name in lower case.
        public let name: String
        /// The value without surrounding white space. Invalid UTF-8 is replaced.
        public let value: String

        /// Creates a field; the name is converted to lower case.
        public init(name: String, value: String) {
            (self.name, self.value) = (name.lowercased(), value)
        }
    }

    /// Creates a head with the given status and fields.
    public init(status: Int, fields: [Field]) { (self.status, self.fields) = (status, fields) }

    /// Parses a status line such as `HTTP/1.1 200 OK` or `HTTP/2 200`. Returns `nil` for any other
    /// line.
    init?(statusLine line: UnsafeRawBufferPointer) {
        guard line.starts(with: "HTTP/".utf8) else { return nil }
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count > 1 else { return nil }
        let digits = parts[1].prefix { (0x30...0x39).contains($0) }
        status = Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }

    /// Appends the header field on a line. A line without a colon is ignored.
    mutating func append(line: UnsafeRawBufferPointer) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        fields.append(Field(name: name, value: Self.trimmed(line[(colon + 1)...])))
    }

    private static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> String {
        let inner = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(decoding: Array(inner), as: UTF8.self)
    }

    /// Returns the first value of a field, or `nil` if it's absent. The name must be in lower case.
    public func value(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// Returns the elements of a list field in lower case, combined from all its lines, without
    /// empty elements (RFC 9110 §5.6.1). The name must be in lower case.
    public func elements(_ name: String) -> [String] {
        fields.filter { $0.name == name }
            .flatMap { $0.value.split(separator: ",") }
            .map { Self.trimmed($0.utf8).lowercased() }
            .filter { !$0.isEmpty }
    }

    /// Whether the body is sent unencoded or chunked once: the only transfer coding that every
    /// recipient must support, and the only one requested (RFC 9112 §7).
    var hasPlainFraming: Bool {
        value("transfer-encoding") == nil || elements("transfer-encoding") == ["chunked"]
    }

    /// The body length announced by the origin, before content codings are decoded. A hint that
    /// must not be trusted. `nil` if absent or invalid.
    public var contentLength: Int? {
        value("content-length").flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Whether the response is a digest authentication challenge (RFC 7616 §3.3).
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

/// URL resolution and parsing exactly as libcurl does it for redirects and transfers (RFC 3986 §5).
public enum Location {
    /// Resolves `reference`, found in a response to `base`, to an absolute URL. The user info of
    /// `base` is only kept if the reference doesn't name a host. Returns `nil` if either isn't a
    /// valid URL.
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

    /// Returns the host that a transfer of `url` would contact, percent-decoded: `127%2e0.0.1` is
    /// `127.0.0.1`. Returns `nil` if it isn't a valid URL.
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
