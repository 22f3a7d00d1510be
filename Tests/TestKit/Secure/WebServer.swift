import Linux

/// Apache httpd with one file behind each kind of authentication:
///
/// - `/open/a.png` is public
/// - `/basic/a.png` and `/digest/a.png` require the user ann and her password
/// - `/cookie/set.png` sets a cookie, `/cookie/a.png` requires it
/// - everything on the secure port requires a certificate signed by the authority
public final class WebServer {
    /// The plain TCP port on 127.0.0.1.
    public let port: UInt16
    /// The TLS port on 127.0.0.1.
    public let securePort: UInt16
    private let program: LaunchedProgram
    private let folder = TemporaryDirectory()

    /// Starts the server and waits until it listens.
    public init(_ file: [UInt8], password: String, of authority: TestAuthority) throws {
        let ports = (OriginListener(ipv6: false).port, OriginListener(ipv6: false).port)
        (port, securePort) = ports
        let own = try authority.sign("server", for: "IP:127.0.0.1")
        try Self.write(file, password, to: folder)
        let text = Self.configuration(folder.path, ports, own, authority.certificate)
        let path = folder.write(Array(text.utf8), to: "httpd.conf")
        // Its workers run as another user.
        try Tool.run(["chmod", "-R", "a+rX", folder.path])
        let command = try ChildCommand(Tool.path(of: "apache2"), ["-DFOREGROUND", "-f", path])
        program = try LaunchedProgram(command, reading: [2])
        try program.awaitLine { $0.contains("resuming normal operations") }
    }

    deinit {
        // Its workers end with the server.
        try? program.child.send(.terminate)
        _ = try? program.child.wait(milliseconds: defaultTimeout.milliseconds)
    }

    /// `IP:PORT`, the form used in allowlists.
    public var address: String { "127.0.0.1:\(port)" }
    /// The same for the TLS port.
    public var secureAddress: String { "127.0.0.1:\(securePort)" }

    private static func write(
        _ file: [UInt8], _ password: String, to folder: TemporaryDirectory
    ) throws {
        for name in ["open", "basic", "digest", "cookie"] {
            try Tool.run(["mkdir", "-p", folder.file("htdocs/\(name)")])
            folder.write(file, to: "htdocs/\(name)/a.png")
        }
        folder.write(file, to: "htdocs/cookie/set.png")
        let basic = try Tool.run(["openssl", "passwd", "-apr1", password])
        folder.write(Array("ann:".utf8) + basic, to: "basic")
        let script = """
            import hashlib, sys
            print("ann:images:" + hashlib.md5(("ann:images:" + sys.argv[1]).encode()).hexdigest())
            """
        folder.write(try Tool.run(["python3", "-c", script, password]), to: "digest")
    }

    private static func configuration(
        _ folder: String, _ ports: (UInt16, UInt16), _ own: TestAuthority.Files, _ trusted: String
    ) -> String {
        let modules = [
            "mpm_event", "authn_core", "authz_core", "authz_user", "authz_host", "authn_file",
            "auth_basic", "auth_digest", "headers", "setenvif", "mime", "ssl",
        ]
        let loads = modules.map {
            "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
        }.joined(separator: "\n")
        return """
            \(loads)
            ServerRoot \(folder)
            ServerName 127.0.0.1
            DefaultRuntimeDir \(folder)
            Mutex file:\(folder) default
            PidFile \(folder)/pid
            ErrorLog /dev/stderr
            LogLevel notice
            User www-data
            Group www-data
            StartServers 1
            KeepAliveTimeout 1
            GracefulShutdownTimeout 1
            DocumentRoot \(folder)/htdocs
            TypesConfig /dev/null
            AddType image/png .png
            Listen 127.0.0.1:\(ports.0)
            Listen 127.0.0.1:\(ports.1)
            <Directory \(folder)/htdocs>
              Require all granted
            </Directory>
            \(Self.locations(folder))
            <VirtualHost 127.0.0.1:\(ports.1)>
              SSLEngine on
              SSLCertificateFile \(own.certificate)
              SSLCertificateKeyFile \(own.key)
              SSLCACertificateFile \(trusted)
              SSLVerifyClient require
            </VirtualHost>

            """
    }

    /// The access rules of each path.
    private static func locations(_ folder: String) -> String {
        """
        <Location /basic>
          AuthType Basic
          AuthName images
          AuthUserFile \(folder)/basic
          Require valid-user
        </Location>
        <Location /digest>
          AuthType Digest
          AuthName images
          AuthDigestProvider file
          AuthUserFile \(folder)/digest
          Require valid-user
        </Location>
        <Location /cookie/set.png>
          Header always set Set-Cookie "seen=yes; Path=/cookie"
        </Location>
        <Location /cookie/a.png>
          SetEnvIf Cookie "seen=yes" known
          Require env known
        </Location>
        """
    }
}
