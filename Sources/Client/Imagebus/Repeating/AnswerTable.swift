import ImageModel

/// Remembered answers by their requests.
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

    func answer(to request: ImageRequest) -> RememberedAnswer? {
        guard !lists.isEmpty else { return nil }
        let place = Self.place(request)
        // By index: an iterator would hold the list.
        for index in lists[place].indices {
            // Held once: while it is looked at, and by who gets it.
            let answer = lists[place][index]
            if answer.answers(request) { return answer }
        }
        return nil
    }

    /// Takes an answer in, in the place of the one that its request had.
    mutating func put(_ answer: RememberedAnswer) {
        if count >= Self.answersMax { removeAll() }
        if lists.isEmpty { lists = Array(repeating: [], count: Self.listCount) }
        change(Self.place(answer.request)) { list in
            list.removeAll { $0.answers(answer.request) }
            if list.count >= Self.listMax { list.removeFirst() }
            list.append(answer)
        }
    }

    /// Takes an answer out; nothing where it left before.
    mutating func remove(_ answer: RememberedAnswer) {
        guard !isEmpty else { return }
        change(Self.place(answer.request)) { $0.removeAll { $0 === answer } }
    }

    mutating func removeAll() { self = AnswerTable() }

    mutating func removeAll(where isMeant: (RememberedAnswer) -> Bool) {
        for place in lists.indices where !lists[place].isEmpty {
            change(place) { $0.removeAll(where: isMeant) }
        }
    }

    private static func place(_ request: ImageRequest) -> Int { request.digest & (listCount - 1) }

    private mutating func change(_ place: Int, _ body: (inout [RememberedAnswer]) -> Void) {
        count -= lists[place].count
        body(&lists[place])
        count += lists[place].count
    }
}
