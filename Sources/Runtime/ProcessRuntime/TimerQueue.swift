public import Model

/// Identifies one timer of one `TimerQueue`; never reused.
public struct TimerID: Hashable, Comparable, Sendable {
    let due: Instant
    /// The number of timers scheduled before, which orders timers with the same due time.
    let number: UInt64

    /// Orders timers as they fire.
    public static func < (left: TimerID, right: TimerID) -> Bool {
        (left.due, left.number) < (right.due, right.number)
    }
}

/// A timer queue as a value, without clock or callbacks.
///
/// A sorted array: a process has at most a few hundred timers, and most new ones are the last to be
/// due. Timers with the same due time fire in the order in which they were scheduled.
public struct TimerQueue<Element: Sendable>: Sendable {
    private struct Timer: Sendable {
        let id: TimerID
        let element: Element
    }

    private let timersMax: Int
    private var timers: [Timer] = []
    private var scheduled: UInt64 = 0

    /// Creates a queue for at most `timersMax` timers.
    public init(timersMax: Int) {
        self.timersMax = timersMax
    }

    /// The number of scheduled timers.
    public var count: Int { timers.count }

    /// When the next timer is due; nil if there are none.
    public var nextDue: Instant? { timers.first?.id.due }

    /// Schedules a timer.
    ///
    /// Precondition: fewer than `timersMax` timers are scheduled. Limits are enforced at admission,
    /// before anything that needs a timer is accepted.
    @discardableResult
    public mutating func schedule(_ element: Element, at due: Instant) -> TimerID {
        precondition(timers.count < timersMax, "more timers than admitted")
        let id = TimerID(due: due, number: scheduled)
        scheduled += 1
        timers.insert(Timer(id: id, element: element), at: place(of: id))
        return id
    }

    /// Removes a timer before it is due; nil if it was already taken or canceled.
    @discardableResult
    public mutating func cancel(_ id: TimerID) -> Element? {
        let place = place(of: id)
        guard place < timers.count, timers[place].id == id else { return nil }
        return timers.remove(at: place).element
    }

    /// Removes and returns the next timer that is due at `now`; nil if there is none.
    public mutating func removeDue(at now: Instant) -> Element? {
        guard let due = nextDue, due <= now else { return nil }
        return timers.removeFirst().element
    }

    /// Returns the index of a timer, or the one at which to insert it.
    private func place(of id: TimerID) -> Int {
        var (low, high) = (0, timers.count)
        while low < high {
            let middle = (low + high) / 2
            if timers[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
