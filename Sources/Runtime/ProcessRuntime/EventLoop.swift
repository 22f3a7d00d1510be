public import Linux
public import Model
public import Synchronization
public import ZeroMQ

/// The single blocking wait of a thread: polls sockets and descriptors with `zmq_poll`, with the
/// next timer as its timeout.
///
/// The owner keeps the sources and their state; the loop only reports which are ready. One turn is:
/// run everything that is due, `wait(until:)` the next deadline, then drain each ready source *up
/// to a budget*, so that a noisy peer can't starve timers or other sources. Since polling is
/// level-triggered, the next wait reports what is left.
public struct EventLoop: ~Copyable {
    /// The result of one wait.
    public struct Turn: Hashable, Sendable {
        /// When the wait ended: the clock reading for all work of this turn.
        public let wokenAt: Instant
        /// The sources to drain.
        public let ready: ReadySources
    }

    /// The maximum number of sources of a loop; each costs about 100 ns per turn.
    public static let sourcesMax = 63

    private var polls: PollSet
    /// Ends a wait at its deadline. nil if the system provides no timer; poll timeouts are used
    /// instead.
    private var alarm: LoopAlarm?

    /// Creates a loop for at most `sourcesMax` sources (1...`EventLoop.sourcesMax`).
    public init(sourcesMax: Int) {
        precondition((1...Self.sourcesMax).contains(sourcesMax), "a loop must have 1 to 63 sources")
        polls = PollSet(capacity: sourcesMax + 1)
        guard let timer = try? TimerDescriptor() else { return }
        alarm = LoopAlarm(index: polls.add(descriptor: timer.descriptor.number), timer)
    }

    /// Watches a socket for messages; it must stay open until it is removed or the loop ends.
    public mutating func add(_ socket: borrowing Socket) -> EventSource {
        EventSource(index: polls.add(socket))
    }

    /// Watches a descriptor for input; it must stay open until it is removed or the loop ends.
    public mutating func add(descriptor number: Int32) -> EventSource {
        EventSource(index: polls.add(descriptor: number))
    }

    /// Stops watching a source; a source that is added later may reuse its index.
    public mutating func remove(_ source: EventSource) {
        polls.remove(at: source.index)
    }

    /// Waits for a source or for the deadline; nil waits without limit.
    ///
    /// Returns at most a millisecond after the deadline, and before it only if a source is ready or
    /// a signal arrived (in which case no source is ready).
    public mutating func wait(until deadline: Instant?) throws(ZMQError) -> Turn {
        while true {
            let outcome = try polls.wait(milliseconds: milliseconds(until: deadline))
            let now = Instant.now()
            var ready = ReadySources()
            if case .ready = outcome {
                for index in 0..<polls.capacity where polls.isReadable(at: index) {
                    ready.insert(index)
                }
            }
            guard let index = alarm?.index, ready.remove(index) else {
                return Turn(wokenAt: now, ready: ready)
            }
            alarm?.stop()
            // It may still be set for an earlier deadline that no longer applies.
            if !ready.isEmpty || deadline.map({ $0 <= now }) == true {
                return Turn(wokenAt: now, ready: ready)
            }
        }
    }

    /// The timeout of the poll itself: unlimited if the alarm ends it.
    private mutating func milliseconds(until deadline: Instant?) -> Int? {
        guard let deadline else { return nil }
        if alarm?.isSet(by: deadline) == true { return nil }
        let left = Self.milliseconds(until: deadline)
        return left > 0 && alarm?.set(deadline) == true ? nil : left
    }

    /// Reads the clock again, because work has consumed time since the last turn's reading.
    private static func milliseconds(until deadline: Instant) -> Int {
        min(deadline.milliseconds(since: .now()), 3_600_000)
    }
}

/// One socket or descriptor that an `EventLoop` watches.
public struct EventSource: Hashable, Sendable {
    let index: Int
}

/// The ready sources of a turn: a bit set, so that turns don't allocate.
public struct ReadySources: Hashable, Sendable {
    var bits: UInt64 = 0

    /// Returns whether this source is ready.
    public func contains(_ source: EventSource) -> Bool {
        bits & (1 << UInt64(source.index)) != 0
    }

    /// Whether no source is ready, because of a deadline or a signal.
    public var isEmpty: Bool {
        bits == 0
    }

    /// Removes a source and returns whether it was ready.
    mutating func remove(_ index: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(index)
        defer { bits &= ~bit }
        return bits & bit != 0
    }

    mutating func insert(_ index: Int) {
        bits |= 1 << UInt64(index)
    }
}

