import Linux
import TestKit

/// A real thumbor at a port of 127.0.0.1: what our answers to its URLs are held against.
/// `IMAGEBUS_THUMBOR` names its program, such as that of
/// `python3 -m venv v && v/bin/pip install thumbor`.
final class ThumborServer {
    /// The program; `nil`: there is none on this machine.
    static let path = CurrentProcess.environment("IMAGEBUS_THUMBOR")

    private let child: ChildProcess
    private let port: UInt16

    /// Starts it and waits until it listens.
    init() throws {
        guard let path = Self.path else { throw StackFailure("IMAGEBUS_THUMBOR names no program") }
        // Nobody else gets a number again that soon.
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

    deinit {
        try? child.send(.kill)
        _ = try? child.wait()
    }

    /// One request on a connection of its own.
    func get(_ target: String) throws -> RawClient.Response {
        try RawClient.get(target, port, "Connection: close\r\n")
    }
}
