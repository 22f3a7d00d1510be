/// What lies in a `SlotTable`, under ids that are of its own type unless it says otherwise.
public protocol Tabled: Sendable {
    /// What an id names.
    associatedtype Named = Self
}

/// Names one element of a `SlotTable` for as long as it is in the table.
public struct SlotID<Named>: Hashable, Sendable {
    @usableFromInline let slot: Int32
    @usableFromInline let generation: UInt32

    @inlinable init(slot: Int32, generation: UInt32) {
        (self.slot, self.generation) = (slot, generation)
    }
}

/// Elements under ids that are never given twice: an id of an element that left finds nothing.
///
/// The elements lie next to each other, without holes and without optionals, so that one field of
/// one is read without touching the rest.
public struct SlotTable<Element: Tabled>: Sendable {
    /// Names an element; it names no later one.
    public typealias ID = SlotID<Element.Named>

    @usableFromInline struct Slot: Sendable {
        /// Odd while the slot has an element.
        @usableFromInline var generation: UInt32
        /// Where the element lies.
        @usableFromInline var place: Int32

        @inlinable init(generation: UInt32, place: Int32) {
            (self.generation, self.place) = (generation, place)
        }
    }

    @usableFromInline var slots: [Slot] = []
    @usableFromInline var vacant: [Int32] = []
    @usableFromInline var elements: [Element] = []
    /// The slot of the element at the same place.
    @usableFromInline var owners: [Int32] = []

    /// Nothing is in it.
    @inlinable public init() {}

    /// Elements in the table.
    @inlinable public var count: Int { elements.count }

    /// Ids of all elements, in an order that is the same in every run.
    @inlinable public var ids: [ID] {
        owners.map { ID(slot: $0, generation: slots[Int($0)].generation) }
    }

    /// Takes an element in.
    @inlinable public mutating func insert(_ element: consuming Element) -> ID {
        if vacant.isEmpty {
            vacant.append(Int32(slots.count))
            slots.append(Slot(generation: 0, place: 0))
        }
        let slot = vacant.removeLast()
        slots[Int(slot)].generation &+= 1
        slots[Int(slot)].place = Int32(elements.count)
        elements.append(element)
        owners.append(slot)
        return ID(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// Takes an element out; `nil` where it left before. The last one moves to its place.
    @inlinable @discardableResult
    public mutating func remove(_ id: ID) -> Element? {
        guard contains(id) else { return nil }
        let place = Int(slots[Int(id.slot)].place)
        slots[Int(id.slot)].generation &+= 1
        vacant.append(id.slot)
        var element = elements.removeLast()
        let owner = owners.removeLast()
        guard place < elements.count else { return element }
        swap(&element, &elements[place])
        owners[place] = owner
        slots[Int(owner)].place = Int32(place)
        return element
    }

    /// Whether the element is still there.
    @inlinable public func contains(_ id: ID) -> Bool {
        slots[Int(id.slot)].generation == id.generation
    }

    /// An element that is known to be there.
    @inlinable public subscript(id: ID) -> Element {
        _read { yield elements[place(id)] }
        _modify { yield &elements[place(id)] }
    }

    @inlinable func place(_ id: ID) -> Int {
        precondition(contains(id), "an id is used only while its element is in the table")
        return Int(slots[Int(id.slot)].place)
    }
}

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
