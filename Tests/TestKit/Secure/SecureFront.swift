import Linux

/// nghttpx in front of an origin: the same responses over TLS, and over HTTP/2 if the client
/// supports it.
public final class SecureFront {
    /// The certificate that the server presents.
    public enum Certificate: Hashable, Sendable, CaseIterable {
        /// Signed by the authority for this address.
        case valid
        /// Signed by the authority for this address, but expired since yesterday.
        case expired
        /// Signed by the authority for another host.
        case external
        /// Self-signed, for this address.
        case selfSigned
    }

    /// The TCP port on 127.0.0.1.
    public let port: UInt16
    private let program: LaunchedProgram
    private let authority: TestAuthority

    /// Starts the server and waits until it listens.
    public init(
        _ origin: OriginServer, _ certificate: Certificate = .valid, of authority: TestAuthority,
        protocols: String = "h2,http/1.1"
    ) throws {
        self.authority = authority
        let files = try Self.files(certificate, of: authority)
        // The system doesn't reuse a port number that soon.
        port = OriginListener(ipv6: false).port
        let command = try ChildCommand(
            Tool.path(of: "nghttpx"),
            [
                "--frontend=127.0.0.1,\(port)", "--backend=\(origin.host),\(origin.port)",
                "--npn-list=\(protocols)", "--single-process", "--no-ocsp", "--conf=/dev/null",
                "--errorlog-file=/dev/stderr", "--accesslog-file=/dev/null", files.key,
                files.certificate,
            ])
        program = try LaunchedProgram(command, reading: [2])
        try program.awaitLine { $0.contains("Listening on") }
    }

    /// `IP:PORT`, the form used in allowlists.
    public var address: String { "127.0.0.1:\(port)" }

    /// The absolute URL of a path on the origin behind it.
    public func url(_ path: String) -> String { "https://\(address)\(path)" }

    private static func files(
        _ certificate: Certificate, of authority: TestAuthority
    ) throws -> TestAuthority.Files {
        let own = "IP:127.0.0.1"
        return switch certificate {
        case .valid: try authority.sign("valid", for: own)
        case .expired: try authority.sign("expired", for: own, days: -1)
        case .external: try authority.sign("foreign", for: "DNS:other.invalid")
        case .selfSigned: try authority.selfSigned("self", for: own)
        }
    }
}
