/// One of the doors that a worker closes for good before its first job, in
/// the order of the cases.
public enum SandboxLayer: String, Hashable, Sendable, CaseIterable {
    /// It gains no rights by becoming another program (`PR_SET_NO_NEW_PRIVS`).
    case noNewPrivileges
    /// No core files, no file larger than an arena, few descriptors (`setrlimit`).
    case rlimits
    /// Only the files of its work (Landlock).
    case landlock
    /// Only the system calls of its work (seccomp). The last one: it forbids to set up the others.
    case seccomp
}
