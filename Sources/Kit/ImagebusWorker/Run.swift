import ImageModel
import Messages
import SharedArena
import StageContract
import WorkerRuntime

// The entry points: `ImagebusWorker.run(QOICoder())` is the whole main program of an extension.

/// Works as a coder until the process is told to end, and ends it. Where `imagebus serve` starts
/// it, the environment says for which stack; else `--runtime-dir` and `--pool`. `arguments` are
/// those of the process, where an author has not taken some out of them.
public func run(_ coder: some Coder, arguments: [String]? = nil) -> Never {
    ExtensionProgram.run(.decode, does: "decodes \(coder.format.name)", arguments) { parts in
        let arena = try parts.foreignArena()
        let (directories, log) = (parts.directories, parts.log)
        let executor = try SingleJobExecutor(
            name: "coder", arena: arena, reporter: parts.reporter
        ) {
            let reader = BlockReader(directories: directories)
            let stage = CoderStage(coder: coder, log: log)
            return SingleJobExecutor.Work { work, flag throws(ImageError) in
                guard case .decode(let decode) = work else { throw .does("decodes") }
                defer { reader.trim() }
                return .decoded(
                    try stage.perform(
                        decode, input: try reader.bytes(of: decode.source), output: arena,
                        cancellation: Cancellation(flag)))
            } rest: {
                reader.forgetUnlinked()
            }
        }
        return WorkerMachine(
            executor: executor, arenas: [arena], sandbox: .ofThisProcess,
            capabilities: WorkerCapabilities(formatsIn: [coder.format.name]))
    }
}

/// Works as a transformer until the process is told to end, and ends it, as `run` of a coder does.
public func run(_ transformer: some Transformer, arguments: [String]? = nil) -> Never {
    let steps = transformer.steps.sorted()
    return ExtensionProgram.run(
        .transform, does: "does \(steps.joined(separator: ", "))", arguments
    ) { parts in
        let arena = try parts.foreignArena()
        let (directories, log) = (parts.directories, parts.log)
        let executor = try SingleJobExecutor(
            name: "transformer", arena: arena, reporter: parts.reporter
        ) {
            let reader = BlockReader(directories: directories)
            let stage = TransformerStage(transformer: transformer, log: log)
            return SingleJobExecutor.Work { work, flag throws(ImageError) in
                guard case .transform(let transform) = work else {
                    throw .does("does one step of its own")
                }
                defer { reader.trim() }
                return .transformed(
                    try stage.perform(
                        transform, input: try reader.bytes(of: transform.source), output: arena,
                        cancellation: Cancellation(flag)))
            } rest: {
                reader.forgetUnlinked()
            }
        }
        return WorkerMachine(
            executor: executor, arenas: [arena], sandbox: .ofThisProcess,
            capabilities: WorkerCapabilities(
                formatsOut: [ImageFormat.pam.name], steps: Set(steps)))
    }
}

/// Works as an encoder until the process is told to end, and ends it, as `run` of a coder does.
public func run(_ encoder: some Encoder, arguments: [String]? = nil) -> Never {
    ExtensionProgram.run(.transform, does: "encodes \(encoder.format.name)", arguments) { parts in
        let arena = try parts.foreignArena()
        let (directories, log) = (parts.directories, parts.log)
        let executor = try SingleJobExecutor(
            name: "encoder", arena: arena, reporter: parts.reporter
        ) {
            let reader = BlockReader(directories: directories)
            let stage = EncoderStage(encoder: encoder, log: log)
            return SingleJobExecutor.Work { work, flag throws(ImageError) in
                guard case .transform(let transform) = work else {
                    throw .does("encodes \(encoder.format.name)")
                }
                defer { reader.trim() }
                return .transformed(
                    try stage.perform(
                        transform, input: try reader.bytes(of: transform.source), output: arena,
                        cancellation: Cancellation(flag)))
            } rest: {
                reader.forgetUnlinked()
            }
        }
        return WorkerMachine(
            executor: executor, arenas: [arena], sandbox: .ofThisProcess,
            capabilities: WorkerCapabilities(formatsOut: [encoder.format.name], steps: []))
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
