import Linux
import Messages

/// Ends a loop's waits at their deadlines: one timer of the kernel, set from turn to turn.
///
/// A timeout of each wait would be set and withdrawn in every turn, and on a virtual machine each
/// of these may be an exit to the host, which costs more than all else that a turn does.
struct LoopAlarm: ~Copyable {
    /// Its place in the loop's poll set.
    let index: Int
    private let timer: TimerDescriptor
    private var due: Instant?

    init(index: Int, _ timer: consuming TimerDescriptor) {
        self.index = index
        self.timer = timer
    }

    /// Whether it will ring no later than so: an early ring only costs a turn that finds nothing.
    func isSet(by deadline: Instant) -> Bool { due.map { $0 <= deadline } ?? false }

    /// Sets it; false where the system does not.
    mutating func set(_ deadline: Instant) -> Bool {
        guard (try? timer.set(nanoseconds: deadline.nanoseconds)) != nil else { return false }
        due = deadline
        return true
    }

    /// It rang.
    mutating func stop() {
        timer.drain()
        due = nil
    }
}
