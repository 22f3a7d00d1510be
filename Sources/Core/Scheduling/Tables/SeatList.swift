/// Members in seats: joining and leaving cost the same however many there are, and the order is
/// the same in every run.
struct SeatList<Member: Sendable>: Sendable {
    /// Where a member sits until it leaves.
    typealias Seat = Int

    private var seats: [Member?] = []
    private var vacant: [Seat] = []

    /// How many members there are.
    var count: Int { seats.count - vacant.count }

    /// Whether nobody is left.
    var isEmpty: Bool { count == 0 }

    /// All members in the order of their seats.
    var members: [Member] { map { $0 } }

    /// The member in the first seat that is taken.
    var first: Member? { seats.lazy.compactMap { $0 }.first }

    /// What a function makes of all members, in the order of their seats.
    func map<Value>(_ transform: (Member) -> Value) -> [Value] {
        seats.compactMap { $0.map(transform) }
    }

    /// Gives a member a seat.
    mutating func join(_ member: Member) -> Seat {
        if let seat = vacant.popLast() {
            seats[seat] = member
            return seat
        }
        seats.append(member)
        return seats.count - 1
    }

    /// Frees a seat and says who sat there.
    @discardableResult
    mutating func leave(_ seat: Seat) -> Member {
        guard let member = seats[seat] else {
            preconditionFailure("a member leaves once")
        }
        seats[seat] = nil
        vacant.append(seat)
        return member
    }

    /// The member in a seat that is taken.
    subscript(seat: Seat) -> Member {
        get {
            guard let member = seats[seat] else {
                preconditionFailure("a seat is looked at only while it is taken")
            }
            return member
        }
        set { seats[seat] = newValue }
    }
}
