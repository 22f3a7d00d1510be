import ImageModel
import Messages
import Observability
import SharedArena
import StageContract
import WorkerRuntime

// The entry points: `ImagebusWorker.run(QOICoder())` is the whole main program of an extension.

/// Works as a coder until the process is told to end, and ends it. Where `imagebus serve` starts
/// it, the environment says for which stack; else `--runtime-dir` and `--pool`. `arguments` are
/// those of the process, where an author has not taken some out of them.
public func run(_ coder: some Coder, arguments: [String]? = nil) -> Never {
    runOneByOne(
        .decode, "coder", does: "decodes \(coder.format.name)",
        WorkerCapabilities(formatsIn: [coder.format.name]), arguments
    ) { log in
        let stage = CoderStage(coder: coder, log: log)
        return { (work, reader, arena, cancellation) throws(ImageError) in
            guard case .decode(let decode) = work else { throw .does("decodes") }
            return .decoded(
                try stage.perform(
                    decode, input: try reader.bytes(of: decode.source), output: arena,
                    cancellation: cancellation))
        }
    }
}

/// Works as a transformer until the process is told to end, and ends it, as `run` of a coder does.
public func run(_ transformer: some Transformer, arguments: [String]? = nil) -> Never {
    let steps = transformer.steps.sorted()
    return runOneByOne(
        .transform, "transformer", does: "does \(steps.joined(separator: ", "))",
        WorkerCapabilities(formatsOut: [ImageFormat.pam.name], steps: Set(steps)), arguments
    ) { log in
        let stage = TransformerStage(transformer: transformer, log: log)
        return { (work, reader, arena, cancellation) throws(ImageError) in
            guard case .transform(let transform) = work else {
                throw .does("does one step of its own")
            }
            return .transformed(
                try stage.perform(
                    transform, input: try reader.bytes(of: transform.source), output: arena,
                    cancellation: cancellation))
        }
    }
}

/// Works as an encoder until the process is told to end, and ends it, as `run` of a coder does.
public func run(_ encoder: some Encoder, arguments: [String]? = nil) -> Never {
    let does = "encodes \(encoder.format.name)"
    return runOneByOne(
        .transform, "encoder", does: does,
        WorkerCapabilities(formatsOut: [encoder.format.name], steps: []), arguments
    ) { log in
        let stage = EncoderStage(encoder: encoder, log: log)
        return { (work, reader, arena, cancellation) throws(ImageError) in
            guard case .transform(let transform) = work else { throw .does(does) }
            return .transformed(
                try stage.perform(
                    transform, input: try reader.bytes(of: transform.source), output: arena,
                    cancellation: cancellation))
        }
    }
}

/// Works as a loader until the process is told to end, and ends it, as `run` of a coder does.
public func run(_ loader: some Loader, arguments: [String]? = nil) -> Never {
    let schemes = loader.schemes.sorted()
    return ExtensionProgram.run(
        .download, does: "loads URLs of \(schemes.joined(separator: ", "))", arguments
    ) { parts in
        let arena = try parts.foreignArena()
        let stage = LoaderStage(loader: loader, log: parts.log)
        let credit = UInt32(clamping: max(1, loader.credit))
        let executor = ThreadedExecutor(
            name: "loader", credit: min(credit, WorkerKind.download.creditMax), arena: arena,
            reporter: parts.reporter
        ) { job, report throws(ImageError) in
            guard case .fetch(let fetch) = job.work else { throw .does("loads") }
            return .fetched(try stage.perform(fetch, output: arena, report))
        }
        return WorkerMachine(
            executor: executor, arenas: [arena], sandbox: .ofThisProcess,
            capabilities: WorkerCapabilities(schemes: Set(schemes)))
    }
}

/// What an extension does with one job: the bytes that it reads come from the reader, and what it
/// makes goes into the arena.
private typealias Perform = (JobWork, BlockReader, Arena, Cancellation) throws(ImageError)
    -> JobResult

/// One job at a time, on a thread of its own; `make` is called there.
private func runOneByOne(
    _ kind: WorkerKind, _ name: String, does what: String, _ capabilities: WorkerCapabilities,
    _ arguments: [String]?, _ make: @escaping @Sendable (Log) -> Perform
) -> Never {
    ExtensionProgram.run(kind, does: what, arguments) { parts in
        let arena = try parts.foreignArena()
        let (directories, log) = (parts.directories, parts.log)
        let executor = try SingleJobExecutor(name: name, arena: arena, reporter: parts.reporter) {
            let (reader, perform) = (BlockReader(directories: directories), make(log))
            return SingleJobExecutor.Work { work, flag throws(ImageError) in
                defer { reader.trim() }
                return try perform(work, reader, arena, Cancellation(flag))
            } rest: {
                reader.forgetUnlinked()
            }
        }
        return WorkerMachine(
            executor: executor, arenas: [arena], sandbox: .ofThisProcess,
            capabilities: capabilities)
    }
}
