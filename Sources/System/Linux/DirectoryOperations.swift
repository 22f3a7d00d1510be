import CLinux
import Glibc

extension FileDescriptor {
    /// Renames an entry within this directory. Atomically replaces an existing entry of the new
    /// name.
    public borrowing func rename(_ name: String, to newName: String) throws(Errno) {
        let newName = try checked(path: newName)
        try call(name) { clinux_renameat($0, $1, $0, newName) }
    }

    /// Removes an entry that isn't a directory.
    public borrowing func unlink(_ name: String) throws(Errno) {
        try call(name) { clinux_unlinkat($0, $1, false) }
    }

    /// Removes an empty subdirectory.
    public borrowing func removeDirectory(_ name: String) throws(Errno) {
        try call(name) { clinux_unlinkat($0, $1, true) }
    }

    /// Creates a subdirectory. The umask is subtracted from `mode`.
    public borrowing func makeDirectory(
        _ name: String, mode: UInt32 = 0o700
    ) throws(Errno) {
        try call(name) { clinux_mkdirat($0, $1, mode) }
    }

    /// Creates a directory at a path. The umask is subtracted from `mode`.
    public static func makeDirectory(path: String, mode: UInt32 = 0o700) throws(Errno) {
        let path = try checked(path: path)
        try syscall { clinux_mkdirat(AT_FDCWD, path, mode) }
    }

    /// Returns the target of a symbolic link in this directory.
    public borrowing func target(of name: String) throws(Errno) -> String {
        let number = number
        let name = try checked(path: name)
        return try readLink { clinux_readlinkat(number, name, $0.baseAddress, $0.count) }
    }

    /// Sets the permission bits of the open file, regardless of the umask.
    public borrowing func setMode(_ mode: UInt32) throws(Errno) {
        try call { clinux_fchmod($0, mode) }
    }

    /// Sets the permission bits of an entry in this directory, such as a socket.
    public borrowing func setMode(_ mode: UInt32, of name: String) throws(Errno) {
        try call(name) { clinux_fchmodat($0, $1, mode) }
    }

    /// Changes the owner and group of the open file. Only root may do this.
    public borrowing func setOwner(userID: UInt32, groupID: UInt32) throws(Errno) {
        try call { clinux_fchown($0, userID, groupID) }
    }
}

extension FileDescriptor {
    /// Returns the names in this directory except `.` and `..`, in file system order.
    ///
    /// Moves the descriptor's offset, so a second call continues where the first ended; reopen the
    /// directory to list it again. Throws `Errno.fileTooLarge` for more than `entriesMax` names.
    /// Names that aren't UTF-8 are skipped, since this project never creates any.
    public borrowing func entries(entriesMax: Int = 1_000_000) throws(Errno) -> [String] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 8)
        defer { buffer.deallocate() }
        var names: [String] = []
        while true {
            let filled = try call {
                clinux_getdents($0, buffer.baseAddress, buffer.count)
            }
            if filled == 0 { return names }
            Self.appendNames(in: UnsafeRawBufferPointer(rebasing: buffer[..<Int(filled)]), &names)
            if names.count > entriesMax { throw .fileTooLarge }
        }
    }

    /// Parses `linux_dirent64` records: inode 8, offset 8, length 2, type 1, zero-terminated name.
    private static func appendNames(in records: UnsafeRawBufferPointer, _ names: inout [String]) {
        var start = 0
        while start + 19 < records.count {
            let length = Int(records.loadUnaligned(fromByteOffset: start + 16, as: UInt16.self))
            let name = records[(start + 19)..<(start + length)].prefix { $0 != 0 }
            start += length
            if let text = String(validating: name, as: UTF8.self), text != ".", text != ".." {
                names.append(text)
            }
        }
    }
}

/// The type of a directory entry.
public enum FileType: Hashable, Sendable {
    /// A regular file.
    case regular
    /// A directory.
    case directory
    /// A symbolic link itself, not its target.
    case symbolicLink
    /// A Unix socket.
    case socket
    /// A named pipe.
    case pipe
    /// Anything else, such as a device.
    case other
}

/// The metadata of a file (fstat).
public struct FileStatus: Hashable, Sendable {
    /// The file type.
    public let type: FileType
    /// The permission bits only, such as 0o640.
    public let mode: UInt32
    /// The owner's user ID.
    public let userID: UInt32
    /// The group ID.
    public let groupID: UInt32
    /// The size in bytes.
    public let size: Int
    /// The device that holds the file.
    public let device: UInt64
    /// The inode. Together with `device` it identifies the file as long as the file exists.
    public let inode: UInt64
    /// The number of hard links; 0 once the last name is unlinked.
    public let links: Int
    /// The last modification of its content, in seconds since 1970.
    public let modifiedSeconds: Int64
    /// The fraction of that second; 0 on file systems that don't store one.
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

/// The state of a file system (fstatfs).
public struct FileSystemStatus: Hashable, Sendable {
    /// Whether it's in memory (tmpfs).
    public let isTemporary: Bool
    /// The total size in bytes.
    public let totalBytes: UInt64
    /// The bytes available to an unprivileged user.
    public let availableBytes: UInt64
}

extension FileDescriptor {
    /// Returns type, mode, owner, size and identity of the open file.
    public borrowing func status() throws(Errno) -> FileStatus {
        var raw = clinux_status()
        try call { clinux_fstat($0, &raw) }
        return FileStatus(raw)
    }

