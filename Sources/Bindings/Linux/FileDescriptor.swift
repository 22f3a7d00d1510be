import CLinux
import Glibc

/// The owner of one open descriptor: closed when the value ends, never by anybody else.
///
/// All descriptors of this module are close-on-exec. A value may move to another thread.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The descriptor's number; valid only while this value lives.
    public let number: Int32

    /// Takes over a descriptor that somebody else opened; from now on this value closes it.
    public init(owning number: Int32) {
        self.number = number
    }

    deinit {
        // A failed close reports an earlier write's error; who needs that calls `close()`.
        _ = clinux_close(number)
    }

    /// Gives the descriptor away without closing it; the caller closes it.
    public consuming func relinquish() -> Int32 {
        let kept = number
        discard self
        return kept
    }

    /// Closes now and reports what the kernel says, for example a failed write behind.
    public consuming func close() throws(Errno) {
        let result = clinux_close(relinquish())
        // EINTR has closed it already: Linux never wants a second close.
        if result < 0, result != -Errno.interrupted.rawValue { throw Errno(rawValue: -result) }
    }

    /// A second owner of the same open file (F_DUPFD_CLOEXEC); offset and flock are shared.
    public borrowing func duplicate() throws(Errno) -> FileDescriptor {
        let original = number
        return FileDescriptor(owning: try syscall { clinux_duplicate(original, 0) })
    }

    /// From now on reads and writes of the open file fail with EAGAIN instead of waiting.
    public borrowing func setNonBlocking() throws(Errno) {
        let number = number
        try syscall { clinux_set_nonblocking(number) }
    }
}

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

extension FileDescriptor {
    /// Opens a relative path below this directory (openat2, Linux 5.6) that nothing leads out of:
    /// no `..`, no absolute link, no link of `/proc`.
    ///
    /// Links within it are followed, unless `followsLinks` says that none is, wherever in the path.
    ///
    /// Throws EXDEV for a path that would leave, ELOOP for too many links, or one, ENOSYS where the
    /// kernel does not have the call, EAGAIN where a directory was renamed meanwhile, and EINVAL
    /// for a path with a zero byte.
    public borrowing func openBeneath(
        _ path: String, _ options: OpenOptions = .readOnly, followsLinks: Bool = true
    ) throws(Errno) -> FileDescriptor {
        let number = number
        let path = try checked(path: path)
        return FileDescriptor(
            owning: try syscall {
                clinux_open_beneath(number, path, options.rawValue, followsLinks)
            })
    }
}

extension FileDescriptor {
    /// Reads what is there, at most the buffer; 0 at the end of the file.
    public borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        let number = number
        return Int(try syscall { clinux_read(number, buffer.baseAddress, buffer.count) })
    }

    /// Reads until the buffer is full or the file ends; returns how many bytes were read.
    public borrowing func readFully(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        var done = 0
        while done < buffer.count {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Reads from `offset` on without moving the file's own offset; 0 at the end.
    public borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(Errno) -> Int {
        let number = number
        return Int(
            try syscall {
                clinux_pread(number, buffer.baseAddress, buffer.count, Int64(offset))
            })
    }

    /// Reads from `offset` on until the buffer is full or the file ends; returns the count.
    public borrowing func readFully(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(Errno) -> Int {
        try Self.readFully(number, into: buffer, at: offset)
    }

    /// Writes some of the bytes; returns how many.
    public borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> Int {
        let number = number
        return Int(try syscall { clinux_write(number, bytes.baseAddress, bytes.count) })
    }

    /// Writes all of the bytes, in as many calls as it takes.
    public borrowing func writeAll(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try Self.writeAll(bytes, to: number)
    }

    /// Writes all of the bytes from `offset` on without moving the file's own offset.
    public borrowing func writeAll(
        _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(Errno) {
        try Self.writeAll(bytes, to: number, at: offset)
    }

    /// Writes all of the bytes to a descriptor that nobody here owns, for example 2 for the log.
    public static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to number: Int32
    ) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            done += Int(try syscall { clinux_write(number, rest.baseAddress, rest.count) })
        }
    }

    /// Whether a write to a descriptor that nobody here owns would not wait now (poll): a pipe
    /// takes at least `PIPE_BUF` bytes then, as long as nobody else writes in between. Files always
    /// do; what is no descriptor never does.
    public static func hasRoom(_ number: Int32) -> Bool {
        ((try? syscall { clinux_poll(number, true, 0) }) ?? 0) > 0
    }

    static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to number: Int32, at offset: Int
    ) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            done += Int(
                try syscall {
                    clinux_pwrite(number, rest.baseAddress, rest.count, Int64(offset + done))
                })
        }
    }

    static func readFully(
        _ number: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(Errno) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try syscall {
                clinux_pread(number, rest.baseAddress, rest.count, Int64(offset + done))
            }
            if count == 0 { break }
            done += Int(count)
        }
        return done
    }
}

