import Tables

/// Turns of keys, by start-time fair queueing (Goyal, Vin, Cheng 1996): the key with the smallest
/// start tag is next, and its tag grows by the cost of what it was given; virtual time is the
/// start tag of what was served last. A key that comes, or comes back, begins there: it neither
/// saves time up nor waits for what others were given before. All keys weigh the same. What a key
/// owes besides is added to the tag of its next turn.
struct FairTurns<Key: Hashable & Comparable & Sendable>: Sendable {
    /// The turn of a key.
    struct Turn: Comparable, Sendable {
        let startTag: UInt64
        fileprivate let serial: UInt64
        let key: Key

        static func < (left: Turn, right: Turn) -> Bool {
            (left.startTag, left.serial) < (right.startTag, right.serial)
        }
        static func == (left: Turn, right: Turn) -> Bool { left.serial == right.serial }
    }

    private struct Place: Sendable {
        /// The virtual time at which it came, and from then on the cost of all that it was given.
        var startTag: UInt64
        /// Whether it has a turn.
        var isAwake = false
        /// What is added to the tag of its next turn.
        var debt: UInt64 = 0
    }

    /// What was paid for before is at 0, and so before all others.
    private var virtualTime: UInt64 = 1
    private var places: [Key: Place] = [:]
    private var turns = Heap<Turn>()
    private var lastTurn: UInt64 = 0

    /// Whether no key is known.
    var isEmpty: Bool { places.isEmpty }

    func isAwake(_ key: Key) -> Bool { places[key]?.isAwake == true }

    /// Gives a key a turn, unless it has one.
    mutating func wake(_ key: Key, isPaid: Bool) {
        let earliest = isPaid ? 0 : virtualTime
        let place = places[key] ?? Place(startTag: earliest)
        guard !place.isAwake else { return }
        giveTurn(key, max(place.startTag, earliest))
    }

    private mutating func giveTurn(_ key: Key, _ startTag: UInt64) {
        lastTurn += 1
        places[key] = Place(startTag: startTag, isAwake: true)
        turns.push(Turn(startTag: startTag, serial: lastTurn, key: key))
    }

    /// A key that has a turn owes so much more.
    mutating func owe(_ key: Key, _ cost: UInt64) { places[key]?.debt &+= cost }

    /// Takes the next turn out; who has it sleeps until it is charged or woken. One that owes
    /// something has its turn later.
    mutating func pop() -> Turn? {
        while let turn = turns.pop() {
            let debt = places[turn.key]?.debt ?? 0
            guard debt > 0 else {
                places[turn.key]?.isAwake = false
                return turn
            }
            giveTurn(turn.key, turn.startTag &+ debt)
        }
        return nil
    }

    /// A turn was used: the key has another one, later by that cost unless that was paid before.
    mutating func charge(_ turn: Turn, _ cost: UInt64, isPaid: Bool) {
        guard !isPaid else { return giveTurn(turn.key, 0) }
        virtualTime = max(virtualTime, turn.startTag)
        giveTurn(turn.key, turn.startTag &+ cost)
    }

    /// A key that sleeps owes nothing any more.
    mutating func forget(_ key: Key) {
        if !isAwake(key) { places[key] = nil }
    }
}
