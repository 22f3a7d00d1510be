import CommandLineInterface
import Linux
import Model
import ProcessRuntime
import Supervision

extension Command {
    static let serve = Command(
        name: "serve",
        summary: "run the coordinator and its workers in the foreground",
        usage: "[options]",
        options: [
            (
                "processes",
                [
                    OptionDefinition(
                        "only", value: "KIND", of: .words(ProcessKind.all.map(\.name)),
                        "run only processes of this kind: coordinator, download, cache, "
                            + "decode, transform or gateway"),
                    OptionDefinition(
                        "pool", value: "NAME",
                        "with --only: run the processes of this pool from the configuration "
                            + "(the default pool of the kind)"),
                    OptionDefinition(
                        "input-pools", value: "NAMES",
                        "with --only: comma-separated names of the other pools whose output "
                            + "these processes read"),
                    OptionDefinition("download", value: "N", "download processes (1)"),
                    OptionDefinition("decode", value: "N", "decode processes (one per core)"),
                    OptionDefinition("transform", value: "N", "transform processes (one per core)"),
                    OptionDefinition(
                        "vector", value: "N",
                        "decode processes for SVG and PDF, in the pool 'vector' "
                            + "(0: SVG and PDF are refused)"),
                ]
            ),
            ("HTTP gateway", ServedGateway.definitions),
            (
                "network",
                DownloadSetting.definitions
            ),
            (
                "configuration and directories",
                [
                    .config, .runtimeDirectory, .cacheDirectory, CoordinatorSettings.localRoot,
                    OptionDefinition(
                        "secret-file", value: "FILE",
                        "key that isolates cache entries loaded with credentials; created if "
                            + "missing (identity.key in the cache directory; with --only "
                            + "coordinator a temporary key)"),
                ]
            ),
            ("caches", CacheSetting.definitions),
            ("image limits", CoordinatorSettings.limits),
            ("downloads and queues", CoordinatorSettings.definitions),
            (
                "logging and metrics",
                [
                    .logLevel, .logFormat,
                    OptionDefinition(
                        "log-requests", value: "WHICH",
                        of: .words(RequestLogging.allCases.map(\.rawValue)),
                        "requests to log: all, misses (not answered from memory), slow (over "
                            + "a second, or failed) or none (misses); at most 100 lines/s"),
                    OptionDefinition(
                        "metrics-file", value: "FILE",
                        "write metrics to FILE in the Prometheus text format, for a collector "
                            + "that reads files; removed at exit"),
                    OptionDefinition(
                        "metrics-seconds", value: "N", "seconds between writes (15)"),
                ]
            ),
            (
                "",
                [
                    // A private stack ends with the `get` that started it, and leaves no files
                    // behind.
                    OptionDefinition("parent-pid", value: "PID", visibility: .hidden),
                    OptionDefinition("remove-runtime-dir", visibility: .hidden),
                    OptionDefinition("memory-only", visibility: .hidden),
                    OptionDefinition("yield-cache", visibility: .hidden),
                    OptionDefinition("memory-files", value: "DIRECTORY", visibility: .hidden),
                ]
            ),
        ],
        notes: """
            Prints `ready ENDPOINT` once every process is connected, followed by `gateway URL` if
            there is a gateway. Processes that exit are restarted immediately; clients connecting to
            the gateway wait meanwhile. SIGTERM or Ctrl-C drains the stack: new requests are refused
            and admitted ones are completed within 8 s; a second signal stops it immediately. SIGHUP
            reloads the --config file and the gateway's keys, presets and tokens; each is applied
            completely or not at all. Changes to pools and listeners require a restart.

            exit status: 0 drained, 124 draining timed out, 130 second signal, 75 another serve uses
            the runtime directory, 64 or 78 a process cannot run with these settings
            """,
        examples: [
            ("imagebus serve", "a stack for this user"),
            (
                "imagebus serve --decode 8 --memory-limit 512M --disk-limit 20G",
                "more decoders, with limits for both cache tiers"
            ),
            (
                "imagebus serve --gateway 127.0.0.1:8080 --gateway-unsigned",
                "serve unsigned image URLs over HTTP on the loopback interface"
            ),
            (
                "imagebus serve --allow-address 127.0.0.1:8000",
                "allow one local origin, and no other private address"
            ),
            (
                "imagebus serve --only decode --decode 2 --runtime-dir /run/imagebus",
                "two decoders for a coordinator started separately"
            ),
        ])
}

