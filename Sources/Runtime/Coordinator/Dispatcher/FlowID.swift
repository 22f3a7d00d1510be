import Model

/// The flow in which a job is queued. Within a class and rank, flows are served in fair turns, by
/// cost (`FairQueue`).
struct FlowID: Hashable, Sendable {
    /// The session, or one of the HTTP clients that it acts for; `nil` for the coordinator's own
    /// work.
    let session: Session?
    /// Whether its jobs were assigned before and were put back. They have already been charged and
    /// go first.
    let isRequeued: Bool

    /// The coordinator's own work.
    static let coordinator = FlowID(session: nil, isRequeued: false)

    static func client(_ session: Session) -> FlowID {
        FlowID(session: session, isRequeued: false)
    }

    /// A session, the owner of its share, and the HTTP client that it acts for.
    struct Session: Hashable, Sendable {
        let client: ClientID
        let owner: ShareOwner
        /// The number that a gateway gave the HTTP client; 0 means none in particular.
        var httpClient: UInt64 = 0
    }

    /// The flow for jobs of this one that were put back.
    var asRequeued: FlowID { FlowID(session: session, isRequeued: true) }

    /// The flow that holds the slots of this flow's running jobs.
    var holder: FlowID { FlowID(session: session, isRequeued: false) }

    /// The owner whose flows take turns and share slots with this one.
    var owner: FlowOwner { FlowOwner(isRequeued: isRequeued, owner: session?.owner) }

    /// Whether the flow is that of an HTTP client.
    var isOfHTTPClient: Bool { session?.httpClient ?? 0 != 0 }
}

/// A tie-breaker: smaller flows go first.
extension FlowID: Comparable {
    private var order: (UInt8, UInt64, UInt64) {
        let rank: UInt8 = isRequeued ? 0 : session == nil ? 1 : 2
        return (rank, session?.client.value ?? 0, session?.httpClient ?? 0)
    }

    static func < (left: FlowID, right: FlowID) -> Bool { left.order < right.order }
}

/// The flows that want one piece of work, starting with the flow that began it. The job is queued
/// in each of them and assigned when the first one is served.
struct Flows: Hashable, Sendable {
    /// The flow that began the work.
    private(set) var first: FlowID
    /// Flows that joined later.
    private(set) var others: [FlowID] = []

    /// The largest number of tracked flows. Beyond this many owners, another flow hardly makes a
    /// job start sooner.
    static let countMax = 8

    init(_ first: FlowID) { self.first = first }

    /// Whether there is only one flow.
    var isSingle: Bool { others.isEmpty }
    var count: Int { 1 + others.count }

    func contains(_ flow: FlowID) -> Bool { first == flow || others.contains(flow) }

    mutating func unite(_ more: Flows) {
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

    /// Returns the index to replace if the list is full: a new owner replaces the second flow of a
    /// known owner. Flows of one owner share its turns, so a second one hardly makes a job start
    /// sooner.
    private func placeOfRepeatedOwner(for owner: FlowOwner) -> Int? {
        let owners = [first.owner] + others.map(\.owner)
        guard !owners.contains(owner) else { return nil }
        return others.indices.last { owners[...$0].contains(others[$0].owner) }
    }

    /// Returns the first flow that matches the predicate.
    func first(where isMeant: (FlowID) -> Bool) -> FlowID? {
        isMeant(first) ? first : others.first(where: isMeant)
    }

    /// The flows for a job of these that was put back.
    var asRequeued: Flows {
        var flows = Flows(first.asRequeued)
        flows.others = others.map(\.asRequeued)
        return flows
    }

    func forEach(_ body: (FlowID) -> Void) {
        body(first)
        for flow in others { body(flow) }
    }
}

/// The client process that owns a session and its share.
enum ShareOwner: Hashable, Sendable {
    /// The process, whose sessions share one share.
    case process(Int32)
    /// The session itself, because its process is unknown.
    case session(ClientID)

    init(_ process: Int32?, _ session: ClientID) {
        self = process.map { .process($0) } ?? .session(session)
    }
}

/// The unit of fairness: flows of the same owner divide one share.
struct FlowOwner: Hashable, Comparable, Sendable {
    /// Whether the jobs were assigned before and were put back.
    let isRequeued: Bool
    /// The owner; `nil` for the coordinator.
    let owner: ShareOwner?

    private var order: (UInt8, UInt8, UInt64) {
        let rank: UInt8 = isRequeued ? 0 : 1
        switch owner {
        case nil: return (rank, 0, 0)
        case .process(let number): return (rank, 1, UInt64(UInt32(bitPattern: number)))
        case .session(let session): return (rank, 2, session.value)
        }
    }

    static func < (left: FlowOwner, right: FlowOwner) -> Bool { left.order < right.order }
}

/// The urgency of a piece of work: its class, its deadline, and the flows that want it.
struct Urgency: Hashable, Sendable {
    var priority: Priority
    var deadline: Instant
    var flows = Flows(.coordinator)

    /// The urgency of unwanted work.
    static let none = Urgency(priority: .low, deadline: Instant(nanoseconds: 0))

    /// The same urgency without a deadline, for work that must finish even if nothing waits for it.
    var unbounded: Urgency {
        Urgency(priority: priority, deadline: Instant(nanoseconds: .max), flows: flows)
    }

    /// Milliseconds until the deadline, as sent to workers.
    func millisecondsLeft(at now: Instant) -> UInt32 {
        UInt32(clamping: deadline.milliseconds(since: now))
    }

    /// Urgency without a deadline for the coordinator's own work.
    static func unbounded(_ priority: Priority) -> Urgency {
        Urgency(priority: priority, deadline: Instant(nanoseconds: .max))
    }
}
