public import Linux
public import Synchronization

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
