/// What a user can access, tested as that user: files by opening them for reading, sockets by
/// connecting.
enum Reach {
    /// `ok` or the kernel's error, for each path.
    static func of(_ layout: ContainerLayout, _ paths: [String]) throws -> [String: String] {
        let folder = TemporaryDirectory()
        let line = layout.becoming + ["/usr/bin/python3", "-c", program] + paths
        var command = ChildCommand(line[0], Array(line.dropFirst()))
        let output = try FileDescriptor.open(folder.file("out"), [.writeOnly, .create])
        command.descriptors[1] = .descriptor(output.number)
        let child = try ChildProcess(command)
        guard try child.wait() == .exited(0) else {
            throw StackFailure("the reach of \(layout.name) cannot be tried")
        }
        var found: [String: String] = [:]
        for entry in (FileBytes.text(folder.file("out")) ?? "").split(separator: "\n") {
            let words = entry.split(separator: " ").map(String.init)
            found[words[1]] = words[0]
        }
        return found
    }

    private static let program = """
        import errno, os, socket, sys
        for path in sys.argv[1:]:
            said = "ok"
            try:
                if path.endswith(".sock"):
                    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect(path)
                elif os.path.isdir(path):
                    os.listdir(path)
                else:
                    os.close(os.open(path, os.O_RDONLY))
            except OSError as error:
                said = errno.errorcode[error.errno]
            print(said, path)
        """
}
