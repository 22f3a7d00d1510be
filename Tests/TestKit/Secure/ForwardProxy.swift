import Linux

/// tinyproxy, a forward proxy.
public final class ForwardProxy {
    /// The TCP port on 127.0.0.1.
    public let port: UInt16
    private let program: LaunchedProgram
    private let folder = TemporaryDirectory()

    /// Starts the proxy and waits until it listens. `lines` are appended to its configuration.
    public init(_ lines: [String] = []) throws {
        port = OriginListener(ipv6: false).port
        let file = folder.write(
            Array(
                """
                Port \(port)
                Listen 127.0.0.1
                Timeout 60
                Allow 127.0.0.1
                LogLevel Info
                MaxClients 100
                ViaProxyName "tinyproxy"
                \(lines.joined(separator: "\n"))

                """.utf8), to: "proxy.conf")
        let command = try ChildCommand(Tool.path(of: "tinyproxy"), ["-d", "-c", file])
        program = try LaunchedProgram(command, reading: [1, 2])
        try program.awaitLine { $0.contains("Accepting connections") }
    }

    /// The URL for `--proxy`.
    public var url: String { "http://127.0.0.1:\(port)" }
}
