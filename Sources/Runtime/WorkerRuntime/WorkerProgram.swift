public import Bootstrap
import ImageModel
import Linux
public import Messages
public import Observability
public import SharedArena

/// The whole of a worker's program but for what its kind does.
public enum WorkerProgram {
    /// Runs a worker of `kind` with these arguments (without the program's name) and returns the
    /// exit status. `valued` and `flags` name the arguments of this kind; `build` makes its
    /// machine, after signals, parent and paths are settled. `abilities` says what it can do here.
    public static func run(
        _ kind: WorkerKind, _ words: [String], valued: Set<String> = [], flags: Set<String> = [],
        abilities: () -> WorkerAbilities = { WorkerAbilities() },
        build: (WorkerParts) throws -> WorkerMachine
    ) -> Int32 {
        if words == [WorkerAbilities.argument] { return abilities().tell() }
        let program = "imagebus-\(kind.name)"
        // Before there is any other thread: all of them do so then. Where it may not, it is as
        // urgent as those that answer.
        if kind != .cache { try? Thread.standBack(by: nice) }
        do {
            let arguments = try ProgramArguments(
                words,
                valued: Bootstrap.valued.union(WorkerPolicy.valued).union(valued)
                    .union(WorkerPlace.valued),
                flags: flags)
            let place = try WorkerPlace(arguments, kind)
            let policy = try WorkerPolicy(arguments, for: kind, in: place.pool)
            let bootstrap = try Bootstrap(program: program, arguments)
            let reporter = try WorkerReporter()
            let parts = WorkerParts(
                kind: kind, place: place, arguments: arguments, paths: bootstrap.paths,
                incarnation: bootstrap.incarnation, log: bootstrap.log, reporter: reporter)
            // A machine may close the file system to all that is not open yet.
            let memory = try? ProcessMemoryGauge()
            let machine = try build(parts)
            let end = try run(
                WorkerLoop(
                    kind: kind, pool: place.pool, bootstrap: bootstrap, machine: machine,
                    reporter: reporter,
                    memory: memory, policy: policy))
            // Exit handlers would take libraries down below a thread that still uses them.
            if end.isWorking { CurrentProcess.endAtOnce(end.status) }
            return end.status
        } catch {
            Bootstrap.complain(program, error)
            return ProgramExit.status(of: error)
        }
    }

    /// How far a process that makes images stands back behind those that a hit needs: a machine
    /// that is full of its work answers hits all the same.
    private static let nice: Int32 = 10

    /// The loop, to the end of its connection.
    static func run(
        _ loop: consuming WorkerLoop
    ) throws -> (status: Int32, isWorking: Bool) {
        let status = try loop.run()
        return (status, loop.isWorking)
    }
}

/// What a worker's machine is made of.
public struct WorkerParts: Sendable {
    /// Its kind.
    public let kind: WorkerKind
    /// Its pool, and those whose segments it reads.
    public let place: WorkerPlace
    /// What it was started with.
    public let arguments: ProgramArguments
    /// Where everything lies.
    public let paths: RuntimePaths
    /// This life of the process.
    public let incarnation: Incarnation
    /// Lines to stderr.
    public let log: Log
    /// The way to the bus thread.
    public let reporter: WorkerReporter

    private static let arenaBytesDefault = 1 << 30

    /// Bytes of segments in `arena/<pool>/`: `--arena-limit`, else 1 GiB.
    public var arenaBytesMax: Int {
        get throws { try arguments.number("arena-limit", else: Self.arenaBytesDefault) }
    }

    /// Where other processes' segments lie.
    public var directories: SegmentDirectories {
        SegmentDirectories(arenas: paths.arenasDirectory, results: paths.resultsDirectory)
    }

    /// The arena that other stages read.
    public func stageArena() throws -> Arena {
        try Arena(
            directory: paths.arenaDirectory(place.pool), name: .stage, incarnation: incarnation,
            totalBytesMax: try arenaBytesMax)
    }
}

/// What a kind of worker brings.
public struct WorkerMachine {
    /// Does the jobs.
    public let executor: any JobExecutor
    /// Everything that it allocates from.
    public let arenas: [Arena]
    /// What the process can no longer do.
    public let sandbox: SandboxLayers
    /// What it can do of what its pool may be granted.
    public let capabilities: WorkerCapabilities

