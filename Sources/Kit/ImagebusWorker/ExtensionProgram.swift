import Bootstrap
import Linux
import Messages
import WorkerRuntime

/// The process of an extension, from its arguments to its end.
enum ExtensionProgram {
    /// Works until it is told to end, and ends the process: at once, since a function that heeds no
    /// cancel may still run.
    static func run(
        _ kind: WorkerKind, does what: String, _ words: [String]?,
        build: (WorkerParts) throws -> WorkerMachine
    ) -> Never {
        let words = words ?? CurrentProcess.arguments
        let program = name
        if ExtensionOptions.wantHelp(words) {
            CurrentProcess.end(say(ExtensionOptions.help(program, does: what)))
        }
        let arguments: ProgramArguments
        do {
            arguments = try ExtensionOptions.arguments(
                words, environment: CurrentProcess.environment)
        } catch {
            Bootstrap.complain(program, error)
            CurrentProcess.end(ProgramExit.status(of: error))
        }
        let status = WorkerProgram.runForeign(kind, arguments, program: program, build: build)
        CurrentProcess.flushOutput()
        CurrentProcess.endAtOnce(status)
    }

    /// The last part of its path.
    private static var name: String {
        let path = (try? CurrentProcess.executablePath()) ?? ""
        return path.split(separator: "/").last.map(String.init) ?? "extension"
    }

    private static func say(_ text: String) -> Int32 {
        do throws(Errno) {
            try Array(text.utf8).span.bytes.withUnsafeBytes { (bytes) throws(Errno) in
                try FileDescriptor.writeAll(bytes, to: 1)
            }
            return ProgramExit.success
        } catch {
            return ProgramExit.internalError
        }
    }
}

extension SandboxLayers {
    /// What keeps this process from something, as far as the kernel says it.
    static var ofThisProcess: SandboxLayers {
        let file = try? FileDescriptor.open("/proc/self/status")
        guard let bytes = try? file?.readToEnd(bytesMax: 64 << 10) else { return [] }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains("NoNewPrivs:\t1\n") ? .noNewPrivileges : []
    }
}
