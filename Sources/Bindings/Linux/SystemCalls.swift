import CLinux
import Glibc

/// The one way to the kernel: repeats `call` while a signal interrupts it.
///
/// `call` returns a value >= 0, or -errno (CLinux's convention).
@discardableResult
func syscall<Value: SignedInteger>(_ call: () -> Value) throws(Errno) -> Value {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = Int32(truncatingIfNeeded: -result)
        if number != EINTR { throw Errno(rawValue: number) }
    }
}

/// Hands a path to C; a path with a zero byte would name another file there.
///
/// Throws `Errno.invalidArgument` for a zero byte.
func checked(path: String) throws(Errno) -> String {
    if path.utf8.contains(0) { throw .invalidArgument }
    return path
}

/// An error number of the kernel or of glibc; the one error type that this module throws.
///
/// Two numbers compare equal where the kernel's do; those that callers decide upon have names here.
public struct Errno: RawRepresentable, Error, Hashable, Sendable {
    /// The number as in `<errno.h>`; positive.
    public let rawValue: Int32

    /// Wraps a number as in `<errno.h>`.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }
}

extension Errno {
    /// EPERM: the caller may not do this.
    public static let notPermitted = Errno(rawValue: EPERM)
    /// ENOENT: no such file, directory or process file.
    public static let noSuchFile = Errno(rawValue: ENOENT)
    /// ESRCH: no such process.
    public static let noSuchProcess = Errno(rawValue: ESRCH)
    /// EINTR: a signal came in between; never thrown, since every call here is repeated.
    public static let interrupted = Errno(rawValue: EINTR)
    /// EIO: the device failed, or a file of `/proc` did not have the form that is documented.
    public static let inputOutput = Errno(rawValue: EIO)
    /// EBADF: not an open descriptor.
    public static let badDescriptor = Errno(rawValue: EBADF)
    /// EAGAIN: nothing there now.
    public static let wouldBlock = Errno(rawValue: EAGAIN)
    /// ENOMEM: out of memory, or of address space.
    public static let noMemory = Errno(rawValue: ENOMEM)
    /// EACCES: the mode of the file or of a directory above it forbids it.
    public static let accessDenied = Errno(rawValue: EACCES)
    /// ENXIO: no device behind the name, or a pipe that nobody reads.
    public static let noDevice = Errno(rawValue: ENXIO)
    /// EBUSY: in use.
    public static let deviceBusy = Errno(rawValue: EBUSY)
    /// EEXIST: the name is taken.
    public static let fileExists = Errno(rawValue: EEXIST)
    /// ENOTDIR: a part of the path is not a directory.
    public static let notDirectory = Errno(rawValue: ENOTDIR)
    /// EISDIR: it is a directory.
    public static let isDirectory = Errno(rawValue: EISDIR)
    /// EINVAL: an argument that the call does not take; a path with a zero byte too.
    public static let invalidArgument = Errno(rawValue: EINVAL)
    /// EMFILE: this process has as many descriptors open as it may.
    public static let tooManyDescriptors = Errno(rawValue: EMFILE)
    /// EFBIG: beyond the limit for the size of a file (RLIMIT_FSIZE or the file system's own).
    public static let fileTooLarge = Errno(rawValue: EFBIG)
    /// ENOSPC: the file system is full.
    public static let noSpace = Errno(rawValue: ENOSPC)
    /// EROFS: the file system is read-only.
    public static let readOnlyFileSystem = Errno(rawValue: EROFS)
    /// EPIPE: nobody reads the other end.
    public static let brokenPipe = Errno(rawValue: EPIPE)
    /// ENAMETOOLONG: a path or a part of it is too long.
    public static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
    /// ENOTEMPTY: the directory has entries.
    public static let notEmpty = Errno(rawValue: ENOTEMPTY)
    /// ELOOP: a symbolic link where none is followed, or too many of them.
    public static let symbolicLink = Errno(rawValue: ELOOP)
    /// EXDEV: another file system, or a path that leaves its directory.
    public static let crossDevice = Errno(rawValue: EXDEV)
    /// ENOSYS: a call that this kernel does not have.
    public static let noFunction = Errno(rawValue: ENOSYS)
    /// ECONNREFUSED: nobody listens.
    public static let connectionRefused = Errno(rawValue: ECONNREFUSED)
    /// ECHILD: no such child.
    public static let noChild = Errno(rawValue: ECHILD)
    /// EDQUOT: the user's quota of the file system is used up.
    public static let quotaExceeded = Errno(rawValue: EDQUOT)
}

extension Errno: CustomStringConvertible {
    /// The name as in `<errno.h>`, for example `ENOSPC`; `errno 4711` for a number without one.
    public var name: String {
        clinux_errno_name(rawValue).map { String(cString: $0) } ?? "errno \(rawValue)"
    }

    /// Name and explanation, for example `ENOSPC: No space left on device`.
    public var description: String {
        guard let text = clinux_errno_description(rawValue) else { return name }
        return "\(name): \(String(cString: text))"
    }
}

/// The text of a symbolic link.
func readLink(
    _ call: (UnsafeMutableBufferPointer<CChar>) -> Int64
) throws(Errno) -> String {
    let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(PATH_MAX))
    defer { buffer.deallocate() }
    let count = try syscall { call(buffer) }
    return String(decoding: UnsafeRawBufferPointer(buffer)[..<Int(count)], as: UTF8.self)
}

/// A zero-terminated array of C strings, as exec wants it.
final class CStringList {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) throws(Errno) {
        for string in strings { _ = try checked(path: string) }
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() {
            pointers.advanced(by: index).initialize(to: strdup(string))
        }
        pointers.advanced(by: count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}

/// Random numbers of the kernel, fit for tokens and secrets (getrandom).
public enum Random {
    /// Fills the buffer.
    public static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            guard let count = try? syscall({ clinux_getrandom(rest.baseAddress, rest.count) })
            else { preconditionFailure("getrandom fails only for an address that is not ours") }
            done += Int(count)
        }
    }

    /// So many random bytes.
    public static func bytes(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fill(UnsafeMutableRawBufferPointer(buffer))
            initialized = count
        }
    }

    /// Sixty-four random bits.
    public static func uint64() -> UInt64 {
        var value: UInt64 = 0
        withUnsafeMutableBytes(of: &value) { fill($0) }
        return value
    }
}

/// The clock for deadlines and durations: never set back, the same in all processes of the machine.
public enum MonotonicClock {
    /// Nanoseconds since an arbitrary point in the past (CLOCK_MONOTONIC).
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// The clock for people and for expiry times of HTTP; may jump.
public enum WallClock {
    /// Seconds since 1970-01-01 00:00 UTC.
    public static func seconds() -> Int64 {
        nanoseconds() / 1_000_000_000
    }

    /// Nanoseconds since 1970-01-01 00:00 UTC.
    public static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// What this process used of the processors.
public enum ProcessorClock {
    /// Nanoseconds of all its threads so far, in user mode and in the kernel
    /// (CLOCK_PROCESS_CPUTIME_ID).
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
