import Linux

/// tinyproxy: goes to origins for others.
public final class ForwardProxy {
    /// The TCP port on 127.0.0.1.
    public let port: UInt16
    private let child: ChildProcess
    private let output: ProgramOutput
    private let folder = TemporaryDirectory()

    /// Starts it and waits until it listens. `lines` of its configuration are added to the usual
    /// ones.
    public init(_ lines: [String] = []) throws {
        guard let program = Tool.path(of: "tinyproxy") else {
            throw StackFailure("there is no tinyproxy: run scripts/setup")
        }
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
        let pipe = try FileDescriptor.pipe()
        var command = ChildCommand(program, ["-d", "-c", file])
        command.descriptors[1] = .descriptor(pipe.writeEnd.number)
        command.descriptors[2] = .descriptor(pipe.writeEnd.number)
        child = try ChildProcess(command)
        output = ProgramOutput(pipe.readEnd)
        while !output.lines.contains(where: { $0.contains("Accepting connections") }) {
            guard case .more = try output.readMore(within: defaultTimeout) else {
                throw StackFailure("tinyproxy does not listen: \(output.lines)")
            }
        }
    }

    deinit {
        try? child.send(.kill)
        _ = try? child.wait(milliseconds: defaultTimeout.milliseconds)
    }

    /// As `--proxy` wants it.
    public var url: String { "http://127.0.0.1:\(port)" }
}