/// Ends a loop's waits at their deadlines with one kernel timer that stays set across turns.
///
/// A poll timeout would be armed and disarmed on every turn. On a virtual machine each of these may
/// cause an exit to the host, which costs more than the rest of the turn.
struct LoopAlarm: ~Copyable {
    /// Its index in the loop's poll set.
    let index: Int
    private let timer: TimerDescriptor
    private var due: Instant?

    init(index: Int, _ timer: consuming TimerDescriptor) {
        self.index = index
        self.timer = timer
    }

    /// Returns whether it fires no later than `deadline`. Firing early only costs one empty turn.
    func isSet(by deadline: Instant) -> Bool { due.map { $0 <= deadline } ?? false }

    /// Sets the alarm; returns false if the system refuses.
    mutating func set(_ deadline: Instant) -> Bool {
        guard (try? timer.set(nanoseconds: deadline.nanoseconds)) != nil else { return false }
        due = deadline
        return true
    }

    /// Disarms the alarm after it fired.
    mutating func stop() {
        timer.drain()
        due = nil
    }
}

extension Instant {
    /// Reads the monotonic clock: the only place above the bindings that does.
    public static func now() -> Instant {
        Instant(nanoseconds: MonotonicClock.now())
    }
}

/// A bounded queue from any thread to one consumer: posting wakes the loop that watches
/// `descriptor`.
///
/// The per-element code is inlinable, because generic code of another module would look up type
/// metadata on every call.
public final class Mailbox<Element: Sendable>: Sendable {
    /// The queued elements, and whether the mailbox is closed.
    @usableFromInline
    struct State {
        @usableFromInline
        var queue: [Element] = []
        @usableFromInline
        var isClosed = false

        init() {}
    }

    @usableFromInline
    let waiting: Mutex<State>
    @usableFromInline
    let event: EventDescriptor
    @usableFromInline
    let elementsMax: Int

    /// Creates a mailbox with a capacity of `elementsMax`.
    public init(elementsMax: Int) throws(Errno) {
        self.elementsMax = elementsMax
        event = try EventDescriptor()
        waiting = Mutex(State())
    }

    /// The descriptor for the consumer's loop; readable while elements are queued.
    public var descriptor: Int32 { event.descriptor.number }

    /// Whether the queue is empty at this moment.
    @inlinable
    public var isEmpty: Bool { waiting.withLock { $0.queue.isEmpty } }

    /// Enqueues an element from any thread, without waiting for the consumer.
    ///
    /// Returns false if the mailbox is full or closed; the element is then not enqueued. `wakes`
    /// can be false if the consumer is known to check the mailbox before it waits.
    @inlinable
    public func post(_ element: Element, wakes: Bool = true) -> Bool {
        let place: Int? = waiting.withLock { state in
            if state.isClosed || state.queue.count >= elementsMax { return nil }
            state.queue.append(element)
            return state.queue.count
        }
        // Only the first element wakes the consumer; later ones are taken together with it.
        if wakes, place == 1 { event.signal() }
        return place != nil
    }

    /// Wakes the consumer.
    public func wake() { event.signal() }

    /// Makes `descriptor` unreadable; for use with `removeAll(into:)`.
    public func quiet() { event.drain() }

    /// Appends all queued elements to `elements`, oldest first, whether or not `descriptor` is
    /// readable, which it doesn't change. Call on the consumer's thread only.
    @inlinable
    public func removeAll(into elements: inout [Element]) {
        waiting.withLock { state in
            guard !state.queue.isEmpty else { return }
            guard elements.isEmpty else {
                elements.append(contentsOf: state.queue)
                return state.queue.removeAll(keepingCapacity: true)
            }
            // Swaps the buffers, so that the capacity of the removed elements is reused.
            swap(&elements, &state.queue)
        }
    }

    /// Appends all queued elements to `elements`, oldest first, and makes `descriptor` unreadable.
    /// Call on the consumer's thread only.
    public func drain(into elements: inout [Element]) {
        quiet()
        removeAll(into: &elements)
    }

    /// Closes the mailbox and returns the queued elements, oldest first; nobody else receives them.
    public func close() -> [Element] {
        waiting.withLock { state in
            state.isClosed = true
            return exchange(&state.queue, with: [])
        }
    }

    /// Removes the oldest element, waiting for one if necessary; nil after a timeout.
    ///
    /// For consumers without a loop, such as work threads. nil milliseconds waits without limit.
    /// Throws the errors of poll(2), but never EINTR.
    public func next(milliseconds: Int?) throws(Errno) -> Element? {
        while true {
            let next = waiting.withLock { $0.queue.isEmpty ? nil : $0.queue.removeFirst() }
            if let next { return next }
            quiet()
            guard isEmpty else { continue }
            if try !event.descriptor.wait(for: .readable, milliseconds: milliseconds) {
                return nil
            }
        }
    }
}
