/// A binary min-heap.
public struct Heap<Element: Comparable & Sendable>: Sendable {
    @usableFromInline var elements: [Element] = []

    /// Creates an empty heap.
    @inlinable public init() {}

    /// The number of elements.
    @inlinable public var count: Int { elements.count }
    /// The smallest element; `nil` if the heap is empty.
    @inlinable public var first: Element? { elements.first }

    /// Inserts an element.
    @inlinable public mutating func push(_ element: Element) {
        elements.append(element)
        rise(elements.count - 1)
    }

    /// Removes and returns the smallest element; `nil` if the heap is empty.
    @inlinable public mutating func pop() -> Element? {
        guard let first = elements.first, let last = elements.popLast() else { return nil }
        if !elements.isEmpty {
            elements[0] = last
            sink(0)
        }
        return first
    }

    /// Removes all elements that don't satisfy the predicate.
    @inlinable public mutating func keep(where isWanted: (Element) -> Bool) {
        elements = elements.filter(isWanted)
        for index in stride(from: elements.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    @inlinable mutating func rise(_ start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard elements[index] < elements[parent] else { return }
            elements.swapAt(index, parent)
            index = parent
        }
    }

    @inlinable mutating func sink(_ start: Int) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < elements.count else { return }
            if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
            guard elements[child] < elements[index] else { return }
            elements.swapAt(index, child)
            index = child
        }
    }
}

/// A first-in, first-out queue.
public struct Deque<Element: Sendable>: Sendable {
    @usableFromInline var elements: [Element] = []
    @usableFromInline var head = 0

    /// Creates an empty queue.
    @inlinable public init() {}

    /// The number of elements.
    @inlinable public var count: Int { elements.count - head }
    /// The oldest element; `nil` if the queue is empty.
    @inlinable public var first: Element? { head < elements.count ? elements[head] : nil }

    /// Appends an element.
    @inlinable public mutating func append(_ element: Element) { elements.append(element) }

    /// Removes and returns the oldest element; `nil` if the queue is empty.
    @inlinable public mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        // A single element is moved rather than copied.
        guard head < elements.count - 1 else {
            defer { elements.removeAll(keepingCapacity: true) }
            head = 0
            return elements.removeLast()
        }
        let element = elements[head]
        head += 1
        if head * 2 > elements.count, head > 32 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Mutates all elements in place.
    @inlinable public mutating func changeAll(_ change: (inout Element) -> Void) {
        for place in head..<elements.count { change(&elements[place]) }
    }

    /// Returns whether any element satisfies the predicate.
    @inlinable public func contains(where isMeant: (Element) -> Bool) -> Bool {
        elements[head...].contains(where: isMeant)
    }

    /// Removes all elements that don't satisfy the predicate.
    @inlinable public mutating func keep(where isWanted: (Element) -> Bool) {
        elements = elements[head...].filter(isWanted)
        head = 0
    }
}
