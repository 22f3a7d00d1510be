import Messages

/// A client that is connected, and its requests without a terminal reply.
struct LiveClient: Sendable {
    /// This life of the process; its tokens belong to it.
    let incarnation: Incarnation
    private(set) var requests = SeatList<LiveRequest.ID>()
    /// Questions about entries of the cache that are not answered.
    var entryJobs: Set<JobID> = []
    private var groups: [GroupID: SeatList<LiveRequest.ID>] = [:]
    /// The newest live request of each slot that has one.
    private(set) var slots: [String: LiveRequest.ID] = [:]

    init(_ incarnation: Incarnation) { self.incarnation = incarnation }

    /// Requests of a group in the order of their seats.
    func members(of group: GroupID) -> [LiveRequest.ID] { groups[group]?.members ?? [] }

    /// Takes a request in; its two seats are for `leave`.
    mutating func join(_ request: LiveRequest.ID, group: GroupID?) -> (seat: Int, groupSeat: Int?) {
        (requests.join(request), group.map { groups[$0, default: SeatList()].join(request) })
    }

    /// A request takes a slot over; an `older` one only where it is free.
    mutating func take(_ slot: String, for request: LiveRequest.ID, isOlder: Bool = false) {
        if !isOlder || slots[slot] == nil { slots[slot] = request }
    }

    /// A request got its terminal reply.
    mutating func leave(_ id: LiveRequest.ID, _ request: LiveRequest) {
        requests.leave(request.seat)
        if let slot = request.slot, slots[slot] == id { slots[slot] = nil }
        guard let group = request.group, let groupSeat = request.groupSeat else { return }
        groups[group]?.leave(groupSeat)
        if groups[group]?.isEmpty == true { groups[group] = nil }
    }
}