    /// Names all.
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
    /// Names of the arguments of `runForeign`.
    public static let foreignValued = Bootstrap.valued.union(WorkerPlace.valued)

    /// Runs a worker of a foreign pool (PROTOCOL §8.1.1), and returns the exit status. As `run`,
    /// but that the process is its author's: it is not replaced for having worked, and does not
    /// stand back by itself. `program` is its name in the log.
    ///
    /// The work may go on below the end: end the process with `CurrentProcess.endAtOnce`.
    public static func runForeign(
        _ kind: WorkerKind, _ arguments: ProgramArguments, program: String,
        build: (WorkerParts) throws -> WorkerMachine
    ) -> Int32 {
        do {
            return try work(kind, arguments, program, build)
        } catch {
            Bootstrap.complain(program, error)
            return ProgramExit.status(of: error)
        }
    }

    private static func work(
        _ kind: WorkerKind, _ arguments: ProgramArguments, _ program: String,
        _ build: (WorkerParts) throws -> WorkerMachine
    ) throws -> Int32 {
        let place = try WorkerPlace(arguments, kind)
        let bootstrap = try Bootstrap(program: program, arguments, beats: true)
        let reporter = try WorkerReporter()
        let parts = WorkerParts(
            kind: kind, place: place, arguments: arguments, paths: bootstrap.paths,
            incarnation: bootstrap.incarnation, log: bootstrap.log, reporter: reporter)
        let machine = try build(parts)
        // However it ends: the next process finds nothing to remove.
        defer { for arena in machine.arenas { arena.unlinkAll() } }
        let end = try run(
            WorkerLoop(
                kind: kind, pool: place.pool, bootstrap: bootstrap, machine: machine,
                reporter: reporter, memory: nil, policy: .foreign, standing: .foreign))
        return end.status
    }
}

extension WorkerPolicy {
    /// Of somebody else's program, which may keep in its memory what it likes, and which nobody may
    /// start again.
    static var foreign: WorkerPolicy {
        var policy = WorkerPolicy()
        policy.hangSeconds = nil
        (policy.jobsMax, policy.privateBytesMax) = (.max, .max)
        return policy
    }
}

extension WorkerParts {
    /// The arena of a foreign pool's process. Nobody else removes its segments, so it also removes
    /// what processes of the pool left that were killed.
    ///
    /// Throws where the stack has no such pool.
    public func foreignArena() throws -> Arena {
        let directory = paths.arenaDirectory(place.pool)
        do throws(Errno) {
            _ = try FileDescriptor.openDirectory(directory)
        } catch {
            throw ConfigurationError(
                "there is no \(directory) (\(error)): the stack does not run, or its configuration "
                    + "names no foreign pool '\(place.pool)'")
        }
        let removed = try OrphanSegments.removeForsaken(in: directory)
        if removed > 0 {
            log.info("removed segments of processes that ended", ["count": LogValue(removed)])
        }
        return try Arena(
            directory: directory, name: .stage, incarnation: incarnation,
            totalBytesMax: try arenaBytesMax, isLocked: true)
    }
}

/// Whose program a worker is: how it says that it lives, and what it shows at its listener.
public enum WorkerStanding: Hashable, Sendable {
    /// Ours: a control segment, and the secret that its supervisor gave it on a descriptor.
    case own
    /// Somebody else's (PROTOCOL §8.1.1): the secret of its pool's file as it is at each hello,
    /// since the next `serve` writes others, and the signs of PROTOCOL §10.3, where a supervisor
    /// reads them.
    case foreign
}

/// The pool of a worker, and the further pools whose segments it reads.
public struct WorkerPlace: Hashable, Sendable {
    /// `--pool`, else that of every stack.
    public let pool: PoolName
    /// Each by an `--input-pool`.
    public let inputs: [PoolName]

    /// Names of the arguments that say so, and of the limit of its arena.
    static let valued: Set<String> = ["pool", "input-pool", "arena-limit"]

    /// Throws for what is no name of a pool.
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
                "'\(text)' is no name of a pool: a small letter, then small letters, digits and "
                    + "'-', at most \(PoolName.bytesMax) in all")
        }
        return name
    }
}

