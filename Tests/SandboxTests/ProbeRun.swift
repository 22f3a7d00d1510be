import Linux
import Model
import ProcessRuntime
import TestKit

/// One run of `sandbox-probe` in a temporary runtime directory.
struct ProbeRun {
    let status: ChildStatus
    let lines: [String]
    let errorText: String

    /// `missing`: directories below the runtime directory that aren't created.
    init(_ kind: WorkerKind, _ flags: [String] = [], without missing: Set<String> = []) throws {
        let folder = TestKit.TemporaryDirectory()
        for part in ["arena", "back"] {
            try FileDescriptor.makeDirectory(path: folder.file(part))
            for kind in WorkerKind.allCases where !missing.contains("\(part)/\(kind.name)") {
                try FileDescriptor.makeDirectory(path: folder.file("\(part)/\(kind.name)"))
            }
        }
        let paths = RuntimePaths(root: folder.path)
        try FileDescriptor.makeDirectory(path: paths.controlDirectory(PoolName(kind)))
        try FileDescriptor.makeDirectory(path: paths.adminDirectory)
        _ = try FileDescriptor.open(paths.adminSecretFile, [.writeOnly, .create], mode: 0o600)
        let output = try FileDescriptor.open(folder.file("out"), [.writeOnly, .create])
        let errors = try FileDescriptor.open(folder.file("err"), [.writeOnly, .create])
        var command = ChildCommand(
            Self.folderOfPrograms + "/sandbox-probe",
            ["--kind", kind.name, "--runtime-dir", folder.path] + flags)
        command.descriptors[1] = .descriptor(output.number)
        command.descriptors[2] = .descriptor(errors.number)
        let child = try ChildProcess(command)
        guard let status = try child.wait(milliseconds: 30_000) else {
            throw StackFailure("the probe did not end", log: folder.file("err"))
        }
        self.status = status
        let text = FileBytes.text(folder.file("out")) ?? ""
        lines = text.split(separator: "\n").map(String.init)
        errorText = FileBytes.text(folder.file("err")) ?? ""
    }

    /// Lines that contain the word.
    func lines(saying word: String) -> [String] {
        lines.filter { $0.split(separator: " ").dropFirst().first.map(String.init) == word }
    }

    /// The probe is built with the tests, even if other programs come from elsewhere.
    private static var folderOfPrograms: String {
        let path = (try? CurrentProcess.executablePath()) ?? ""
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
}
