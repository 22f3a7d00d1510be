extension RealProcesses {
    /// A default runtime directory is used only if it belongs to the user or to root.
    @Suite(.enabled(if: CurrentProcess.userID == 0, "only root becomes another user"))
    struct SquattedDirectoryTests {
        private static let user: UInt32 = 64_211
        private static let stranger: UInt32 = 64_212

        private static let commands = [
            ["get", "http://user:secret@127.0.0.1:9/a.png"],
            ["prefetch", "http://user:secret@127.0.0.1:9/a.png"], ["status"], ["health"],
            ["health", "--only", "decode"], ["cache", "contains", "key"],
            ["failure-cache", "list"],
            ["cancel", "--group", String(repeating: "a", count: 32)], ["drain", "decode"],
        ]

        @Test(arguments: commands) func nothingIsSentToAStranger(_ command: [String]) throws {
            let trap = try Trap(at: "/dev/shm/imagebus-\(Self.user)", owner: Self.stranger)
            let end = try CommandLineRun(command, asUser: Self.user).end()
            #expect(end.exitStatus == (command[0] == "health" ? 1 : 77), "\(end)")
            #expect(end.errorText.contains("\(trap.root) belongs to user \(Self.stranger)"))
            #expect(end.errorText.contains("--endpoint or --runtime-dir"), "the error gives advice")
            #expect(try !trap.hasVisitor(), "\(end)")
        }

        @Test func theSessionDirectoryOfAnotherUserIsRefusedToo() throws {
            let folder = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
            try FileDescriptor.openDirectory(folder.path).setMode(0o755)
            let trap = try Trap(at: "\(folder.path)/imagebus", owner: Self.stranger)
            let end = try CommandLineRun(
                ["get", "http://127.0.0.1:9/a.png", "--json"], asUser: Self.user,
                environment: ["XDG_RUNTIME_DIR": folder.path]
            ).end().expect(77)
            #expect(try end.json()["error"]?["name"]?.text == "addressForbidden")
            #expect(try !trap.hasVisitor())
        }

        @Test func whatIsNamedIsUsedWhoeverOwnsIt() throws {
            let trap = try Trap(at: "/dev/shm/imagebus-\(Self.user)", owner: Self.stranger)
            try CommandLineRun(
                ["get", "http://127.0.0.1:9/a.png", "--timeout", "1s"]
                    + ["--runtime-dir", trap.root], asUser: Self.user
            ).end().expect(124)
            #expect(try trap.hasVisitor())
        }

        @Test func aClientKnowsItsServerByTheUser() async throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack { stack in
                var configuration = try ClientConfiguration(
                    runtimeDirectory: stack.runtimeDirectory)
                configuration.servers = [Self.stranger]
                let refused = try ImagebusClient(configuration)
                #expect(await refused.load(origin.url("/a.png")).errorCode == .addressForbidden)
                // A later request gets the same error.
                #expect(await refused.load(origin.url("/a.png")).errorCode == .addressForbidden)
                #expect(origin.requests("/a.png").isEmpty)

                configuration.servers = [CurrentProcess.userID]
                let served = try ImagebusClient(configuration)
                #expect(await served.load(origin.url("/a.png")).errorCode == nil)
            }
        }
    }
}

/// What an attacker creates in place of the user's own stack: a held lock, and sockets that accept
/// connections.
private final class Trap {
    let root: String
    private let front: UnixListener
    private let admin: UnixListener
    private let lock: FileDescriptor

    init(at root: String, owner: UInt32) throws {
        self.root = root
        try? FileDescriptor.removeTree(path: root)
        for path in [root, "\(root)/front", "\(root)/admin"] {
            try FileDescriptor.makeDirectory(path: path)
            let directory = try FileDescriptor.openDirectory(path)
            try directory.setMode(0o755)
            try directory.setOwner(userID: owner, groupID: owner)
        }
        front = try UnixListener(path: "\(root)/front/front.sock", mode: 0o666)
        admin = try UnixListener(path: "\(root)/admin/admin.sock", mode: 0o666)
        for listener in ["front", "admin"] {
            try FileDescriptor.openDirectory("\(root)/\(listener)").setMode(
                0o666, of: "\(listener).sock")
        }
        lock = try FileDescriptor.open("\(root)/serve.lock", [.readWrite, .create], mode: 0o644)
        try lock.setMode(0o644)
        try #require(try lock.tryLock(.exclusive))
    }

    deinit { try? FileDescriptor.removeTree(path: root) }

    /// Whether anything connected.
    func hasVisitor() throws -> Bool {
        if try front.accept() != nil { return true }
        return try admin.accept() != nil
    }
}
