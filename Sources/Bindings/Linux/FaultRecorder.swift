import CLinux

/// Writes down why this process ends by a signal: from the handler, into memory that outlives it.
///
/// One per process. Whoever handled the signal before, such as a sanitizer, is called next; then
/// it ends the process by its default action.
public enum FaultRecorder {
    /// Signals that a process brings upon itself.
    public static let signals: [Signal] = [
        .segmentationFault, .busError, .illegalInstruction, .arithmeticFault, .abort, .trap,
        .badSystemCall,
    ]

    /// Handles the signals, on a stack of its own for the calling thread and every `Thread` that
    /// is started. When the first one comes, `count` words at `words` are copied to `copies`, or
    /// zeros where another thread changes the first word meanwhile; then its number is written to
    /// the word `signal`.
    ///
    /// The addresses must stay valid until `forget()`: a precondition of the caller.
    public static func install(
        copying count: Int, from words: UnsafeMutablePointer<UInt64>,
        to copies: UnsafeMutablePointer<UInt64>, signal: UnsafeMutablePointer<UInt64>
    ) throws(Errno) {
        var record = clinux_fault_record(
            words: words, copies: copies, count: count, signal: signal)
        clinux_fault_watch(&record)
        try syscall { clinux_fault_stack() }
        let numbers = signals.map(\.rawValue)
        try syscall { clinux_fault_handle(numbers, numbers.count) }
    }

    /// The memory goes away: from now on nothing is written.
    public static func forget() { clinux_fault_forget() }
}
