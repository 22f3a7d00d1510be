package import ImageModel
package import Messages

/// In whose name a job waits; within a class and rank flows are served in turn, by cost.
package enum FlowID: Hashable, Sendable {
    /// Jobs that were given out before and came back: paid for, so they go before all flows. Whose
    /// they are, or `nil` for the coordinator's own.
    case returned(Session?)
    /// Work of the coordinator's own.
    case house
    /// A client's session, or one of the users of the client's own.
    case client(Session)

    /// A session, whose share it takes, and for whom.
    package struct Session: Hashable, Sendable {
        let client: ClientID
        let owner: ShareOwner
        /// 0: nobody in particular.
        let visitor: UInt64

        package init(client: ClientID, owner: ShareOwner, visitor: UInt64 = 0) {
            self.client = client
            self.owner = owner
            self.visitor = visitor
        }
    }

    /// Jobs of this flow that came back.
    var returned: FlowID {
        switch self {
        case .returned: self
        case .house: .returned(nil)
        case .client(let session): .returned(session)
        }
    }

    /// Whose share a job of this flow takes.
    var holder: FlowID {
        if case .returned(let session) = self { return session.map { .client($0) } ?? .house }
        return self
    }

    /// With whose other flows it takes turns, and shares.
    package var owner: FlowOwner {
        switch self {
        case .returned(let session): FlowOwner(isReturned: true, owner: session?.owner)
        case .house: FlowOwner(isReturned: false, owner: nil)
        case .client(let session): FlowOwner(isReturned: false, owner: session.owner)
        }
    }

    /// Whether it is one of several users of a client, known or not.
    var isOfVisitor: Bool {
        switch self {
        case .returned(let session): session?.visitor ?? 0 != 0
        case .house: false
        case .client(let session): session.visitor != 0
        }
    }

    var isReturned: Bool {
        if case .returned = self { return true }
        return false
    }
}

/// Smaller ones go first where nothing else decides.
extension FlowID: Comparable {
    private var order: (UInt8, UInt64, UInt64) {
        switch self {
        case .returned(let session): (0, session?.client.value ?? 0, session?.visitor ?? 0)
        case .house: (1, 0, 0)
        case .client(let session): (2, session.client.value, session.visitor)
        }
    }

    package static func < (left: FlowID, right: FlowID) -> Bool { left.order < right.order }

    /// Sessions have numbers that clients do not choose; visitors have others.
    package func _rawHashValue(seed: Int) -> Int {
        let (rank, number, visitor) = order
        let session = number << 2 | UInt64(rank)
        guard visitor != 0 else { return session.spread(seed: seed) }
        var hasher = Hasher()
        hasher.combine(session)
        hasher.combine(visitor)
        hasher.combine(seed)
        return hasher.finalize()
    }
}

/// The flows that want one piece of work, who began it first: the job stands in line for each of
/// them and goes with whichever is served sooner.
package struct Flows: Hashable, Sendable {
    /// Who began it.
    package private(set) var first: FlowID
    /// Who joined.
    package private(set) var others: [FlowID] = []

    /// Flows that count; with so many owners a further one hardly makes a job sooner.
    package static let countMax = 8

    package init(_ first: FlowID) { self.first = first }

    /// Whether there is but one.
    package var isSingle: Bool { others.isEmpty }
    package var count: Int { 1 + others.count }

    package func contains(_ flow: FlowID) -> Bool { first == flow || others.contains(flow) }

    package mutating func unite(_ more: Flows) {
        unite(more.first)
        for flow in more.others { unite(flow) }
    }

    private mutating func unite(_ flow: FlowID) {
        guard !contains(flow) else { return }
        if count < Self.countMax {
            others.append(flow)
        } else if let place = placeOfRepeatedOwner(for: flow.owner) {
            others[place] = flow
        }
    }

    /// Who is not there at all goes before the second flow of whoever is: flows of one owner share
    /// its turns, so that a further one of them hardly makes a job sooner.
    private func placeOfRepeatedOwner(for owner: FlowOwner) -> Int? {
        let owners = [first.owner] + others.map(\.owner)
        guard !owners.contains(owner) else { return nil }
        return others.indices.last { owners[...$0].contains(others[$0].owner) }
    }

    /// The first of them of which that is so.
    package func first(where isMeant: (FlowID) -> Bool) -> FlowID? {
        isMeant(first) ? first : others.first(where: isMeant)
    }

    /// The same for a job that came back.
    var returned: Flows {
        var flows = Flows(first.returned)
        flows.others = others.map(\.returned)
        return flows
    }

    func forEach(_ body: (FlowID) -> Void) {
        body(first)
        for flow in others { body(flow) }
    }
}

/// Whose share a client's session takes.
package enum ShareOwner: Hashable, Sendable {
    /// That of its process, of which all its sessions have one together.
    case process(Int32)
    /// Its own: which process it is nobody knows.
    case session(ClientID)

    package init(_ process: Int32?, _ session: ClientID) {
        self = process.map { .process($0) } ?? .session(session)
    }
}

/// Whose flows share what one may have.
package struct FlowOwner: Hashable, Comparable, Sendable {
    /// Whether it is about jobs that were given out before.
    let isReturned: Bool
    /// `nil` for the coordinator.
    let owner: ShareOwner?

    private var order: (UInt8, UInt8, UInt64) {
        let rank: UInt8 = isReturned ? 0 : 1
        switch owner {
        case nil: return (rank, 0, 0)
        case .process(let number): return (rank, 1, UInt64(UInt32(bitPattern: number)))
        case .session(let session): return (rank, 2, session.value)
        }
    }

    /// Processes and sessions have numbers that clients do not choose.
    package func _rawHashValue(seed: Int) -> Int {
        let (rank, kind, number) = order
        return (number << 3 | UInt64(rank << 2 | kind)).spread(seed: seed)
    }

    package static func < (left: FlowOwner, right: FlowOwner) -> Bool { left.order < right.order }
}

/// How badly a piece of work is wanted: its class, the moment after which nobody wants it, and
/// who wants it.
package struct Urgency: Hashable, Sendable {
    package var priority: Priority
    package var deadline: Instant
    package var flows: Flows

    package init(priority: Priority, deadline: Instant, flows: Flows = Flows(.house)) {
        self.priority = priority
        self.deadline = deadline
        self.flows = flows
    }

    /// Of what nobody wants.
    package static let none = Urgency(priority: .low, deadline: Instant(nanoseconds: 0))

    /// Of what is to be finished whoever still waits.
    package var unbounded: Urgency {
        Urgency(priority: priority, deadline: Instant(nanoseconds: .max), flows: flows)
    }

    /// Milliseconds until nobody wants it, as workers are told.
    func millisecondsLeft(at now: Instant) -> UInt32 {
        UInt32(clamping: deadline.milliseconds(since: now))
    }

    /// The same in the coordinator's own name.
    package static func unbounded(_ priority: Priority) -> Urgency {
        Urgency(priority: priority, deadline: Instant(nanoseconds: .max))
    }
}
