import CLinux
import Glibc

/// Who may hold the advisory lock of a file beside this one.
public enum LockKind: Sendable {
    /// Others may share it.
    case shared
    /// Nobody else.
    case exclusive
}

extension FileDescriptor {
    /// Takes the file's advisory lock (flock) if nobody is in the way; false otherwise.
    ///
    /// The lock belongs to the open file: it ends with the last descriptor of it, so with the
    /// process that dies as well.
    public borrowing func tryLock(_ kind: LockKind) throws(Errno) -> Bool {
        do {
            try flock(kind, or: LOCK_NB)
            return true
        } catch .wouldBlock {
            return false
        }
    }

    /// Takes the file's advisory lock, and waits for it without limit.
    public borrowing func lock(_ kind: LockKind) throws(Errno) {
        try flock(kind, or: 0)
    }

    /// Gives the lock back.
    public borrowing func unlock() throws(Errno) {
        let number = number
        try syscall { clinux_flock(number, LOCK_UN) }
    }

    private borrowing func flock(_ kind: LockKind, or flags: Int32) throws(Errno) {
        let number = number
        let operation = kind == .shared ? LOCK_SH : LOCK_EX
        try syscall { clinux_flock(number, operation | flags) }
    }
}
