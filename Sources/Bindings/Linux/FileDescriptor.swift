import CLinux

/// The owner of one open descriptor: closed when the value ends, never by anybody else.
///
/// All descriptors of this module are close-on-exec. A value may move to another thread.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The descriptor's number; valid only while this value lives.
    public let number: Int32

    /// Takes over a descriptor that somebody else opened; from now on this value closes it.
    public init(owning number: Int32) {
        self.number = number
    }

    deinit {
        // A failed close reports an earlier write's error; who needs that calls `close()`.
        _ = clinux_close(number)
    }

    /// Gives the descriptor away without closing it; the caller closes it.
    public consuming func relinquish() -> Int32 {
        let kept = number
        discard self
        return kept
    }

    /// Closes now and reports what the kernel says, for example a failed write behind.
    public consuming func close() throws(Errno) {
        let result = clinux_close(relinquish())
        // EINTR has closed it already: Linux never wants a second close.
        if result < 0, result != -Errno.interrupted.rawValue { throw Errno(rawValue: -result) }
    }

    /// A second owner of the same open file (F_DUPFD_CLOEXEC); offset and flock are shared.
    public borrowing func duplicate() throws(Errno) -> FileDescriptor {
        let original = number
        return FileDescriptor(owning: try syscall { clinux_duplicate(original, 0) })
    }

    /// From now on reads and writes of the open file fail with EAGAIN instead of waiting.
    public borrowing func setNonBlocking() throws(Errno) {
        let number = number
        try syscall { clinux_set_nonblocking(number) }
    }
}
