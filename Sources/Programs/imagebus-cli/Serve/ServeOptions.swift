import CommandLineInterface
import Linux
import Messages
import Observability
import StackAccess
import Supervision

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
