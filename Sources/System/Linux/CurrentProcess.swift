import CLinux
import Glibc

/// Properties of this process and operations on it.
public enum CurrentProcess {
    /// The process ID.
    public static var processID: ProcessID { getpid() }
    /// The parent's process ID; that of a reaper once the parent has died.
    public static var parentID: ProcessID { getppid() }
    /// The effective user ID.
    public static var userID: UInt32 { geteuid() }
    /// The effective group ID.
    public static var groupID: UInt32 { getegid() }

    /// Makes `malloc` map blocks of at least `bytes` separately, so that freeing them returns the
    /// memory to the kernel. Otherwise glibc raises its threshold up to 32 MiB and allocates such
    /// blocks on the heap, where a small block behind them keeps them from being returned.
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

    /// Returns an environment variable, or `nil` if it isn't set.
    public static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// The complete environment, which this process never changes.
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

    /// The number of processors this process may use (sched_getaffinity); at least 1.
    public static var processorCount: Int { max(1, Int(clinux_processor_count())) }
}

extension CurrentProcess {
    /// The command-line arguments without the program name.
    public static var arguments: [String] { Array(CommandLine.arguments.dropFirst()) }

    /// Exits with this status after running the C library's exit handlers.
    public static func end(_ status: Int32) -> Never { exit(status) }

    /// Flushes `print` output buffered by the C library. Skips a stream if another thread holds its
    /// lock and may never release it.
    public static func flushOutput() { clinux_flush_output() }

    /// Exits with this status immediately, without exit handlers, for use while other threads still
    /// run.
    public static func endAtOnce(_ status: Int32) -> Never { _exit(status) }
}

