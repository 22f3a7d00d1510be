import ConfigurationFile
package import Imagebus
package import Linux
package import Model
package import ProcessRuntime
import Supervision

/// The stack that a command uses: an existing one or a private one.
package final class OpenStack {
    package let route: StackRoute
    /// Whether the stack's supervisor is running, so that a missing coordinator is waited for until
    /// the request's deadline.
    package let isWaitedFor: Bool
    private let own: PrivateStack?
    /// Whether the stack was started for this command, with everything its options allow.
    package var isOwn: Bool { own != nil }

    /// How long to wait for an endpoint whose supervisor is running, in milliseconds.
    package static let connectMilliseconds = 5_000

    /// Finds a stack or starts one. For a command, warns about options without effect on a stack
    /// that is already running.
    package init(
        _ options: StackOptions, _ interruption: Interruption, for command: String? = nil
    ) throws(ImageError) {
        if let found = try StackRoute.chosen(by: options) {
            (route, isWaitedFor, own) = (found, options.endpoint == nil, nil)
        } else {
            let started = try PrivateStack.start(options, interruption)
            (route, isWaitedFor, own) = (StackRoute(own: started.paths), false, started)
        }
        guard let command, !isOwn else { return }
        let config: Set = [OptionDefinition.config.name]
        let ignored =
            (options.ofPrivateStack.isSubset(of: config) ? [] : ["--allow-… and --ca-file"])
            + (options.ofPrivateStack.isDisjoint(with: config) ? [] : ["configuration"])
        for name in ignored {
            Terminal.complain(
                command,
                "the running stack uses its own \(name); pass --private to start one with yours")
        }
    }

    /// Creates a client for loads with a timeout, in milliseconds.
    package func client(
        delivery: Delivery = .automatic, timeout: Int
    ) throws(ImageError) -> ImagebusClient {
        try route.client(delivery: delivery, connectMilliseconds: connectMilliseconds(timeout))
    }

    package func connectMilliseconds(_ timeout: Int) -> Int {
        isWaitedFor ? timeout : Self.connectMilliseconds
    }

    package func end(_ interruption: Interruption) { own?.end(interruption) }
}

/// How a command connects to the coordinator of a stack.
package struct StackRoute: Hashable, Sendable {
    package let paths: RuntimePaths
    /// The users whose coordinator is trusted; `nil` for any user, because the stack was specified
    /// explicitly.
    package var servers: Set<UInt32>?
    /// Whether the stack's supervisor is running here, so that a missing coordinator will return.
    package var isSupervised: Bool

    package init(endpoint: String) throws(ImageError) {
        paths = try Result { () throws(RuntimePathsError) in try RuntimePaths(endpoint: endpoint) }
            .mapError { ImageError(.invalidRequest, $0.description) }.get()
        isSupervised = (try? StackLock.isHeld(in: paths.root)) == true
    }

    /// Creates a route to the stack in a runtime directory; `nil` if no supervisor of a coordinator
    /// is running there.
    package init?(in directory: RuntimePlace, asOperator: Bool = false) throws(ImageError) {
        let root = directory.path
        servers = try directory.servers(at: asOperator ? "admin" : "front")
        do {
            guard try StackLock.isHeld(in: root) else { return nil }
            paths = try RuntimePaths(resolving: root)
        } catch let error as RuntimePathsError {
            throw ImageError(.unavailable, error.description)
        } catch {
            throw ImageError(
                .unavailable,
                advising: "the runtime directory \(root) cannot be accessed (\(error)): choose "
                    + "another with --runtime-dir")
        }
        isSupervised = true
    }

    /// Returns the route to the stack that is specified, or else to the one whose supervisor holds
    /// the lock; `nil` for a private one. Throws `unavailable` if a runtime directory was specified
    /// in which no stack is running.
    static func chosen(by options: StackOptions) throws(ImageError) -> StackRoute? {
        if let endpoint = options.endpoint { return try StackRoute(endpoint: endpoint) }
        if options.isPrivate { return nil }
        let place = options.runtimeDirectory
        if let route = try StackRoute(in: place) { return route }
        guard place.isNamed else { return nil }
        throw ImageError(
            .unavailable,
            advising: "no stack runs in \(place.path): start one with imagebus serve --runtime-dir "
                + "\(place.path), or a private one with --private")
    }

    /// Creates a route to a stack just started in a directory.
    package init(own paths: RuntimePaths) {
        self.paths = paths
        isSupervised = true
    }
}

