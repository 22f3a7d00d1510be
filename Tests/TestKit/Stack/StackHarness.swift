import Linux

/// A stack of real processes with its own folders, started by `imagebus serve`.
///
/// Belongs to one test. When it is released, its processes end and its folders are removed.
public final class StackHarness {
    private let runtime: Linux.TemporaryDirectory
    private let cache = TestKit.TemporaryDirectory()
    private let logs = TestKit.TemporaryDirectory()
    private let arguments: [String]
    private let environment: [String: String]
    private let launcher: [String]
    private let mount: PrivateMount?
    private let cacheMount: PrivateMount?
    private var serve: LaunchedProgram?
    private var isRunning = false

    /// The log file of `serve`.
    public var logFile: String { logs.file("serve.log") }
    /// The runtime directory, on tmpfs, as this process sees it. Mounts of another namespace are
    /// accessed through a process in that namespace.
    public var runtimeDirectory: String {
        mount == nil ? runtime.path : "/proc/\(processID)/root\(runtime.path)"
    }
    /// The cache directory, as this process sees it.
    public var cacheDirectory: String {
        cacheMount == nil ? cache.path : "/proc/\(processID)/root\(cache.path)"
    }

    /// The timeout for a stack to become ready, or to end.
    public static let timeout = Duration.seconds(30)

    /// Creates a stack without starting it. `arguments` follow `serve` and the two folders;
    /// `environment` is added to that of this process without Imagebus variables. With `mount` the
    /// runtime directory is a tmpfs of its own; with `cacheMount` the cache directory is one.
    /// `launcher` is a command that executes `serve`.
    public init(
        _ arguments: [String], environment: [String: String] = [:], launcher: [String] = [],
        mount: PrivateMount? = nil, cacheMount: PrivateMount? = nil
    ) throws {
        runtime = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
        self.arguments = arguments
        self.environment = environment
        self.launcher = launcher
        self.mount = mount
        self.cacheMount = cacheMount
    }

    /// Starts `serve` and waits for its ready line.
    public func start() throws {
        precondition(!isRunning, "a harness runs one stack at a time")
        let serve = try launch()
        self.serve = serve
        isRunning = true
        try awaitReady(serve)
    }

    private func launch() throws -> LaunchedProgram {
        let log = try FileDescriptor.open(logFile, [.writeOnly, .create, .append])
        let program = try Programs.path(.imagebus)
        let words =
            launcher + [program, "serve", "--runtime-dir", runtime.path]
            + ["--cache-dir", cache.path] + arguments
        let inner = mount?.line(words, at: runtime.path) ?? words
        let line = cacheMount?.line(inner, at: cache.path) ?? inner
        var command = ChildCommand(
            line[0], Array(line.dropFirst()),
            environment: Programs.cleanEnvironment.merging(environment) { $1 })
        command.descriptors[2] = .descriptor(log.number)
        return try LaunchedProgram(
            command, reading: [1], name: "\(program) serve", errorFile: logFile)
    }

    /// The process id of `serve`; 0 if it isn't running.
    public var processID: Int32 { isRunning ? serve?.child.processID ?? 0 : 0 }

    /// The endpoint, from the ready line.
    public var endpoint: String {
        serve?.output.lines.first.map { String($0.dropFirst("ready ".count)) } ?? ""
    }

    /// The URL of the gateway, from the line after the ready line; nil without a gateway.
    public func gatewayURL() throws -> String? {
        guard let output = serve?.output, arguments.contains("--gateway") else { return nil }
        while output.lines.count < 2 {
            guard try output.readMore(within: Self.timeout) == .more else { return nil }
        }
        return String(output.lines[1].dropFirst("gateway ".count))
    }

    /// The port of the gateway; throws if there is no gateway on TCP.
    public func gatewayPort() throws -> UInt16 {
        guard let port = try gatewayURL().flatMap(Self.port(ofGateway:)) else {
            throw StackFailure("there is no gateway at TCP", log: logFile)
        }
        return port
    }

