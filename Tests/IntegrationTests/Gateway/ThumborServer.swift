import Linux
import TestKit

/// A real thumbor at a port of 127.0.0.1: what our answers to its URLs are held against.
/// `IMAGEBUS_THUMBOR` names its program, such as that of
/// `python3 -m venv v && v/bin/pip install thumbor`.
final class ThumborServer {
    /// The program; `nil`: there is none on this machine.
    static let path = CurrentProcess.environment("IMAGEBUS_THUMBOR")

    private let program: LaunchedProgram
    private let port: UInt16

    /// Starts it and waits until it listens.
    init() throws {
        guard let path = Self.path else { throw StackFailure("IMAGEBUS_THUMBOR names no program") }
        // Nobody else gets a number again that soon.
        port = OriginServer().port
        let command = try ChildCommand(
            path,
            [
                "--ip", "127.0.0.1", "--port", "\(port)", "--conf",
                RepositoryRoot.file("Tests/Benchmarks/thumbor.conf"), "--log-level", "error",
            ])
        program = try LaunchedProgram(command, reading: [2])
        try awaitListening()
    }

    deinit {
        try? program.child.send(.kill)
        _ = try? program.child.wait(milliseconds: defaultTimeout.milliseconds)
    }

    private var isListening: Bool {
        do {
            _ = try RawClient(port: port)
            return true
        } catch {
            return false
        }
    }

    private func awaitListening() throws {
        let deadline = ContinuousClock.now.advanced(by: defaultTimeout)
        var pause = PollingPause()
        while !isListening {
            guard ContinuousClock.now < deadline else {
                throw StackFailure("thumbor does not listen: \(program.output.lines)")
            }
            pause.wait()
        }
    }

    /// One request on a connection of its own.
    func get(_ target: String) throws -> RawClient.Response {
        let client = try RawClient(port: port)
        client.get(target, "Connection: close\r\n")
        return client.whole()
    }
}