extension StackRoute {
    /// Creates a client of the stack, connected to the `admin/` socket for operators, otherwise to
    /// `front/`.
    package func client(
        asOperator: Bool = false, delivery: Delivery = .automatic, repeatsAnswers: Bool = true,
        sharesLoads: Bool = true, connectMilliseconds: Int
    ) throws(ImageError) -> ImagebusClient {
        var configuration = ClientConfiguration(
            endpoint: asOperator ? paths.adminSocket : paths.frontSocket,
            resultsDirectory: paths.resultsDirectory,
            connectTimeoutMilliseconds: connectMilliseconds)
        configuration.delivery = delivery
        configuration.repeatsAnswers = repeatsAnswers
        configuration.sharesLoads = sharesLoads
        configuration.servers = servers
        configuration.awaitsCoordinator = isSupervised
        return try ImagebusClient(configuration)
    }
}

extension ImagebusClient {
    /// How long closing the connection may take, in milliseconds.
    private static let goodbyeMilliseconds = 500

    /// Closes the connection cleanly before the process exits.
    package func end() { close(waitingMilliseconds: Self.goodbyeMilliseconds) }
}

extension ImageResponse {
    /// Whether no cache has the image.
    package var isMiss: Bool { status == .miss }

    /// Calls `body` with the image's bytes; empty if only image properties were requested.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let bytes else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return try bytes.withUnsafeBytes(body)
    }
}

/// A stack that exists for the duration of one command: `imagebus serve` in a temporary directory.
///
/// Must be used on the main thread, which must outlive it: the child exits when the thread that
/// started it ends, even if this process is killed, and then removes the directory by itself.
final class PrivateStack {
    let paths: RuntimePaths
    private let serve: ChildProcess
    private let directory: TemporaryDirectory

    /// The timeout for starting all processes, in milliseconds.
    private static let startMilliseconds = 30_000
    /// The timeout for stopping: draining may take 8 s; after that the stack is killed.
    private static let endMilliseconds = 9_000
    private static let killMilliseconds = 2_000
    /// The exit status of a stack whose cache directory can't be used.
    private static let refusedByConfiguration: Int32 = 78

    /// Starts a stack and waits for it. If another stack is using the cache directory, which is
    /// common, it caches in memory only. If the directory can't be used, the cache reports that.
    static func start(
        _ options: StackOptions, _ interruption: Interruption
    ) throws(ImageError) -> PrivateStack {
        if let fault = ConfigurationErrors.all(in: options.configurationFile).first {
            throw ImageError(.invalidRequest, fault)
        }
        var (stack, status) = try begin(options, cache: options.cacheDirectory, interruption)
        if status == .exited(refusedByConfiguration) {
            (stack, status) = try begin(options, cache: nil, interruption)
        }
        guard let status else { return stack }
        throw ImageError(.unavailable, "the private stack exited during startup (\(status))")
    }

    private init(serve: ChildProcess, directory: consuming TemporaryDirectory) {
        paths = RuntimePaths(root: directory.path)
        self.serve = serve
        self.directory = directory
    }

    /// Starts a stack and waits until it is ready or has ended, which returns its status.
    private static func begin(
        _ options: StackOptions, cache: String?, _ interruption: Interruption
    ) throws(ImageError) -> (stack: PrivateStack, status: ChildStatus?) {
        let (stack, line) = try attempt { () throws(Errno) in
            let place = RuntimeLocation.mayWrite("/dev/shm") ? "/dev/shm" : "/tmp"
            let directory = try TemporaryDirectory(in: place)
            let pipe = try FileDescriptor.pipe()
            var command = try serveCommand(options, in: directory.path, cache: cache)
            command.descriptors[1] = .descriptor(pipe.writeEnd.number)
            let serve = try ChildProcess(command)
            return (PrivateStack(serve: serve, directory: directory), ReadyLine(pipe.readEnd))
        }
        var isReady = false
        defer { if !isReady { stack.end(interruption) } }
        let status = try stack.awaitLine(line, interruption)
        isReady = status == nil
        return (stack, status)
    }