    /// Returns the status of an entry in this directory without following a symbolic link.
    public borrowing func status(of name: String) throws(Errno) -> FileStatus {
        var raw = clinux_status()
        try call(name) { clinux_fstatat($0, $1, &raw) }
        return FileStatus(raw)
    }

    /// Returns the status of a path without following a symbolic link at its end.
    public static func status(path: String) throws(Errno) -> FileStatus {
        let path = try checked(path: path)
        var raw = clinux_status()
        try syscall { clinux_fstatat(AT_FDCWD, path, &raw) }
        return FileStatus(raw)
    }

    /// Returns type and size of the file system that holds the open file.
    public borrowing func fileSystemStatus() throws(Errno) -> FileSystemStatus {
        var raw = clinux_filesystem()
        try call { clinux_fstatfs($0, &raw) }
        return FileSystemStatus(
            isTemporary: raw.temporary, totalBytes: raw.total_bytes,
            availableBytes: raw.available_bytes)
    }
}

/// Why a directory can't be trusted to stay the same, or couldn't be opened.
public enum UntrustedPath: Error, Hashable, Sendable {
    /// The directory or link at this path violates a rule. `isAbove` if it's a parent of the
    /// requested directory.
    case fault(DirectoryRule.Violation, String, isAbove: Bool)
    /// A system call failed.
    case system(Errno)
}

extension FileDescriptor {
    /// Opens a directory that only root and this user can replace or write to. Creates missing
    /// components of the path with mode 0700.
    ///
    /// Every directory and link along the path must belong to root or this user, and must not be
    /// writable by others unless it's sticky, which keeps others from removing what they don't own.
    /// Each component is opened relative to the one before, so that the checked directory is the
    /// opened one.
    public static func openTrusted(_ path: String) throws(UntrustedPath) -> FileDescriptor {
        do {
            let start = path.hasPrefix("/") ? "" : try CurrentProcess.workingDirectory()
            var walk = TrustedWalk(
                along: "\(start)/\(path)", from: try .open("/", [.place, .directory]))
            try walk.check("/")
            while try walk.step() {}
            // A path that ends in `..` has only been checked as a parent so far.
            try walk.checkEnd()
            return try walk.directory.open(".", .directory)
        } catch let error as UntrustedPath {
            throw error
        } catch let error as Errno {
            throw .system(error)
        } catch {
            preconditionFailure("only these two are thrown: \(error)")
        }
    }
}

/// Walks from the root to a directory, component by component.
private struct TrustedWalk: ~Copyable {
    /// The current directory, opened with O_PATH only to access its entries.
    private(set) var directory: FileDescriptor
    /// The path of the current directory, with links resolved.
    private var path: [String] = []
    /// The remaining components, the next one last.
    private var left: [String]
    private var links = 0

    /// The kernel's own limit.
    private static let linksMax = 40

    init(along path: String, from root: consuming FileDescriptor) {
        directory = root
        left = Self.names(path).reversed()
    }

    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init)
    }

    /// Advances by one component. Returns `false` at the end.
    mutating func step() throws -> Bool {
        guard let name = left.popLast() else { return false }
        if name == ".." {
            directory = try directory.open(name, [.place, .directory])
            _ = path.popLast()
            return true
        }
        if try status(name).type == .symbolicLink { try follow(name) } else { try enter(name) }
        return true
    }

    /// Returns the status of an entry, which is created if it's missing.
    private borrowing func status(_ name: String) throws -> FileStatus {
        do throws(Errno) { return try directory.status(of: name) } catch .noSuchFile {}
        do throws(Errno) {
            try directory.makeDirectory(name)
            // Regardless of the umask.
            try directory.openDirectory(name).setMode(0o700)
        } catch .fileExists {}
        return try directory.status(of: name)
    }

    private mutating func enter(_ name: String) throws {
        directory = try directory.open(name, [.place, .directory, .noFollow])
        path.append(name)
        try check("/" + path.joined(separator: "/"))
    }

    /// A link is as trustworthy as its owner: in a sticky directory anyone can create one.
    private mutating func follow(_ name: String) throws {
        links += 1
        guard links <= Self.linksMax else { throw Errno.symbolicLink }
        let owner = try directory.status(of: name).userID
        guard DirectoryRule.above.owners?.contains(owner) == true else {
            let link = "/" + (path + [name]).joined(separator: "/")
            throw UntrustedPath.fault(.wrongOwner(owner), link, isAbove: true)
        }
        let target = try directory.target(of: name)
        if target.hasPrefix("/") {
            directory = try FileDescriptor.open("/", [.place, .directory])
            path = []
        }
        left += Self.names(target).reversed()
    }

    /// Throws unless the final directory is trusted.
    borrowing func checkEnd() throws { try check("/" + path.joined(separator: "/")) }

    /// Throws unless the current directory is trusted, as the end of the path or as a parent.
    borrowing func check(_ path: String) throws {
        let isAbove = !left.isEmpty
        switch DirectoryRule.above.fault(in: try directory.status()) {
        case nil: return
        case .wrongMode(let mode) where isAbove && mode & 0o1000 != 0: return
        case .some(let fault): throw UntrustedPath.fault(fault, path, isAbove: isAbove)
        }
    }
}

