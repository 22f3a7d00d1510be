import CLinux
import Glibc

/// What this process is.
public enum CurrentProcess {
    /// Its number.
    public static var processID: ProcessID { getpid() }
    /// Its parent's number; that of a reaper once the parent has died.
    public static var parentID: ProcessID { getppid() }
    /// Its effective user.
    public static var userID: UInt32 { geteuid() }
    /// Its effective group.
    public static var groupID: UInt32 { getegid() }

    /// Has `malloc` map blocks of so many bytes and more on their own, so that the kernel gets them
    /// back when they are freed. Else glibc takes more and more of them, up to 32 MiB each, from
    /// its heap, where a small block behind them keeps them.
    public static func mapBlocks(ofBytes bytes: Int) throws(Errno) {
        try syscall { clinux_map_blocks(bytes) }
    }

    /// The path of the executable (`/proc/self/exe`).
    public static func executablePath() throws(Errno) -> String {
        try readLink { clinux_readlink("/proc/self/exe", $0.baseAddress, $0.count) }
    }

    /// The path of the working directory (`/proc/self/cwd`).
    public static func workingDirectory() throws(Errno) -> String {
        try readLink { clinux_readlink("/proc/self/cwd", $0.baseAddress, $0.count) }
    }

    /// One variable of the environment; nil when it is not set.
    public static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// The whole environment. Nothing in this process ever changes it.
    public static var environment: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let pair = String(cString: entry).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { variables[String(pair[0])] = String(pair[1]) }
            next += 1
        }
        return variables
    }

    /// How many processors this process may use (sched_getaffinity); at least 1.
    public static var processorCount: Int { max(1, Int(clinux_processor_count())) }
}

extension CurrentProcess {
    /// What the program was started with, without its own name.
    public static var arguments: [String] { Array(CommandLine.arguments.dropFirst()) }

    /// Ends the process with this status, after the exit handlers of the C library.
    public static func end(_ status: Int32) -> Never { exit(status) }

    /// Writes what `print` said and the C library holds back, but for where another thread is at
    /// that and may stay there.
    public static func flushOutput() { clinux_flush_output() }

    /// Ends the process with this status and nothing else: for where other threads still run.
    public static func endAtOnce(_ status: Int32) -> Never { _exit(status) }
}

extension CurrentProcess {
    /// Goes on as another program with the same environment (execv). Returns only where that
    /// fails, and says why.
    public static func become(_ executable: String, _ arguments: [String]) -> Errno {
        do throws(Errno) {
            let list = try CStringList([executable] + arguments)
            execv(executable, list.pointers)
            let error = Errno(rawValue: errno)
            withExtendedLifetime(list) {}
            return error
        } catch {
            return error
        }
    }
}

extension CurrentProcess {
    /// From now on no program that this process becomes gains a right that it has not: no set-uid,
    /// no file capabilities (`PR_SET_NO_NEW_PRIVS`). Asked for by seccomp and Landlock.
    public static func refuseNewPrivileges() throws(Errno) {
        try syscall { clinux_no_new_privileges() }
    }

    /// How many threads there are (`/proc/self/task`).
    public static func threadCount() throws(Errno) -> Int {
        // Each has a folder, and a folder has two links more than folders are in it.
        try FileDescriptor.openDirectory("/proc/self/task").status().links - 2
    }

    /// Whether this is a build with the address or the thread sanitizer, which opens files and
    /// traces processes at the end.
    public static var hasSanitizer: Bool { clinux_has_sanitizer() }
}

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

/// Which files and directories this thread may open from now on, and the threads that it starts.
///
/// Everything that the kernel's version can forbid is forbidden but for what `allow` permits:
/// files and directories from version 1 on, TCP from 4, abstract sockets and signals to processes
/// outside from 6. What is open already stays open.
public struct LandlockRuleset: ~Copyable {
    /// The version of the kernel's Landlock: 1 and more.
    public let version: Int
    private let descriptor: FileDescriptor

