public import Bootstrap
import Linux
public import Messages
import Observability
public import SharedArena

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
