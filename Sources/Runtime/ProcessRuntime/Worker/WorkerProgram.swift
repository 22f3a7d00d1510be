import Linux
public import Model

/// The program of a worker, except for the code of its kind.
public enum WorkerProgram {
    /// Runs a worker of `kind` with these arguments (without the program's name) and returns the
    /// exit status. `valued` and `flags` name the arguments of this kind; `build` creates its
    /// machine after signals, parent and paths are set up. `abilities` returns what it can do on
    /// this system.
    public static func run(
        _ kind: WorkerKind, _ words: [String], valued: Set<String> = [], flags: Set<String> = [],
        abilities: () -> WorkerAbilities = { WorkerAbilities() },
        build: (WorkerParts) throws -> WorkerMachine
    ) -> Int32 {
        if words == [WorkerAbilities.argument] { return abilities().write() }
        let program = "imagebus-\(kind.name)"
        // Before any other thread exists, so that all threads inherit it. If it isn't permitted,
        // this process has the same priority as those that answer requests.
        if kind != .cache { try? Thread.standBack(by: nice) }
        do {
            let arguments = try ProgramArguments(
                words,
                valued: Bootstrap.valued.union(WorkerPolicy.valued).union(valued)
                    .union(WorkerPlace.valued),
                flags: flags)
            let end = try work(kind, arguments, program, .own, build)
            // Exit handlers would unload libraries that a thread still uses.
            if end.isWorking { CurrentProcess.endAtOnce(end.status) }
            return end.status
        } catch {
            Bootstrap.complain(program, error)
            return ProgramExit.status(of: error)
        }
    }

    /// The nice value of processes that produce images, so that a fully loaded machine still
    /// answers hits.
    private static let nice: Int32 = 10

    private static func work(
        _ kind: WorkerKind, _ arguments: ProgramArguments, _ program: String, _ trust: WorkerTrust,
        _ build: (WorkerParts) throws -> WorkerMachine
    ) throws -> (status: Int32, isWorking: Bool) {
        let isOwn = trust == .own
        let place = try WorkerPlace(arguments, kind)
        let policy = isOwn ? try WorkerPolicy(arguments, for: kind, in: place.pool) : .external
        let bootstrap = try Bootstrap(program: program, arguments, beats: !isOwn)
        let reporter = try WorkerReporter()
        let parts = WorkerParts(
            place: place, arguments: arguments, paths: bootstrap.paths,
            incarnation: bootstrap.incarnation, log: bootstrap.log, reporter: reporter)
        // Building the machine may close the file system for further opens.
        var memory: ProcessMemoryGauge?
        if isOwn { memory = try? ProcessMemoryGauge() }
        let machine = try build(parts)
        // On every exit path, since no supervisor removes the segments of external programs.
        defer { if !isOwn { for arena in machine.arenas { arena.unlinkAll() } } }
        var loop = try WorkerLoop(
            pool: place.pool, bootstrap: bootstrap, machine: machine, reporter: reporter,
            memory: memory, policy: policy, trust: trust)
        let status = try loop.run()
        return (status, loop.isWorking)
    }
}

/// The parts from which a worker's machine is built.
public struct WorkerParts: Sendable {
    /// The worker's pool, and the pools whose segments it reads.
    public let place: WorkerPlace
    /// The arguments of the program.
    public let arguments: ProgramArguments
    /// The paths of the stack.
    public let paths: RuntimePaths
    /// The incarnation of this process.
    public let incarnation: Incarnation
    /// The log, written to stderr.
    public let log: Log
    /// The reporter to the bus thread.
    public let reporter: WorkerReporter

    private static let arenaBytesDefault = 1 << 30

    /// The size limit of `arena/<pool>/` in bytes: `--arena-limit`, else 1 GiB.
    public var arenaBytesMax: Int {
        get throws { try arguments.number("arena-limit", else: Self.arenaBytesDefault) }
    }

    /// The directories of other processes' segments.
    public var directories: SegmentDirectories {
        paths.segmentDirectories
    }

    /// Creates the arena that other stages read.
    public func stageArena() throws -> Arena {
        try Arena(
            directory: paths.arenaDirectory(place.pool), name: .stage, incarnation: incarnation,
            totalBytesMax: try arenaBytesMax)
    }
}

/// The kind-specific part of a worker.
public struct WorkerMachine {
    /// Executes the jobs.
    public let executor: any JobExecutor
    /// All arenas from which it allocates.
    public let arenas: [Arena]
    /// The active sandbox layers.
    public let sandbox: SandboxLayers
    /// The capabilities of this process, of those that its pool may be granted.
    public let capabilities: WorkerCapabilities