extension CurrentProcess {
    /// Replaces this program with another one, keeping the environment (execv). Only returns, with
    /// the error, if that fails.
    public static func become(_ executable: String, _ arguments: [String]) -> Errno {
        do throws(Errno) {
            let list = try CStringList(checking: [executable] + arguments)
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
    /// Prevents this process and every program it executes from gaining privileges through set-uid
    /// bits or file capabilities (`PR_SET_NO_NEW_PRIVS`). Required by seccomp and Landlock.
    public static func refuseNewPrivileges() throws(Errno) {
        try syscall { clinux_no_new_privileges() }
    }

    /// Returns the number of threads (`/proc/self/task`).
    public static func threadCount() throws(Errno) -> Int {
        // Each thread has a directory, and a directory's link count is its number of subdirectories
        // plus two.
        try FileDescriptor.openDirectory("/proc/self/task").status().links - 2
    }

    /// Whether this build has the address or thread sanitizer, which open files and trace processes
    /// on exit.
    public static var hasSanitizer: Bool { clinux_has_sanitizer() }
}

/// A resource that the kernel limits per process.
public struct LimitedResource: Sendable {
    let number: Int32

    /// Open descriptors (RLIMIT_NOFILE). libzmq aborts the process when they run out.
    public static let descriptors = LimitedResource(number: Int32(RLIMIT_NOFILE.rawValue))
    /// Bytes of private writable memory (RLIMIT_DATA).
    public static let data = LimitedResource(number: Int32(RLIMIT_DATA.rawValue))
    /// Bytes of a core file (RLIMIT_CORE).
    public static let coreFile = LimitedResource(number: Int32(RLIMIT_CORE.rawValue))
    /// Bytes of any file written (RLIMIT_FSIZE). Exceeding it raises SIGXFSZ; if that's ignored,
    /// the write fails with EFBIG.
    public static let fileSize = LimitedResource(number: Int32(RLIMIT_FSIZE.rawValue))
    /// Processes and threads of this process's user (RLIMIT_NPROC), counted across all its
    /// processes.
    public static let threadsOfUser = LimitedResource(number: clinux_rlimit_nproc)
}

/// A limit of this process (getrlimit, setrlimit).
public struct ResourceLimit: Hashable, Sendable {
    /// The value of `soft` or `hard` that means no limit.
    public static let unlimited = UInt64.max

    /// The limit in effect.
    public var soft: UInt64
    /// The ceiling for `soft`; an unprivileged user can only lower it.
    public var hard: UInt64

    /// Returns the current limit of this process.
    public static func current(_ resource: LimitedResource) throws(Errno) -> ResourceLimit {
        var limit = ResourceLimit(soft: 0, hard: 0)
        try syscall { clinux_limit_get(resource.number, &limit.soft, &limit.hard) }
        return limit
    }

    /// Applies the limit to this process and its future children.
    public func apply(to resource: LimitedResource) throws(Errno) {
        try syscall { clinux_limit_set(resource.number, soft, hard) }
    }

    /// Lowers the limit permanently to `wanted`; no effect if it's already lower.
    public static func lower(
        _ resource: LimitedResource, to wanted: UInt64
    ) throws(Errno) {
        let limit = try current(resource)
        try ResourceLimit(soft: min(limit.soft, wanted), hard: min(limit.hard, wanted))
            .apply(to: resource)
    }

    /// Raises the soft limit to `wanted`, or as far as the hard limit permits. Returns the
    /// resulting limit.
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

/// Restricts the files and directories that this thread, and threads it starts, may open from now
/// on.
///
/// Everything that the kernel's Landlock version can forbid is forbidden unless `allow` permits it:
/// files and directories from version 1, TCP from version 4, abstract sockets and signals to
/// outside processes from version 6. Descriptors that are already open stay usable.
public struct LandlockRuleset: ~Copyable {
    /// The kernel's Landlock version, at least 1.
    public let version: Int
    private let descriptor: FileDescriptor

    /// Creates a ruleset that permits nothing. Throws ENOSYS or EOPNOTSUPP if the kernel has no
    /// Landlock, EPERM if a container engine blocks it.
    public init() throws(Errno) {
        let version = Int(try syscall { clinux_landlock_version() })
        let files = LandlockAccess.all(version: version).rawValue
        let network: UInt64 = version >= 4 ? Self.bindTCP | Self.connectTCP : 0
        let scopes: UInt64 = version >= 6 ? Self.abstractSockets | Self.signals : 0
        descriptor = FileDescriptor(
            owning: try syscall { clinux_landlock_create(files, network, scopes) })
        self.version = version
    }

    /// Permits `access` to everything below an open directory, including files created later.
    public borrowing func allow(
        _ access: LandlockAccess, below directory: borrowing FileDescriptor
    ) throws(Errno) {
        let bits = access.intersection(.all(version: version)).rawValue
        let (ruleset, beneath) = (descriptor.number, directory.number)
        try syscall { clinux_landlock_allow(ruleset, beneath, bits) }
    }

    /// Applies the rules irrevocably to the calling thread. Other running threads aren't
    /// restricted, so call this while there are none. Requires `no_new_privs`.
    public consuming func restrict() throws(Errno) {
        let ruleset = descriptor.number
        try syscall { clinux_landlock_restrict(ruleset) }
    }

    private static let bindTCP: UInt64 = 1 << 0
    private static let connectTCP: UInt64 = 1 << 1
    private static let abstractSockets: UInt64 = 1 << 0
    private static let signals: UInt64 = 1 << 1
}

/// File and directory access rights as defined by Landlock (landlock(7)).
public struct LandlockAccess: OptionSet, Sendable {
    /// The bits defined in `<linux/landlock.h>`.
    public let rawValue: UInt64

    /// Wraps bits defined in `<linux/landlock.h>`.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Open a file for writing.
    public static let writeFile = LandlockAccess(rawValue: 1 << 1)
    /// Open a file for reading.
    public static let readFile = LandlockAccess(rawValue: 1 << 2)
    /// Open or list a directory.
    public static let readDirectory = LandlockAccess(rawValue: 1 << 3)
    /// Unlink a file.
    public static let removeFile = LandlockAccess(rawValue: 1 << 5)
    /// Create a regular file.
    public static let makeFile = LandlockAccess(rawValue: 1 << 8)

    /// Returns everything that a kernel with this Landlock version can forbid.
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

/// Records why this process ends by a signal: the signal handler writes to memory that outlives the
/// process.
///
/// There is one per process. Afterwards the previous handler, such as a sanitizer's, is called, or
/// else the default action ends the process.
public enum FaultRecorder {
    /// Signals that a process raises by its own faults.
    public static let signals: [Signal] = [
        .segmentationFault, .busError, .illegalInstruction, .arithmeticFault, .abort, .trap,
        .badSystemCall,
    ]

    /// Installs signal handlers, with an alternate stack for the calling thread and every `Thread`
    /// started later. On the first signal, `count` words at `words` are copied to `copies`, or
    /// zeros if another thread changes the first word meanwhile. Then the signal number is stored
    /// in `signal`.
    ///
    /// The caller must keep the addresses valid until `forget()`.
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

    /// Stops recording, so that the memory may be freed.
    public static func forget() { clinux_fault_forget() }
}
