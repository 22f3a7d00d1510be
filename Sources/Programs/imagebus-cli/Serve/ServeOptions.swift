import CommandLineInterface
import ImageModel
import Linux
import Messages
import Observability
import StackAccess
import Supervision

extension Command {
    static let serve = Command(
        name: "serve",
        summary: "run coordinator and workers, supervised, in the foreground",
        usage: "[options]",
        options: [
            (
                "processes",
                [
                    OptionDefinition(
                        "only", value: "KIND", of: .words(ProcessKind.all.map(\.name)),
                        "only these: coordinator, download, cache, decode, transform or\n"
                            + "gateway"),
                    OptionDefinition(
                        "pool", value: "NAME",
                        "with --only: processes of that pool of the configuration, in place\n"
                            + "of the one that every stack has of the kind"),
                    OptionDefinition(
                        "input-pools", value: "NAMES",
                        "with --only: further pools whose segments they read, with commas"),
                    OptionDefinition("download", value: "N", "download processes (1)"),
                    OptionDefinition("decode", value: "N", "decode processes (one a core)"),
                    OptionDefinition("transform", value: "N", "transform processes (one a core)"),
                    OptionDefinition(
                        "vector", value: "N",
                        "decode processes of the pool 'vector', which draw SVG and PDF\n"
                            + "(0: both are refused)"),
                ]
            ),
            ("images over HTTP", ServedGateway.definitions),
            (
                "network",
                [.allowPrivateNetworks, .allowAddress, .denyAddress, .certificates]
                    + DownloadSettings.definitions
            ),
            (
                "places",
                [
                    .config, .runtimeDirectory, .cacheDirectory,
                    OptionDefinition(
                        "local-root", value: "DIRECTORY",
                        "answer local:///PATH with the files of this directory, which the\n"
                            + "download process has to be able to read; no link leads out of it"),
                    OptionDefinition(
                        "secret-file", value: "FILE",
                        "the key that keeps what is cached for different users apart;\n"
                            + "made where it is missing (identity.key in the cache\n"
                            + "directory; with --only coordinator none that lasts)"),
                ]
            ),
            ("caches", CacheSettings.definitions),
            ("limits of images", CoordinatorSettings.limits),
            ("downloads and queues", CoordinatorSettings.definitions),
            (
                "log and figures",
                [
                    .logLevel, .logFormat,
                    OptionDefinition(
                        "log-requests", value: "WHICH",
                        of: .words(RequestLogging.allCases.map(\.rawValue)),
                        "a line for each request: all, misses (not those that memory\n"
                            + "answered), slow (a second, or failed) or none (misses); at\n"
                            + "most 100 lines a second"),
                    OptionDefinition(
                        "metrics-file", value: "FILE",
                        "keep the figures there in the text format of Prometheus, for a\n"
                            + "collector that reads files; removed at the end"),
                    OptionDefinition(
                        "metrics-seconds", value: "N", "write them so often (15)"),
                ]
            ),
            (
                "",
                [
                    // A private stack ends with the `get` that started it, and leaves nothing.
                    OptionDefinition("parent-pid", value: "PID", visibility: .hidden),
                    OptionDefinition("remove-runtime-dir", visibility: .hidden),
                    OptionDefinition("memory-only", visibility: .hidden),
                    OptionDefinition("yield-cache", visibility: .hidden),
                    OptionDefinition("memory-files", value: "DIRECTORY", visibility: .hidden),
                ]
            ),
        ],
        notes: """
            Prints one line `ready ENDPOINT` once every process is part of the stack, and behind it
            `gateway URL` where there is one. A process that dies comes back at once; who connects
            to the gateway meanwhile waits. SIGTERM or Ctrl-C drains: nothing new is admitted, what
            was admitted is finished, within 8 s; a second one ends all now. SIGHUP reloads the
            file of --config, and keys, presets and tokens of the gateway, each whole or not at
            all; other pools need a restart.

            exit status: 0 drained, 124 the drain took too long, 130 a second signal, 75 another
            serve holds the runtime directory, 64 or 78 a process cannot run with these settings
            """,
        examples: [
            ("imagebus serve", "one stack for this user"),
            (
                "imagebus serve --decode 8 --memory-limit 512M --disk-limit 20G",
                "more decoders, and limits for both tiers"
            ),
            (
                "imagebus serve --gateway 127.0.0.1:8080 --gateway-unsigned",
                "images over HTTP, for whoever reaches this machine's loopback"
            ),
            (
                "imagebus serve --allow-address 127.0.0.1:8000",
                "one local origin, and no other private address"
            ),
            (
                "imagebus serve --only decode --decode 2 --runtime-dir /run/imagebus",
                "two decoders for a coordinator that runs elsewhere"
            ),
        ])
}

