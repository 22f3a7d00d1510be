import ConfigurationFile
import Linux
import Model
import ProcessRuntime

/// The program of the coordinator.
package enum CoordinatorProgram {
    /// Runs with these arguments (without the program's name) and returns the exit status.
    package static func run(_ words: [String]) -> Int32 {
        do {
            let arguments = try ProgramArguments(
                words, valued: Bootstrap.valued.union(CoordinatorOptions.valued),
                flags: CoordinatorOptions.flags, formerNames: CoordinatorOptions.formerNames)
            let options = try CoordinatorOptions(arguments)
            // SIGHUP reloads the configuration.
            let bootstrap = try Bootstrap(
                program: "imagebus-coordinator", arguments, signals: [.hangUp])
            var coordinator = try Coordinator(bootstrap, options: options)
            return try coordinator.run()
        } catch {
            Bootstrap.complain("imagebus-coordinator", error)
            return status(of: error)
        }
    }
    /// Returns the exit status of an error. An unusable file is a configuration error, for which a
    /// restart would not help.
    private static func status(of error: any Error) -> Int32 {
        switch error {
        case is ConfigurationFileError: ProgramExit.usage
        case is IdentityKeyError: ProgramExit.configuration
        default: ProgramExit.status(of: error)
        }
    }
}

/// The coordinator's command-line options.
struct CoordinatorOptions: Sendable {
    /// The limits of the scheduler.
    var limits: SchedulerLimits
    /// The file of the installation's secret; `nil` for a secret that lives as long as the process.
    var secretFile: String?
    /// The operator's configuration file; `nil` if there is none.
    var configurationFile: String?
    /// Whether its workers belong to another supervisor: SIGTERM then ends only the coordinator,
    /// and the workers wait for the next one.
    var keepsWorkers: Bool

    /// The number of workers in the drawing pool; 0 to use the configuration.
    var vectorWorkers: Int

    /// The root directory of `local:` URLs; `nil` to reject them.
    var localRoot: String?
    /// The directory of the gateway's watermark; `nil` if the watermark isn't a file.
    var watermarkRoot: String?

    /// The permissions for the gateway that `serve` runs alongside.
    var grant: GatewayGrant

    /// The maximum number of connections of one process at `front/`.
    var connectionsPerProcess: Int

    /// Which requests are logged.
    var requestLogging: RequestLogging

    /// The names of the arguments besides those of every program.
    static let valued = Set([
        "secret-file", "failure-cache-seconds", "failure-cache-entries", "fetch-retries",
        "fetches-per-host", "fetch-order", "queue-limit",
        "log-requests", "config", "connections-per-process", "vector",
        "vouchers", "local-root", "watermark-root", "web-headers",
    ]).union(LimitSetting.allCases.map(\.rawValue))

    /// The names of the arguments without a value.
    static let flags: Set<String> = ["keeps-workers", "web-refresh", "web-removals"]

    /// Former names of arguments, with those that replaced them: a `serve` that was started by an
    /// earlier version may restart this program.
    static let formerNames = [
        "blacklist-seconds": "failure-cache-seconds", "blacklist-entries": "failure-cache-entries",
    ]

