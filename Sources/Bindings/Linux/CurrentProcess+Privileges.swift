import CLinux

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