/// What `serve` was told.
struct ServeOptions: Hashable {
    /// nil: all kinds.
    var only: ProcessKind?
    /// The pool of these, where it is not the one that every stack has; the pools whose segments
    /// they read besides those of every stack.
    var pools = ServedPools()
    var downloads = 1
    var decoders = 1
    var transformers = 1
    /// Those of the pool that draws; 0: what the configuration says.
    var drawers = 0
    /// nil: none.
    var gateway: ServedGateway?
    var network = NetworkOptions()
    var downloadSettings = DownloadSettings()
    var runtimeDirectory: String
    /// nil: memory only, or no cache is served and nothing says where it is.
    var cacheDirectory: String?
    /// Whether a cache directory that another process uses is done without.
    var yieldsCache = false
    /// Where tests say how much memory there is; nil: the kernel says it.
    var memoryFiles: String?
    /// Limits of the caches, and how they are used.
    var cache = CacheSettings()
    var coordinator = CoordinatorSettings()
    /// The coordinator's key; nil: that of the cache directory, if any.
    var secretFile: String?
    /// The coordinator's configuration; nil: none, or no coordinator is served.
    var configurationFile: String?
    var log = LogOptions()
    var requestLogging = RequestLogging.misses
    var metricsFile: MetricsFileOptions?
    /// A variable of another image server, which is not read without a gateway; nil: there is none.
    let ignoredVariable: String?
    /// Ends together with this process.
    var parent: Int32?
    /// Whether the runtime directory goes at the end.
    var removesRuntimeDirectory = false

    /// Processes of one kind.
    static let processesMax = 256

    init(_ given: ReadOptions, environment: [String: String]) throws(UsageError) {
        if let operand = given.operands.first { throw UsageError("'\(operand)' is no option") }
        only = try given.parsed("only", OptionValue.kind)
        let peers = try PeerVariables(given, only: only, environment: environment)
        let read = peers.read
        ignoredVariable = peers.ignored
        pools = try ServedPools(read, only: only?.stackKind)
        gateway = try ServedGateway(read, only: only, secrets: peers.secrets)
        let cores = CurrentProcess.processorCount
        downloads = try Self.count("download", read, atMost: Self.processesMax) ?? 1
        decoders = try Self.count("decode", read, atMost: Self.processesMax) ?? cores
        transformers = try Self.count("transform", read, atMost: Self.processesMax) ?? cores
        drawers = try Self.count("vector", read, atMost: Self.processesMax) ?? 0
        network = try NetworkOptions(read)
        downloadSettings = try DownloadSettings(read)
        runtimeDirectory = try read.runtimeDirectory(environment)
        let isMemoryOnly = read.isSet("memory-only")
        cacheDirectory = isMemoryOnly ? nil : try read.cacheDirectory(environment)
        yieldsCache = read.isSet("yield-cache")
        cache = try CacheSettings(read)
        memoryFiles = try read.parsed("memory-files", OptionValue.path)
        coordinator = try CoordinatorSettings(read)
        log = try LogOptions(read)
        requestLogging =
            try read.parsed("log-requests") { (text) throws(UsageError) in
                try OptionValue.word(text, RequestLogging.allCases.map { ($0.rawValue, $0) })
            } ?? .misses
        metricsFile = try Self.metricsFile(read, hasFigures: kinds.contains(.coordinator))
        configurationFile =
            kinds.contains(.coordinator) || only == .gateway
            ? try read.parsed("config", OptionValue.path) : nil
        secretFile =
            kinds.contains(.coordinator) ? try read.parsed("secret-file", OptionValue.path) : nil
        parent = try read.parsed("parent-pid") { (text) throws(UsageError) in
            Int32(try OptionValue.integer(text, in: 1...Int(Int32.max)))
        }
        removesRuntimeDirectory = read.isSet("remove-runtime-dir")
        guard cacheDirectory != nil || isMemoryOnly || !kinds.contains(.cache) else {
            throw UsageError(
                "neither XDG_CACHE_HOME nor HOME says where the cache is: "
                    + "name a --cache-dir")
        }
        guard !kinds.isEmpty || gateway != nil else {
            throw UsageError("there is no process to run")
        }
    }

