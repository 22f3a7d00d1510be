/// A queue from whose middle elements are removed by the numbers that they got.
///
/// Of many elements, adding one and taking the first one take constant time on average, and
/// removing one takes a binary search: it leaves a gap until there are more gaps than elements.
struct NumberedQueue<Element> {
    /// By rising numbers; `nil` for a gap.
    private var places: [(number: Int, element: Element?)] = []
    /// The places before it are gaps.
    private var head = 0
    private var nextNumber = 0
    private(set) var count = 0
    /// Places visited so far, of which a test knows the limit.
    private(set) var visitCount = 0

    var isEmpty: Bool { count == 0 }

    /// The first element; `nil` if there is none.
    var first: Element? { head < places.count ? places[head].element : nil }

    /// Returns the number of the element.
    mutating func append(_ element: Element) -> Int {
        visitCount += 1
        places.append((nextNumber, element))
        count += 1
        nextNumber += 1
        return nextNumber - 1
    }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        clear(head)
        return first
    }

    /// Removes the element of that number if it is there and is the one that is meant.
    ///
    /// - Returns: whether it was removed.
    @discardableResult
    mutating func remove(_ number: Int, where isMeant: (Element) -> Bool) -> Bool {
        var (low, high) = (head, places.count)
        while low < high {
            visitCount += 1
            let middle = (low + high) / 2
            if places[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, places[low].number == number,
            let element = places[low].element, isMeant(element)
        else { return false }
        clear(low)
        return true
    }

    private mutating func clear(_ index: Int) {
        visitCount += 1
        places[index].element = nil
        count -= 1
        while head < places.count, places[head].element == nil {
            visitCount += 1
            head += 1
        }
        guard places.count > 2 * count + Self.gapsMin else { return }
        visitCount += places.count
        places.removeAll { $0.element == nil }
        head = 0
    }

    /// Removes all, and returns them in their order.
    mutating func removeAll() -> [Element] {
        let elements = places[head...].compactMap(\.element)
        visitCount += places.count
        (places, head, count) = ([], 0, 0)
        return elements
    }

    private static var gapsMin: Int { 32 }
}
