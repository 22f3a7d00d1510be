import CLinux
import Glibc

/// A wake-up that one thread waits for and any thread gives (eventfd).
public struct EventDescriptor: ~Copyable, Sendable {
    /// Readable from the first `signal()` until `drain()`; not blocking.
    public let descriptor: FileDescriptor

    /// Opens one that is not signalled.
    public init() throws(Errno) {
        descriptor = FileDescriptor(owning: try syscall { clinux_eventfd() })
    }

    /// Makes the descriptor readable; callable from any thread, never blocks.
    public borrowing func signal() {
        let number = descriptor.number
        var one: UInt64 = 1
        // The only failure is EAGAIN at 2^64 - 2 signals: it is readable already.
        _ = try? syscall { clinux_write(number, &one, 8) }
    }

    /// Makes the descriptor unreadable; returns how often it was signalled, 0 if not at all.
    @discardableResult
    public borrowing func drain() -> UInt64 {
        let number = descriptor.number
        var count: UInt64 = 0
        // The only failure is EAGAIN: not signalled.
        _ = try? syscall { clinux_read(number, &count, 8) }
        return count
    }
}
