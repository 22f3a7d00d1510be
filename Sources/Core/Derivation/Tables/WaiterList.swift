import Dispatching
import ImageModel
import Messages
import Tables

/// The members that wait for one piece of shared work, and how urgent it is for all of them: the
/// highest class, the longest deadline and the flows among them (SEMANTICS §3.4).
struct WaiterList<Member: Sendable>: Sendable {
    typealias Seat = SeatList<Entry>.Seat

    struct Entry: Sendable {
        let waiter: Member
        var urgency: Urgency
    }

    private var seats = SeatList<Entry>()
    private var countByClass: InlineArray<3, Int> = [0, 0, 0]
    private var deadline = Urgency.none.deadline
    private var flows = Urgency.none.flows
    private var isExact = true
    private var leavesSinceScan = 0

    var count: Int { seats.count }
    var isEmpty: Bool { seats.isEmpty }
    var members: [Member] { seats.map(\.waiter) }

    /// Whether a member that is meant waits.
    func contains(where isMeant: (Member) -> Bool) -> Bool {
        seats.contains { isMeant($0.waiter) }
    }

    /// The highest class, exactly. The longest deadline and the flows, exactly up to 16 waiters;
    /// with more of them they may for a while still be those of a member that left.
    var urgency: Urgency {
        let highest = Priority.allCases.last { countByClass[Int($0.rawValue)] > 0 }
        return Urgency(priority: highest ?? .low, deadline: deadline, flows: flows)
    }

    mutating func join(_ waiter: Member, _ urgency: Urgency) -> Seat {
        unite(urgency)
        return seats.join(Entry(waiter: waiter, urgency: urgency))
    }

    mutating func leave(_ seat: Seat) {
        forget(seats.leave(seat).urgency)
    }

    /// Takes out all members that are meant.
    mutating func takeAll(where isMeant: (Member) -> Bool) -> [Member] {
        let leaving = seats.seats { isMeant($0.waiter) }
        let taken = leaving.map { seats[$0].waiter }
        // With all of them goes the list, which need not be told of each.
        if taken.count == count { self = WaiterList() } else { leaving.forEach { leave($0) } }
        return taken
    }

    /// A member wants the work more or less urgently than before.
    mutating func update(_ seat: Seat, _ urgency: Urgency) {
        let old = seats[seat].urgency
        guard old != urgency else { return }
        seats[seat].urgency = urgency
        unite(urgency)
        forget(old)
    }

    private mutating func unite(_ urgency: Urgency) {
        count(urgency, by: 1)
        deadline = max(deadline, urgency.deadline)
        if isEmpty { flows = urgency.flows } else { flows.unite(urgency.flows) }
    }

    private mutating func count(_ urgency: Urgency, by step: Int) {
        countByClass[Int(urgency.priority.rawValue)] += step
    }

    /// Looks at all members again only after a sixteenth of them left. So ten thousand that leave
    /// one after another cost no more than ten thousand that join.
    private mutating func forget(_ urgency: Urgency) {
        count(urgency, by: -1)
        if urgency.deadline >= deadline || !flows.isSingle { isExact = false }
        guard !isExact else { return }
        leavesSinceScan += 1
        guard leavesSinceScan * 16 >= count else { return }
        leavesSinceScan = 0
        isExact = true
        scan()
    }

    private mutating func scan() {
        guard let first = seats.first?.urgency else {
            (deadline, flows) = (Urgency.none.deadline, Urgency.none.flows)
            return
        }
        (deadline, flows) = (first.deadline, first.flows)
        for urgency in seats.map(\.urgency) {
            deadline = max(deadline, urgency.deadline)
            flows.unite(urgency.flows)
        }
    }
}
