/// An element of a `SlotMap`. Its IDs are typed by the element itself by default.
public protocol SlotMapElement {
    /// The type that parameterizes IDs.
    associatedtype Named = Self
}

/// The ID of an element of a `SlotMap`, valid as long as the element is in the table.
public struct SlotID<Named>: Hashable, Sendable {
    @usableFromInline let slot: Int32
    @usableFromInline let generation: UInt32

    @inlinable init(slot: Int32, generation: UInt32) {
        (self.slot, self.generation) = (slot, generation)
    }
}

/// A slot map: elements are accessed by IDs that are never reused. The ID of a removed element is
/// invalid.
///
/// Elements are stored contiguously, without gaps and optionals, so that one field can be read
/// without touching the rest.
public struct SlotMap<Element: SlotMapElement> {
    /// The ID of an element, which is never assigned to a later one.
    public typealias ID = SlotID<Element.Named>

    @usableFromInline struct Slot {
        /// Odd while the slot is occupied.
        @usableFromInline var generation: UInt32
        /// The index of the element.
        @usableFromInline var place: Int32

        @inlinable init(generation: UInt32, place: Int32) {
            (self.generation, self.place) = (generation, place)
        }
    }

    @usableFromInline var slots: [Slot] = []
    @usableFromInline var vacant: [Int32] = []
    @usableFromInline var elements: [Element] = []
    /// The slot of the element at the same index.
    @usableFromInline var owners: [Int32] = []

    /// Creates an empty table.
    @inlinable public init() {}

    /// The number of elements.
    @inlinable public var count: Int { elements.count }

    /// The IDs of all elements, in an order that is the same in every run.
    @inlinable public var ids: [ID] {
        owners.map { ID(slot: $0, generation: slots[Int($0)].generation) }
    }

    /// Inserts an element and returns its ID.
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

    /// Removes and returns an element; `nil` if it was removed before. The last element moves into
    /// the gap.
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

    /// Returns whether the element is in the table.
    @inlinable public func contains(_ id: ID) -> Bool {
        slots[Int(id.slot)].generation == id.generation
    }

    /// An element that must be in the table.
    @inlinable public subscript(id: ID) -> Element {
        _read { yield elements[place(id)] }
        _modify { yield &elements[place(id)] }
    }

    @inlinable func place(_ id: ID) -> Int {
        precondition(contains(id), "the element of this id has been removed")
        return Int(slots[Int(id.slot)].place)
    }
}

/// A stable array: members keep their index until they are removed. Insertion and removal take
/// constant time, and the order is the same in every run.
public struct StableArray<Member: Sendable>: Sendable {
    /// The index of a member until it is removed.
    public typealias Seat = Int

    @usableFromInline var seats: [Member?] = []
    @usableFromInline var vacant: [Seat] = []

    /// Creates an empty list.
    @inlinable public init() {}

    /// The number of members.
    @inlinable public var count: Int { seats.count - vacant.count }

    /// Whether there are no members.
    @inlinable public var isEmpty: Bool { count == 0 }

    /// All members in index order.
    @inlinable public var members: [Member] { map { $0 } }

    /// The first member in index order.
    @inlinable public var first: Member? { seats.lazy.compactMap { $0 }.first }

    /// Returns the results of applying a function to all members, in index order.
    @inlinable public func map<Value>(_ transform: (Member) -> Value) -> [Value] {
        seats.compactMap { $0.map(transform) }
    }

    /// Returns whether any member satisfies the predicate.
    @inlinable public func contains(where isMeant: (Member) -> Bool) -> Bool {
        seats.contains { $0.map(isMeant) ?? false }
    }

    /// Returns the indexes of all members that satisfy the predicate, in order.
    @inlinable public func seats(where isMeant: (Member) -> Bool) -> [Seat] {
        seats.indices.filter { seats[$0].map(isMeant) ?? false }
    }

    /// Inserts a member and returns its index.
    @inlinable public mutating func join(_ member: Member) -> Seat {
        if let seat = vacant.popLast() {
            seats[seat] = member
            return seat
        }
        seats.append(member)
        return seats.count - 1
    }

    /// Removes and returns the member at an index.
    @inlinable @discardableResult
    public mutating func leave(_ seat: Seat) -> Member {
        guard let member = seats[seat] else {
            preconditionFailure("a member must be removed only once")
        }
        seats[seat] = nil
        vacant.append(seat)
        return member
    }

    /// The member at an occupied index.
    @inlinable public subscript(seat: Seat) -> Member {
        get {
            guard let member = seats[seat] else {
                preconditionFailure("a slot must be occupied to be read")
            }
            return member
        }
        set { seats[seat] = newValue }
    }
}
