import ImageModel
import Messages
import SharedArena
import StageContract
import WorkerRuntime

/// Works as a cache until the process is told to end, and ends it, as `run` of a coder does.
public func run(_ cache: some Cache, arguments: [String]? = nil) -> Never {
    ExtensionProgram.run(.cache, does: "holds named caches", arguments) { parts in
        let arena = try parts.foreignArena()
        let copier = BlockCopier(directories: parts.directories)
        let stage = CacheStage(cache: cache, log: parts.log) {
            (reference, target) throws(ImageError) in try copier.copy(reference, into: target)
        }
        let credit = UInt32(clamping: max(1, cache.credit))
        let executor = ThreadedExecutor(
            name: "cache", credit: min(credit, WorkerKind.cache.creditMax), arena: arena,
            reporter: parts.reporter,
            prepare: { job in
                let turn = stage.turn(for: job.work)
                return { (job, report) throws(ImageError) in
                    try stage.perform(job.work, turn, output: arena, report)
                }
            })
        return WorkerMachine(
            executor: executor, arenas: [arena], sandbox: .ofThisProcess,
            capabilities: WorkerCapabilities())
    }
}
