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