struct ServeOptions: Hashable {
    /// The kind of `--only`; `nil` for all.
    var only: ProcessKind?
    /// With `--only`, the pool of the processes if it isn't the standard one, and the additional
    /// pools whose segments they read.
    var pools = ServedPools()
    var downloads = 1
    var decoders = 1
    var transformers = 1
    /// The number of workers in the pool for drawings; 0 leaves it to the configuration.
    var drawers = 0
    /// `nil` for none.
    var gateway: ServedGateway?
    /// Settings for the download workers, as arguments.
    var downloadArguments: [String] = []
    var runtimeDirectory: String
    /// `nil` for memory only, or if no cache is served and no directory can be determined.
    var cacheDirectory: String?
    /// Whether to run without the cache directory if another process is using it.
    var yieldsCache = false
    /// A directory in which tests specify the available memory; `nil` to ask the kernel.
    var memoryFiles: String?
    /// The limits and settings of the caches, as arguments.
    var cacheArguments: [String] = []
    /// Settings for the coordinator, as arguments.
    var coordinatorArguments: [String] = []
    /// The file with the coordinator's key; `nil` for that in the cache directory, if any.
    var secretFile: String?
    /// The coordinator's configuration file; `nil` if there is none or no coordinator is served.
    var configurationFile: String?
    var log = LogOptions()
    var requestLogging = RequestLogging.misses
    var metricsFile: MetricsFileOptions?
    /// A variable of another image server that is ignored because there is no gateway; `nil` if
    /// there is none.
    let ignoredVariable: String?
    /// The process with which this one ends.
    var parent: Int32?
    /// Whether the runtime directory is removed at the end.
    var removesRuntimeDirectory = false

    /// The maximum number of processes of a kind.
    static let processesMax = 256

    init(_ given: ReadOptions, environment: [String: String]) throws(UsageError) {
        try given.checkNoOperands()
        only = try given.parsed("only", OptionValue.kind)
        let peers = try PeerVariables(given, only: only, environment: environment)
        let read = peers.read
        ignoredVariable = peers.ignored
        pools = try ServedPools(read, only: only?.stackKind)
        gateway = try ServedGateway(read, only: only, secrets: peers.secrets)
        let cores = CurrentProcess.processorCount
        downloads = try read.integer("download", in: 0...Self.processesMax) ?? 1
        decoders = try read.integer("decode", in: 0...Self.processesMax) ?? cores
        transformers = try read.integer("transform", in: 0...Self.processesMax) ?? cores
        drawers = try read.integer("vector", in: 0...Self.processesMax) ?? 0
        downloadArguments = try read.arguments(DownloadSetting.definitions)
        runtimeDirectory = try read.runtimeDirectory(environment)
        let isMemoryOnly = read.isSet("memory-only")
        cacheDirectory = isMemoryOnly ? nil : try read.cacheDirectory(environment)
        yieldsCache = read.isSet("yield-cache")
        cacheArguments = try read.arguments(CacheSetting.definitions)
        memoryFiles = try read.parsed("memory-files", OptionValue.path)
        coordinatorArguments = try read.arguments(
            CoordinatorSettings.definitions + CoordinatorSettings.limits
                + [CoordinatorSettings.localRoot])
        log = try LogOptions(read)
        requestLogging = try read.word("log-requests") ?? .misses
        metricsFile = try MetricsFileOptions(read, hasMetrics: kinds.contains(.coordinator))
        configurationFile =
            kinds.contains(.coordinator) || only == .gateway
            ? try read.parsed("config", OptionValue.path) : nil
        secretFile =
            kinds.contains(.coordinator) ? try read.parsed("secret-file", OptionValue.path) : nil
        parent = try read.integer("parent-pid", in: 1...Int(Int32.max)).map { Int32($0) }
        removesRuntimeDirectory = read.isSet("remove-runtime-dir")
        guard cacheDirectory != nil || isMemoryOnly || !kinds.contains(.cache) else {
            throw UsageError(
                "no cache directory: XDG_CACHE_HOME and HOME are not set; pass "
                    + "--cache-dir DIRECTORY")
        }
        guard !kinds.isEmpty || gateway != nil else {
            throw UsageError(
                "no processes to run: set --download, --decode or --transform to at least 1")
        }
    }

    /// The kinds of the stack's processes, one element per process, the coordinator first.
    var kinds: [WorkerKind] {
        let all: [WorkerKind] =
            [.coordinator, .cache]
            + Array(repeating: .download, count: downloads)
            + Array(repeating: .decode, count: decoders)
            + Array(repeating: .transform, count: transformers)
        return only.map { only in all.filter { .stack($0) == only } } ?? all
    }
}

// Options that `serve` passes to its processes. Their values are checked here, so that a mistake is
// a usage error and not a process that fails to start.

/// The options for the coordinator.
enum CoordinatorSettings {
    /// The options that limit images.
    static let limits: [OptionDefinition] = [
        (
            LimitSetting.pixels, "N",
            "maximum pixels decoded per image, such as 50M (100M); profiles and "
                + "rules in the --config file can lower this and the next four limits"
        ), (.side, "N", "maximum width and height of an image (32767)"),
        (.body, "BYTES", "maximum size of a downloaded or uploaded image (64M)"),
        (.pages, "N", "maximum pages or frames per file (10000)"),
        (.metadata, "BYTES", "maximum size of ICC profile, EXIF, XMP and text per file (16M)"),
    ].map { (setting: LimitSetting, value: String, help: String) in
        OptionDefinition(setting.rawValue, value: value, help).checked {
            (text) throws(UsageError) in
            "\(try OptionValue.expect(setting.value(of: text), setting.expected, text))"
        }
    }

