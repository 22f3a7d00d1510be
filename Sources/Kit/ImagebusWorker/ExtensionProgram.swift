import Linux
import Model
import ProcessRuntime

// The entry points: `ImagebusWorker.run(QOICoder())` is a plug-in's complete main program.

/// Runs a coder until the process is asked to stop, and then exits. If `imagebus serve` started the
/// process, environment variables specify the stack; otherwise `--runtime-dir` and `--pool` do.
/// `arguments` defaults to those of the process; pass others to remove your own.
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

/// Runs a transformer until the process is asked to stop, and then exits. See `run` for a coder.
public func run(_ transformer: some Transformer, arguments: [String]? = nil) -> Never {
    let steps = transformer.steps.sorted()
    return runOneByOne(
        .transform, "transformer", does: "performs \(steps.joined(separator: ", "))",
        WorkerCapabilities(formatsOut: [ImageFormat.pam.name], steps: Set(steps)), arguments
    ) { log in
        let stage = TransformerStage(transformer: transformer, log: log)
        return { (work, reader, arena, cancellation) throws(ImageError) in
            guard case .transform(let transform) = work else {
                throw .does("performs a single custom step")
            }
            return .transformed(
                try stage.perform(
                    transform, input: try reader.bytes(of: transform.source), output: arena,
                    cancellation: cancellation))
        }
    }
}

/// Runs an encoder until the process is asked to stop, and then exits. See `run` for a coder.
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

/// Runs a loader until the process is asked to stop, and then exits. See `run` for a coder.
public func run(_ loader: some Loader, arguments: [String]? = nil) -> Never {
    let schemes = loader.schemes.sorted()
    ExtensionProgram.run(
        .download, does: "loads URLs of \(schemes.joined(separator: ", "))",
        WorkerCapabilities(schemes: Set(schemes)), arguments
    ) { parts, arena in
        let stage = LoaderStage(loader: loader, log: parts.log)
        return ThreadedExecutor(
            name: "loader", credit: WorkerKind.download.credit(loader.credit), arena: arena,
            reporter: parts.reporter
        ) { _ in
            return { job, report throws(ImageError) in
                guard case .fetch(let fetch) = job.work else { throw .does("loads") }
                return .fetched(try stage.perform(fetch, output: arena, report))
            }
        }
    }
}

/// Runs a cache until the process is asked to stop, and then exits. See `run` for a coder.
public func run(_ cache: some Cache, arguments: [String]? = nil) -> Never {
    ExtensionProgram.run(.cache, does: "stores named caches", WorkerCapabilities(), arguments) {
        parts, arena in
        let copier = BlockCopier(directories: parts.directories)
        let stage = CacheStage(cache: cache, log: parts.log) {
            (reference, target) throws(ImageError) in try copier.copy(reference, into: target)
        }
        return ThreadedExecutor(
            name: "cache", credit: WorkerKind.cache.credit(cache.credit), arena: arena,
            reporter: parts.reporter
        ) { job in
            let turn = stage.turn(for: job.work)
            return { job, report throws(ImageError) in
                try stage.perform(job.work, turn, output: arena, report)
            }
        }
    }
}

extension WorkerKind {
    /// Returns the credit that an author wants, within the limits of the kind.
    fileprivate func credit(_ wanted: Int) -> UInt32 {
        min(UInt32(clamping: max(1, wanted)), creditMax)
    }
}

/// Executes one job: reads input through the reader and writes output to the arena.
private typealias Perform = (JobWork, BlockReader, Arena, Cancellation) throws(ImageError)
    -> JobResult

/// Runs one job at a time on a dedicated thread, on which `make` is called.
private func runOneByOne(
    _ kind: WorkerKind, _ name: String, does what: String, _ capabilities: WorkerCapabilities,
    _ arguments: [String]?, _ make: @escaping @Sendable (Log) -> Perform
) -> Never {
    ExtensionProgram.run(kind, does: what, capabilities, arguments) { parts, arena in
        let (directories, log) = (parts.directories, parts.log)
        return try SingleJobExecutor(name: name, arena: arena, reporter: parts.reporter) {
            let (reader, perform) = (BlockReader(directories: directories), make(log))
            return SingleJobExecutor.Work { work, flag throws(ImageError) in
                defer { reader.trim() }
                return try perform(work, reader, arena, Cancellation(flag))
            } whenIdle: {
                reader.forgetUnlinked()
            }
        }
    }
}

