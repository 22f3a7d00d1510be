import CLinux

/// A stable reference to one process (pidfd): never to another one that got the same number.
public struct ProcessDescriptor: ~Copyable, Sendable {
    /// Readable once the process has ended.
    public let descriptor: FileDescriptor

    /// Opens a reference; throws `Errno.noSuchProcess` when there is no such process.
    ///
    /// Sound for a child of ours that is not reaped yet: its number cannot be reused.
    public init(_ process: ProcessID) throws(Errno) {
        descriptor = FileDescriptor(owning: try syscall { clinux_pidfd_open(process) })
    }

    /// Sends a signal; throws `Errno.noSuchProcess` once the process has been reaped.
    public borrowing func send(_ signal: Signal) throws(Errno) {
        let number = descriptor.number
        try syscall { clinux_pidfd_signal(number, signal.rawValue) }
    }

    /// Waits for the end of the process; false when the time is over, nil waits without limit.
    public borrowing func waitForEnd(milliseconds: Int?) throws(Errno) -> Bool {
        try descriptor.wait(for: .readable, milliseconds: milliseconds)
    }
}
