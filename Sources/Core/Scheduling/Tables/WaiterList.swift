import ImageModel
import Messages

/// Those who wait for one piece of shared work, and how badly they want it together: the highest
/// class and the longest deadline among them (DESIGN §3).
struct WaiterList<Waiter: Sendable>: Sendable {
    typealias Seat = SeatList<Entry>.Seat

    struct Entry: Sendable {
        let waiter: Waiter
        var urgency: Urgency
    }

    private var seats = SeatList<Entry>()
    private var countByClass: InlineArray<3, Int> = [0, 0, 0]
    private var deadline = Urgency.none.deadline
    private var isLongest = true
    private var leavesSinceScan = 0

    var count: Int { seats.count }
    var isEmpty: Bool { seats.isEmpty }
    var waiters: [Waiter] { seats.map(\.waiter) }

    /// The highest class, exactly. The longest deadline, exactly up to 16 waiters; with more of
    /// them it may for a while still be that of somebody who left.
    var urgency: Urgency {
        let highest = Priority.allCases.last { countByClass[Int($0.rawValue)] > 0 }
        return Urgency(priority: highest ?? .low, deadline: deadline)
    }

    mutating func join(_ waiter: Waiter, _ urgency: Urgency) -> Seat {
        count(urgency, by: 1)
        deadline = max(deadline, urgency.deadline)
        return seats.join(Entry(waiter: waiter, urgency: urgency))
    }

    mutating func leave(_ seat: Seat) {
        forget(seats.leave(seat).urgency)
    }

    /// A waiter wants it more or less than before.
    mutating func update(_ seat: Seat, _ urgency: Urgency) {
        let old = seats[seat].urgency
        seats[seat].urgency = urgency
        count(urgency, by: 1)
        deadline = max(deadline, urgency.deadline)
        forget(old)
    }

    private mutating func count(_ urgency: Urgency, by step: Int) {
        countByClass[Int(urgency.priority.rawValue)] += step
    }

    /// Looks at everybody again only after a sixteenth has gone, so that ten thousand who leave
    /// one after another cost no more than ten thousand who join.
    private mutating func forget(_ urgency: Urgency) {
        count(urgency, by: -1)
        if urgency.deadline >= deadline { isLongest = false }
        guard !isLongest else { return }
        leavesSinceScan += 1
        guard leavesSinceScan * 16 >= count else { return }
        leavesSinceScan = 0
        isLongest = true
        deadline = seats.map(\.urgency.deadline).max() ?? Urgency.none.deadline
    }
}