    /// A ruleset that permits nothing. Throws ENOSYS and EOPNOTSUPP where the kernel has no
    /// Landlock, EPERM where a container engine keeps it from its containers.
    public init() throws(Errno) {
        let version = Int(try syscall { clinux_landlock_version() })
        let files = LandlockAccess.all(version: version).rawValue
        let network: UInt64 = version >= 4 ? Self.bindTCP | Self.connectTCP : 0
        let scopes: UInt64 = version >= 6 ? Self.abstractSockets | Self.signals : 0
        descriptor = FileDescriptor(
            owning: try syscall { clinux_landlock_create(files, network, scopes) })
        self.version = version
    }

    /// Permits `access` to all that lies below an open directory, now or later.
    public borrowing func allow(
        _ access: LandlockAccess, below directory: borrowing FileDescriptor
    ) throws(Errno) {
        let bits = access.intersection(.all(version: version)).rawValue
        let (ruleset, beneath) = (descriptor.number, directory.number)
        try syscall { clinux_landlock_allow(ruleset, beneath, bits) }
    }

    /// From now on the rules hold for the calling thread; there is no way back. Other threads that
    /// run already are not restricted: call it where there are none. Needs `no_new_privs`.
    public consuming func restrict() throws(Errno) {
        let ruleset = descriptor.number
        try syscall { clinux_landlock_restrict(ruleset) }
    }

    private static let bindTCP: UInt64 = 1 << 0
    private static let connectTCP: UInt64 = 1 << 1
    private static let abstractSockets: UInt64 = 1 << 0
    private static let signals: UInt64 = 1 << 1
}

/// What may be done with files and directories, as Landlock counts it (landlock(7)).
public struct LandlockAccess: OptionSet, Sendable {
    /// The bits as in `<linux/landlock.h>`.
    public let rawValue: UInt64

    /// Wraps bits as in `<linux/landlock.h>`.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Open a file for writing.
    public static let writeFile = LandlockAccess(rawValue: 1 << 1)
    /// Open a file for reading.
    public static let readFile = LandlockAccess(rawValue: 1 << 2)
    /// Open a directory, list it.
    public static let readDirectory = LandlockAccess(rawValue: 1 << 3)
    /// Unlink a file.
    public static let removeFile = LandlockAccess(rawValue: 1 << 5)
    /// Make a regular file.
    public static let makeFile = LandlockAccess(rawValue: 1 << 8)

    /// Everything that a kernel with this version of Landlock can forbid.
    static func all(version: Int) -> LandlockAccess {
        let bits =
            switch version {
            case 1: 13
            case 2: 14
            case 3, 4: 15
            default: 16
            }
        return LandlockAccess(rawValue: (1 << bits) - 1)
    }
}

/// Writes down why this process ends by a signal: from the handler, into memory that outlives it.
///
/// One per process. Whoever handled the signal before, such as a sanitizer, is called next; then
/// it ends the process by its default action.
public enum FaultRecorder {
    /// Signals that a process brings upon itself.
    public static let signals: [Signal] = [
        .segmentationFault, .busError, .illegalInstruction, .arithmeticFault, .abort, .trap,
        .badSystemCall,
    ]

    /// Handles the signals, on a stack of its own for the calling thread and every `Thread` that
    /// is started. When the first one comes, `count` words at `words` are copied to `copies`, or
    /// zeros where another thread changes the first word meanwhile; then its number is written to
    /// the word `signal`.
    ///
    /// The addresses must stay valid until `forget()`: a precondition of the caller.
    public static func install(
        copying count: Int, from words: UnsafeMutablePointer<UInt64>,
        to copies: UnsafeMutablePointer<UInt64>, signal: UnsafeMutablePointer<UInt64>
    ) throws(Errno) {
        var record = clinux_fault_record(
            words: words, copies: copies, count: count, signal: signal)
        clinux_fault_watch(&record)
        try syscall { clinux_fault_stack() }
        let numbers = signals.map(\.rawValue)
        try syscall { clinux_fault_handle(numbers, numbers.count) }
    }

    /// The memory goes away: from now on nothing is written.
    public static func forget() { clinux_fault_forget() }
}
