import Dispatching
import ImageModel
import Messages
import Tables

/// A client that is connected, and its requests without a terminal reply.
struct LiveClient: Sendable {
    /// This life of the process; its tokens belong to it.
    let incarnation: Incarnation
    /// The owner of the share that it takes.
    let share: ShareOwner
    private(set) var requests = SeatList<LiveRequest.ID>()
    /// Open questions about entries of the cache, and their numbers.
    var inquiries: [JobID: UInt64] = [:]
    /// Those that are told how far they are.
    var wantsProgress: Set<JobID> = []
    private var groups: [GroupID: Group] = [:]
    /// The newest live request of each slot that has one.
    private(set) var slots: [String: LiveRequest.ID] = [:]

    private struct Group: Sendable {
        var seats = SeatList<LiveRequest.ID>()
        /// The class that all members were last given together; `nil` where a member has come
        /// since, or was given another class.
        var priority: Priority?
    }

    init(_ incarnation: Incarnation, _ share: ShareOwner) {
        self.incarnation = incarnation
        self.share = share
    }

    /// Requests of a group in the order of their seats.
    func members(of group: GroupID) -> [LiveRequest.ID] { groups[group]?.seats.members ?? [] }

    /// Requests of a group that are to have this class; `nil` where all have it already.
    mutating func members(of group: GroupID, toBecome priority: Priority) -> [LiveRequest.ID]? {
        guard let known = groups[group], known.priority != priority else { return nil }
        groups[group]?.priority = priority
        return known.seats.members
    }

    /// A member of a group has a class of its own.
    mutating func differs(in group: GroupID) { groups[group]?.priority = nil }

    /// Takes a request in; its seats are for `leave`.
    mutating func join(_ request: LiveRequest.ID, group: GroupID?) -> LiveRequest.Seats {
        guard let group else { return LiveRequest.Seats(seat: requests.join(request)) }
        groups[group, default: Group()].priority = nil
        return LiveRequest.Seats(
            seat: requests.join(request), groupSeat: groups[group]?.seats.join(request))
    }

    /// A request takes a slot over; an `older` one only where it is free.
    mutating func take(_ slot: String, for request: LiveRequest.ID, isOlder: Bool = false) {
        if !isOlder || slots[slot] == nil { slots[slot] = request }
    }

    /// A request got its terminal reply.
    mutating func leave(_ id: LiveRequest.ID, _ request: LiveRequest) {
        requests.leave(request.seats.seat)
        if let slot = request.slot, slots[slot] == id { slots[slot] = nil }
        guard let group = request.group, let groupSeat = request.seats.groupSeat else { return }
        groups[group]?.seats.leave(groupSeat)
        if groups[group]?.seats.isEmpty == true { groups[group] = nil }
    }
}
