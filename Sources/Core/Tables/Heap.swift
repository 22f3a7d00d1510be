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
