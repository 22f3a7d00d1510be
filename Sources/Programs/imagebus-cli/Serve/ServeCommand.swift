import CommandLineInterface
import ConfigurationFile
import Glibc
import Linux
import Model
import ProcessRuntime
import Reporting
import Supervision

/// `imagebus serve`: runs the supervised stack in the foreground.
enum ServeCommand {
    private static let internalStatus: Int32 = 70
    private static let cancelledStatus: Int32 = 130
    /// SIGHUP never ends the process, even if it is not ignored and there is nothing to reload. It
    /// is handled even if nohup ignores it, because a blocked signal is queued although it is
    /// ignored.
    private static let signals = StopRequests.stopSignals + [.hangUp]

    static func run(_ options: ServeOptions) -> Int32 {
        let log = Log(program: "imagebus", level: options.log.level, format: options.log.format)
        let errors = ConfigurationErrors.all(in: options.configurationFile)
        guard errors.isEmpty else { return refuse(errors, log) }
        do {
            // Must happen before any thread is started: a signal is delivered to any thread that
            // doesn't block it.
            try Signal.block(signals)
            try Signal.brokenPipe.ignore()
            // This process holds the secrets of the listeners; all children inherit the limit.
            try ResourceLimit.lower(.coreFile, to: 0)
            if let parent = options.parent,
                try !ParentDeath.arm(.terminate, expected: parent)
            {
                return cancelledStatus
            }
            return try supervise(options, log)
        } catch let error as RuntimeDirectoryError {
            log.error(error.description)
            return error.exitStatus
        } catch let error as UsageError {
            log.error(error.message)
            return GatewayListenError.exitStatus
        } catch let error as GatewayListenError {
            log.error(error.description)
            return GatewayListenError.exitStatus
        } catch {
            log.error("cannot start", ["reason": "\(error)"])
            return internalStatus
        }
    }

    private static func refuse(_ errors: [String], _ log: Log) -> Int32 {
        for fault in errors {
            log.error("invalid configuration", ["at": "\(fault)"])
        }
        return ConfigurationCheck.errorStatus
    }

    private static func warnOfVariables(_ options: ServeOptions, _ log: Log) {
        guard let variable = options.ignoredVariable else { return }
        log.warning(
            "variables of another image server are ignored without a gateway; start one with "
                + "--gateway ADDRESS:PORT",
            ["variable": "\(variable)"])
    }

    private static func supervise(_ options: ServeOptions, _ log: Log) throws -> Int32 {
        let signals = try SignalDescriptor(signals)
        let configured = try options.configurationFile.map { try ConfigurationFile.read($0) }
        let pools =
            options.only == .gateway
            ? [] : (configured?.pools ?? []).drawing(workers: options.drawers)
        let errors = options.commandErrors(in: pools)
        guard errors.isEmpty else { return refuse(errors, log) }
        guard let directory = try awaitDirectory(options, pools, signals, log) else { return 0 }
        let paths = directory.paths
        if directory.hasSegmentsElsewhere {
            log.info(
                "runtime directory is not on tmpfs; placing shared memory elsewhere",
                ["runtimeDirectory": "\(paths.root)", "segments": "\(paths.segmentsRoot)"])
        }
        // With `--only`, the kind runs as a user of its own, or its workers are external.
        let secrets = options.only == nil ? try StackSecrets(for: pools) : nil
        if let secrets { try directory.leaveSecrets(of: secrets) }
        warnOfVariables(options, log)
        try options.gateway?.watermark?.writeCopy(to: paths.root)
        let hasGateways = options.only == nil || options.only == .gateway
        let listeners = try ServedListeners(
            hasGateways ? configured?.gateways ?? [] : [], of: options, in: paths, log: log)
        // Listeners in the configuration replace the default one.
        var served = options
        if options.gateway?.isImplicit == true, !listeners.sockets.isEmpty { served.gateway = nil }
        let own = try served.gateway.map { try GatewayListener($0.place) }
        let sockets = (own.map { [$0] } ?? []) + listeners.sockets
        let programs = try ServeOptions.programsDirectory(
            environment: CurrentProcess.environment)
        let metrics = options.metricsFile.map { MetricsFile($0, log: log) }
        let supervisor = Supervisor(
            served.children(
                programs: programs, secretFile: SecretFile.prepare(options), pools: pools,
                listener: own?.descriptorNumber, listeners: listeners.children),
            in: directory,
            stopRequests: .signals(signals), secrets: secrets,
            health: healthListener(options, paths, log),
            receiveStatus: metrics.map { file in { report, now in file.receive(report, at: now) } },
            prepareReload: { listeners.reload() }
        ) { note in
            log.write(note.level, note.description, fields: [])
            switch note.event {
            case .ready: Terminal.out(readyLines(options, paths, sockets))
            // New connections are refused, so that clients try elsewhere.
            case .draining: for socket in sockets { socket.close() }
            default: break
            }
        }
        defer { metrics?.remove() }
        let end = try supervisor.run()
        if options.removesRuntimeDirectory { try? FileDescriptor.removeTree(path: paths.root) }
        return end.exitStatus
    }
}

