import Linux

/// A network namespace with a name server whose answers change from lookup to lookup, and with
/// hosts at the addresses that it returns, some of them public addresses (`names.py`).
public final class HostileNames {
    private let program: LaunchedProgram
    private let folder = TemporaryDirectory()

    /// Whether this user may create network namespaces: root may, unless the container forbids it.
    public static let isPermitted: Bool = {
        let command = ChildCommand("/usr/bin/unshare", ["--net", "--mount", "/bin/true"])
        return (try? ChildProcess.launch(command).wait()) == .exited(0)
    }()

    /// Starts the network and waits until its hosts listen. `zone` is JSON: for each name the
    /// answers of its consecutive lookups. Hosts answer with `image` on ports 80 and 8081 to 8083.
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

    /// The command that starts a program in the network.
    public var launcher: [String] {
        // A mount namespace has its own root, which differs from this process' root after a chroot.
        let target = "\(program.child.processID)"
        return ["/usr/bin/nsenter", "--target", target, "--net", "--mount", "--root"]
    }

    /// The connections that the hosts have accepted so far, as `ADDRESS PORT`.
    public func connections() throws -> [String] {
        while try program.output.readMore(within: .milliseconds(100)) == .more {}
        return Array(program.output.lines.drop { $0 != "ready" }.dropFirst())
    }
}
