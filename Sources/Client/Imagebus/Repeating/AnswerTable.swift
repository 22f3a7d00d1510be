import ImageModel
import Wire

/// Remembered answers by their requests. Bounded: where there is no place for a new one, another
/// answer is forgotten.
struct AnswerTable {
    /// Made for the first answer.
    private var table: WayTable<RememberedAnswer>?

    /// 32,768 places: what a server sees are some ten thousand.
    private static let bits = 15

    var isEmpty: Bool { table?.count ?? 0 == 0 }
    /// In no order.
    var all: [RememberedAnswer] { table?.all ?? [] }

    func answer(to request: borrowing ImageRequest, _ digest: Int) -> RememberedAnswer? {
        table?.find(digest) { $0.answers(request, digest) }
    }

    /// Takes an answer in, in the place of the one that its request had.
    mutating func put(_ answer: RememberedAnswer, to request: ImageRequest) {
        if table == nil { table = WayTable(bits: Self.bits) }
        table?.enter(answer, answer.digest) { $0.answers(request, answer.digest) }
    }

    /// Takes an answer out; nothing where it left before.
    mutating func remove(_ answer: RememberedAnswer) {
        table?.remove(answer.digest) { $0 === answer }
    }

    mutating func removeAll() { table = nil }

    mutating func removeAll(where isMeant: (RememberedAnswer) -> Bool) {
        table?.removeAll(where: isMeant)
    }
}