extension ServeCommand {
    /// Lines for scripts: the endpoint for clients, and the URLs of the gateways.
    private static func readyLines(
        _ options: ServeOptions, _ paths: RuntimePaths, _ listeners: [GatewayListener]
    ) -> String {
        "ready \(options.endpoint(paths))\n"
            + listeners.map { "gateway \($0.url)\n" }.joined()
    }

    private static let pollMilliseconds = 100

    /// Returns the listener for health queries; `nil` on failure, because the stack can serve
    /// without it.
    private static func healthListener(
        _ options: ServeOptions, _ paths: RuntimePaths, _ log: Log
    ) -> HealthListener? {
        do throws(Errno) {
            return try HealthListener(in: paths.root, only: options.only)
        } catch {
            log.warning(
                "cannot listen for health queries",
                ["directory": .string(paths.root), "reason": "\(error)"])
            return nil
        }
    }

    /// Waits until the directories of the served kinds are available; returns `nil` if a signal
    /// arrives first. Each kind may run as a different user and be started before the coordinator.
    private static func awaitDirectory(
        _ options: ServeOptions, _ pools: [WorkerPool], _ signals: borrowing SignalDescriptor,
        _ log: Log
    ) throws -> RuntimeDirectory? {
        var hasLogged = false
        while true {
            do throws(RuntimeDirectoryError) {
                return try RuntimeDirectory(
                    root: options.runtimeDirectory, kinds: Set(options.kinds), pools: pools,
                    only: options.pools.own)
            } catch {
                guard case .awaitsCoordinator = error else { throw error }
                if !hasLogged { log.info("waiting for the coordinator", ["reason": "\(error)"]) }
                hasLogged = true
            }
            let number = signals.descriptor.number
            _ = try ReadinessPoll.wait([number], milliseconds: pollMilliseconds)
            while let received = try signals.next() {
                if received.signal != .hangUp { return nil }
            }
        }
    }
}

extension ServeOptions {
    /// The endpoint for clients; without a coordinator, that for the workers.
    fileprivate func endpoint(_ paths: RuntimePaths) -> String {
        switch only {
        case nil, .gateway, .stack(.coordinator): paths.frontEndpoint
        case .stack(let kind): paths.backEndpoint(pools.own?.name ?? PoolName(kind))
        }
    }
}

extension RuntimeDirectoryError {
    /// The exit status of `serve` (SEMANTICS §15.7).
    var exitStatus: Int32 {
        switch self {
        case .notAbsolute, .pathTooLong: 64
        case .locked: 75
        case .notDirectory, .wrongOwner, .wrongMode: 77
        case .noSharedMemory, .awaitsCoordinator, .system: 70
        }
    }
}

extension ServeOptions {
    /// Returns the children of this stack, the coordinator first. `secretFile` is for the
    /// coordinator; `pools` come from the configuration; `listener` is the default gateway's
    /// socket; `listeners` come from the configuration.
    func children(
        programs directory: String, secretFile: String? = nil, pools: [WorkerPool] = [],
        listener: Int32? = nil, listeners: [(arguments: [String], socket: Int32?)] = []
    ) -> [ChildSpecification] {
        let further = pools.filter { !$0.isBuiltIn }
        let own = further.filter { $0.trust == .own && (only == nil || only == .stack($0.kind)) }
        let places =
            kinds.map { self.pools.own ?? WorkerPool($0) }
            + own.flatMap { Array(repeating: $0, count: $0.workers) }
        let stack = places.map { pool in
            let kind = ProcessKind.stack(pool.kind)
            return ChildSpecification(
                kind: kind, pool: pool.name,
                program: "\(directory)/\(ChildSpecification.programName(kind))",
                arguments: ["--runtime-dir", runtimeDirectory] + log.arguments
                    + arguments(of: pool.kind, secretFile: secretFile)
                    + Self.place(of: pool, among: further)
                    + self.pools.inputs.flatMap { ["--input-pool", $0.text] })
        }
        func front(
            _ arguments: [String], _ socket: Int32?, _ secrets: [String: String] = [:]
        ) -> ChildSpecification {
            ChildSpecification(
                kind: .gateway,
                program: "\(directory)/\(ChildSpecification.programName(.gateway))",
                arguments: ["--runtime-dir", runtimeDirectory] + log.arguments + arguments,
                listener: socket, environment: secrets)
        }
        let standard = gateway.map {
            [front(["--listen", $0.place.text] + $0.arguments, listener, $0.secrets)]
        }
        let fronts = (standard ?? []) + listeners.map { front($0.arguments, $0.socket) }
        let external = commandPools(pools).flatMap { pool in
            Array(
                repeating: ChildSpecification(external: pool, runtimeDirectory: runtimeDirectory),
                count: pool.workers
            ).compactMap { $0 }
        }
        return stack + external + fronts
    }

