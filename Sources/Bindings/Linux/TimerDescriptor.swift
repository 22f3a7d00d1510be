import CLinux

/// A moment that a poll waits for (timerfd on the clock of `MonotonicClock`).
public struct TimerDescriptor: ~Copyable, Sendable {
    /// Readable from the moment on until `drain()` or the next `set`; not blocking.
    public let descriptor: FileDescriptor

    /// Opens one that is not set.
    public init() throws(Errno) {
        descriptor = FileDescriptor(owning: try syscall { clinux_timerfd() })
    }

    /// Makes the descriptor readable at this reading of `MonotonicClock`, at once where it has
    /// passed. Replaces what was set before; 0 sets nothing.
    public borrowing func set(nanoseconds: UInt64) throws(Errno) {
        let number = descriptor.number
        _ = try syscall { clinux_timerfd_set(number, nanoseconds) }
    }

    /// Makes the descriptor unreadable; whether it was readable.
    @discardableResult
    public borrowing func drain() -> Bool {
        let number = descriptor.number
        var count: UInt64 = 0
        // The only failure is EAGAIN: it is not due.
        return (try? syscall { clinux_read(number, &count, 8) }) != nil
    }
}
