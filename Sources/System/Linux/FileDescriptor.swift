import CLinux
import Glibc

/// The sole owner of an open descriptor, which is closed when the value ends.
///
/// All descriptors opened by this module are close-on-exec. A value may move to another thread.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The descriptor number; only valid while this value lives.
    public let number: Int32

    /// Takes ownership of a descriptor opened elsewhere.
    public init(owning number: Int32) {
        self.number = number
    }

    deinit {
        // A failed close reports the error of an earlier write; call `close()` to receive it.
        _ = clinux_close(number)
    }

    /// Gives up ownership without closing; the caller must close the descriptor.
    public consuming func relinquish() -> Int32 {
        let kept = number
        discard self
        return kept
    }

    /// Closes the descriptor now and throws the kernel's error, such as a failed write-back.
    public consuming func close() throws(Errno) {
        let result = clinux_close(relinquish())
        // After EINTR the descriptor is already closed: Linux must not be asked twice.
        if result < 0, result != -Errno.interrupted.rawValue { throw Errno(rawValue: -result) }
    }

    /// Returns a second descriptor of the same open file (F_DUPFD_CLOEXEC), sharing offset and
    /// flock.
    public borrowing func duplicate() throws(Errno) -> FileDescriptor {
        return FileDescriptor(owning: try call { clinux_duplicate($0, 0) })
    }

    /// Makes reads and writes of the open file fail with EAGAIN instead of blocking.
    public borrowing func setNonBlocking() throws(Errno) {
        try call { clinux_set_nonblocking($0) }
    }
}

/// Flags for opening a file; O_CLOEXEC is always added.
public struct OpenOptions: OptionSet, Sendable {
    /// The flags defined in `<fcntl.h>`.
    public let rawValue: Int32

    /// Wraps flags defined in `<fcntl.h>`.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// O_RDONLY, which is 0: the default.
    public static let readOnly: OpenOptions = []
    /// O_WRONLY.
    public static let writeOnly = OpenOptions(rawValue: O_WRONLY)
    /// O_RDWR.
    public static let readWrite = OpenOptions(rawValue: O_RDWR)
    /// O_CREAT: create the file if it doesn't exist.
    public static let create = OpenOptions(rawValue: O_CREAT)
    /// O_EXCL: with `create`, fail with EEXIST if the name exists.
    public static let exclusive = OpenOptions(rawValue: O_EXCL)
    /// O_APPEND: every write goes to the end.
    public static let append = OpenOptions(rawValue: O_APPEND)
    /// O_TRUNC: discard the file's content.
    public static let truncate = OpenOptions(rawValue: O_TRUNC)
    /// O_DIRECTORY: fail with ENOTDIR unless it's a directory.
    public static let directory = OpenOptions(rawValue: clinux_o_directory)
    /// O_NOFOLLOW: fail with ELOOP if the last component of the path is a symbolic link.
    public static let noFollow = OpenOptions(rawValue: clinux_o_nofollow)
    /// O_PATH: only for accessing a directory's entries; needs no read permission.
    public static let place = OpenOptions(rawValue: clinux_o_path)
    /// O_NONBLOCK.
    public static let nonBlocking = OpenOptions(rawValue: O_NONBLOCK)
}

extension FileDescriptor {
    /// Opens a path; relative paths start at the working directory.
    ///
    /// `mode`, less the umask, applies if the file is created. Throws the kernel's error, and
    /// EINVAL for a path that contains a zero byte.
    public static func open(
        _ path: String, _ options: OpenOptions = .readOnly, mode: UInt32 = 0o600
    ) throws(Errno) -> FileDescriptor {
        try open(path, at: AT_FDCWD, options, mode: mode)
    }

    /// Opens a directory, but not through a symbolic link (O_DIRECTORY | O_NOFOLLOW).
    public static func openDirectory(_ path: String) throws(Errno) -> FileDescriptor {
        try open(path, [.directory, .noFollow])
    }

    /// Opens an entry of this directory.
    public borrowing func open(
        _ name: String, _ options: OpenOptions = .readOnly, mode: UInt32 = 0o600
    ) throws(Errno) -> FileDescriptor {
        try Self.open(name, at: number, options, mode: mode)
    }

    /// Opens a subdirectory, but not through a symbolic link.
    public borrowing func openDirectory(_ name: String) throws(Errno) -> FileDescriptor {
        try open(name, [.directory, .noFollow])
    }

