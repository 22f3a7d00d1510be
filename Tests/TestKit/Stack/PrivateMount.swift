import Linux

/// A small file system in its own mount namespace, which disappears with the processes in it.
public struct PrivateMount: Sendable {
    private let unshare: [String]
    /// A shell script that mounts the file system at `$0`.
    private let script: String

    /// Whether to run the tests that need one. They fail if mounting isn't possible, so that a test
    /// that didn't run isn't taken for one that passed. `IMAGEBUS_NO_MOUNTS=1` skips them, and
    /// their names are printed.
    public static let isWanted = CurrentProcess.environment("IMAGEBUS_NO_MOUNTS") != "1"

    /// A tmpfs of `bytes` bytes; throws if this user can't mount one, not even as the root of a
    /// user namespace.
    public init(bytes: Int) throws {
        let script = "mount -t tmpfs -o size=\(bytes),mode=700 tmpfs \"$0\""
        for options in [["--mount"], ["--mount", "--map-root-user"]] {
            let mount = PrivateMount(unshare: ["/usr/bin/unshare"] + options, script: script)
            if try mount.isAllowed() {
                self = mount
                return
            }
        }
        throw StackFailure(
            "this user may not mount a tmpfs, which this test needs: run it as root or where user "
                + "namespaces are permitted, or leave such tests out with IMAGEBUS_NO_MOUNTS=1")
    }

    /// An ext4 file system in a new image file, on a loop device; unlike tmpfs it can be frozen.
    public init(image path: String, bytes: Int) throws {
        try Tool.run(["truncate", "-s", "\(bytes)", path])
        try Tool.run(["mkfs.ext4", "-q", "-F", path])
        unshare = ["/usr/bin/unshare", "--mount"]
        script = "mount -o loop '\(path)' \"$0\" && chmod 700 \"$0\""
    }

    /// Whether this user may mount and freeze a file system.
    public static let canFreeze: Bool = {
        let folder = TemporaryDirectory()
        guard isWanted, CurrentProcess.userID == 0,
            let mount = try? PrivateMount(image: folder.file("image"), bytes: 16 << 20),
            (try? Tool.run(["mkdir", folder.file("mount")])) != nil
        else { return false }
        let place = folder.file("mount")
        let freeze = "fsfreeze -f '\(place)' && fsfreeze -u '\(place)'"
        let words = mount.line(["/bin/sh", "-c", freeze], at: place)
        let trial = try? ChildProcess.launch(ChildCommand(words[0], Array(words.dropFirst())))
        return (try? trial?.wait()) == .exited(0)
    }()

    private init(unshare: [String], script: String) {
        (self.unshare, self.script) = (unshare, script)
    }

    private func isAllowed() throws -> Bool {
        let folder = TemporaryDirectory()
        let words = line(["/bin/true"], at: folder.path)
        let trial = try ChildProcess.launch(ChildCommand(words[0], Array(words.dropFirst())))
        return try trial.wait() == .exited(0)
    }

    /// The command line that mounts at `path`, then executes `words`.
    func line(_ words: [String], at path: String) -> [String] {
        unshare + ["/bin/sh", "-c", script + " && exec \"$@\"", path] + words
    }
}
