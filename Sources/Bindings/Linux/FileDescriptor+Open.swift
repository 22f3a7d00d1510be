import CLinux
import Glibc

/// How a file is opened; O_CLOEXEC is always added.
public struct OpenOptions: OptionSet, Sendable {
    /// The flags as in `<fcntl.h>`.
    public let rawValue: Int32

    /// Wraps flags as in `<fcntl.h>`.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// O_RDONLY, which is 0: the default.
    public static let readOnly: OpenOptions = []
    /// O_WRONLY.
    public static let writeOnly = OpenOptions(rawValue: O_WRONLY)
    /// O_RDWR.
    public static let readWrite = OpenOptions(rawValue: O_RDWR)
    /// O_CREAT: make the file if it is not there.
    public static let create = OpenOptions(rawValue: O_CREAT)
    /// O_EXCL: with `create`, fail with EEXIST if the name is taken.
    public static let exclusive = OpenOptions(rawValue: O_EXCL)
    /// O_APPEND: every write goes to the end.
    public static let append = OpenOptions(rawValue: O_APPEND)
    /// O_TRUNC: drop what the file holds.
    public static let truncate = OpenOptions(rawValue: O_TRUNC)
    /// O_DIRECTORY: fail with ENOTDIR unless it is a directory.
    public static let directory = OpenOptions(rawValue: clinux_o_directory)
    /// O_NOFOLLOW: fail with ELOOP if the last part of the path is a symbolic link.
    public static let noFollow = OpenOptions(rawValue: clinux_o_nofollow)
    /// O_PATH: for what is in it alone; needs no permission to read it.
    public static let place = OpenOptions(rawValue: clinux_o_path)
    /// O_NONBLOCK.
    public static let nonBlocking = OpenOptions(rawValue: O_NONBLOCK)
}

extension FileDescriptor {
    /// Opens a path; relative paths start at the working directory.
    ///
    /// `mode` holds for a file that is made now, less the umask. Throws the kernel's error, and
    /// EINVAL for a path with a zero byte.
    public static func open(
        _ path: String, _ options: OpenOptions = .readOnly, mode: UInt32 = 0o600
    ) throws(Errno) -> FileDescriptor {
        try open(path, at: AT_FDCWD, options, mode: mode)
    }

    /// Opens a directory itself, not a link to one (O_DIRECTORY | O_NOFOLLOW).
    public static func openDirectory(_ path: String) throws(Errno) -> FileDescriptor {
        try open(path, [.directory, .noFollow])
    }

    /// Opens a name in the directory that this descriptor stands for.
    public borrowing func open(
        _ name: String, _ options: OpenOptions = .readOnly, mode: UInt32 = 0o600
    ) throws(Errno) -> FileDescriptor {
        try Self.open(name, at: number, options, mode: mode)
    }

    /// Opens a directory in this directory, not a link to one.
    public borrowing func openDirectory(_ name: String) throws(Errno) -> FileDescriptor {
        try open(name, [.directory, .noFollow])
    }

    /// Opens both ends of a pipe; both are close-on-exec.
    public static func pipe() throws(Errno) -> Pipe {
        var ends: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutableBytes(of: &ends) {
            clinux_pipe($0.bindMemory(to: Int32.self).baseAddress)
        }
        if result < 0 { throw Errno(rawValue: -result) }
        return Pipe(
            readEnd: FileDescriptor(owning: ends.0), writeEnd: FileDescriptor(owning: ends.1))
    }

    private static func open(
        _ path: String, at directory: Int32, _ options: OpenOptions, mode: UInt32
    ) throws(Errno) -> FileDescriptor {
        let path = try checked(path: path)
        return FileDescriptor(
            owning: try syscall { clinux_openat(directory, path, options.rawValue, mode) })
    }
}

/// The two ends of a pipe, each with its own owner.
@frozen public struct Pipe: ~Copyable, Sendable {
    /// Where the bytes come out; at its end once every write end is closed.
    public var readEnd: FileDescriptor
    /// Where the bytes go in; EPIPE once every read end is closed.
    public var writeEnd: FileDescriptor
}
