import Linux

/// A network of its own with a name server that changes its mind, and with hosts at the addresses
/// that it names, public ones among them (`names.py`).
public final class HostileNames {
    private let program: LaunchedProgram
    private let folder = TemporaryDirectory()

    /// Whether this user may make one: root may, where containers leave it the right.
    public static let isPermitted: Bool = {
        let command = ChildCommand("/usr/bin/unshare", ["--net", "--mount", "/bin/true"])
        return (try? ChildProcess.launch(command).wait()) == .exited(0)
    }()

    /// Starts it and waits until it listens. `zone` is JSON: for each name its answers, one lookup
    /// after another. Hosts answer with `image` at the ports 80 and 8081 to 8083.
    public init(_ zone: String, image: [UInt8]) throws {
        let command = ChildCommand(
            "/usr/bin/unshare",
            [
                "--net", "--mount", try Tool.path(of: "python3"),
                RepositoryRoot.file("Tests/Hostile/names.py"),
                folder.write(image, to: "a.png"), folder.file("resolv.conf"), zone,
            ])
        program = try LaunchedProgram(command, reading: [1, 2])
        try program.awaitLine { $0 == "ready" }
    }

    deinit {
        try? program.child.send(.kill)
        _ = try? program.child.wait(milliseconds: defaultTimeout.milliseconds)
    }

    /// Starts a program within it.
    public var launcher: [String] {
        // A mount namespace has a root of its own, which is not ours below a changed root.
        let target = "\(program.child.processID)"
        return ["/usr/bin/nsenter", "--target", target, "--net", "--mount", "--root"]
    }

    /// The connections that hosts took so far, as `ADDRESS PORT`.
    public func connections() throws -> [String] {
        while try program.output.readMore(within: .milliseconds(100)) == .more {}
        return Array(program.output.lines.drop { $0 != "ready" }.dropFirst())
    }
}
