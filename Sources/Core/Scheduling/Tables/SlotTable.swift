/// Elements in numbered slots that are used again; an id of an earlier tenant finds nothing.
struct SlotTable<Element: Sendable>: Sendable {
    /// Names one element for as long as it is in the table.
    struct ID: Hashable, Sendable {
        fileprivate let index: Int32
        fileprivate let generation: UInt32
    }

    private struct Slot {
        var generation: UInt32
        var element: Element?
    }

    private var slots: [Slot] = []
    private var vacant: [Int32] = []

    /// Elements in the table.
    var count: Int { slots.count - vacant.count }

    /// Ids of all elements in the order of their slots, the same in every run.
    var ids: [ID] {
        slots.indices.filter { slots[$0].element != nil }
            .map { ID(index: Int32($0), generation: slots[$0].generation) }
    }

    /// Takes an element in.
    mutating func insert(_ element: Element) -> ID {
        if let index = vacant.popLast() {
            slots[Int(index)].element = element
            return ID(index: index, generation: slots[Int(index)].generation)
        }
        slots.append(Slot(generation: 0, element: element))
        return ID(index: Int32(slots.count - 1), generation: 0)
    }

    /// Takes an element out; `nil` where it left before.
    @discardableResult
    mutating func remove(_ id: ID) -> Element? {
        guard contains(id), let element = slots[Int(id.index)].element else { return nil }
        slots[Int(id.index)].element = nil
        slots[Int(id.index)].generation &+= 1
        vacant.append(id.index)
        return element
    }

    /// Whether the element is still there.
    func contains(_ id: ID) -> Bool { slots[Int(id.index)].generation == id.generation }

    /// An element that is known to be there, read and written in place.
    subscript(id: ID) -> Element {
        _read {
            precondition(contains(id), "an id is used only while its element is in the table")
            // Not nil: the generations are equal only while the slot has its tenant.
            yield slots[Int(id.index)].element!
        }
        _modify {
            precondition(contains(id), "an id is used only while its element is in the table")
            // Not nil, as above.
            yield &slots[Int(id.index)].element!
        }
    }
}
