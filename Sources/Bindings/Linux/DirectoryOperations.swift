import CLinux
import Glibc

extension FileDescriptor {
    /// Renames within this directory; replaces what has the new name, atomically.
    public borrowing func rename(_ name: String, to newName: String) throws(Errno) {
        try Self.rename(name, from: number, to: newName, in: number)
    }

    /// Moves a name of this directory into another of the same file system, atomically.
    public borrowing func rename(
        _ name: String, to newName: String, in target: borrowing FileDescriptor
    ) throws(Errno) {
        try Self.rename(name, from: number, to: newName, in: target.number)
    }

    /// Removes a name that is not a directory.
    public borrowing func unlink(_ name: String) throws(Errno) {
        let number = number
        let name = try checked(path: name)
        try syscall { clinux_unlinkat(number, name, false) }
    }

    /// Removes an empty directory of this directory.
    public borrowing func removeDirectory(_ name: String) throws(Errno) {
        let number = number
        let name = try checked(path: name)
        try syscall { clinux_unlinkat(number, name, true) }
    }

    /// Makes a directory in this directory; `mode` less the umask.
    public borrowing func makeDirectory(
        _ name: String, mode: UInt32 = 0o700
    ) throws(Errno) {
        let number = number
        let name = try checked(path: name)
        try syscall { clinux_mkdirat(number, name, mode) }
    }

    /// Makes a directory at a path; `mode` less the umask.
    public static func makeDirectory(path: String, mode: UInt32 = 0o700) throws(Errno) {
        let path = try checked(path: path)
        try syscall { clinux_mkdirat(AT_FDCWD, path, mode) }
    }

    /// What a symbolic link in this directory says.
    public borrowing func target(of name: String) throws(Errno) -> String {
        let number = number
        let name = try checked(path: name)
        return try readLink { clinux_readlinkat(number, name, $0.baseAddress, $0.count) }
    }

    /// Sets the permission bits of the open file, whatever the umask.
    public borrowing func setMode(_ mode: UInt32) throws(Errno) {
        let number = number
        try syscall { clinux_fchmod(number, mode) }
    }

    /// Sets the permission bits of a name in this directory, for example of a socket.
    public borrowing func setMode(_ mode: UInt32, of name: String) throws(Errno) {
        let number = number
        let name = try checked(path: name)
        try syscall { clinux_fchmodat(number, name, mode) }
    }

    /// Gives the open file to another user and group; only root may.
    public borrowing func setOwner(userID: UInt32, groupID: UInt32) throws(Errno) {
        let number = number
        try syscall { clinux_fchown(number, userID, groupID) }
    }

    private static func rename(
        _ name: String, from source: Int32, to newName: String, in target: Int32
    ) throws(Errno) {
        let name = try checked(path: name)
        let newName = try checked(path: newName)
        try syscall { clinux_renameat(source, name, target, newName) }
    }
}

extension FileDescriptor {
    /// The names in this directory without `.` and `..`, in the file system's own order.
    ///
    /// Moves the descriptor's offset, so that a second call goes on where the first ended: open the
    /// directory anew to list it again. Throws `Errno.fileTooLarge` beyond `entriesMax` names.
    /// Names that are not UTF-8 are left out: nothing here ever makes one.
    public borrowing func entries(entriesMax: Int = 1_000_000) throws(Errno) -> [String] {
        let number = number
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 8)
        defer { buffer.deallocate() }
        var names: [String] = []
        while true {
            let filled = try syscall {
                clinux_getdents(number, buffer.baseAddress, buffer.count)
            }
            if filled == 0 { return names }
            Self.appendNames(in: UnsafeRawBufferPointer(rebasing: buffer[..<Int(filled)]), &names)
            if names.count > entriesMax { throw .fileTooLarge }
        }
    }

    /// Reads `linux_dirent64` records: inode 8, offset 8, length 2, type 1, name up to a zero.
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

/// Why a directory may be another one tomorrow, or could not be opened.
public enum UntrustedPath: Error, Hashable, Sendable {
    /// What speaks against the directory or link of this path.
    case fault(DirectoryRule.Fault, String, isAbove: Bool)
    /// The kernel refused.
    case system(Errno)
}

