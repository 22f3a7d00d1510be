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
