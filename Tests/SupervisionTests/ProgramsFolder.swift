import Linux
import Model
import TestKit

@testable import Supervision

/// Small scripts that stand in for programs.
final class ProgramsFolder {
    private let folder = TestKit.TemporaryDirectory()

    /// A Python program. `log` appends a line to `log`, `begin` reports that the process has
    /// started, and `welcome` that the coordinator welcomed it; SIGTERM is logged and ends it with
    /// status 0. `pause` waits for a signal, even for one that arrives just before: `signal.pause`
    /// would miss it and keep waiting.
    func program(_ kind: ProcessKind, _ body: String) -> ChildSpecification {
        let path = folder.file("imagebus-\(kind.name)")
        let text = """
            #!/usr/bin/python3
            import os, signal, sys
            def log(text):
                with open('\(folder.file("log"))', 'a') as file: file.write(text + '\\n')
            def begin():
                os.write(3, b'begun %032x\\n' % os.getpid())
            def welcome():
                os.write(3, b'ready %032x\\n' % os.getpid())
            def terminated(*_):
                log('\(kind.name) terminated')
                sys.exit(0)
            def pause():
                ends = os.pipe()
                os.set_blocking(ends[1], False)
                signal.set_wakeup_fd(ends[1])
                os.read(ends[0], 1)
                signal.set_wakeup_fd(-1)
                for end in ends: os.close(end)
            signal.signal(signal.SIGTERM, terminated)
            \(body)

            """
        folder.write(Array(text.utf8), to: "imagebus-\(kind.name)")
        try? FileDescriptor.open(path).setMode(0o700)
        return ChildSpecification(kind: kind, program: path, arguments: ["--own", "1"])
    }

    /// A program that is welcomed and waits for a signal.
    func patient(_ kind: ProcessKind) -> ChildSpecification {
        program(kind, "welcome()\nwhile True: pause()")
    }

    /// The lines that all programs have logged, in order.
    var log: [String] {
        (FileBytes.text(folder.file("log")) ?? "").split(separator: "\n").map { String($0) }
    }

    /// The path of a file that programs may use.
    func file(_ name: String) -> String { folder.file(name) }
}
