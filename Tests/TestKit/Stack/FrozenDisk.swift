import Linux

/// A file system whose writers hang in the kernel, where no signal reaches them, until it is
/// thawed.
public final class FrozenDisk {
    private let directory: FileDescriptor
    private var isFrozen = true

    /// Freezes the file system of a directory.
    public init(_ path: String) throws {
        directory = try FileDescriptor.openDirectory(path)
        try Tool.run(["fsfreeze", "-f", place])
    }

    deinit { thaw() }

    /// Lets its writers go on. Also where the mount namespace has gone by then.
    public func thaw() {
        guard isFrozen else { return }
        isFrozen = false
        _ = try? Tool.run(["fsfreeze", "-u", place])
    }

    private var place: String { "/proc/\(CurrentProcess.processID)/fd/\(directory.number)" }
}
