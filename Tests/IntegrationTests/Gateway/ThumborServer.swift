/// A real thumbor on a port of 127.0.0.1, the reference for responses to its URLs.
/// `IMAGEBUS_THUMBOR` names its program, such as that of `python3 -m venv v && v/bin/pip install
/// thumbor`.
final class ThumborServer {
    /// The path of the program; `nil` if it isn't installed.
    static let path = CurrentProcess.environment("IMAGEBUS_THUMBOR")

    private let child: ChildProcess
    private let port: UInt16

    /// Starts the server and waits until it listens.
    init() throws {
        guard let path = Self.path else { throw StackFailure("IMAGEBUS_THUMBOR names no program") }
        // The system doesn't reuse a port number that soon.
        port = OriginServer().port
        var command = ChildCommand(
            path,
            [
                "--ip", "127.0.0.1", "--port", "\(port)", "--conf",
                RepositoryRoot.file("Tests/Benchmarks/thumbor.conf"), "--log-level", "error",
            ])
        command.descriptors[2] = .null
        child = try ChildProcess.launch(command)
        try child.awaitListening(as: "thumbor") { () throws(RawClient.ConnectionRefused) in
            _ = try RawClient(port: port)
        }
    }

    /// Sends one request on a connection of its own.
    func get(_ target: String) throws -> RawClient.Response {
        try RawClient.get(target, port, "Connection: close\r\n")
    }
}