    static let localRoot = OptionDefinition(
        "local-root", value: "DIRECTORY",
        "serve local:///PATH from this directory, which the download process "
            + "must be able to read; links must not lead out of it"
    ).checked { (text) throws(UsageError) in
        let path = try OptionValue.path(text)
        return try OptionValue.expect(
            FileRoot.isPath(path) ? path : nil,
            "a valid directory path: use at most \(FileRoot.bytesMax) bytes, without '.' and '..'",
            text)
    }

    /// The other options.
    static let definitions: [OptionDefinition] = [
        number("fetch-retries", 0...10, "retries after a temporary download failure (2)"),
        number("fetches-per-host", 0...65_536, "concurrent downloads per host (64; 0: no limit)"),
        OptionDefinition(
            "fetch-order", value: "ORDER", of: .words(["fifo", "lifo"]),
            "order of queued downloads: fifo, or lifo (newest first) (fifo)"
        ).checked { (text) throws(UsageError) in
            try OptionValue.word(text, [("fifo", text), ("lifo", text)])
        },
        number(
            "failure-cache-seconds", 0...366 * 86_400,
            "seconds that the failure cache keeps a failed URL (600; 0: forever)"
        ).formerly(["blacklist-seconds"]),
        number(
            "failure-cache-entries", 0...1_000_000,
            "maximum entries of the failure cache (10000; 0: disabled)"
        ).formerly(["blacklist-entries"]),
        number(
            "queue-limit", 1...1_000_000,
            "maximum queued jobs per kind of worker; further requests fail with busy (16384)"),
        number(
            "connections-per-process", 1...8_192,
            "maximum clients per process; further ones are refused with busy (64)"),
        number(
            "vouchers", 0...1_048_576,
            "maximum vouchers for client-side memory hits (131072; 0: disabled)"),
    ]

    private static func number(
        _ name: String, _ range: ClosedRange<Int>, _ help: String
    ) -> OptionDefinition {
        OptionDefinition(name, value: "N", help).checked { (text) throws(UsageError) in
            "\(try OptionValue.integer(text, in: range))"
        }
    }
}

extension CacheSetting {
    /// The options for the cache process.
    static let definitions = allCases.map { setting in
        OptionDefinition(
            setting.rawValue, value: setting.placeholder,
            of: setting == .expireType ? .words(expireTypes) : nil, setting.help
        ).checked { (text) throws(UsageError) in
            guard let value = setting.value(of: text) else {
                throw UsageError(
                    setting.belowMinimum(text) ?? "'\(text)' is not \(setting.expected)")
            }
            return setting.text(of: value)
        }
    }

    /// Returns the error for a limit of too few bytes, which suggests a unit; else `nil`.
    private func belowMinimum(_ text: String) -> String? {
        guard countsBytes, let count = PlainNumber.integer(text),
            (1..<Int(Self.bytesMin)).contains(count)
        else { return nil }
        let least = Self.bytesMin
        return "'\(text)' is below the minimum of \(least >> 20)M (\(least) bytes). Did you mean "
            + "\(count)M?"
    }
}

extension DownloadSetting {
    /// The options for the download workers.
    static let definitions =
        OptionDefinition.network
        + allCases.map { setting in
            OptionDefinition(setting.rawValue, value: setting.placeholder, setting.help).checked {
                (text) throws(UsageError) in
                try OptionValue.expect(
                    setting.value(of: text).map { _ in text }, setting.expected, text)
            }
        }
}

/// The pools for serving the workers of one kind separately: their own pool, and additional pools
/// whose segments they read. A `serve` for all kinds takes these from the configuration.
struct ServedPools: Hashable {
    /// `nil` for the standard pool of the kind.
    var own: WorkerPool?
    var inputs: [PoolName] = []

    init() {}

    init(_ read: ReadOptions, only kind: WorkerKind?) throws(UsageError) {
        let name = try read.parsed("pool", Self.name)
        inputs =
            try read.parsed("input-pools") { (text) throws(UsageError) in
                var names: [PoolName] = []
                for part in text.split(separator: ",") { names.append(try Self.name(String(part))) }
                return names
            } ?? []
        guard name != nil || !inputs.isEmpty else { return }
        guard let kind, WorkerPool.kinds.contains(kind) else {
            throw UsageError("--pool and --input-pools require --only download|decode|transform")
        }
        guard let name, name != PoolName(kind) else { return }
        guard WorkerKind(name: name.text) == nil else {
            throw UsageError("--pool: '\(name)' is the default pool of another kind")
        }
        guard name != .vector || kind == .decode else {
            throw UsageError("--pool vector requires --only decode")
        }
        own = WorkerPool(name: name, kind: kind)
    }

    private static func name(_ text: String) throws(UsageError) -> PoolName {
        let expected =
            "a valid pool name: use a lowercase letter followed by lowercase letters, digits and "
            + "'-', at most \(PoolName.bytesMax) characters"
        return try OptionValue.expect(PoolName(text), expected, text)
    }
}
