import CLinux

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
