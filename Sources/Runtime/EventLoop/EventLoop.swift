public import Linux
public import Messages
public import Synchronization
public import ZeroMQ

/// The one wait of a thread: sockets and descriptors by `zmq_poll`, timers as its timeout.
///
/// The owner keeps the sources and the state; the loop only says which of them are ready. A turn
/// is: do what is due, `wait(until:)` the next deadline, then drain each ready source *up to a
/// budget*, so that one noisy peer starves neither timers nor others. What is left is found by the
/// next wait, which is level-triggered.
public struct EventLoop: ~Copyable {
    /// What one wait found.
    public struct Turn: Hashable, Sendable {
        /// When it ended: the clock reading for everything that the turn does.
        public let wokenAt: Instant
        /// What to drain.
        public let ready: ReadySources
    }

    /// The most sources that a loop may have; each costs about 100 ns a turn.
    public static let sourcesMax = 63

    private var polls: PollSet
    /// Ends a wait at its deadline. nil where the system gives none: the waits themselves end then.
    private var alarm: LoopAlarm?

    /// Makes a loop for at most so many sources (1...`sourcesMax`).
    public init(sourcesMax: Int) {
        precondition((1...Self.sourcesMax).contains(sourcesMax), "a loop has 1 to 63 sources")
        polls = PollSet(capacity: sourcesMax + 1)
        guard let timer = try? TimerDescriptor() else { return }
        alarm = LoopAlarm(index: polls.add(descriptor: timer.descriptor.number), timer)
    }

    /// Watches a socket for messages; it must live until it is removed or the loop ends.
    public mutating func add(_ socket: borrowing Socket) -> EventSource {
        EventSource(index: polls.add(socket))
    }

    /// Watches a descriptor for input; it must stay open until it is removed or the loop ends.
    public mutating func add(descriptor number: Int32) -> EventSource {
        EventSource(index: polls.add(descriptor: number))
    }

    /// Watches it no longer; a source that is added later may take its place.
    public mutating func remove(_ source: EventSource) {
        polls.remove(at: source.index)
    }

    /// Stops or resumes watching, for example while there is no room for what would be read.
    public mutating func setWatching(_ source: EventSource, _ isWatching: Bool) {
        polls.setInterest(at: source.index, readable: isWatching, writable: false)
    }

    /// Waits for a source or for the deadline; nil waits without limit.
    ///
    /// Ends up to a millisecond after the deadline, never before it unless a source is ready or a
    /// signal came in between (no source is ready then). Throws `terminated` after a shutdown of
    /// the context.
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
            // It may have been set for an earlier deadline that was given up since.
            if !ready.isEmpty || deadline.map({ $0 <= now }) == true {
                return Turn(wokenAt: now, ready: ready)
            }
        }
    }

    /// How long the wait itself may last: for ever where the alarm ends it.
    private mutating func milliseconds(until deadline: Instant?) -> Int? {
        guard let deadline else { return nil }
        if alarm?.isSet(by: deadline) == true { return nil }
        let left = Self.milliseconds(until: deadline)
        return left > 0 && alarm?.set(deadline) == true ? nil : left
    }

    /// The time since the last turn's reading has been spent on work: read the clock again.
    private static func milliseconds(until deadline: Instant) -> Int {
        min(deadline.milliseconds(since: .now()), 3_600_000)
    }
}

/// One socket or descriptor that an `EventLoop` watches.
public struct EventSource: Hashable, Sendable {
    let index: Int
}

/// The sources that a turn found ready, in the order in which they were added.
///
/// A bit for each: no allocation per turn.
public struct ReadySources: Sequence, IteratorProtocol, Hashable, Sendable {
    var bits: UInt64 = 0

    /// Whether this source is among them.
    public func contains(_ source: EventSource) -> Bool {
        bits & (1 << UInt64(source.index)) != 0
    }

    /// Whether the turn found none: a deadline, or a signal that came in between.
    public var isEmpty: Bool {
        bits == 0
    }