    private static func attempt<Value>(
        _ body: () throws(Errno) -> Value
    ) throws(ImageError) -> Value {
        try ImageError.wrap("the private stack cannot be started", as: .unavailable, body)
    }

    private static func serveCommand(
        _ options: StackOptions, in directory: String, cache: String?
    ) throws(Errno) -> ChildCommand {
        var command = ChildCommand(
            try ProgramNeighbor.path("imagebus"),
            [
                "serve", "--runtime-dir", directory, "--remove-runtime-dir",
                "--parent-pid", "\(CurrentProcess.processID)",
                "--download", "1", "--decode", "\(options.workers)",
                "--transform", "\(options.workers)",
            ] + (cache.map { ["--cache-dir", $0, "--yield-cache"] } ?? ["--memory-only"])
                + (options.configurationFile.map { ["--config", $0] } ?? [])
                + options.network + options.log.arguments)
        command.environment["IMAGEBUS_ONLY"] = nil
        // The file contains the metrics of the stack that is serving on this host.
        command.environment["IMAGEBUS_METRICS_FILE"] = nil
        // Ctrl-C is handled by this process, which then stops the stack.
        command.leadsGroup = true
        return command
    }

    /// Waits for the line; returns the status of a stack that ends before.
    private func awaitLine(
        _ line: ReadyLine, _ interruption: Interruption
    ) throws(ImageError) -> ChildStatus? {
        let start = MonotonicClock.now()
        let end = serve.descriptor.descriptor.number
        while try !Self.attempt(line.isComplete) {
            let left = Self.startMilliseconds - Int((MonotonicClock.now() - start) / 1_000_000)
            guard left > 0 else {
                throw ImageError(.unavailable, "the private stack did not become ready in time")
            }
            let status = try Self.attempt { () throws(Errno) in
                _ = try interruption.wait(for: [line.number, end], milliseconds: left)
                return try serve.poll()
            }
            if interruption.count > 0 { throw .commandCancelled }
            if let status { return status }
        }
        return nil
    }

    /// Drains the stack and waits; kills it on timeout or on another Ctrl-C.
    func end(_ interruption: Interruption) {
        let before = interruption.count
        let end = serve.descriptor.descriptor.number
        try? serve.send(.terminate)
        var left = Self.endMilliseconds
        while (try? serve.poll()) ?? nil == nil, left > 0, interruption.count == before {
            _ = try? interruption.wait(for: [end], milliseconds: 100)
            left -= 100
        }
        // A second SIGTERM makes `serve` kill its remaining children; if it doesn't respond, it is
        // killed as well.
        try? serve.send(.terminate)
        _ = try? serve.wait(milliseconds: Self.killMilliseconds)
    }
}

/// The line that `serve` prints once all its processes are ready.
final class ReadyLine {
    private let descriptor: FileDescriptor
    private var bytes: [UInt8] = []

    private static let bytesMax = 4096

    /// Takes the pipe connected to the standard output of `serve`.
    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// The file descriptor to poll.
    var number: Int32 { descriptor.number }

    /// Reads available data without blocking. Returns whether the line is complete.
    func isComplete() throws(Errno) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)
        defer { buffer.deallocate() }
        while try descriptor.wait(for: .readable, milliseconds: 0) {
            let count = try descriptor.read(into: buffer)
            if count == 0 { break }
            bytes += buffer[..<count]
            if bytes.count > Self.bytesMax { throw .fileTooLarge }
        }
        return bytes.starts(with: "ready ".utf8) && bytes.contains(UInt8(ascii: "\n"))
    }
}

/// Programs installed in the same directory.
package enum ProgramNeighbor {
    /// Returns the directory of this program.
    package static func directory() throws(Errno) -> String {
        let own = try CurrentProcess.executablePath()
        return String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)])
    }

    /// Returns the path of a program in the directory of this one.
    package static func path(_ name: String) throws(Errno) -> String {
        try directory() + "/" + name
    }
}

/// Validates a configuration before a stack is started with it.
package enum ConfigurationErrors {
    /// Returns all errors in a file, as `FILE:LINE: REASON`.
    package static func all(in path: String?) -> [String] {
        guard let path else { return [] }
        do throws(ConfigurationFileError) {
            _ = try ConfigurationFile.read(path)
            return []
        } catch {
            return error.lines
        }
    }
}
