/// A binary heap: the smallest element first.
public struct Heap<Element: Comparable & Sendable>: Sendable {
    @usableFromInline var elements: [Element] = []

    /// Nothing is in it.
    @inlinable public init() {}

    /// How many are in it.
    @inlinable public var count: Int { elements.count }
    /// The smallest; `nil` where there is none.
    @inlinable public var first: Element? { elements.first }

    /// Puts one in.
    @inlinable public mutating func push(_ element: Element) {
        elements.append(element)
        rise(elements.count - 1)
    }

    /// Takes the smallest out; `nil` where there is none.
    @inlinable public mutating func pop() -> Element? {
        guard let first = elements.first, let last = elements.popLast() else { return nil }
        if !elements.isEmpty {
            elements[0] = last
            sink(0)
        }
        return first
    }

    /// Throws out what is no longer wanted.
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

/// First in, first out.
public struct Fifo<Element: Sendable>: Sendable {
    @usableFromInline var elements: [Element] = []
    @usableFromInline var head = 0

    /// Nothing waits.
    @inlinable public init() {}

    /// How many wait.
    @inlinable public var count: Int { elements.count - head }
    /// The one that waits longest; `nil` where none does.
    @inlinable public var first: Element? { head < elements.count ? elements[head] : nil }

    /// Puts one behind all others.
    @inlinable public mutating func append(_ element: Element) { elements.append(element) }

    /// Takes the one that waits longest; `nil` where none does.
    @inlinable public mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        // One that is the only one is moved, not copied.
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

    /// Changes elements where they are.
    @inlinable public mutating func changeAll(_ change: (inout Element) -> Void) {
        for place in head..<elements.count { change(&elements[place]) }
    }

    /// Whether there is such an element.
    @inlinable public func contains(where isMeant: (Element) -> Bool) -> Bool {
        elements[head...].contains(where: isMeant)
    }

    /// Throws out what is no longer wanted.
    @inlinable public mutating func keep(where isWanted: (Element) -> Bool) {
        elements = elements[head...].filter(isWanted)
        head = 0
    }
}
