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
