/// A min-heap of slots by value.
struct SlotHeap: Sendable {
    private var heap: [(value: Double, slot: Int32)] = []
    private var places: [Int32] = []

    var count: Int { heap.count }
    var least: Int32? { heap.first?.slot }

    func value(_ slot: Int32) -> Double { heap[Int(places[Int(slot)])].value }

    func contains(_ slot: Int32) -> Bool { Int(slot) < places.count && places[Int(slot)] >= 0 }

    mutating func set(_ slot: Int32, _ value: Double) {
        if contains(slot) {
            let place = Int(places[Int(slot)])
            heap[place].value = value
            settle(place)
            return
        }
        while places.count <= Int(slot) { places.append(-1) }
        heap.append((value, slot))
        places[Int(slot)] = Int32(heap.count - 1)
        settle(heap.count - 1)
    }

    mutating func remove(_ slot: Int32) {
        let place = Int(places[Int(slot)])
        swap(place, heap.count - 1)
        heap.removeLast()
        places[Int(slot)] = -1
        if place < heap.count { settle(place) }
    }

    private mutating func settle(_ start: Int) {
        var place = start
        while place > 0, heap[place].value < heap[(place - 1) / 2].value {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < heap.count && heap[child].value < heap[least].value { least = child }
            guard least != place else { return }
            swap(place, least)
            place = least
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        guard one != other else { return }
        heap.swapAt(one, other)
        places[Int(heap[one].slot)] = Int32(one)
        places[Int(heap[other].slot)] = Int32(other)
    }
}
