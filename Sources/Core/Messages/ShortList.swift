/// Elements in order where one is the rule: the first lies in place, so that a list of one takes no
/// memory of its own.
public struct ShortList<Element> {
    @usableFromInline var head: Element?
    @usableFromInline var tail: [Element] = []

    /// A list of one, or of none.
    @inlinable public init(_ element: Element? = nil) { head = element }

    /// A list of all of them.
    @inlinable public init(contentsOf elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    /// Puts one behind all others.
    @inlinable public mutating func append(_ element: Element) {
        if head == nil { head = element } else { tail.append(element) }
    }
}

extension ShortList: Sendable where Element: Sendable {}

extension ShortList: RandomAccessCollection {
    /// The place of the first one.
    @inlinable public var startIndex: Int { 0 }

    /// The place behind the last one.
    @inlinable public var endIndex: Int { head == nil ? 0 : 1 + tail.count }

    /// The element at a place that there is.
    @inlinable public subscript(index: Int) -> Element {
        guard index == 0 else { return tail[index - 1] }
        guard let head else { preconditionFailure("an empty list has no first element") }
        return head
    }
}
