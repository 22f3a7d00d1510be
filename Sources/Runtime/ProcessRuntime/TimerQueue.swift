public import Model

/// Identifies one timer of one `TimerQueue`; never reused.
public struct TimerID: Hashable, Sendable {
    let slot: Int32
    let generation: UInt32
}

/// A timer queue as a value, without clock or callbacks.
///
/// A binary heap: scheduling, canceling and removing are O(log n), `nextDue` is O(1). Timers with
/// the same due time fire in the order in which they were scheduled.
public struct TimerQueue<Element: Sendable>: Sendable {
    private let timersMax: Int
    private var heap = TimerHeap()
    /// Elements by slot of the heap.
    private var elements: [Element?] = []

    /// Creates a queue for at most `timersMax` timers.
    public init(timersMax: Int) {
        self.timersMax = timersMax
    }

    /// The number of scheduled timers.
    public var count: Int { heap.count }

    /// When the next timer is due; nil if there are none.
    public var nextDue: Instant? { heap.nextDue }

    /// Schedules a timer.
    ///
    /// Precondition: fewer than `timersMax` timers are scheduled. Limits are enforced at admission,
    /// before anything that needs a timer is accepted.
    @discardableResult
    public mutating func schedule(_ element: Element, at due: Instant) -> TimerID {
        precondition(heap.count < timersMax, "more timers than admitted")
        let id = heap.insert(at: due)
        if Int(id.slot) == elements.count {
            elements.append(element)
        } else {
            elements[Int(id.slot)] = element
        }
        return id
    }

    /// Removes a timer before it is due; nil if it was already taken or canceled.
    @discardableResult
    public mutating func cancel(_ id: TimerID) -> Element? {
        heap.remove(id).flatMap { elements[$0].take() }
    }

    /// Removes and returns the next timer that is due at `now`; nil if there is none.
    public mutating func removeDue(at now: Instant) -> Element? {
        heap.removeDue(at: now).flatMap { elements[$0].take() }
    }
}

/// The ordering of a `TimerQueue` without its elements: not generic, so that it is specialized once
/// for all modules.
struct TimerHeap: Sendable {
    private struct Slot: Sendable {
        var generation: UInt32 = 0
        var position: Int32 = -1
    }
    private struct Entry: Sendable {
        var due: Instant
        var order: UInt64
        var slot: Int32

        func isBefore(_ other: Entry) -> Bool {
            due == other.due ? order < other.order : due < other.due
        }
    }

    private var slots: [Slot] = []
    private var free: [Int32] = []
    private var heap: [Entry] = []
    private var scheduled: UInt64 = 0

    var count: Int { heap.count }

    var nextDue: Instant? { heap.first?.due }

    /// Adds a timer in a free slot, or in a new one if all are in use.
    mutating func insert(at due: Instant) -> TimerID {
        let slot = allocateSlot()
        scheduled += 1
        heap.append(Entry(due: due, order: scheduled, slot: slot))
        rise(heap.count - 1)
        return TimerID(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// Removes a timer and returns its freed slot; nil if it was already removed.
    mutating func remove(_ id: TimerID) -> Int? {
        let slot = slots[Int(id.slot)]
        guard slot.generation == id.generation, slot.position >= 0 else { return nil }
        return remove(at: Int(slot.position))
    }

    /// Removes the first timer that is due at `now` and returns its slot; nil if there is none.
    mutating func removeDue(at now: Instant) -> Int? {
        guard let first = heap.first, first.due <= now else { return nil }
        return remove(at: 0)
    }
}

extension TimerHeap {
    private mutating func allocateSlot() -> Int32 {
        if let reused = free.popLast() { return reused }
        slots.append(Slot())
        return Int32(slots.count - 1)
    }

    private mutating func remove(at position: Int) -> Int {
        let slot = Int(heap[position].slot)
        let last = heap.removeLast()
        if position < heap.count {
            heap[position] = last
            sink(position)
            rise(Int(slots[Int(last.slot)].position))
        }
        slots[slot].position = -1
        slots[slot].generation &+= 1
        free.append(Int32(slot))
        return slot
    }

    private mutating func rise(_ start: Int) {
        var child = start
        let entry = heap[child]
        while child > 0 {
            let parent = (child - 1) / 2
            guard entry.isBefore(heap[parent]) else { break }
            put(heap[parent], at: child)
            child = parent
        }
        put(entry, at: child)
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        let entry = heap[parent]
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(entry) else { break }
            put(heap[child], at: parent)
            parent = child
        }
        put(entry, at: parent)
    }

    private mutating func put(_ entry: Entry, at position: Int) {
        heap[position] = entry
        slots[Int(entry.slot)].position = Int32(position)
    }
}
