/// Actions, in the order in which they are to be done.
///
/// Most events have one or none: the first action lies in the list itself, and only more than one
/// take memory beside it.
struct ActionList<Action> {
    private var head: Action?
    /// Nothing where there is no head.
    private var tail: [Action] = []

    init() {}

    init(_ action: Action) { head = action }
}

extension ActionList: RandomAccessCollection, RangeReplaceableCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { head == nil ? 0 : 1 + tail.count }

    subscript(place: Int) -> Action {
        guard place == 0, let head else { return tail[place - 1] }
        return head
    }

    mutating func append(_ action: Action) {
        if head == nil { head = action } else { tail.append(action) }
    }

    mutating func append(contentsOf actions: some Sequence<Action>) {
        for action in actions { append(action) }
    }

    mutating func replaceSubrange(
        _ range: Range<Int>, with actions: some Collection<Action>
    ) {
        var all = Array(self)
        all.replaceSubrange(range, with: actions)
        (head, tail) = (all.first, Array(all.dropFirst()))
    }
}

extension ActionList: ExpressibleByArrayLiteral {
    init(arrayLiteral actions: Action...) { append(contentsOf: actions) }
}

extension ActionList: Equatable where Action: Equatable {}
