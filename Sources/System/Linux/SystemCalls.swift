import CLinux
import Glibc

/// Performs a system call, repeating it while it's interrupted by a signal.
///
/// `call` returns a value >= 0, or -errno (the convention of CLinux).
@discardableResult
func syscall<Value: SignedInteger>(_ call: () -> Value) throws(Errno) -> Value {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = Int32(truncatingIfNeeded: -result)
        if number != EINTR { throw Errno(rawValue: number) }
    }
}

/// Validates a path before it's passed to C, where a zero byte would truncate it.
///
/// Throws `Errno.invalidArgument` if there is one.
func checked(path: String) throws(Errno) -> String {
    if path.utf8.contains(0) { throw .invalidArgument }
    return path
}

extension FileDescriptor {
    /// Performs a system call with the number of this descriptor, as `syscall` does.
    @discardableResult
    borrowing func call<Value: SignedInteger>(_ body: (Int32) -> Value) throws(Errno) -> Value {
        let number = number
        return try syscall { body(number) }
    }

    /// The same with a path, which is checked, relative to this directory.
    @discardableResult
    borrowing func call<Value: SignedInteger>(
        _ path: String, _ body: (Int32, String) -> Value
    ) throws(Errno) -> Value {
        let path = try checked(path: path)
        return try call { body($0, path) }
    }
}

/// An error number of the kernel or glibc; the only error type that this module throws.
///
/// Equality is that of the numbers. The ones that callers handle have names here.
public struct Errno: RawRepresentable, Error, Hashable, Sendable {
    /// The positive number defined in `<errno.h>`.
    public let rawValue: Int32

    /// Wraps a number defined in `<errno.h>`.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }
}

extension Errno {
    /// EPERM: operation not permitted.
    public static let notPermitted = Errno(rawValue: EPERM)
    /// ENOENT: no such file, directory or procfs entry.
    public static let noSuchFile = Errno(rawValue: ENOENT)
    /// ESRCH: no such process.
    public static let noSuchProcess = Errno(rawValue: ESRCH)
    /// EINTR: interrupted by a signal. Never thrown, since calls are repeated.
    public static let interrupted = Errno(rawValue: EINTR)
    /// EIO: the device failed, or a file in `/proc` doesn't have the documented format.
    public static let inputOutput = Errno(rawValue: EIO)
    /// EBADF: not an open descriptor.
    public static let badDescriptor = Errno(rawValue: EBADF)
    /// EAGAIN: the operation would block.
    public static let wouldBlock = Errno(rawValue: EAGAIN)
    /// ENOMEM: out of memory or address space.
    public static let noMemory = Errno(rawValue: ENOMEM)
    /// EACCES: denied by the mode of the file or of a parent directory.
    public static let accessDenied = Errno(rawValue: EACCES)
    /// ENXIO: no such device, or a pipe without a reader.
    public static let noDevice = Errno(rawValue: ENXIO)
    /// EBUSY: in use.
    public static let deviceBusy = Errno(rawValue: EBUSY)
    /// EEXIST: the name exists already.
    public static let fileExists = Errno(rawValue: EEXIST)
    /// ENOTDIR: a component of the path isn't a directory.
    public static let notDirectory = Errno(rawValue: ENOTDIR)
    /// EISDIR: it's a directory.
    public static let isDirectory = Errno(rawValue: EISDIR)
    /// EINVAL: an invalid argument; also a path that contains a zero byte.
    public static let invalidArgument = Errno(rawValue: EINVAL)
    /// EFBIG: the file would exceed its size limit (RLIMIT_FSIZE or the file system's own).
    public static let fileTooLarge = Errno(rawValue: EFBIG)
    /// ENOSPC: the file system is full.
    public static let noSpace = Errno(rawValue: ENOSPC)
    /// EROFS: the file system is read-only.
    public static let readOnlyFileSystem = Errno(rawValue: EROFS)
    /// EPIPE: the other end has no reader.
    public static let brokenPipe = Errno(rawValue: EPIPE)
    /// ENAMETOOLONG: a path or a component of it is too long.
    public static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
    /// ENOTEMPTY: the directory isn't empty.
    public static let notEmpty = Errno(rawValue: ENOTEMPTY)
    /// ELOOP: a symbolic link that must not be followed, or too many links.
    public static let symbolicLink = Errno(rawValue: ELOOP)
    /// EXDEV: on another file system, or a path that escapes its directory.
    public static let crossDevice = Errno(rawValue: EXDEV)
    /// ENOSYS: the kernel doesn't implement the call.
    public static let noFunction = Errno(rawValue: ENOSYS)
    /// ECONNREFUSED: no process listens there.
    public static let connectionRefused = Errno(rawValue: ECONNREFUSED)
    /// ECHILD: no such child.
    public static let noChild = Errno(rawValue: ECHILD)
    /// EDQUOT: the user's disk quota is exhausted.
    public static let quotaExceeded = Errno(rawValue: EDQUOT)
}