    /// Creates a machine from its parts.
    public init(
        executor: any JobExecutor, arenas: [Arena], sandbox: SandboxLayers = [],
        capabilities: WorkerCapabilities = .all
    ) {
        self.executor = executor
        self.arenas = arenas
        self.sandbox = sandbox
        self.capabilities = capabilities
    }
}

extension WorkerProgram {
    /// The names of the arguments of `runExternal`.
    public static let externalValued = Bootstrap.valued.union(WorkerPlace.valued)

    /// Runs a worker of an external pool (PROTOCOL §8.1.1) and returns the exit status. Like `run`,
    /// except that the process is not recycled and does not lower its priority. `program` is its
    /// name in the log.
    ///
    /// Work may continue after the return: end the process with `CurrentProcess.endAtOnce`.
    public static func runExternal(
        _ kind: WorkerKind, _ arguments: ProgramArguments, program: String,
        build: (WorkerParts) throws -> WorkerMachine
    ) -> Int32 {
        do {
            return try work(kind, arguments, program, .external, build).status
        } catch {
            Bootstrap.complain(program, error)
            return ProgramExit.status(of: error)
        }
    }
}

extension WorkerPolicy {
    /// The policy of an external program, which manages its own memory and might not be restarted
    /// by anyone.
    static var external: WorkerPolicy {
        var policy = WorkerPolicy()
        policy.hangSeconds = nil
        (policy.jobsMax, policy.privateBytesMax) = (.max, .max)
        return policy
    }
}

extension WorkerParts {
    /// Creates the arena of an external pool's process. Since nothing else removes its segments, it
    /// also removes those of killed processes of the pool.
    ///
    /// Throws if the stack has no such pool.
    public func externalArena() throws -> Arena {
        let directory = paths.arenaDirectory(place.pool)
        do throws(Errno) {
            _ = try FileDescriptor.openDirectory(directory)
        } catch {
            throw ConfigurationError(
                "cannot open \(directory) (\(error)): the stack is not running, or its "
                    + "configuration has no pool '\(place.pool)' with 'trust: external'")
        }
        let removed = try OrphanSegments.removeOrphans(in: directory)
        if removed > 0 {
            log.info("removed segments of exited processes", ["count": LogValue(removed)])
        }
        return try Arena(
            directory: directory, name: .stage, incarnation: incarnation,
            totalBytesMax: try arenaBytesMax, isLocked: true)
    }
}

/// Whether a worker is part of the stack: determines how it sends heartbeats and authenticates.
public enum WorkerTrust: Hashable, Sendable {
    /// A program of the stack: a control segment, and a secret inherited from its supervisor on a
    /// descriptor.
    case own
    /// An external program (PROTOCOL §8.1.1): reads the secret from its pool's file before each
    /// hello, because the next `serve` writes new ones, and reports as in PROTOCOL §10.3 if a
    /// supervisor reads that.
    case external
}

/// The pool of a worker, and the additional pools whose segments it reads.
public struct WorkerPlace: Hashable, Sendable {
    /// `--pool`, else the default pool of its kind.
    public let pool: PoolName
    /// The pools named by `--input-pool`.
    public let inputs: [PoolName]

    /// The names of these arguments and of the arena's limit.
    static let valued: Set<String> = ["pool", "input-pool", "arena-limit"]

    /// Throws for an invalid pool name.
    public init(
        _ arguments: ProgramArguments, _ kind: WorkerKind
    ) throws(ConfigurationError) {
        pool = try arguments.value("pool").map(Self.name) ?? PoolName(kind)
        var inputs: [PoolName] = []
        for text in arguments.all("input-pool") { inputs.append(try Self.name(text)) }
        self.inputs = inputs
    }

    private static func name(_ text: String) throws(ConfigurationError) -> PoolName {
        guard let name = PoolName(text) else {
            throw ConfigurationError(
                "'\(text)' is not a valid pool name: expected a lowercase letter, then lowercase "
                    + "letters, digits and '-', at most \(PoolName.bytesMax) characters in total")
        }
        return name
    }
}

/// When a worker exits by itself.
public struct WorkerPolicy: Hashable, Sendable {
    /// Milliseconds from a cancellation to the end of a process whose native code ignores it
    /// (SEMANTICS §8.3).
    public var cancelGraceMilliseconds = 500
    /// CPU seconds that no image within the limits needs; `nil` if the duration of the work depends
    /// on the request.
    public var hangSeconds: Int? = 20
    /// Whether a job is stopped as soon as it exceeds that CPU time, not only at its deadline.
    /// Drawings may take forever, and a worker draws one at a time.
    public var stopsHangs = false
    /// The number of jobs after which the process is recycled; not for the cache, whose memory tier
    /// is worth more.
    public var jobsMax = 100_000
    /// The resident memory in bytes, without shared segments, above which the process is recycled.
    public var privateBytesMax = 1 << 30