    /// Returns the pools whose `command` this stack runs: none with `--only`, which runs as a user
    /// of its own.
    private func commandPools(_ pools: [WorkerPool]) -> [WorkerPool] {
        pools.filter { only == nil && !$0.isBuiltIn && $0.command != nil }
    }

    /// Returns an error line for each `command` that this stack should run but can't.
    func commandErrors(in pools: [WorkerPool]) -> [String] {
        commandPools(pools).compactMap { pool in
            guard let program = pool.command?.first, !Self.isExecutable(program) else { return nil }
            let place = "\(configurationFile ?? ""): pools.\(pool.name).command"
            return "\(place): \(program) does not exist or is not executable"
        }
    }

    /// Whether this user can execute the file at a path.
    private static func isExecutable(_ path: String) -> Bool {
        access(path, X_OK) == 0 && (try? FileDescriptor.openDirectory(path)) == nil
    }

    /// Returns the arguments for a worker's pool, if it isn't a standard one, and for the
    /// additional pools whose segments it reads.
    private static func place(of pool: WorkerPool, among pools: [WorkerPool]) -> [String] {
        let inputs = pools.filter { other in
            switch pool.kind {
            case .decode: other.kind == .download || other.kind == .cache
            case .transform: other.kind == .decode || other.isExternalTransformer
            case .coordinator, .download, .cache: false
            }
        }
        return (pool.isBuiltIn ? [] : ["--pool", pool.name.text])
            + inputs.flatMap { ["--input-pool", $0.name.text] }
    }

    private func arguments(of kind: WorkerKind, secretFile: String?) -> [String] {
        switch kind {
        case .coordinator:
            option("--secret-file", secretFile) + option("--config", configurationFile)
                + option("--vector", drawers > 0 ? drawers : nil)
                + option(
                    "--watermark-root",
                    hasWatermark ? ServedWatermark.root(in: runtimeDirectory) : nil)
                + coordinatorArguments + (only == nil ? [] : ["--keeps-workers"])
                + (gateway?.grants ?? [])
                + (requestLogging == .misses ? [] : ["--log-requests", requestLogging.rawValue])
        case .download: downloadArguments
        case .cache:
            option("--cache-dir", cacheDirectory) + cacheArguments
                + option("--memory-files", memoryFiles) + (yieldsCache ? ["--yield-cache"] : [])
        case .decode, .transform: []
        }
    }

    /// Whether a gateway of this stack may use a file as its watermark.
    private var hasWatermark: Bool {
        only == nil && (gateway?.watermark != nil || configurationFile != nil)
    }

    private func option(_ name: String, _ value: (some CustomStringConvertible)?) -> [String] {
        value.map { [name, $0.description] } ?? []
    }

    /// Returns the directory of the programs: `IMAGEBUS_PROGRAMS`, or else that of this program.
    static func programsDirectory(environment: [String: String]) throws(Errno) -> String {
        if let named = environment["IMAGEBUS_PROGRAMS"], !named.isEmpty { return named }
        return try ProgramNeighbor.directory()
    }
}

/// The key that separates the cached images of different users (SEMANTICS §15.1). It must live as
/// long as the cache, so it is stored in the cache directory unless another file is specified.
enum SecretFile {
    private static let name = "identity.key"

    /// Creates the file's directory if necessary, so that the coordinator can write there.
    ///
    /// Returns `nil` if no file is specified and the stack has no usable disk cache; the cache
    /// reports why, and continues without a disk or exits. The key then lives as long as the
    /// coordinator, and images cached for specific users are loaded again after a restart. Errors
    /// with a specified file are reported by the coordinator.
    static func prepare(_ options: ServeOptions) -> String? {
        guard options.kinds.contains(.coordinator) else { return nil }
        if let named = options.secretFile {
            makeDirectories(String(named[..<(named.lastIndex(of: "/") ?? named.startIndex)]))
            return named
        }
        guard options.kinds.contains(.cache), let directory = options.cacheDirectory else {
            return nil
        }
        guard (try? FileDescriptor.openTrusted(directory)) != nil else { return nil }
        return RuntimeLocation.mayWrite(directory) ? "\(directory)/\(name)" : nil
    }

