/// First in, first out.
struct Fifo<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var head = 0

    var count: Int { elements.count - head }
    var first: Element? { head < elements.count ? elements[head] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard let element = first else { return nil }
        head += 1
        if head * 2 > elements.count, head > 32 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Changes elements where they are.
    mutating func changeAll(_ change: (inout Element) -> Void) {
        for place in head..<elements.count { change(&elements[place]) }
    }

    /// Whether there is such an element.
    func contains(where isMeant: (Element) -> Bool) -> Bool {
        elements[head...].contains(where: isMeant)
    }

    /// Throws out what is no longer wanted.
    mutating func keep(where isWanted: (Element) -> Bool) {
        elements = elements[head...].filter(isWanted)
        head = 0
    }
}
