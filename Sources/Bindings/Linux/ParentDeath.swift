import CLinux
import Glibc

/// The end of a process together with its parent.
public enum ParentDeath {
    /// Asks the kernel to send `signal` to this process when the *thread* that started it ends.
    ///
    /// Returns false when the parent is not `expected` any more: it died before the request, so the
    /// signal would never come, and the caller ends itself.
    public static func arm(_ signal: Signal, expected: ProcessID) throws(Errno) -> Bool {
        try syscall { clinux_parent_death_signal(signal.rawValue) }
        return getppid() == expected
    }
}
