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