    /// Takes the next one.
    public mutating func next() -> EventSource? {
        guard bits != 0 else { return nil }
        let index = bits.trailingZeroBitCount
        bits &= bits - 1
        return EventSource(index: index)
    }

    /// Whether it was among them.
    mutating func remove(_ index: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(index)
        defer { bits &= ~bit }
        return bits & bit != 0
    }

    mutating func insert(_ index: Int) {
        bits |= 1 << UInt64(index)
    }
}

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

extension Instant {
    /// Reads the monotonic clock: the only place above the bindings that does.
    public static func now() -> Instant {
        Instant(nanoseconds: MonotonicClock.now())
    }
}

/// A bounded queue from any thread to one: posting wakes the loop that watches `descriptor`.
///
/// What is done with each element is inlinable: generic code of another module would look for the
/// metadata of its types each time.
public final class Mailbox<Element: Sendable>: Sendable {
    /// What waits, and whether nothing is taken in any more.
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

    /// Makes a mailbox for at most so many elements at a time.
    public init(elementsMax: Int) throws(Errno) {
        self.elementsMax = elementsMax
        event = try EventDescriptor()
        waiting = Mutex(State())
    }

    /// What the reading loop watches; readable while something waits.
    public var descriptor: Int32 { event.descriptor.number }

    /// Whether nothing waits at this moment.
    @inlinable
    public var isEmpty: Bool { waiting.withLock { $0.queue.isEmpty } }

    /// Puts an element in, from any thread, without waiting for the reader.
    ///
    /// Returns false when the mailbox is full or closed; the element is not in it then. A reader
    /// that is known to look before it waits need not be woken (`wakes`).
    @inlinable
    public func post(_ element: Element, wakes: Bool = true) -> Bool {
        let place: Int? = waiting.withLock { state in
            if state.isClosed || state.queue.count >= elementsMax { return nil }
            state.queue.append(element)
            return state.queue.count
        }
        // Whoever finds it empty wakes the reader; the others' elements are taken with the first.
        if wakes, place == 1 { event.signal() }
        return place != nil
    }

    /// Wakes the reader.
    public func wake() { event.signal() }

    /// Makes `descriptor` unreadable; for `take(into:)`.
    public func quiet() { event.drain() }

    /// Appends all waiting elements to `elements`, oldest first, whether or not `descriptor` is
    /// readable, and leaves it so. On the reading thread only.
    @inlinable
    public func take(into elements: inout [Element]) {
        waiting.withLock { state in
            guard !state.queue.isEmpty else { return }
            guard elements.isEmpty else {
                elements.append(contentsOf: state.queue)
                return state.queue.removeAll(keepingCapacity: true)
            }
            // The memory of what was taken before is that of what comes next.
            swap(&elements, &state.queue)
        }
    }

    /// Appends up to `limit` waiting elements to `elements`, oldest first.
    ///
    /// On the reading thread only. When some are left, `descriptor` stays readable.
    public func drain(into elements: inout [Element], limit: Int = .max) {
        event.drain()
        let isLeft = waiting.withLock { state in
            let count = Swift.min(limit, state.queue.count)
            elements.append(contentsOf: state.queue[..<count])
            state.queue.removeFirst(count)
            return !state.queue.isEmpty
        }
        if isLeft { event.signal() }
    }

    /// Takes nothing in any more, and returns what waits, oldest first: nobody else will see it.
    public func close() -> [Element] {
        waiting.withLock { state in
            state.isClosed = true
            return exchange(&state.queue, with: [])
        }
    }

    /// Takes the oldest element, and waits for one if there is none; nil when the time is over.
    ///
    /// For a reading thread without a loop, such as a work thread. nil milliseconds waits without
    /// limit. Throws what poll(2) throws, which is never EINTR.
    public func take(milliseconds: Int?) throws(Errno) -> Element? {
        var taken: [Element] = []
        while true {
            drain(into: &taken, limit: 1)
            if let element = taken.first { return element }
            if try !event.descriptor.wait(for: .readable, milliseconds: milliseconds) {
                return nil
            }
        }
    }
}