// The same transfers for callers that hold spans and arrays instead of raw pointers.
extension FileDescriptor {
    /// Reads to the end; throws `Errno.fileTooLarge` when there are more than `bytesMax`.
    public borrowing func readToEnd(bytesMax: Int) throws(Errno) -> [UInt8] {
        let chunk = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(bytesMax + 1, 65_536), alignment: 16)
        defer { chunk.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let count = try read(into: chunk)
            if count == 0 { return bytes }
            if bytes.count + count > bytesMax { throw .fileTooLarge }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    /// Reads into the span from `offset` on; returns the count, less than asked only at the end.
    public borrowing func readFully(
        into span: inout MutableRawSpan, at offset: Int
    ) throws(Errno) -> Int {
        // A typed throw does not pass through the closure of a borrowed owner: go by the number.
        let number = number
        return try span.withUnsafeMutableBytes { (buffer) throws(Errno) in
            try Self.readFully(number, into: buffer, at: offset)
        }
    }

    /// Writes all of the bytes.
    public borrowing func writeAll(_ bytes: RawSpan) throws(Errno) {
        let number = number
        try bytes.withUnsafeBytes { (raw) throws(Errno) in try Self.writeAll(raw, to: number) }
    }

    /// Writes all of the bytes.
    public borrowing func writeAll(_ bytes: [UInt8]) throws(Errno) {
        try writeAll(bytes.span.bytes)
    }

    /// Writes all of the bytes from `offset` on without moving the file's own offset.
    public borrowing func writeAll(_ bytes: RawSpan, at offset: Int) throws(Errno) {
        let number = number
        try bytes.withUnsafeBytes { (raw) throws(Errno) in
            try Self.writeAll(raw, to: number, at: offset)
        }
    }
}

extension FileDescriptor {
    /// A file in memory that has these bytes for ever and no path (memfd, sealed). Each process
    /// that inherits it reads them with `sealedBytes`.
    public static func sealed(_ bytes: [UInt8], name: String) throws(Errno) -> FileDescriptor {
        let file = FileDescriptor(owning: try syscall { clinux_memory_file(name) })
        try file.writeAll(bytes)
        let number = file.number
        try syscall { clinux_seal(number) }
        return file
    }

    /// The bytes of a sealed file, `bytesMax` at most; other owners of the file have them still.
    public borrowing func sealedBytes(bytesMax: Int) throws(Errno) -> [UInt8] {
        let count = try status().size
        guard count <= bytesMax else { throw .fileTooLarge }
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        var raw = span.mutableBytes
        guard try readFully(into: &raw, at: 0) == count else { throw .fileTooLarge }
        return bytes
    }
}

extension FileDescriptor {
    /// Reserves bytes 0 ..< `count`, so that a write through a mapping cannot fail later.
    ///
    /// Throws `Errno.noSpace` on a full file system (a write to memory would be SIGBUS there),
    /// `Errno.fileTooLarge` beyond RLIMIT_FSIZE. What was reserved before the failure may stay
    /// with the file: unlink it.
    public borrowing func reserve(byteCount count: Int) throws(Errno) {
        let number = number
        try syscall { clinux_fallocate(number, 0, Int64(count)) }
    }

    /// Bytes and metadata are on the disk when this returns.
    public borrowing func synchronize() throws(Errno) {
        let number = number
        try syscall { clinux_fsync(number) }
    }

    /// Bytes, and what is needed to find them, are on the disk when this returns.
    public borrowing func synchronizeData() throws(Errno) {
        let number = number
        try syscall { clinux_fdatasync(number) }
    }
}

/// Who may hold the advisory lock of a file beside this one.
public enum LockKind: Sendable {
    /// Others may share it.
    case shared
    /// Nobody else.
    case exclusive
}

extension FileDescriptor {
    /// Takes the file's advisory lock (flock) if nobody is in the way; false otherwise.
    ///
    /// The lock belongs to the open file: it ends with the last descriptor of it, so with the
    /// process that dies as well.
    public borrowing func tryLock(_ kind: LockKind) throws(Errno) -> Bool {
        do {
            try flock(kind, or: LOCK_NB)
            return true
        } catch .wouldBlock {
            return false
        }
    }

    /// Takes the file's advisory lock, and waits for it without limit.
    public borrowing func lock(_ kind: LockKind) throws(Errno) {
        try flock(kind, or: 0)
    }

    /// Gives the lock back.
    public borrowing func unlock() throws(Errno) {
        let number = number
        try syscall { clinux_flock(number, LOCK_UN) }
    }

    private borrowing func flock(_ kind: LockKind, or flags: Int32) throws(Errno) {
        let number = number
        let operation = kind == .shared ? LOCK_SH : LOCK_EX
        try syscall { clinux_flock(number, operation | flags) }
    }
}

/// What one waits for on a descriptor.
public enum WaitDirection: Sendable {
    /// Bytes, an end of file, an event.
    case readable
    /// Room for bytes.
    case writable
}

extension FileDescriptor {
    /// Waits for one descriptor (poll); false when the time is over.
    ///
    /// nil waits without limit. An interrupted wait starts anew with the full time: loops that
    /// need exact deadlines use `ZeroMQ.PollSet`.
    public borrowing func wait(
        for direction: WaitDirection, milliseconds: Int?
    ) throws(Errno) -> Bool {
        let number = number
        let limit = milliseconds.map { Int32(clamping: max($0, 0)) } ?? -1
        return try syscall { clinux_poll(number, direction == .writable, limit) } > 0
    }
}
