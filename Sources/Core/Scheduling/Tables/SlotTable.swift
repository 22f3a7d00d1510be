/// Elements under ids that are never given twice: an id of an element that left finds nothing.
///
/// The elements lie next to each other, without holes and without optionals, so that one field of
/// one is read without touching the rest.
struct SlotTable<Element: Sendable>: Sendable {
    /// Names one element for as long as it is in the table.
    struct ID: Hashable, Sendable {
        fileprivate let slot: Int32
        fileprivate let generation: UInt32
    }

    private struct Slot {
        /// Odd while the slot has an element.
        var generation: UInt32
        /// Where the element lies.
        var place: Int32
    }

    private var slots: [Slot] = []
    private var vacant: [Int32] = []
    private var elements: [Element] = []
    /// The slot of the element at the same place.
    private var owners: [Int32] = []

    /// Elements in the table.
    var count: Int { elements.count }

    /// Ids of all elements, in an order that is the same in every run.
    var ids: [ID] { owners.map { ID(slot: $0, generation: slots[Int($0)].generation) } }

    /// Takes an element in.
    mutating func insert(_ element: Element) -> ID {
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
    @discardableResult
    mutating func remove(_ id: ID) -> Element? {
        guard contains(id) else { return nil }
        let place = Int(slots[Int(id.slot)].place)
        slots[Int(id.slot)].generation &+= 1
        vacant.append(id.slot)
        let last = elements.count - 1
        elements.swapAt(place, last)
        owners.swapAt(place, last)
        slots[Int(owners[place])].place = Int32(place)
        owners.removeLast()
        return elements.removeLast()
    }

    /// Whether the element is still there.
    func contains(_ id: ID) -> Bool { slots[Int(id.slot)].generation == id.generation }

    /// An element that is known to be there.
    subscript(id: ID) -> Element {
        get { elements[place(id)] }
        _modify { yield &elements[place(id)] }
    }

    private func place(_ id: ID) -> Int {
        precondition(contains(id), "an id is used only while its element is in the table")
        return Int(slots[Int(id.slot)].place)
    }
}
