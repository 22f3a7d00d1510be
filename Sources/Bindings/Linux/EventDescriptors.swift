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

/// Signals as readable events (signalfd).
///
/// The signals must be blocked in every thread (`Signal.block`), else they act as usual.
public struct SignalDescriptor: ~Copyable, Sendable {
    /// Readable while a signal is pending; not blocking.
    public let descriptor: FileDescriptor

    /// Opens a descriptor for these signals; does not block them.
    public init(_ signals: [Signal]) throws(Errno) {
        let numbers = signals.map(\.rawValue)
        descriptor = FileDescriptor(
            owning: try syscall { clinux_signalfd(numbers, numbers.count) })
    }

    /// The next pending signal; nil when there is none.
    public borrowing func next() throws(Errno) -> ReceivedSignal? {
        let number = descriptor.number
        var raw = clinux_signal()
        do {
            try syscall { clinux_signalfd_read(number, &raw) }
        } catch .wouldBlock {
            return nil
        }
        return ReceivedSignal(
            signal: Signal(rawValue: raw.number), sender: raw.sender, userID: raw.uid)
    }
}

/// One signal that a `SignalDescriptor` delivered.
public struct ReceivedSignal: Hashable, Sendable {
    /// Which one; several of the same kind may have become one.
    public let signal: Signal
    /// The process that sent it; for `Signal.child` the child.
    public let sender: ProcessID
    /// The real user of the sender.
    public let userID: UInt32
}

/// A signal's number.
public struct Signal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number as in `<signal.h>`.
    public let rawValue: Int32

    /// Wraps a number as in `<signal.h>`.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// SIGHUP: the terminal went away.
    public static let hangUp = Signal(rawValue: SIGHUP)
    /// SIGINT: Ctrl-C.
    public static let interrupt = Signal(rawValue: SIGINT)
    /// SIGQUIT: Ctrl-\.
    public static let quit = Signal(rawValue: SIGQUIT)
    /// SIGABRT: the process gave itself up.
    public static let abort = Signal(rawValue: SIGABRT)
    /// SIGKILL: the end; cannot be blocked.
    public static let kill = Signal(rawValue: SIGKILL)
    /// SIGUSR1.
    public static let user1 = Signal(rawValue: SIGUSR1)
    /// SIGUSR2.
    public static let user2 = Signal(rawValue: SIGUSR2)
    /// SIGSEGV: an address that is not there.
    public static let segmentationFault = Signal(rawValue: SIGSEGV)
    /// SIGBUS: a mapped page that is not there.
    public static let busError = Signal(rawValue: SIGBUS)
    /// SIGILL: no instruction of this processor.
    public static let illegalInstruction = Signal(rawValue: SIGILL)
    /// SIGFPE: a division by zero, or the like.
    public static let arithmeticFault = Signal(rawValue: SIGFPE)
    /// SIGTRAP: a failed check of ours, such as an overflow.
    public static let trap = Signal(rawValue: SIGTRAP)
    /// SIGSYS: a system call that a filter forbids.
    public static let badSystemCall = Signal(rawValue: SIGSYS)
    /// SIGPIPE: a write that nobody reads.
    public static let brokenPipe = Signal(rawValue: SIGPIPE)
    /// SIGXFSZ: a file would grow beyond the limit of the process.
    public static let fileTooLarge = Signal(rawValue: SIGXFSZ)
    /// SIGTERM: please end.
    public static let terminate = Signal(rawValue: SIGTERM)
    /// SIGCHLD: a child changed its state.
    public static let child = Signal(rawValue: SIGCHLD)
    /// SIGSTOP: freeze; cannot be blocked.
    public static let stop = Signal(rawValue: SIGSTOP)
    /// SIGCONT: go on.
    public static let resume = Signal(rawValue: SIGCONT)
    /// SIGWINCH: the terminal has another size.
    public static let windowChanged = Signal(rawValue: SIGWINCH)

    /// The name, for example `SIGTERM`.
    public var description: String {
        clinux_signal_name(rawValue).map { "SIG" + String(cString: $0) } ?? "signal \(rawValue)"
    }

    /// Blocks signals for this thread and for all threads that it starts from now on.
    ///
    /// Call it first thing in `main`, before libzmq or anything else has started a thread: a
    /// process-wide signal goes to any thread that does not block it.
    public static func block(_ signals: [Signal]) throws(Errno) {
        let numbers = signals.map(\.rawValue)
        try syscall { clinux_signals_block(numbers, numbers.count) }
    }

    /// Ignores a signal in this process; children that `ChildProcess` starts do not inherit it.
    public func ignore() throws(Errno) {
        try syscall { clinux_signal_ignore(rawValue) }
    }

    /// Sends the signal to a process by its number: only for a child that is not reaped yet, or
    /// for oneself. Everybody else is reached through `ProcessDescriptor`.
    public func send(to process: ProcessID) throws(Errno) {
        try syscall { clinux_kill(process, rawValue) }
    }
}

/// The number of a process.
public typealias ProcessID = Int32
