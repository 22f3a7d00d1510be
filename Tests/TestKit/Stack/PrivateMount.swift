import Linux

/// A small tmpfs in a mount namespace of its own, which goes with the processes in it.
public struct PrivateMount: Sendable {
    private let unshare: [String]
    private let bytes: Int

    /// Whether tests that need one run. They fail where none may be mounted, so that nobody takes
    /// what was not tried for what was passed; `IMAGEBUS_NO_MOUNTS=1` leaves them out, by name.
    public static let isWanted = CurrentProcess.environment("IMAGEBUS_NO_MOUNTS") != "1"

    /// A tmpfs of so many bytes; throws where this user may not mount one, not even as the root of
    /// a user namespace.
    public init(bytes: Int) throws {
        for options in [["--mount"], ["--mount", "--map-root-user"]] {
            let mount = PrivateMount(unshare: ["/usr/bin/unshare"] + options, bytes: bytes)
            if try mount.isAllowed() {
                self = mount
                return
            }
        }
        throw StackFailure(
            "this user may not mount a tmpfs, which this test needs: run it as root or where user "
                + "namespaces are permitted, or leave such tests out with IMAGEBUS_NO_MOUNTS=1")
    }

    private init(unshare: [String], bytes: Int) {
        (self.unshare, self.bytes) = (unshare, bytes)
    }

    private func isAllowed() throws -> Bool {
        let folder = TemporaryDirectory()
        let words = line(["/bin/true"], at: folder.path)
        let trial = try ChildProcess.launch(ChildCommand(words[0], Array(words.dropFirst())))
        return try trial.wait() == .exited(0)
    }

    /// Mounts at `path`, then becomes the command.
    func line(_ words: [String], at path: String) -> [String] {
        let script = "mount -t tmpfs -o size=\(bytes),mode=700 tmpfs \"$0\" && exec \"$@\""
        return unshare + ["/bin/sh", "-c", script, path] + words
    }
}
