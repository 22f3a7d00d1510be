/// How long one step of housekeeping may remove or compare: hits wait until it is over.
///
/// A row that is not in the page cache waits for the device. What the removal of a file takes
/// differs a hundredfold between file systems, from 10 µs to some milliseconds where the device is
/// told of freed blocks at once (`discard`).
struct StepTime {
    /// Nanoseconds after which a step ends.
    static let longest: UInt64 = 1_000_000

    private let clock: () -> UInt64
    private let began: UInt64

    /// Begins now; `clock` says nanoseconds since any moment, and never goes back.
    init(_ clock: @escaping () -> UInt64) {
        self.clock = clock
        began = clock()
    }

    /// Whether the step is to end; the first piece of its work is always done.
    var isOver: Bool { clock() - began >= Self.longest }
}