    /// One for each process of the stack, the coordinator first.
    var kinds: [WorkerKind] {
        let all: [WorkerKind] =
            [.coordinator, .cache]
            + Array(repeating: .download, count: downloads)
            + Array(repeating: .decode, count: decoders)
            + Array(repeating: .transform, count: transformers)
        return only.map { only in all.filter { .stack($0) == only } } ?? all
    }

    /// Several services may share one environment: what it says of the figures is for the one
    /// that has them.
    private static func metricsFile(
        _ read: ReadOptions, hasFigures: Bool
    ) throws(UsageError) -> MetricsFileOptions? {
        var read = read
        if !hasFigures { read.entries.removeAll { $0.origin == .environment } }
        let file = try MetricsFileOptions(read)
        guard file == nil || hasFigures else {
            throw UsageError("--metrics-file: only who serves the coordinator has figures")
        }
        return file
    }

    private static func count(
        _ name: String, _ read: ReadOptions, atMost limit: Int
    ) throws(UsageError) -> Int? {
        try read.parsed(name) { (text) throws(UsageError) in
            try OptionValue.integer(text, in: 0...limit)
        }
    }
}

/// What `serve` hands on to its coordinator as it was said: checked here, so that a mistake is a
/// usage error and no process that does not start.
struct CoordinatorSettings: Hashable {
    /// For the coordinator, in the order of `numbers`.
    private(set) var arguments: [String] = []

    /// Numbers, and how large they may be.
    private static let numbers: [(name: String, range: ClosedRange<Int>)] = [
        ("blacklist-seconds", 0...366 * 86_400),
        ("blacklist-entries", 0...1_000_000),
        ("fetch-retries", 0...10),
        ("fetches-per-host", 0...65_536),
        ("queue-limit", 1...1_000_000),
        ("connections-per-process", 1...8_192),
        ("vouchers", 0...1_048_576),
    ]

    init() {}

    init(_ read: ReadOptions) throws(UsageError) {
        for (name, range) in Self.numbers {
            let number = try read.parsed(name) { (text) throws(UsageError) in
                try OptionValue.integer(text, in: range)
            }
            if let number { arguments += ["--\(name)", "\(number)"] }
        }
        for setting in LimitSetting.allCases {
            let limit = try read.parsed(setting.rawValue, as: setting.expected) {
                setting.value(of: $0)
            }
            if let limit { arguments += ["--\(setting.rawValue)", "\(limit)"] }
        }
        let order = try read.parsed("fetch-order") { (text) throws(UsageError) in
            try OptionValue.word(text, [("fifo", text), ("lifo", text)])
        }
        if let order { arguments += ["--fetch-order", order] }
        let root = try read.parsed("local-root") { (text) throws(UsageError) in
            let path = try OptionValue.path(text)
            guard FileRoot.isPath(path) else {
                throw UsageError(
                    "'\(text)' is not the path of a directory: it has at most "
                        + "\(FileRoot.bytesMax) bytes, and no '.' or '..'")
            }
            return path
        }
        if let root { arguments += ["--local-root", root] }
    }

    /// What the help says of the limits of images.
    static let limits: [OptionDefinition] = [
        OptionDefinition(
            LimitSetting.pixels.rawValue, value: "N",
            "pixels of what is decoded of an image, such as 50M (100M); a\n"
                + "profile or rule of --config may make this and the next four\n"
                + "limits narrower"),
        OptionDefinition(
            LimitSetting.side.rawValue, value: "N", "columns or rows of it (32767)"),
        OptionDefinition(
            LimitSetting.body.rawValue, value: "BYTES",
            "of an image as it is fetched or uploaded (64M)"),
        OptionDefinition(
            LimitSetting.pages.rawValue, value: "N", "pages or frames of a file (10000)"),
        OptionDefinition(
            LimitSetting.metadata.rawValue, value: "BYTES",
            "of profile, EXIF, XMP and other texts of a file (16M)"),
    ]

