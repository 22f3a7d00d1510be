/// Members in seats: joining and leaving cost the same however many there are, and the order is
/// the same in every run.
public struct SeatList<Member: Sendable>: Sendable {
    /// Where a member sits until it leaves.
    public typealias Seat = Int

    @usableFromInline var seats: [Member?] = []
    @usableFromInline var vacant: [Seat] = []

    /// Nobody is in it.
    @inlinable public init() {}

    /// How many members there are.
    @inlinable public var count: Int { seats.count - vacant.count }

    /// Whether nobody is left.
    @inlinable public var isEmpty: Bool { count == 0 }

    /// All members in the order of their seats.
    @inlinable public var members: [Member] { map { $0 } }

    /// The member in the first seat that is taken.
    @inlinable public var first: Member? { seats.lazy.compactMap { $0 }.first }

    /// What a function makes of all members, in the order of their seats.
    @inlinable public func map<Value>(_ transform: (Member) -> Value) -> [Value] {
        seats.compactMap { $0.map(transform) }
    }

    /// Whether there is such a member.
    @inlinable public func contains(where isMeant: (Member) -> Bool) -> Bool {
        seats.contains { $0.map(isMeant) ?? false }
    }

    /// The seats of all members of whom that is so, in order.
    @inlinable public func seats(where isMeant: (Member) -> Bool) -> [Seat] {
        seats.indices.filter { seats[$0].map(isMeant) ?? false }
    }

    /// Gives a member a seat.
    @inlinable public mutating func join(_ member: Member) -> Seat {
        if let seat = vacant.popLast() {
            seats[seat] = member
            return seat
        }
        seats.append(member)
        return seats.count - 1
    }

    /// Frees a seat and says who sat there.
    @inlinable @discardableResult
    public mutating func leave(_ seat: Seat) -> Member {
        guard let member = seats[seat] else {
            preconditionFailure("a member leaves once")
        }
        seats[seat] = nil
        vacant.append(seat)
        return member
    }

    /// The member in a seat that is taken.
    @inlinable public subscript(seat: Seat) -> Member {
        get {
            guard let member = seats[seat] else {
                preconditionFailure("a seat is looked at only while it is taken")
            }
            return member
        }
        set { seats[seat] = newValue }
    }
}