    /// The port in the URL of a gateway, such as `http://127.0.0.1:8080/`.
    public static func port(ofGateway url: String) -> UInt16? {
        url.split(separator: ":").last.flatMap { UInt16($0.dropLast()) }
    }

    /// The addresses of `count` gateways, from the lines after the ready line.
    public func gatewayURLs(_ count: Int) throws -> [String] {
        guard let output = serve?.output else { return [] }
        while output.lines.count < 1 + count {
            guard try output.readMore(within: Self.timeout) == .more else { break }
        }
        return output.lines.dropFirst().prefix(count).map { String($0.dropFirst("gateway ".count)) }
    }

    /// Sends `serve` a signal.
    public func send(_ signal: StackSignal) throws {
        if isRunning { try serve?.child.send(signal.signal) }
    }

    /// The running child processes of `serve`.
    public var children: [ObservedProcess] { ObservedProcess.children(of: processID) }

    /// Waits until `serve` has ended; throws if it doesn't within `timeout`. Returns the exit code
    /// or the name of the signal.
    public func awaitEnd(timeout: Duration = StackHarness.timeout) throws -> String {
        guard isRunning, let status = try serve?.child.wait(milliseconds: timeout.milliseconds)
        else {
            throw StackFailure("serve did not end within \(timeout)", log: logFile)
        }
        isRunning = false
        try expectNothingMoreSaid()
        return status.description
    }

    /// Throws a `StackFailure` of one line if `serve` has ended while a test waited for `what`.
    public func expectServing(_ what: String) throws {
        guard isRunning, let serve, let status = try serve.child.poll() else { return }
        isRunning = false
        throw serve.failure(status, "while a test waited for \(what)")
    }

    /// Shuts the stack down and checks that it has left nothing behind.
    public func stop() throws {
        guard isRunning else { return }
        let children = children
        try send(.terminate)
        let end: String
        do {
            end = try awaitEnd()
        } catch {
            try send(.kill)
            _ = try awaitEnd()
            throw error
        }
        guard end == "exit 0" else { throw StackFailure("serve ended with \(end)", log: logFile) }
        try expectGone(children, within: .seconds(1))
        guard leftovers.isEmpty else {
            throw StackFailure("segments are left: \(leftovers)", log: logFile)
        }
    }

    /// Throws if one of these processes still runs after `limit`.
    public func expectGone(_ processes: [ObservedProcess], within limit: Duration) throws {
        let deadline = ContinuousClock.now.advanced(by: limit)
        for process in processes {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            guard try process.ends(within: left) else {
                throw StackFailure(
                    "\(process.name) (\(process.processID)) still runs \(limit) later",
                    log: logFile)
            }
        }
    }

    /// The paths of all remaining segments, relative to the runtime directory; lock files don't
    /// count.
    public var leftovers: [String] {
        let arenas = DirectoryEntries.names("\(runtimeDirectory)/arena").map { "arena/\($0)" }
        return (arenas + ["results"]).flatMap { folder in
            DirectoryEntries.names("\(runtimeDirectory)/\(folder)")
                .filter { !$0.hasPrefix(".") }.map { "\(folder)/\($0)" }
        }
    }

    private func awaitReady(_ serve: LaunchedProgram) throws {
        let lines: [String]
        do {
            lines = try serve.awaitLine { _ in true }
        } catch {
            isRunning = try serve.child.poll() == nil
            throw error
        }
        guard lines[0].hasPrefix("ready ipc://") else {
            throw StackFailure("the first line of serve is '\(lines[0])'")
        }
    }

    /// `serve` writes exactly one line to standard output, since scripts read it.
    private func expectNothingMoreSaid() throws {
        guard let output = serve?.output else { return }
        while case .more = try output.readMore(within: .zero) {}
        let rest = output.lines.dropFirst().filter {
            !$0.hasPrefix("gateway http://") && !$0.hasPrefix("gateway unix:/")
        }
        guard rest.isEmpty else {
            throw StackFailure("serve said \(output.lines)")
        }
    }
}
