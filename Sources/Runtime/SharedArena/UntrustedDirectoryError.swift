public import Linux

/// Why nothing is sent to whoever serves a runtime directory that nobody named.
public enum UntrustedDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It, or a directory above it, belongs to somebody else.
    case foreign(String, owner: UInt32, user: UInt32)
    /// Others may put something else in the place of what lies in it.
    case writable(String, mode: UInt32)
    /// A symbolic link or a file is where a directory should be.
    case notDirectory(String)
    /// The kernel refused.
    case system(String, Errno)

    /// One sentence that says what to do.
    public var description: String {
        "\(reason): nothing was sent there; remove it, or name the stack that is meant with "
            + "--endpoint or --runtime-dir (IMAGEBUS_ENDPOINT, IMAGEBUS_RUNTIME_DIR)"
    }

    private var reason: String {
        switch self {
        case .foreign(let path, let owner, let user):
            "\(path) belongs to user \(owner), neither to user \(user) nor to root"
        case .writable(let path, let mode):
            "\(path) has mode 0\(String(mode, radix: 8)), so that other users may change it"
        case .notDirectory(let path): "\(path) is not a directory (links are not followed)"
        case .system(let path, let errno): "\(path) cannot be looked at (\(errno))"
        }
    }
}
