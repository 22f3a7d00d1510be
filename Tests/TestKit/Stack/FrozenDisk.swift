import Linux

/// A frozen file system: writers hang in the kernel, where no signal reaches them, until it is
/// thawed.
public final class FrozenDisk {
    private let directory: FileDescriptor
    private var isFrozen = true

    /// Freezes the file system that contains a directory.
    public init(_ path: String) throws {
        directory = try FileDescriptor.openDirectory(path)
        try Tool.run(["fsfreeze", "-f", place])
    }

    deinit { thaw() }

    /// Thaws it, so that writers continue. Works even if the mount namespace is gone by then.
    public func thaw() {
        guard isFrozen else { return }
        isFrozen = false
        _ = try? Tool.run(["fsfreeze", "-u", place])
    }

    private var place: String { "/proc/\(CurrentProcess.processID)/fd/\(directory.number)" }
}
