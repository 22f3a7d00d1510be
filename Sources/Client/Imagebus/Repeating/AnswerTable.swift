import ImageModel

/// Remembered answers by the digests of their requests, which do not say all of a request: several
/// answers may have one digest.
///
/// Bounded: beyond `answersMax` all are forgotten, and beyond `sameDigestMax` of one digest the
/// oldest of these.
struct AnswerTable {
    private var lists: [Int: [RememberedAnswer]] = [:]
    private(set) var count = 0

    static let answersMax = 32_768
    static let sameDigestMax = 16

    var isEmpty: Bool { count == 0 }
    /// In no order.
    var all: [RememberedAnswer] { lists.values.flatMap { $0 } }

    func answer(to request: ImageRequest, _ digest: Int) -> RememberedAnswer? {
        lists[digest]?.first { $0.answers(request) }
    }

    /// Takes an answer in, in the place of the one that its request had.
    mutating func put(_ answer: RememberedAnswer, to request: ImageRequest) {
        if count >= Self.answersMax { removeAll() }
        let digest = RequestKey.digest(of: request)
        var list = lists[digest] ?? []
        let before = list.count
        list.removeAll { $0.answers(request) }
        if list.count >= Self.sameDigestMax { list.removeFirst() }
        list.append(answer)
        lists[digest] = list
        count += list.count - before
    }

    /// Takes an answer out; nothing where it left before.
    mutating func remove(_ answer: RememberedAnswer, _ digest: Int) {
        guard let list = lists[digest] else { return }
        let left = list.filter { $0 !== answer }
        lists[digest] = left.isEmpty ? nil : left
        count -= list.count - left.count
    }

    mutating func removeAll() {
        lists = [:]
        count = 0
    }

    mutating func removeAll(where isMeant: (RememberedAnswer) -> Bool) {
        lists = lists.compactMapValues { list in
            let left = list.filter { !isMeant($0) }
            return left.isEmpty ? nil : left
        }
        count = lists.values.reduce(0) { $0 + $1.count }
    }
}