    /// Opens a pipe with both ends close-on-exec.
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

/// The two ends of a pipe, owned separately.
@frozen public struct Pipe: ~Copyable, Sendable {
    /// The end to read from; at end of file once every write end is closed.
    public var readEnd: FileDescriptor
    /// The end to write to; fails with EPIPE once every read end is closed.
    public var writeEnd: FileDescriptor
}

extension FileDescriptor {
    /// Opens a relative path that can't escape this directory (openat2, Linux 5.6): no `..`, no
    /// absolute links, no magic links of `/proc`.
    ///
    /// Links within the directory are followed unless `followsLinks` is `false`, which forbids them
    /// anywhere in the path.
    ///
    /// Throws EXDEV for a path that would escape, ELOOP for too many (or forbidden) links, ENOSYS
    /// if the kernel lacks the call, EAGAIN if a directory was renamed meanwhile, and EINVAL for a
    /// path that contains a zero byte.
    public borrowing func openBeneath(
        _ path: String, _ options: OpenOptions = .readOnly, followsLinks: Bool = true
    ) throws(Errno) -> FileDescriptor {
        return FileDescriptor(
            owning: try call(path) {
                clinux_open_beneath($0, $1, options.rawValue, followsLinks)
            })
    }
}

extension FileDescriptor {
    /// Reads the available bytes, at most the size of the buffer. Returns 0 at end of file.
    public borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        return Int(try call { clinux_read($0, buffer.baseAddress, buffer.count) })
    }

    /// Reads until the buffer is full or the file ends. Returns the number of bytes read.
    public borrowing func readFully(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        let number = number
        return try Self.repeated(buffer.count) { done in
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            return clinux_read(number, rest.baseAddress, rest.count)
        }
    }

    /// Reads at `offset` until the buffer is full or the file ends. Returns the number of bytes
    /// read.
    public borrowing func readFully(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(Errno) -> Int {
        let number = number
        return try Self.repeated(buffer.count) { done in
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            return clinux_pread(number, rest.baseAddress, rest.count, Int64(offset + done))
        }
    }

    /// Reads at most `count` bytes from the start of the file; fewer only at its end.
    public borrowing func bytes(count: Int) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let number = number
        var span = bytes.mutableSpan
        var raw = span.mutableBytes
        let filled = try raw.withUnsafeMutableBytes { (buffer) throws(Errno) in
            try Self.repeated(count) { done in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                return clinux_pread(number, rest.baseAddress, rest.count, Int64(done))
            }
        }
        bytes.removeLast(count - filled)
        return bytes
    }

    /// Reads to the end of the file. Throws `Errno.fileTooLarge` beyond `bytesMax` bytes.
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

    /// Writes all bytes, in as many calls as needed.
    public borrowing func writeAll(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try Self.writeAll(bytes, to: number)
    }

    /// Writes all bytes in the same way.
    public borrowing func writeAll(_ bytes: [UInt8]) throws(Errno) {
        let number = number
        try bytes.span.bytes.withUnsafeBytes { (raw) throws(Errno) in
            try Self.writeAll(raw, to: number)
        }
    }

    /// Writes all bytes at `offset` without moving the file's own offset.
    public borrowing func writeAll(
        _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(Errno) {
        try Self.writeAll(bytes, to: number, at: offset)
    }

    /// Writes all bytes at `offset` in the same way.
    public borrowing func writeAll(_ bytes: [UInt8], at offset: Int) throws(Errno) {
        let number = number
        try bytes.span.bytes.withUnsafeBytes { (raw) throws(Errno) in
            try Self.writeAll(raw, to: number, at: offset)
        }
    }

    private static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to number: Int32, at offset: Int
    ) throws(Errno) {
        let count = try repeated(bytes.count) { done in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            return clinux_pwrite(number, rest.baseAddress, rest.count, Int64(offset + done))
        }
        guard count == bytes.count else { throw .inputOutput }
    }

