import CLinux
import Glibc

/// A wake-up (eventfd) that one thread waits for and any thread may signal.
public struct EventDescriptor: ~Copyable, Sendable {
    /// Readable from the first `signal()` until `drain()`; nonblocking.
    public let descriptor: FileDescriptor

    /// Opens an unsignaled descriptor.
    public init() throws(Errno) {
        descriptor = FileDescriptor(owning: try syscall { clinux_eventfd() })
    }

    /// Makes the descriptor readable. Callable from any thread; never blocks.
    public borrowing func signal() {
        var one: UInt64 = 1
        // The only possible failure is EAGAIN at 2^64 - 2 signals; it's readable then anyway.
        _ = try? descriptor.call { clinux_write($0, &one, 8) }
    }

    /// Makes the descriptor unreadable. Returns the number of signals since the last call.
    @discardableResult
    public borrowing func drain() -> UInt64 {
        var count: UInt64 = 0
        // The only possible failure is EAGAIN: not signaled.
        _ = try? descriptor.call { clinux_read($0, &count, 8) }
        return count
    }
}

/// A timer that a poll can wait for (timerfd on the clock of `MonotonicClock`).
public struct TimerDescriptor: ~Copyable, Sendable {
    /// Readable from the set time until `drain()` or the next `set`; nonblocking.
    public let descriptor: FileDescriptor

    /// Opens an unset timer.
    public init() throws(Errno) {
        descriptor = FileDescriptor(owning: try syscall { clinux_timerfd() })
    }

    /// Makes the descriptor readable at this time of `MonotonicClock`, or at once if it has passed.
    /// Replaces the previous setting; 0 disarms the timer.
    public borrowing func set(nanoseconds: UInt64) throws(Errno) {
        _ = try descriptor.call { clinux_timerfd_set($0, nanoseconds) }
    }

    /// Makes the descriptor unreadable. Returns whether it was readable.
    @discardableResult
    public borrowing func drain() -> Bool {
        var count: UInt64 = 0
        // The only possible failure is EAGAIN: not due.
        return (try? descriptor.call { clinux_read($0, &count, 8) }) != nil
    }
}

/// Signals as readable events (signalfd).
///
/// The signals must be blocked in every thread (`Signal.block`), otherwise their usual action
/// occurs.
public struct SignalDescriptor: ~Copyable, Sendable {
    /// Readable while a signal is pending; nonblocking.
    public let descriptor: FileDescriptor

    /// Opens a descriptor for these signals without blocking them.
    public init(_ signals: [Signal]) throws(Errno) {
        let numbers = signals.map(\.rawValue)
        descriptor = FileDescriptor(
            owning: try syscall { clinux_signalfd(numbers, numbers.count) })
    }

    /// Returns the next pending signal, or `nil` if there is none.
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

/// A signal delivered by a `SignalDescriptor`.
public struct ReceivedSignal: Hashable, Sendable {
    /// The signal. Several pending ones of the same kind may be merged.
    public let signal: Signal
    /// The sending process; for `Signal.child` the child.
    public let sender: ProcessID
    /// The sender's real user ID.
    public let userID: UInt32
}

/// Distinguishes a repeated request to stop from one that reaches a process twice.
///
/// systemd (without `KillMode=mixed`), the end of a login session and `killall` signal a supervisor
/// and its children at the same time; the supervisor then signals its children as well. So a signal
/// counts as repeated only if its sender, either the supervisor or any other process, has sent one
/// before.
public struct StopSignals: Hashable, Sendable {
    private let supervisor: ProcessID?
    private var cameFromSupervisor = false
    private var cameFromOthers = false

    /// Creates the state before the first signal; `supervisor` is `nil` without one.
    public init(supervisor: ProcessID?) { self.supervisor = supervisor }

    /// Whether other processes have sent a signal and the supervisor, if there is one, has not.
    public var cameOnlyFromOthers: Bool {
        supervisor != nil && cameFromOthers && !cameFromSupervisor
    }

    /// Records a signal; returns whether it is repeated.
    public mutating func record(_ signal: ReceivedSignal) -> Bool {
        guard let supervisor, signal.sender == supervisor else {
            defer { cameFromOthers = true }
            return cameFromOthers
        }
        defer { cameFromSupervisor = true }
        return cameFromSupervisor
    }
}

/// A signal number.
public struct Signal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number defined in `<signal.h>`.
    public let rawValue: Int32

    /// Wraps a number defined in `<signal.h>`.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// SIGHUP: the terminal was closed.
    public static let hangUp = Signal(rawValue: SIGHUP)
    /// SIGINT: Ctrl-C.
    public static let interrupt = Signal(rawValue: SIGINT)
    /// SIGABRT: the process called abort.
    public static let abort = Signal(rawValue: SIGABRT)
    /// SIGKILL: immediate termination; can't be blocked.
    public static let kill = Signal(rawValue: SIGKILL)
    /// SIGSEGV: access to an unmapped address.
    public static let segmentationFault = Signal(rawValue: SIGSEGV)
    /// SIGBUS: access to a mapped page without backing.
    public static let busError = Signal(rawValue: SIGBUS)
    /// SIGILL: an illegal instruction.
    public static let illegalInstruction = Signal(rawValue: SIGILL)
    /// SIGFPE: an arithmetic error such as a division by zero.
    public static let arithmeticFault = Signal(rawValue: SIGFPE)
    /// SIGTRAP: a failed Swift runtime check, such as an overflow.
    public static let trap = Signal(rawValue: SIGTRAP)
    /// SIGSYS: a system call forbidden by a filter.
    public static let badSystemCall = Signal(rawValue: SIGSYS)
    /// SIGPIPE: a write without a reader.
    public static let brokenPipe = Signal(rawValue: SIGPIPE)
    /// SIGXFSZ: a file would exceed the process's size limit.
    public static let fileTooLarge = Signal(rawValue: SIGXFSZ)
    /// SIGTERM: a request to terminate.
    public static let terminate = Signal(rawValue: SIGTERM)
    /// SIGCHLD: a child changed state.
    public static let child = Signal(rawValue: SIGCHLD)
    /// SIGSTOP: suspends the process; can't be blocked.
    public static let stop = Signal(rawValue: SIGSTOP)
    /// SIGCONT: resumes the process.
    public static let resume = Signal(rawValue: SIGCONT)

    /// The name, such as `SIGTERM`.
    public var description: String {
        clinux_signal_name(rawValue).map { "SIG" + String(cString: $0) } ?? "signal \(rawValue)"
    }

    /// Blocks signals in this thread and in all threads that it starts later.
    ///
    /// Call this first in `main`, before libzmq or anything else starts a thread: a process-wide
    /// signal is delivered to any thread that doesn't block it.
    public static func block(_ signals: [Signal]) throws(Errno) {
        let numbers = signals.map(\.rawValue)
        try syscall { clinux_signals_block(numbers, numbers.count) }
    }

    /// Ignores a signal in this process. Children started by `ChildProcess` don't inherit this.
    public func ignore() throws(Errno) {
        try syscall { clinux_signal_ignore(rawValue) }
    }

    /// Sends the signal to a process by number. Use it only for this process or for a child that
    /// hasn't been reaped; use `ProcessDescriptor` for all others.
    public func send(to process: ProcessID) throws(Errno) {
        try syscall { clinux_kill(process, rawValue) }
    }
}

/// A process ID.
public typealias ProcessID = Int32