/// The process of a plug-in, from its arguments to its exit.
enum ExtensionProgram {
    /// Runs until asked to stop, and then exits the process immediately, because a function that
    /// ignores cancellation may still be running.
    static func run(
        _ kind: WorkerKind, does what: String, _ capabilities: WorkerCapabilities,
        _ words: [String]?, executor: (WorkerParts, Arena) throws -> any JobExecutor
    ) -> Never {
        let words = words ?? CurrentProcess.arguments
        let program = name
        if ExtensionOptions.wantHelp(words) {
            CurrentProcess.end(ProgramExit.printing(ExtensionOptions.help(program, does: what)))
        }
        let arguments: ProgramArguments
        do {
            arguments = try ExtensionOptions.arguments(
                words, environment: CurrentProcess.environment)
        } catch {
            Bootstrap.complain(program, error)
            CurrentProcess.end(ProgramExit.status(of: error))
        }
        let status = WorkerProgram.runExternal(kind, arguments, program: program) { parts in
            let arena = try parts.externalArena()
            return WorkerMachine(
                executor: try executor(parts, arena), arenas: [arena],
                sandbox: .ofThisProcess, capabilities: capabilities)
        }
        CurrentProcess.flushOutput()
        CurrentProcess.endAtOnce(status)
    }

    /// The file name of the executable.
    private static var name: String {
        let path = (try? CurrentProcess.executablePath()) ?? ""
        return path.split(separator: "/").last.map(String.init) ?? "extension"
    }
}

extension SandboxLayers {
    /// The sandbox layers in effect for this process, as far as the kernel reports them.
    static var ofThisProcess: SandboxLayers {
        let file = try? FileDescriptor.open("/proc/self/status")
        guard let bytes = try? file?.readToEnd(bytesMax: 64 << 10) else { return [] }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains("NoNewPrivs:\t1\n") ? .noNewPrivileges : []
    }
}

/// The stack that a process works for: from the command line, or else from the environment set by
/// `imagebus serve` (PROTOCOL §10.3).
enum ExtensionOptions {
    /// The documented options, all of which take a value.
    private static let valued: Set<String> = [
        "runtime-dir", "pool", "arena-limit", "log-level", "log-format",
    ]

    /// Arguments and the environment variables that provide their values.
    private static let variables = [
        ("runtime-dir", "IMAGEBUS_RUNTIME_DIR"), ("pool", "IMAGEBUS_POOL"),
        ("restarts", "IMAGEBUS_RESTARTS"), ("ready-fd", "IMAGEBUS_LIFE_FD"),
    ]

    /// Whether help was requested.
    static func wantHelp(_ words: [String]) -> Bool {
        words.contains { $0 == "--help" || $0 == "-h" }
    }

    /// Converts the command line and environment to the arguments of a worker program. Throws for
    /// unknown arguments and if no stack is specified.
    static func arguments(
        _ words: [String], environment: [String: String]
    ) throws -> ProgramArguments {
        let words = words.flatMap(parts)
        let own = try ProgramArguments(words, valued: valued)
        var all: [String] = []
        for (name, variable) in variables where own.value(name) == nil {
            if let value = environment[variable] { all += ["--\(name)", value] }
        }
        let arguments = try ProgramArguments(
            all + words, valued: WorkerProgram.externalValued)
        _ = try (arguments.required("runtime-dir"), arguments.required("pool"))
        return arguments
    }

    /// Splits `--pool=qoi` into `--pool qoi`.
    private static func parts(_ word: String) -> [String] {
        guard word.hasPrefix("--"), let place = word.firstIndex(of: "=") else { return [word] }
        return [String(word[..<place]), String(word[word.index(after: place)...])]
    }

    /// Returns the output of `--help`.
    static func help(_ program: String, does what: String) -> String {
        """
        \(program): \(what), as a plug-in worker of Imagebus.

          --runtime-dir PATH   runtime directory of the stack (IMAGEBUS_RUNTIME_DIR)
          --pool NAME          pool in the configuration (IMAGEBUS_POOL)
          --arena-limit BYTES  maximum bytes of shared memory (1 GiB)
          --log-level LEVEL    debug, info, warning or error
          --log-format FORM    text or json

        No arguments are needed if `imagebus serve` starts it with the command of the pool.

        """
    }
}