    /// Parses the arguments.
    init(_ arguments: ProgramArguments) throws(ProgramArgumentsError) {
        limits = SchedulerLimits()
        try limits.workGraph.read(arguments)
        let seconds = try arguments.number(
            "failure-cache-seconds", else: limits.failureCacheMilliseconds / 1_000)
        limits.failureCacheMilliseconds = min(seconds, Self.secondsMax) * 1_000
        limits.failureCacheMax = try arguments.number(
            "failure-cache-entries", else: limits.failureCacheMax)
        limits.dispatch.fetchRetriesMax = try arguments.number(
            "fetch-retries", else: limits.dispatch.fetchRetriesMax)
        limits.dispatch.fetchesPerHostMax = try arguments.number(
            "fetches-per-host", else: limits.dispatch.fetchesPerHostMax)
        limits.dispatch.queuedJobsMax = try arguments.number(
            "queue-limit", else: limits.dispatch.queuedJobsMax)
        limits.vouchersMax = min(
            try arguments.number("vouchers", else: limits.vouchersMax), Self.vouchersMax)
        connectionsPerProcess = max(
            1,
            try arguments.number(
                "connections-per-process", else: ConnectionLimits.perProcess))
        if let order = arguments.value("fetch-order").flatMap(DispatchLimits.FetchOrder.init) {
            limits.dispatch.fetchOrder = order
        }
        secretFile = arguments.value("secret-file")
        requestLogging =
            arguments.value("log-requests").flatMap(RequestLogging.init(rawValue:)) ?? .misses
        configurationFile = arguments.value("config")
        vectorWorkers = try arguments.number("vector", else: 0)
        (localRoot, watermarkRoot) = (
            arguments.value("local-root"), arguments.value("watermark-root")
        )
        keepsWorkers = arguments.has("keeps-workers")
        grant = GatewayGrant(
            refreshes: arguments.has("web-refresh"), removes: arguments.has("web-removals"),
            headers: arguments.value("web-headers") ?? "")
    }

    /// The loaders for these directories.
    var loaders: [NamedLoader] {
        func loader(_ scheme: String, _ root: String?) -> NamedLoader? {
            guard let root else { return nil }
            var loader = NamedLoader(name: scheme, means: .file(FileRoot(path: root)))
            loader.schemes = [scheme]
            return loader
        }
        return [
            loader(FileRoot.localScheme, localRoot),
            loader(FileRoot.watermarkScheme, watermarkRoot),
        ].compactMap(\.self)
    }

    /// Thirty years, effectively unlimited.
    private static let secondsMax = 1_000_000_000
    private static let vouchersMax = 1 << 20
}

extension WorkGraphLimits {
    /// Parses the image limits.
    fileprivate mutating func read(_ arguments: ProgramArguments) throws(ProgramArgumentsError) {
        func number(_ setting: LimitSetting, else usual: Int) throws(ProgramArgumentsError) -> Int {
            try arguments.number(setting.rawValue, else: usual)
        }
        bodyBytesMax = UInt64(try number(.body, else: Int(bodyBytesMax)))
        image.pixelsMax = try number(.pixels, else: image.pixelsMax)
        image.sideMax = try number(.side, else: image.sideMax)
        image.pagesMax = try number(.pages, else: image.pagesMax)
        image.metadataBytesMax = try number(.metadata, else: image.metadataBytesMax)
        // The byte limit must allow the permitted number of pixels with alpha.
        image.pixelBytesMax = max(image.pixelBytesMax, 4 * image.pixelsMax)
        image = image.clamped(to: .ofWorkers)
    }
}

/// Ensures one coordinator per runtime directory. Binding a Unix socket silently takes its path
/// from the process that served there, so the lock comes first.
enum CoordinatorLock {
    static let fileName = "coordinator.lock"

    /// Acquires the lock, which is held as long as the descriptor is open.
    static func acquire(in paths: RuntimePaths, _ listeners: [Listener]) throws -> FileDescriptor {
        let directory = try FileDescriptor.openDirectory(paths.root)
        let file = try directory.open(fileName, [.readWrite, .create, .noFollow], mode: 0o600)
        guard try file.tryLock(.exclusive) else { throw AlreadyServed(root: paths.root) }
        // The lock shows that nobody serves there, so the sockets are leftovers.
        for listener in listeners {
            try? FileDescriptor.openDirectory(listener.directory(in: paths)).unlink(
                listener.socketName)
        }
        return file
    }

    /// The error that another coordinator is serving.
    struct AlreadyServed: Error, CustomStringConvertible {
        let root: String

        var description: String {
            "another coordinator serves \(root): stop it, or choose another --runtime-dir"
        }
    }
}
