import CLinux
import Glibc

/// What kind of thing a name stands for.
public enum FileType: Hashable, Sendable {
    /// A file with bytes.
    case regular
    /// A directory.
    case directory
    /// A symbolic link, itself.
    case symbolicLink
    /// A Unix socket.
    case socket
    /// A named pipe.
    case pipe
    /// Anything else, such as a device.
    case other
}

/// What the kernel says of one file (fstat).
public struct FileStatus: Hashable, Sendable {
    /// What kind of thing it is.
    public let type: FileType
    /// Permission bits only, for example 0o640.
    public let mode: UInt32
    /// The owner.
    public let userID: UInt32
    /// The group.
    public let groupID: UInt32
    /// Bytes.
    public let size: Int
    /// The device that holds the file.
    public let device: UInt64
    /// The inode; with `device` it names the file as long as the file exists.
    public let inode: UInt64
    /// How many names the file has; 0 once the last one is unlinked.
    public let links: Int
    /// When its bytes last changed, in seconds since 1970.
    public let modifiedSeconds: Int64
    /// The fraction of that second; 0 on file systems that keep none.
    public let modifiedNanoseconds: UInt32

    init(_ raw: clinux_status) {
        switch raw.mode & S_IFMT {
        case S_IFREG: type = .regular
        case S_IFDIR: type = .directory
        case S_IFLNK: type = .symbolicLink
        case S_IFSOCK: type = .socket
        case S_IFIFO: type = .pipe
        default: type = .other
        }
        mode = raw.mode & 0o7777
        userID = raw.uid
        groupID = raw.gid
        size = Int(clamping: raw.size)
        device = raw.device
        inode = raw.inode
        links = Int(clamping: raw.links)
        modifiedSeconds = raw.modified_seconds
        modifiedNanoseconds = raw.modified_nanoseconds
    }
}

/// What the kernel says of the file system that holds a file (fstatfs).
public struct FileSystemStatus: Hashable, Sendable {
    /// Whether it lives in memory (tmpfs).
    public let isTemporary: Bool
    /// Its size in bytes.
    public let totalBytes: UInt64
    /// What an ordinary user may still fill, in bytes.
    public let availableBytes: UInt64
}

extension FileDescriptor {
    /// Type, mode, owner, size and identity of the open file.
    public borrowing func status() throws(Errno) -> FileStatus {
        let number = number
        var raw = clinux_status()
        try syscall { clinux_fstat(number, &raw) }
        return FileStatus(raw)
    }

    /// The same of a name in this directory; a symbolic link is not followed.
    public borrowing func status(of name: String) throws(Errno) -> FileStatus {
        let number = number
        let name = try checked(path: name)
        var raw = clinux_status()
        try syscall { clinux_fstatat(number, name, &raw) }
        return FileStatus(raw)
    }

    /// The same of a path; a symbolic link at its end is not followed.
    public static func status(path: String) throws(Errno) -> FileStatus {
        let path = try checked(path: path)
        var raw = clinux_status()
        try syscall { clinux_fstatat(AT_FDCWD, path, &raw) }
        return FileStatus(raw)
    }

    /// Kind and size of the file system that holds the open file.
    public borrowing func fileSystemStatus() throws(Errno) -> FileSystemStatus {
        let number = number
        var raw = clinux_filesystem()
        try syscall { clinux_fstatfs(number, &raw) }
        return FileSystemStatus(
            isTemporary: raw.temporary, totalBytes: raw.total_bytes,
            availableBytes: raw.available_bytes)
    }
}
