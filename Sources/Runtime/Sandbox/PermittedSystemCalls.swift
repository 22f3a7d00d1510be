import Seccomp

/// The system calls that a decode or transform worker makes after startup; all others fail.
///
/// This includes the calls of glibc, GLib, libvips, the codecs and libzmq.
enum SystemCalls {
    /// Permitted with any arguments.
    static let free: [String] = memory + files + events + messages + threads + clocks + itself

    /// Additionally permitted for workers that draw: cairo checks whether a font is readable before
    /// it opens it.
    static let ofFonts = ["access", "faccessat", "faccessat2"]

    /// Additionally permitted for processes that accept connections on sockets that are already
    /// listening.
    static let ofServers = ["accept", "accept4", "sendmsg", "shutdown"]

    private static let memory = [
        "brk", "madvise", "mmap", "mprotect", "mremap", "munmap",
    ]
    /// Landlock restricts which files. None of these calls creates a directory, a link or another
    /// name.
    private static let files = [
        "close", "fallocate", "fstat", "fstat64", "fstatfs", "fstatfs64", "getdents64", "lseek",
        "_llseek", "newfstatat", "fstatat64", "open", "openat", "pread64", "pwrite64", "read",
        "readv", "statx", "unlink", "unlinkat", "write", "writev",
    ]
    private static let events = [
        "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2", "poll", "ppoll",
        "signalfd4", "timerfd_create", "timerfd_gettime", "timerfd_settime",
    ]
    /// Calls on the sockets of `socket` below. Nobody connects to a worker, and none of these calls
    /// can pass a descriptor.
    private static let messages = [
        "connect", "getpeername", "getsockname", "getsockopt", "recvfrom",
        "sendto", "setsockopt",
    ]
    private static let threads = [
        "exit", "exit_group", "futex", "membarrier", "rseq", "sched_getaffinity", "sched_getparam",
        "sched_getscheduler", "sched_yield",
        "set_robust_list", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
    ]
    private static let clocks = [
        "clock_getres", "clock_gettime", "clock_nanosleep", "gettimeofday", "nanosleep",
        "restart_syscall", "time",
    ]
    private static let itself = [
        "getcpu", "getegid", "geteuid", "getgid", "getpid", "getrandom", "getrusage",
        "gettid", "getuid", "sysinfo",
    ]

    /// Permitted if one of the lists of conditions matches.
    static func conditional(
        process: Int32
    ) -> [(name: String, conditions: [SeccompCondition])] {
        [
            // Threads only: no processes and no namespaces.
            ("clone", [SeccompCondition(0, mask: CloneFlags.looked, equals: CloneFlags.thread)]),
            ("socket", [SeccompCondition(0, int: unixSockets)]),
            // Signals to itself: this is how an abort and a recorded fault end the process.
            ("kill", [SeccompCondition(0, int: process)]),
            ("tgkill", [SeccompCondition(0, int: process)]),
            ("rt_tgsigqueueinfo", [SeccompCondition(0, int: process)]),
            // Makes segments and control segments readable for other processes, whatever the umask.
            ("fchmod", [SeccompCondition(1, int: 0o640)]),
            ("fchmod", [SeccompCondition(1, int: 0o644)]),
            // Reading its own limits.
            ("prlimit64", [SeccompCondition(0, int: 0), .zero(2)]),
            ("prctl", [SeccompCondition(0, int: setThreadName)]),
            // GLib copies the scheduling attributes of the creating thread to pool threads.
            ("sched_getattr", [SeccompCondition(0, int: 0)]),
            ("sched_setattr", [SeccompCondition(0, int: 0)]),
            // Work threads lower their priority below the threads that answer requests.
            ("setpriority", [SeccompCondition(0, int: 0), .zero(1)]),
            // libzmq sets its threads to the default policy.
            ("sched_setscheduler", [SeccompCondition(1, int: ordinary)]),
        ] + descriptorCommands.map { ("fcntl", [SeccompCondition(1, int: $0)]) }
    }

    /// SCHED_OTHER.
    private static let ordinary: Int32 = 0
    private static let unixSockets: Int32 = 1
    private static let setThreadName: Int32 = 15
    /// F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC; not F_SETOWN, which directs
    /// signals to other processes.
    private static let descriptorCommands: [Int32] = [0, 1, 2, 3, 4, 1030]

    /// As in `<linux/sched.h>`.
    private enum CloneFlags {
        /// CLONE_VM, CLONE_SIGHAND and CLONE_THREAD.
        static let thread: UInt64 = 0x0001_0900
        /// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET.
        static let namespaces: UInt64 = 0x0002_0000 | 0x7E00_0000
        static let looked = thread | namespaces
    }

    /// EPERM for unlisted calls, which reports to the caller that they are not permitted.
    static let forbidden: UInt16 = 1
    /// ENOSYS.
    static let missing: UInt16 = 38

    /// Returns the filter for the process with this ID. `readsFonts`: for a process that draws;
    /// `accepts`: for a process that accepts connections.
    static func filter(
        process: Int32, readsFonts: Bool = false, accepts: Bool = false
    ) throws(SeccompError) -> SeccompFilter {
        var filter = try SeccompFilter(failingWith: forbidden)
        for name in free + (readsFonts ? ofFonts : []) + (accepts ? ofServers : []) {
            try filter.allow(name)
        }
        for (name, conditions) in conditional(process: process) {
            try filter.allow(name, if: conditions)
        }
        // Its flags are behind a pointer, which a filter can't read. glibc falls back to `clone` on
        // ENOSYS.
        try filter.fail("clone3", with: missing)
        return filter
    }
}
