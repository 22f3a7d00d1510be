import Linux

/// A temporary directory, removed with the test's suite value.
final class TestDirectory {
    let directory: FileDescriptor
    let path: String
    private let owner: TemporaryDirectory

    init(in parent: String = "/tmp") throws {
        let created = try TemporaryDirectory(in: parent)
        path = created.path
        directory = try FileDescriptor.openDirectory(created.path)
        owner = created
    }

    func file(_ name: String, _ content: String) throws -> FileDescriptor {
        let file = try directory.open(name, [.readWrite, .create, .exclusive])
        try file.writeAll(Array(content.utf8))
        return file
    }

    /// The directory with its offset at the start.
    func reopened() throws -> FileDescriptor {
        try FileDescriptor.openDirectory(path)
    }

    func link(_ name: String, to target: String) throws {
        let child = try ChildProcess(ChildCommand("/bin/ln", ["-s", target, "\(path)/\(name)"]))
        guard try child.wait() == .exited(0) else { throw Errno.inputOutput }
    }
}
