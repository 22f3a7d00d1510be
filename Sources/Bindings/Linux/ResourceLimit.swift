import CLinux
import Glibc

/// A resource that the kernel limits for one process.
public enum LimitedResource: Sendable {
    /// Open descriptors (RLIMIT_NOFILE); libzmq aborts the process when it runs out of them.
    case descriptors
    /// Bytes of address space (RLIMIT_AS).
    case addressSpace
    /// Bytes of private writable memory (RLIMIT_DATA).
    case data
    /// Bytes of a core file (RLIMIT_CORE).
    case coreFile
    /// Bytes of any file that is written (RLIMIT_FSIZE): EFBIG, and SIGXFSZ where not ignored.
    case fileSize
    /// Seconds of processor time (RLIMIT_CPU).
    case processorSeconds
    /// Processes and threads of this process' user (RLIMIT_NPROC): all of them, not only its own.
    case threadsOfUser

    var number: Int32 {
        switch self {
        case .descriptors: Int32(RLIMIT_NOFILE.rawValue)
        case .addressSpace: Int32(RLIMIT_AS.rawValue)
        case .data: Int32(RLIMIT_DATA.rawValue)
        case .coreFile: Int32(RLIMIT_CORE.rawValue)
        case .fileSize: Int32(RLIMIT_FSIZE.rawValue)
        case .processorSeconds: Int32(RLIMIT_CPU.rawValue)
        case .threadsOfUser: clinux_rlimit_nproc
        }
    }
}

/// A limit of this process (getrlimit, setrlimit).
public struct ResourceLimit: Hashable, Sendable {
    /// `soft` or `hard` with this value means: no limit.
    public static let unlimited = UInt64.max

    /// What holds now.
    public var soft: UInt64
    /// How far `soft` may be raised; an ordinary user may only lower it.
    public var hard: UInt64

    /// A limit of these values, not set anywhere yet.
    public init(soft: UInt64, hard: UInt64) {
        self.soft = soft
        self.hard = hard
    }

    /// What holds for this process.
    public static func current(_ resource: LimitedResource) throws(Errno) -> ResourceLimit {
        var limit = ResourceLimit(soft: 0, hard: 0)
        try syscall { clinux_limit_get(resource.number, &limit.soft, &limit.hard) }
        return limit
    }

    /// Makes this the limit of the process and of its future children.
    public func apply(to resource: LimitedResource) throws(Errno) {
        try syscall { clinux_limit_set(resource.number, soft, hard) }
    }

    /// Lowers the limit to `wanted` for good; one that is lower already stays.
    public static func lower(
        _ resource: LimitedResource, to wanted: UInt64
    ) throws(Errno) {
        let limit = try current(resource)
        try ResourceLimit(soft: min(limit.soft, wanted), hard: min(limit.hard, wanted))
            .apply(to: resource)
    }

    /// Raises the soft limit to `wanted`, or as far as the hard limit goes; returns what holds.
    @discardableResult
    public static func raise(
        _ resource: LimitedResource, to wanted: UInt64
    ) throws(Errno) -> UInt64 {
        var limit = try current(resource)
        if limit.soft >= wanted { return limit.soft }
        limit.soft = min(wanted, limit.hard)
        try limit.apply(to: resource)
        return limit.soft
    }
}
