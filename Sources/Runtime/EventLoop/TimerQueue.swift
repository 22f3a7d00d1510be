public import Messages

/// Names one timer of one `TimerQueue`; never equal to a later timer's.
public struct TimerID: Hashable, Sendable {
    let slot: Int32
    let generation: UInt32
}

/// Timers as values: what is due when, with no clock and no callback.
///
/// A binary heap; scheduling, cancelling and taking are O(log n), the next due moment is O(1).
/// Timers that are due at the same moment come in the order in which they were scheduled.
public struct TimerQueue<Element: Sendable>: Sendable {
    private let timersMax: Int
    private var heap = TimerHeap()
    /// By slot of the heap.
    private var elements: [Element?] = []

    /// Makes a queue for at most so many timers at a time.
    public init(timersMax: Int) {
        self.timersMax = timersMax
    }

    /// How many timers are scheduled.
    public var count: Int { heap.count }

    /// When the next one is due; nil when there is none.
    public var nextDue: Instant? { heap.nextDue }

    /// Schedules a timer.
    ///
    /// A precondition: fewer than `timersMax` are scheduled. Whoever schedules has admitted what
    /// the timer is for, and admission is where limits are kept.
    @discardableResult
    public mutating func schedule(_ element: Element, at due: Instant) -> TimerID {
        precondition(heap.count < timersMax, "more timers than were admitted")
        let id = heap.insert(at: due)
        if Int(id.slot) == elements.count {
            elements.append(element)
        } else {
            elements[Int(id.slot)] = element
        }
        return id
    }

    /// Takes a timer out before it is due; nil when it was taken or cancelled before.
    @discardableResult
    public mutating func cancel(_ id: TimerID) -> Element? {
        heap.remove(id).flatMap { elements[$0].take() }
    }

    /// Takes the next timer that is due at `now`; nil when none is.
    public mutating func takeDue(at now: Instant) -> Element? {
        heap.removeDue(at: now).flatMap { elements[$0].take() }
    }
}