    /// Creates directories; errors show when they are used.
    private static func makeDirectories(_ directory: String) {
        let parts = directory.split(separator: "/")
        for count in parts.indices {
            try? FileDescriptor.makeDirectory(
                path: "/" + parts[...count].joined(separator: "/"))
        }
    }
}

/// The file of `serve --metrics-file`, for a collector that reads files. It is replaced atomically
/// at intervals, and removed when the stack ends, so that stale metrics are never collected.
final class MetricsFile {
    private let options: MetricsFileOptions
    private let log: Log
    private var writtenAt: Instant?
    private var hasFailed = false

    init(_ options: MetricsFileOptions, log: Log) {
        (self.options, self.log) = (options, log)
    }

    /// Receives a status report and writes the file if it is due.
    func receive(_ report: StatusReport, at now: Instant) {
        // Reports arrive about once per second, so half a second early is close enough.
        if let writtenAt, now.milliseconds(since: writtenAt) + 500 < options.seconds * 1_000 {
            return
        }
        writtenAt = now
        do throws(OutputError) {
            try OutputFile(options.path).replace(with: Array(MetricsText.text(report).utf8))
            hasFailed = false
        } catch {
            // Logs the failure only once.
            if !hasFailed {
                log.warning("cannot write metrics", ["reason": .string("\(error)")])
            }
            hasFailed = true
        }
    }

    /// Removes the file when the stack ends.
    func remove() { try? OutputFile(options.path).remove() }
}

/// The path of the metrics file, and how often it is written.
struct MetricsFileOptions: Hashable {
    var path: String
    var seconds: Int

    private static let secondsDefault = 15
    private static let secondsMax = 3_600

    /// Returns `nil` if no file is specified. Several services may share an environment, so
    /// variables are ignored by those without metrics.
    init?(_ given: ReadOptions, hasMetrics: Bool) throws(UsageError) {
        var read = given
        if !hasMetrics { read.entries.removeAll { $0.origin == .environment } }
        seconds =
            try read.integer("metrics-seconds", in: 1...Self.secondsMax) ?? Self.secondsDefault
        guard let path = try read.parsed("metrics-file", OptionValue.path) else { return nil }
        guard !path.hasSuffix("/") else {
            throw UsageError("--metrics-file: '\(path)' is a directory")
        }
        guard hasMetrics else {
            throw UsageError(
                "--metrics-file requires the coordinator: pass it to serve without --only, or with "
                    + "--only coordinator")
        }
        self.path = path
    }
}

extension Command {
    static let config = Command(
        name: "config",
        summary: "check a configuration file",
        usage: "check [FILE] [options]",
        operands: [.words(["check"]), .file],
        options: [("", [.config])],
        notes: """
            check reads FILE, or else the file of --config or IMAGEBUS_CONFIG. It prints a one-line
            summary, or each error as FILE:LINE: REASON. Secret files are not opened. Former
            names in the file and in environment variables still work; check notes what they were
            renamed to.

            exit status: 0 valid, 64 invalid
            """,
        examples: [
            ("imagebus config check /etc/imagebus.yaml", "check the file before kill -HUP of serve")
        ])
}

/// `imagebus config check`.
enum ConfigurationCheck {
    /// The exit status for an invalid file.
    static let errorStatus: Int32 = 64

    /// The options of `config`.
    struct Options: Hashable {
        let path: String
        /// Notes about variables with former names.
        let notes: [String]

        init(_ read: ReadOptions, _ environment: [String: String]) throws(UsageError) {
            guard read.operands.first == "check", read.operands.count <= 2 else {
                throw UsageError(
                    "missing subcommand: expected imagebus config check [FILE]")
            }
            let named = read.operands.count == 2 ? read.operands[1] : read.last("config")
            guard let named, !named.isEmpty else {
                throw UsageError("no file given: pass FILE or --config, or set IMAGEBUS_CONFIG")
            }
            path = named
            notes = EnvironmentSpelling.notes(
                environment, options: Command.documented.flatMap(\.definitions))
        }
    }

    static func run(_ options: Options) -> Int32 {
        do throws(ConfigurationFileError) {
            return Terminal.finish("config", try report(options))
        } catch {
            Terminal.error(error.lines.map { PlainText.line($0) + "\n" }.joined())
            return errorStatus
        }
    }

    /// Returns the output for a valid file: a summary, and a note for each former name.
    static func report(_ options: Options) throws(ConfigurationFileError) -> String {
        let (configuration, formerNames) = try ConfigurationFile.check(options.path)
        let summary = "\(options.path): ok, \(configuration.summary)"
        var lines = [summary] + formerNames.map { "\(options.path):\($0)" }
        lines += options.notes.map { "note: \($0)" }
        return lines.map { PlainText.line($0) + "\n" }.joined()
    }
}