    /// Creates the default policy.
    public init() {}

    /// The names of the arguments that change it.
    static let valued: Set<String> = ["recycle-jobs", "recycle-bytes"]

    /// Creates the policy of a kind, with its defaults for missing arguments. Throws for an invalid
    /// number.
    init(
        _ arguments: ProgramArguments, for kind: WorkerKind, in pool: PoolName? = nil
    ) throws(ProgramArgumentsError) {
        if kind == .decode, pool == .vector {
            (hangSeconds, stopsHangs) = (Self.drawingSeconds, true)
        }
        if kind == .cache { jobsMax = .max }
        // A large lossless WebP takes minutes, and a cancellation meanwhile is not evidence against
        // it.
        if kind != .decode { hangSeconds = nil }
        jobsMax = try arguments.number("recycle-jobs", else: jobsMax)
        privateBytesMax = try arguments.number("recycle-bytes", else: privateBytesMax)
    }

    /// CPU seconds for one drawing.
    static let drawingSeconds = 5

    /// Returns whether to check memory after this number of jobs: it costs two system calls, so only
    /// after the first and then after every 64th job.
    func looksAtMemory(after jobs: Int) -> Bool { jobs == 1 || jobs % 64 == 0 }

    /// Returns whether a job that used this CPU time, in nanoseconds, is hung.
    func hangs(after nanoseconds: UInt64) -> Bool {
        hangSeconds.map { nanoseconds >= UInt64($0) * 1_000_000_000 } ?? false
    }

    /// Returns whether to recycle the process after this number of jobs; `privateBytes` is `nil` if
    /// it was not measured.
    func isSpent(jobs: Int, privateBytes: UInt64?) -> Bool {
        jobs >= jobsMax || privateBytes.map { $0 > UInt64(privateBytesMax) } ?? false
    }
}

/// What a worker's program can do on this system, as printed for `--abilities`: a line for each
/// format and for each loaded image library.
public struct WorkerAbilities: Sendable {
    /// The formats that it decodes.
    public var reads: [String] = []
    /// The formats that it encodes.
    public var writes: [String] = []
    /// What is missing on this system, in sentences.
    public var missing: [String] = []

    /// The argument; must be the only one.
    public static let argument = "--abilities"

    /// Creates an empty list, which only prints libraries.
    public init() {}

    /// Returns the lines `reads jpeg`, `writes png`, `lacks SENTENCE` and `library NAME VERSION`.
    func text(libraries: [(name: String, version: String)]) -> String {
        let lines =
            reads.map { "reads \($0)" } + writes.map { "writes \($0)" }
            + missing.map { "lacks \($0)" } + libraries.map { "library \($0.name) \($0.version)" }
        return lines.map { "\($0)\n" }.joined()
    }

    /// Prints the text and returns the exit status.
    func write() -> Int32 {
        ProgramExit.printing(text(libraries: LoadedLibraries.now()))
    }
}

/// The libraries that the dynamic linker loaded into this process.
enum LoadedLibraries {
    /// The libraries for images, networking, messaging and databases.
    private static let interesting: Set<String> = [
        "aom", "avif", "curl", "dav1d", "de265", "deflate", "heif", "jpeg", "jxl", "lcms2",
        "microhttpd", "png16", "poppler", "rsvg-2", "sodium", "sqlite3", "ssl", "tiff", "vips",
        "webp", "x265", "zimg", "zmq",
    ]

    static func now() -> [(name: String, version: String)] {
        guard let file = try? FileDescriptor.open("/proc/self/maps"),
            let bytes = try? file.readToEnd(bytesMax: 16 << 20)
        else { return [] }
        return among(String(decoding: bytes, as: UTF8.self))
    }

    /// Parses the text of `/proc/PID/maps`; returns each library once, sorted by name. The version
    /// follows `.so.` in the file name.
    static func among(_ maps: String) -> [(name: String, version: String)] {
        var found: [String: String] = [:]
        for line in maps.split(separator: "\n") {
            guard let file = line.split(separator: "/").last, file.hasPrefix("lib"),
                let end = file.firstRange(of: ".so.")
            else { continue }
            let name = String(file[file.index(file.startIndex, offsetBy: 3)..<end.lowerBound])
            guard interesting.contains(name) else { continue }
            found[name] = String(file[end.upperBound...])
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