/// The permitted owners and modes of a directory whose content is to be trusted.
public struct DirectoryRule: Hashable, Sendable {
    /// The permitted owners; `nil` permits any.
    public let owners: Set<UInt32>?
    /// Permission bits that must not be set.
    public let forbiddenModeBits: UInt32
    /// Whether the group may write if the directory is sticky.
    public internal(set) var isShared = false

    /// Owned by this user and writable only by it.
    public static let own = DirectoryRule(
        owners: [CurrentProcess.userID], forbiddenModeBits: 0o022)
    /// Owned by this user and accessible only to it.
    public static let secret = DirectoryRule(
        owners: [CurrentProcess.userID], forbiddenModeBits: 0o077)
    /// Owned by this user or by root, who may have created it for this user, and writable only by
    /// the owner.
    public static let above = DirectoryRule(
        owners: [0, CurrentProcess.userID], forbiddenModeBits: 0o022)
    /// Owned by any user and writable only by its owner.
    public static let others = DirectoryRule(owners: nil, forbiddenModeBits: 0o022)

    /// Returns a rule for a directory owned by `owner` or this user and writable by its group.
    public static func shared(by owner: UInt32) -> DirectoryRule {
        DirectoryRule(
            owners: [owner, CurrentProcess.userID], forbiddenModeBits: 0o002, isShared: true)
    }

    /// The reason a directory violates a rule.
    public enum Violation: Hashable, Sendable {
        case notDirectory
        /// It's owned by this user ID.
        case wrongOwner(UInt32)
        /// Its mode grants too much.
        case wrongMode(UInt32)
    }

    /// Returns the first violation for a directory with this status, or `nil` if there is none.
    public func fault(in status: FileStatus) -> Violation? {
        if status.type != .directory { return .notDirectory }
        if owners?.contains(status.userID) == false { return .wrongOwner(status.userID) }
        return permits(mode: status.mode) ? nil : .wrongMode(status.mode)
    }

    private func permits(mode: UInt32) -> Bool {
        mode & forbiddenModeBits == 0
            && (!isShared || mode & 0o020 == 0 || mode & 0o1000 != 0)
    }
}

/// A private directory with mode 0700, removed with its content when the value ends.
public struct TemporaryDirectory: ~Copyable, Sendable {
    /// The path; short enough for a socket (107 bytes) if `parent` is.
    public let path: String

    /// Creates a directory in `parent`, named `prefix` plus six random characters.
    public init(in parent: String = "/tmp", prefix: String = "ib-") throws(Errno) {
        // The placeholder for mkdtemp(3).
        let places = String(repeating: "X", count: 6)
        var pattern = try checked(path: "\(parent)/\(prefix)\(places)").utf8CString
        let result = pattern.withUnsafeMutableBufferPointer { clinux_mkdtemp($0.baseAddress) }
        if result < 0 { throw Errno(rawValue: -result) }
        path = String(decoding: pattern.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // What can't be removed is left behind: a deinitializer can't report errors.
        try? FileDescriptor.removeTree(path: path)
    }
}

extension FileDescriptor {
    /// Removes a directory recursively. Symbolic links are removed, not followed.
    public static func removeTree(path: String) throws(Errno) {
        let cut = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = cut.map { String(path[..<$0]) } ?? "."
        let name = cut.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        try open(parent.isEmpty ? "/" : parent, .directory).removeTree(name)
    }

    /// Removes a subdirectory recursively.
    public borrowing func removeTree(_ name: String) throws(Errno) {
        try openDirectory(name).removeContent()
        try removeDirectory(name)
    }

    private borrowing func removeContent() throws(Errno) {
        for entry in try entries() {
            if try status(of: entry).type == .directory {
                try removeTree(entry)
            } else {
                try unlink(entry)
            }
        }
    }
}
