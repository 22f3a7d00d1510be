import Seccomp

/// The system calls that a decode or transform worker makes after its start; all others fail.
///
/// What a C library does for it counts: glibc, GLib, libvips, the codecs and libzmq.
enum SystemCalls {
    /// Permitted whatever the arguments are.
    static let free: [String] = memory + files + events + messages + threads + clocks + itself

    /// For those that draw as well: cairo asks whether a font may be read before it opens it.
    static let ofFonts = ["access", "faccessat", "faccessat2"]

    /// For those to which others connect as well, on sockets that listen already; they send bodies
    /// from files in memory.
    static let ofServers = [
        "accept", "accept4", "memfd_create", "sendfile", "sendfile64", "sendmsg", "shutdown",
    ]

    private static let memory = [
        "brk", "madvise", "mmap", "mprotect", "mremap", "munmap",
    ]
    /// Landlock says which files. None of these makes a directory, a link or another name.
    private static let files = [
        "close", "fallocate", "fstat", "fstat64", "fstatfs", "fstatfs64", "getdents64", "lseek",
        "_llseek", "newfstatat", "fstatat64", "open", "openat", "pread64", "pwrite64", "read",
        "readv", "statx", "unlink", "unlinkat", "write", "writev",
    ]
    private static let events = [
        "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2", "poll", "ppoll",
        "signalfd4", "timerfd_create", "timerfd_gettime", "timerfd_settime",
    ]
    /// On sockets of `socket` below; nobody connects to a worker, and none of these can pass a
    /// descriptor.
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

    /// Permitted where one of the lists of conditions holds.
    static func conditional(
        process: Int32
    ) -> [(name: String, conditions: [SeccompCondition])] {
        [
            // Never another process, and no namespace.
            ("clone", [SeccompCondition(0, mask: CloneFlags.looked, equals: CloneFlags.thread)]),
            ("socket", [SeccompCondition(0, int: unixSockets)]),
            // Signals to itself: how an abort and a recorded fault end the process.
            ("kill", [SeccompCondition(0, int: process)]),
            ("tgkill", [SeccompCondition(0, int: process)]),
            ("rt_tgsigqueueinfo", [SeccompCondition(0, int: process)]),
            // What others read of it, whatever the umask says: segments and control segments.
            ("fchmod", [SeccompCondition(1, int: 0o640)]),
            ("fchmod", [SeccompCondition(1, int: 0o644)]),
            // Its own limits, for reading.
            ("prlimit64", [SeccompCondition(0, int: 0), .zero(2)]),
            ("prctl", [SeccompCondition(0, int: setThreadName)]),
            // GLib lets a thread of a pool run as the one that made it.
            ("sched_getattr", [SeccompCondition(0, int: 0)]),
            ("sched_setattr", [SeccompCondition(0, int: 0)]),
            // A work thread steps back behind those that answer.
            ("setpriority", [SeccompCondition(0, int: 0), .zero(1)]),
            // libzmq says again that its threads are ordinary ones.
            ("sched_setscheduler", [SeccompCondition(1, int: ordinary)]),
        ] + descriptorCommands.map { ("fcntl", [SeccompCondition(1, int: $0)]) }
    }

    /// SCHED_OTHER.
    private static let ordinary: Int32 = 0
    private static let unixSockets: Int32 = 1
    private static let setThreadName: Int32 = 15
    /// F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC; not F_SETOWN, which sends
    /// signals to others.
    private static let descriptorCommands: [Int32] = [0, 1, 2, 3, 4, 1030]

    /// As in `<linux/sched.h>`.
    private enum CloneFlags {
        /// CLONE_VM, CLONE_SIGHAND and CLONE_THREAD.
        static let thread: UInt64 = 0x0001_0900
        /// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET.
        static let namespaces: UInt64 = 0x0002_0000 | 0x7E00_0000
        static let looked = thread | namespaces
    }

    /// EPERM, for what is not named; what asks then knows that it may not.
    static let forbidden: UInt16 = 1
    /// ENOSYS.
    static let missing: UInt16 = 38

    /// The filter for the process of this number; `readsFonts`: for one that draws, `accepts`: for
    /// one to which others connect.
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
        // Its flags lie behind a pointer. glibc takes `clone` where this does not exist.
        try filter.fail("clone3", with: missing)
        return filter
    }
}
