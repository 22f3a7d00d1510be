/// In whose name a job waits; within a class and rank flows are served in turn, by cost.
enum FlowID: Hashable, Sendable {
    /// Jobs that were given out before and came back: paid for, so they go before all flows.
    case returned
    /// Work of the coordinator's own.
    case house
    /// A client's session.
    case client(ClientID)

    /// Smaller ones go first where nothing else decides.
    var number: UInt64 {
        switch self {
        case .returned, .house: 0
        case .client(let client): client.value
        }
    }
}

/// The flows that want one piece of work, who began it first: the job stands in line for each of
/// them and goes with whichever is served sooner.
struct Flows: Hashable, Sendable {
    /// Who began it.
    private(set) var first: FlowID
    /// Who joined.
    private(set) var others: [FlowID] = []

    /// Flows that count; with so many a further one hardly makes a job sooner.
    static let countMax = 8

    init(_ first: FlowID) { self.first = first }

    /// Whether there is but one.
    var isSingle: Bool { others.isEmpty }
    var count: Int { 1 + others.count }

    func contains(_ flow: FlowID) -> Bool { first == flow || others.contains(flow) }

    mutating func unite(_ more: Flows) {
        unite(more.first)
        for flow in more.others { unite(flow) }
    }

    private mutating func unite(_ flow: FlowID) {
        guard !contains(flow), count < Self.countMax else { return }
        others.append(flow)
    }

    func forEach(_ body: (FlowID) -> Void) {
        body(first)
        for flow in others { body(flow) }
    }
}