    /// What the help says of them.
    static let definitions: [OptionDefinition] = [
        OptionDefinition(
            "fetch-retries", value: "N",
            "further attempts of a download that failed temporarily (2)"),
        OptionDefinition(
            "fetches-per-host", value: "N",
            "downloads of one host at a time (64; 0 without a limit)"),
        OptionDefinition(
            "fetch-order", value: "ORDER", of: .words(["fifo", "lifo"]),
            "fifo, or lifo: the newest first"),
        OptionDefinition(
            "blacklist-seconds", value: "N",
            "for which a URL that failed for good is refused (600; 0 for ever)"),
        OptionDefinition(
            "blacklist-entries", value: "N",
            "of them, the oldest makes room (10000; 0 none)"),
        OptionDefinition(
            "queue-limit", value: "N",
            "jobs that wait for one kind of worker; one more is busy (16384)"),
        OptionDefinition(
            "connections-per-process", value: "N",
            "clients that one process may have; one more is busy (64)"),
        OptionDefinition(
            "vouchers", value: "N",
            "answers that clients may repeat without asking (131072; 0 none)"),
    ]
}

extension CacheSettings {
    /// What the help says of the settings.
    static let definitions = CacheSetting.allCases.map { setting in
        OptionDefinition(
            setting.rawValue, value: setting.placeholder,
            of: setting == .expireType ? .words(CacheSetting.expireTypes) : nil, setting.help)
    }

    /// Checked here, so that a mistake is a usage error and no process that does not start.
    init(_ read: ReadOptions) throws(UsageError) {
        self.init()
        for setting in CacheSetting.allCases {
            self[setting] = try read.parsed(setting.rawValue) { (text) throws(UsageError) in
                guard let value = setting.value(of: text) else {
                    throw UsageError(
                        "'\(text)' is not \(setting.expected)\(Self.advice(setting, text))")
                }
                return value
            }
        }
    }

    /// A limit of a few bytes lacks its unit.
    private static func advice(_ setting: CacheSetting, _ text: String) -> String {
        guard setting.countsBytes, let count = PlainNumber.integer(text),
            (1..<Int(CacheSetting.bytesMin)).contains(count)
        else { return "" }
        return "; did you mean \(count)M?"
    }

    /// For the process of the cache.
    var arguments: [String] {
        said.flatMap { ["--\($0.setting.rawValue)", $0.setting.text(of: $0.value)] }
    }
}

/// What `serve` hands on to its download workers as it was said: checked here, so that a mistake is
/// a usage error and no process that does not start.
struct DownloadSettings: Hashable {
    private(set) var arguments: [String] = []

    init() {}

    init(_ read: ReadOptions) throws(UsageError) {
        for setting in DownloadSetting.allCases {
            let said = try read.parsed(setting.rawValue, as: setting.expected) { text in
                setting.value(of: text).map { _ in text }
            }
            if let said { arguments += ["--\(setting.rawValue)", said] }
        }
    }

    /// What the help says of the settings.
    static let definitions = DownloadSetting.allCases.map { setting in
        OptionDefinition(setting.rawValue, value: setting.placeholder, setting.help)
    }
}

/// Where the workers of one kind are served apart: their pool, and the further pools whose segments
/// they read. Under one `serve` for all kinds the configuration says so.
struct ServedPools: Hashable {
    /// nil: the pool that every stack has of the kind.
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
            throw UsageError("--pool and --input-pools: with --only download, decode or transform")
        }
        guard let name, name != PoolName(kind) else { return }
        guard WorkerKind(name: name.text) == nil else {
            throw UsageError("--pool: '\(name)' is the pool of another kind")
        }
        guard name != .vector || kind == .decode else {
            throw UsageError("--pool: 'vector' is a pool of decoders")
        }
        own = WorkerPool(name: name, kind: kind)
    }

    private static func name(_ text: String) throws(UsageError) -> PoolName {
        guard let name = PoolName(text) else {
            throw UsageError(
                "'\(text)' is no name of a pool: a small letter, then small letters, digits and "
                    + "'-', at most \(PoolName.bytesMax) in all")
        }
        return name
    }
}
