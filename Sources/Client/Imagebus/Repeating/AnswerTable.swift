/// Remembered answers by their keys.
///
/// Bounded: beyond `answersMax` all are forgotten, and beyond `listMax` of one list the oldest of
/// these. A `WayTable` would not do: of 10,000 answers in 32,768 places a hundred would drive
/// each other out, and a message costs a hundred times what an answer at hand does.
struct AnswerTable {
    /// By the last bits of the digest: a dictionary would hash what is a hash. Made for the first
    /// answer.
    private var lists: [[RememberedAnswer]] = []
    private var count = 0

    static let answersMax = 32_768
    static let listMax = 16
    private static let listCount = 8_192

    var isEmpty: Bool { count == 0 }
    /// In no order.
    var all: [RememberedAnswer] { lists.flatMap { $0 } }

    func answer(to key: RequestKey) -> RememberedAnswer? {
        guard !lists.isEmpty else { return nil }
        let place = Self.place(key)
        // By index: an iterator would hold the list.
        for index in lists[place].indices where lists[place][index].answers(key) {
            return lists[place][index]
        }
        return nil
    }

    /// Takes an answer in, in the place of the one that its key had.
    mutating func put(_ answer: RememberedAnswer) {
        if count >= Self.answersMax { removeAll() }
        if lists.isEmpty { lists = Array(repeating: [], count: Self.listCount) }
        change(Self.place(answer.key)) { list in
            list.removeAll { $0.answers(answer.key) }
            if list.count >= Self.listMax { list.removeFirst() }
            list.append(answer)
        }
    }

    /// Takes an answer out; nothing where it left before.
    mutating func remove(_ answer: RememberedAnswer) {
        guard !isEmpty else { return }
        change(Self.place(answer.key)) { $0.removeAll { $0 === answer } }
    }

    mutating func removeAll() { self = AnswerTable() }

    mutating func removeAll(where isMeant: (RememberedAnswer) -> Bool) {
        for place in lists.indices where !lists[place].isEmpty {
            change(place) { $0.removeAll(where: isMeant) }
        }
    }

    private static func place(_ key: RequestKey) -> Int { key.digest & (listCount - 1) }

    private mutating func change(_ place: Int, _ body: (inout [RememberedAnswer]) -> Void) {
        count -= lists[place].count
        body(&lists[place])
        count += lists[place].count
    }
}