extension Errno: CustomStringConvertible {
    /// The name in `<errno.h>`, such as `ENOSPC`; `errno 4711` if the number has none.
    public var name: String {
        clinux_errno_name(rawValue).map { String(cString: $0) } ?? "errno \(rawValue)"
    }

    /// The name and explanation, such as `ENOSPC: No space left on device`.
    public var description: String {
        guard let text = clinux_errno_description(rawValue) else { return name }
        return "\(name): \(String(cString: text))"
    }
}

/// Returns the target of a symbolic link.
func readLink(
    _ call: (UnsafeMutableBufferPointer<CChar>) -> Int64
) throws(Errno) -> String {
    let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(PATH_MAX))
    defer { buffer.deallocate() }
    let count = try syscall { call(buffer) }
    return String(decoding: UnsafeRawBufferPointer(buffer)[..<Int(count)], as: UTF8.self)
}

/// A null-terminated array of C strings, as required by exec.
final class CStringList {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    let count: Int

    init(_ strings: [String]) {
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() {
            pointers.advanced(by: index).initialize(to: strdup(string))
        }
        pointers.advanced(by: count).initialize(to: nil)
    }

    /// Throws `Errno.invalidArgument` if a string contains a zero byte, which would truncate it.
    convenience init(checking strings: [String]) throws(Errno) {
        for string in strings { _ = try checked(path: string) }
        self.init(strings)
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}

/// Random numbers of the kernel, suitable for tokens and secrets (getrandom).
public enum Random {
    /// Fills the buffer with random bytes.
    public static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            guard let count = try? syscall({ clinux_getrandom(rest.baseAddress, rest.count) })
            else { preconditionFailure("getrandom fails only for an address that is not ours") }
            done += Int(count)
        }
    }

    /// Returns `count` random bytes.
    public static func bytes(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fill(UnsafeMutableRawBufferPointer(buffer))
            initialized = count
        }
    }

    /// Returns 64 random bits.
    public static func uint64() -> UInt64 {
        var value: UInt64 = 0
        withUnsafeMutableBytes(of: &value) { fill($0) }
        return value
    }
}

/// The monotonic clock for deadlines and durations: never set back, and the same in all processes
/// of the machine.
public enum MonotonicClock {
    /// Returns the nanoseconds since an arbitrary point in the past (CLOCK_MONOTONIC).
    public static func now() -> UInt64 {
        UInt64(nanoseconds(of: CLOCK_MONOTONIC))
    }
}

/// The wall clock, for display and HTTP expiry times; may jump.
public enum WallClock {
    /// Returns the seconds since 1970-01-01 00:00 UTC.
    public static func seconds() -> Int64 { nanoseconds() / 1_000_000_000 }

    /// Returns the nanoseconds since 1970-01-01 00:00 UTC.
    public static func nanoseconds() -> Int64 { Linux.nanoseconds(of: CLOCK_REALTIME) }
}

private func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// The processor time used by this process.
public enum ProcessorClock {
    /// Returns the processor time of all its threads so far in nanoseconds, user and kernel mode
    /// (CLOCK_PROCESS_CPUTIME_ID).
    public static func now() -> UInt64 {
        UInt64(nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID))
    }
}
