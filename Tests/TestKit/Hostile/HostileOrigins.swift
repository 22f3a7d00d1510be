import Linux

/// The origins of `origins.py`, which violate TLS, HTTP/1.1 and HTTP/2, by name.
public final class HostileOrigins {
    private let program: LaunchedProgram
    private let folder = TemporaryDirectory()
    private let ports: [String: UInt16]

    /// Starts the origins with a certificate signed by `authority`, and waits until all of them
    /// listen. `image` is the body of complete responses.
    public init(_ image: [UInt8], of authority: TestAuthority) throws {
        let files = try authority.sign("hostile", for: "IP:127.0.0.1")
        let command = try ChildCommand(
            Tool.path(of: "python3"),
            [
                RepositoryRoot.file("Tests/Hostile/origins.py"), files.certificate,
                files.key, folder.write(image, to: "a.png"),
            ])
        program = try LaunchedProgram(command, reading: [1, 2])
        let words = try program.awaitLine { $0 == "ready" }.map { $0.split(separator: " ") }
        ports = words.reduce(into: [:]) { ports, words in
            if words.count == 2 { ports[String(words[0])] = UInt16(words[1]) }
        }
    }

    /// The URL of an image at the origin with this name; throws if there is none.
    public func url(_ name: String) throws -> String {
        guard let port = ports[name] else { throw StackFailure("no origin is called \(name)") }
        return "https://127.0.0.1:\(port)/a.png"
    }
}
