import CLinux
import Glibc

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
