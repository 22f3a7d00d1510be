/// First in, first out.
package struct Fifo<Element: Sendable>: Sendable {
    @usableFromInline var elements: [Element] = []
    @usableFromInline var head = 0

    @inlinable package init() {}

    @inlinable package var count: Int { elements.count - head }
    @inlinable package var first: Element? { head < elements.count ? elements[head] : nil }

    @inlinable package mutating func append(_ element: Element) { elements.append(element) }

    @inlinable package mutating func popFirst() -> Element? {
        guard let element = first else { return nil }
        head += 1
        if head * 2 > elements.count, head > 32 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Changes elements where they are.
    @inlinable package mutating func changeAll(_ change: (inout Element) -> Void) {
        for place in head..<elements.count { change(&elements[place]) }
    }

    /// Whether there is such an element.
    @inlinable package func contains(where isMeant: (Element) -> Bool) -> Bool {
        elements[head...].contains(where: isMeant)
    }

    /// Throws out what is no longer wanted.
    @inlinable package mutating func keep(where isWanted: (Element) -> Bool) {
        elements = elements[head...].filter(isWanted)
        head = 0
    }
}