/// When a worker ends by itself.
public struct WorkerPolicy: Hashable, Sendable {
    /// Milliseconds from a cancel to the end of a process whose native code does not heed it
    /// (SEMANTICS §8.3).
    public var cancelGraceMilliseconds = 500
    /// Seconds of the processors that no image within the limits takes; `nil` where it is the
    /// request that decides how long its work is.
    public var hangSeconds: Int? = 20
    /// Whether the process ends at a job that used so much, and not only at one whose time is over:
    /// what is drawn may take for ever, and a worker that is at it draws nothing else.
    public var stopsHangs = false
    /// Jobs after which a fresh process takes over; the cache's memory tier is worth more than
    /// that.
    public var jobsMax = 100_000
    /// Bytes of resident memory, shared segments not counted, after which a fresh process takes
    /// over.
    public var privateBytesMax = 1 << 30

    /// The defaults.
    public init() {}

    /// Names of the arguments that change it.
    static let valued: Set<String> = ["recycle-jobs", "recycle-bytes"]

    /// The defaults of a kind, where no argument says otherwise. Throws for what is no number.
    init(
        _ arguments: ProgramArguments, for kind: WorkerKind, in pool: PoolName? = nil
    ) throws(ProgramArgumentsError) {
        if kind == .decode, pool == .vector {
            (hangSeconds, stopsHangs) = (Self.drawingSeconds, true)
        }
        if kind == .cache { jobsMax = .max }
        // A large lossless WebP takes minutes, and a cancel in between is nobody's fault.
        if kind != .decode { hangSeconds = nil }
        jobsMax = try arguments.number("recycle-jobs", else: jobsMax)
        privateBytesMax = try arguments.number("recycle-bytes", else: privateBytesMax)
    }

    /// Of the processors, for one drawing.
    static let drawingSeconds = 5

    /// Whether memory is looked at after so many jobs: reading it costs a system call or three, so
    /// after the first and then every 64th.
    func looksAtMemory(after jobs: Int) -> Bool { jobs == 1 || jobs % 64 == 0 }

    /// Whether a job that used so much of the processors, in nanoseconds, is one that hangs.
    func hangs(after nanoseconds: UInt64) -> Bool {
        hangSeconds.map { nanoseconds >= UInt64($0) * 1_000_000_000 } ?? false
    }

    /// Whether a fresh process takes over after so many jobs; bytes are `nil` where they were not
    /// looked at.
    func isSpent(jobs: Int, privateBytes: UInt64?) -> Bool {
        jobs >= jobsMax || privateBytes.map { $0 > UInt64(privateBytesMax) } ?? false
    }
}

/// What a worker's program can do on this machine, as it says itself when it is asked with
/// `--abilities`: a line for each format and for each library of images that it loaded.
public struct WorkerAbilities: Sendable {
    /// Formats that it reads.
    public var reads: [String] = []
    /// Formats that it writes.
    public var writes: [String] = []
    /// What this machine lacks, in sentences.
    public var lacks: [String] = []

    /// The only argument then.
    public static let argument = "--abilities"

    /// Nothing but its libraries.
    public init() {}

    /// `reads jpeg`, `writes png`, `lacks SENTENCE`, `library NAME VERSION`.
    func text(libraries: [(name: String, version: String)]) -> String {
        let lines =
            reads.map { "reads \($0)" } + writes.map { "writes \($0)" }
            + lacks.map { "lacks \($0)" } + libraries.map { "library \($0.name) \($0.version)" }
        return lines.map { "\($0)\n" }.joined()
    }

    /// Prints it; the exit status.
    func tell() -> Int32 {
        let bytes = Array(text(libraries: LoadedLibraries.now()).utf8)
        do throws(Errno) {
            try bytes.span.bytes.withUnsafeBytes { (bytes) throws(Errno) in
                try FileDescriptor.writeAll(bytes, to: 1)
            }
            return ProgramExit.success
        } catch {
            return ProgramExit.internalError
        }
    }
}

/// Libraries that the dynamic linker loaded into this process.
enum LoadedLibraries {
    /// Those that have to do with images, the network, messages and databases.
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

    /// Of the text of `/proc/PID/maps`; each once, by name. A version is what stands behind `.so.`
    /// in the name of the file.
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