    /// Writes all bytes to a descriptor that no value here owns, such as 2 for the log.
    public static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to number: Int32
    ) throws(Errno) {
        let count = try repeated(bytes.count) { done in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            return clinux_write(number, rest.baseAddress, rest.count)
        }
        guard count == bytes.count else { throw .inputOutput }
    }

    /// Whether a write to a descriptor that no value here owns would not block now (poll). A pipe
    /// then accepts at least `PIPE_BUF` bytes, provided that nothing else writes meanwhile. Always
    /// `true` for files, always `false` for an invalid descriptor.
    public static func hasRoom(_ number: Int32) -> Bool {
        ((try? syscall { clinux_poll(number, true, 0) }) ?? 0) > 0
    }

    /// Repeats a call that transfers some of `count` bytes until all are transferred or the file
    /// ends. Returns the number of bytes transferred.
    private static func repeated(
        _ count: Int, _ transfer: (_ done: Int) -> Int64
    ) throws(Errno) -> Int {
        var done = 0
        while done < count {
            let step = Int(try syscall { transfer(done) })
            if step == 0 { break }
            done += step
        }
        return done
    }
}

extension FileDescriptor {
    /// Creates a sealed in-memory file (memfd) with these immutable bytes and no path. Processes
    /// that inherit it read it with `sealedBytes`.
    public static func sealed(_ bytes: [UInt8], name: String) throws(Errno) -> FileDescriptor {
        let file = FileDescriptor(owning: try syscall { clinux_memory_file(name) })
        try file.writeAll(bytes)
        let number = file.number
        try syscall { clinux_seal(number) }
        return file
    }

    /// Returns the bytes of a sealed file, at most `bytesMax`. The file stays usable for other
    /// owners.
    public borrowing func sealedBytes(bytesMax: Int) throws(Errno) -> [UInt8] {
        let size = try status().size
        guard size <= bytesMax else { throw .fileTooLarge }
        let bytes = try bytes(count: size)
        guard bytes.count == size else { throw .fileTooLarge }
        return bytes
    }
}

extension FileDescriptor {
    /// Allocates disk space for bytes 0 ..< `count`, so that a later write through a mapping can't
    /// fail.
    ///
    /// Throws `Errno.noSpace` on a full file system (a write to the mapping would raise SIGBUS),
    /// `Errno.fileTooLarge` beyond RLIMIT_FSIZE. Space allocated before the failure may stay with
    /// the file, so unlink it.
    public borrowing func reserve(byteCount count: Int) throws(Errno) {
        try call { clinux_fallocate($0, 0, Int64(count)) }
    }

    /// Flushes the file's data and metadata to disk before returning.
    public borrowing func synchronize() throws(Errno) {
        try call { clinux_fsync($0) }
    }
}

/// Whether an advisory file lock can be shared.
public enum LockKind: Sendable {
    /// Other shared locks are permitted.
    case shared
    /// No other locks are permitted.
    case exclusive
}

extension FileDescriptor {
    /// Tries to take the file's advisory lock (flock). Returns `false` if another lock conflicts.
    ///
    /// The lock belongs to the open file: it's released with its last descriptor, and therefore
    /// also when the process dies.
    public borrowing func tryLock(_ kind: LockKind) throws(Errno) -> Bool {
        do {
            try flock(kind, or: LOCK_NB)
            return true
        } catch .wouldBlock {
            return false
        }
    }

    /// Takes the file's advisory lock, waiting without a timeout.
    public borrowing func lock(_ kind: LockKind) throws(Errno) {
        try flock(kind, or: 0)
    }

    /// Releases the lock.
    public borrowing func unlock() throws(Errno) {
        try call { clinux_flock($0, LOCK_UN) }
    }

    private borrowing func flock(_ kind: LockKind, or flags: Int32) throws(Errno) {
        let operation = kind == .shared ? LOCK_SH : LOCK_EX
        try call { clinux_flock($0, operation | flags) }
    }
}

/// The event to wait for on a descriptor.
public enum WaitDirection: Sendable {
    /// Data, end of file or an event.
    case readable
    /// Space for more data.
    case writable
}

extension FileDescriptor {
    /// Waits for one descriptor (poll). Returns `false` on timeout.
    ///
    /// `nil` waits without a timeout. An interrupted wait restarts with the full timeout; loops
    /// that need exact deadlines use `ZeroMQ.PollSet`.
    public borrowing func wait(
        for direction: WaitDirection, milliseconds: Int?
    ) throws(Errno) -> Bool {
        let limit = milliseconds.map { Int32(clamping: max($0, 0)) } ?? -1
        return try call { clinux_poll($0, direction == .writable, limit) } > 0
    }
}
