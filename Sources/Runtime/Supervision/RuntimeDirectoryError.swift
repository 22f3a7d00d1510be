public import Linux

/// Why a runtime directory cannot be used.
public enum RuntimeDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path is not absolute.
    case notAbsolute(String)
    /// The longest socket path below it has more bytes than the kernel takes.
    case pathTooLong(String, bytes: Int)
    /// A symbolic link, a file or something else is where a directory should be.
    case notDirectory(String)
    /// A directory belongs to another user.
    case wrongOwner(String, owner: UInt32, expected: UInt32)
    /// Others could change what is in a directory, or look into a private one.
    case wrongMode(String, mode: UInt32)
    /// Another `serve` runs here.
    case locked(String, holder: Int32?)
    /// Neither the runtime directory nor `/dev/shm` is on tmpfs.
    case noSharedMemory(String)
    /// A directory is missing which only the user of the coordinator may make.
    case awaitsCoordinator(String)
    /// The kernel refused.
    case system(String, Errno)

    /// One sentence that says what to do.
    public var description: String {
        switch self {
        case .notAbsolute(let path): "the runtime directory '\(path)' is not an absolute path"
        case .pathTooLong(let path, let bytes):
            "the socket path \(path) has \(bytes) bytes, the kernel takes "
                + "\(RuntimeDirectory.socketPathBytesMax): choose a runtime directory that is "
                + "\(bytes - RuntimeDirectory.socketPathBytesMax) bytes shorter"
        case .notDirectory(let path):
            "\(path) is not a directory (links are not followed): remove it, or choose another "
                + "runtime directory"
        case .wrongOwner(let path, let owner, let expected):
            "\(path) belongs to user \(owner), not to user \(expected): change its owner, or "
                + "choose another runtime directory"
        case .wrongMode(let path, let mode):
            "\(path) has mode 0\(String(mode, radix: 8)), which lets others in: "
                + "take their permission away, such as with chmod 700"
        case .locked(let path, let holder):
            "another serve\(holder.map { " (process \($0))" } ?? "") holds \(path): stop it, or "
                + "choose another runtime directory"
        case .noSharedMemory(let path):
            "\(path) is not on tmpfs, and neither is it: mount tmpfs at one of them"
        case .awaitsCoordinator(let path):
            "\(path) is not there yet: the supervisor of the coordinator makes it"
        case .system(let path, let errno):
            "\(path) cannot be used (\(errno)): name another one with --runtime-dir"
        }
    }
}