extension FileDescriptor {
    /// Opens a directory in whose place nobody but root and this user can put another one, and in
    /// which nobody else may write. Makes what is missing of its path (mode 0700).
    ///
    /// Every directory and link on the way belongs to root or this user. In none may others write,
    /// unless it is sticky: then they cannot take away what is not theirs. Each is opened in the
    /// one before, so that it is the one that was looked at.
    public static func openTrusted(_ path: String) throws(UntrustedPath) -> FileDescriptor {
        do {
            let start = path.hasPrefix("/") ? "" : try CurrentProcess.workingDirectory()
            var walk = TrustedWalk(
                along: "\(start)/\(path)", from: try .open("/", [.place, .directory]))
            try walk.check("/")
            while try walk.step() {}
            // A way that ends in `..` has only looked at it as one on the way.
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

/// The way from the root to a directory, name by name.
private struct TrustedWalk: ~Copyable {
    /// Where it is: opened for what is in it alone (O_PATH).
    private(set) var directory: FileDescriptor
    /// Its path, without links.
    private var path: [String] = []
    /// Names to come, the next one last.
    private var left: [String]
    private var links = 0

    /// As many as the kernel follows.
    private static let linksMax = 40

    init(along path: String, from root: consuming FileDescriptor) {
        directory = root
        left = Self.names(path).reversed()
    }

    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init)
    }

    /// Goes on by one name; false at the end.
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

    /// Of a name, which is made where it is missing.
    private borrowing func status(_ name: String) throws -> FileStatus {
        do throws(Errno) { return try directory.status(of: name) } catch .noSuchFile {}
        do throws(Errno) {
            try directory.makeDirectory(name)
            // Whatever the umask says.
            try directory.openDirectory(name).setMode(0o700)
        } catch .fileExists {}
        return try directory.status(of: name)
    }

    private mutating func enter(_ name: String) throws {
        directory = try directory.open(name, [.place, .directory, .noFollow])
        path.append(name)
        try check("/" + path.joined(separator: "/"))
    }

    /// A link is as good as who made it: in a sticky directory that may be anybody.
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

    /// Whether what was found may be trusted.
    borrowing func checkEnd() throws { try check("/" + path.joined(separator: "/")) }

    /// Whether it may be trusted, here or on the way.
    borrowing func check(_ path: String) throws {
        let isAbove = !left.isEmpty
        switch DirectoryRule.above.fault(in: try directory.status()) {
        case nil: return
        case .wrongMode(let mode) where isAbove && mode & 0o1000 != 0: return
        case .some(let fault): throw UntrustedPath.fault(fault, path, isAbove: isAbove)
        }
    }
}

/// Who may own a directory, and what its mode may not grant, for what lies in it to be believed.
public struct DirectoryRule: Hashable, Sendable {
    /// nil: whoever it is.
    public let owners: Set<UInt32>?
    /// None of these bits may be set.
    public let forbiddenModeBits: UInt32
    /// Whether its group may write there, if nobody can remove what is somebody else's.
    public let isShared: Bool

    /// A rule of one's own.
    public init(owners: Set<UInt32>?, forbiddenModeBits: UInt32, isShared: Bool = false) {
        self.owners = owners
        self.forbiddenModeBits = forbiddenModeBits
        self.isShared = isShared
    }

    /// Ours, and nobody else changes it.
    public static let own = DirectoryRule(
        owners: [CurrentProcess.userID], forbiddenModeBits: 0o022)
    /// Ours, and nobody else even looks into it.
    public static let secret = DirectoryRule(
        owners: [CurrentProcess.userID], forbiddenModeBits: 0o077)
    /// Ours or an administrator's, who may have made it for us; nobody else changes it.
    public static let above = DirectoryRule(
        owners: [0, CurrentProcess.userID], forbiddenModeBits: 0o022)
    /// Somebody else's, who alone changes it.
    public static let others = DirectoryRule(owners: nil, forbiddenModeBits: 0o022)

    /// Of that user or ours, and written by its group.
    public static func shared(by owner: UInt32) -> DirectoryRule {
        DirectoryRule(
            owners: [owner, CurrentProcess.userID], forbiddenModeBits: 0o002, isShared: true)
    }

    /// What speaks against a directory.
    public enum Fault: Hashable, Sendable {
        case notDirectory
        /// It belongs to this user.
        case wrongOwner(UInt32)
        /// Its mode, which grants too much.
        case wrongMode(UInt32)
    }

    /// The first thing that speaks against the directory of this status; nil where nothing does.
    public func fault(in status: FileStatus) -> Fault? {
        if status.type != .directory { return .notDirectory }
        if owners?.contains(status.userID) == false { return .wrongOwner(status.userID) }
        return permits(mode: status.mode) ? nil : .wrongMode(status.mode)
    }

    private func permits(mode: UInt32) -> Bool {
        mode & forbiddenModeBits == 0
            && (!isShared || mode & 0o020 == 0 || mode & 0o1000 != 0)
    }
}

/// A private directory of mode 0700 that goes with all its content when the value ends.
public struct TemporaryDirectory: ~Copyable, Sendable {
    /// Its path: short enough for a socket (107 bytes) where `parent` is.
    public let path: String

    /// Makes a directory in `parent` whose name is `prefix` and six random characters.
    public init(in parent: String = "/tmp", prefix: String = "ib-") throws(Errno) {
        // What mkdtemp(3) replaces.
        let places = String(repeating: "X", count: 6)
        var pattern = try checked(path: "\(parent)/\(prefix)\(places)").utf8CString
        let result = pattern.withUnsafeMutableBufferPointer { clinux_mkdtemp($0.baseAddress) }
        if result < 0 { throw Errno(rawValue: -result) }
        path = String(decoding: pattern.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // What cannot be removed stays: there is nobody to tell.
        try? FileDescriptor.removeTree(path: path)
    }
}

extension FileDescriptor {
    /// Removes a directory with all that is in it; symbolic links are removed, not followed.
    public static func removeTree(path: String) throws(Errno) {
        let cut = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = cut.map { String(path[..<$0]) } ?? "."
        let name = cut.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        try open(parent.isEmpty ? "/" : parent, .directory).removeTree(name)
    }

    /// Removes a directory of this directory with all that is in it.
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
