import Tables

/// The jobs of one class and rank. Owners take turns, and within an owner its flows (`FairTurns`):
/// however many connections a process has, it has the turns of one.
///
/// A flow without jobs is forgotten once virtual time has passed its tag, and so is an owner.
struct FairLine: Sendable {
    /// Jobs that wait, once for each flow in which they stand.
    private(set) var count = 0
    private var owners = FairTurns<FlowOwner>()
    /// Flows of each owner.
    private var turns: [FlowOwner: FairTurns<FlowID>] = [:]
    private var flows: [FlowID: FlowLine] = [:]

    /// Flows that are known.
    var flowCount: Int { flows.count }

    /// Entries of all flows, current or not.
    var weight: Int { flows.values.reduce(0) { $0 + $1.weight } }

    mutating func enter(_ entry: StageQueue.Entry, in flow: FlowID, _ host: HostName?) {
        count += 1
        let mayBeNext = flows.change(flow, from: FlowLine()) { $0.enter(entry, host) }
        if mayBeNext { wake(flow) }
    }

    /// A flow in which a job has just entered owes so much: its visitor among those of the client,
    /// or the client.
    mutating func owe(_ flow: FlowID, _ cost: UInt64) {
        if flow.isOfVisitor {
            turns[flow.owner]?.owe(flow, cost)
        } else {
            owners.owe(flow.owner, cost)
        }
    }

    private mutating func wake(_ flow: FlowID) {
        guard flows[flow] != nil else { return }
        // What came back was paid for and goes before all.
        turns.change(flow.owner, from: FairTurns()) { $0.wake(flow, isPaid: flow.isReturned) }
        owners.wake(flow.owner, isPaid: flow.isReturned)
    }

    private func isAwake(_ flow: FlowID) -> Bool { turns[flow.owner]?.isAwake(flow) == true }

    /// A job waits no longer in a flow. With the last one all debts are forgotten.
    mutating func leave(_ flow: FlowID) {
        count -= 1
        guard count > 0 else { return self = FairLine() }
        let left = flows.change(flow) {
            $0.count -= 1
            return $0.count
        }
        if left == 0, !isAwake(flow) { forget(flow) }
    }

    private mutating func forget(_ flow: FlowID) {
        flows[flow] = nil
        turns[flow.owner]?.forget(flow)
        guard turns[flow.owner]?.isEmpty == true, !owners.isAwake(flow.owner) else { return }
        turns[flow.owner] = nil
        owners.forget(flow.owner)
    }

    /// Takes the entry out that is served next, and charges its flow, which has to be open.
    mutating func next(
        at line: Int, _ gates: inout HostGates, _ share: inout ShareGate?,
        _ isCurrent: (StageQueue.Entry) -> Bool
    ) -> (entry: StageQueue.Entry, flow: FlowID)? {
        while let turn = owners.pop() {
            guard let found = next(of: turn.key, at: line, &gates, &share, isCurrent) else {
                continue
            }
            owners.charge(turn, found.entry.cost, isPaid: turn.key.isReturned)
            return found
        }
        return nil
    }

    private mutating func next(
        of owner: FlowOwner, at line: Int, _ gates: inout HostGates, _ share: inout ShareGate?,
        _ isCurrent: (StageQueue.Entry) -> Bool
    ) -> (entry: StageQueue.Entry, flow: FlowID)? {
        while let turn = turns.change(owner, { $0.pop() }) ?? nil {
            let place = HostGates.Place(line: line, flow: turn.key)
            if share?.isClosed(to: turn.key.holder) == true {
                share?.stepAside(place)
                continue
            }
            switch flows.change(turn.key, { $0.next(at: place, &gates, isCurrent) }) ?? .nothing {
            case .job(let entry):
                turns.change(owner) { $0.charge(turn, entry.cost, isPaid: turn.key.isReturned) }
                return (entry, turn.key)
            case .closed: continue
            case .nothing: forget(turn.key)
            }
        }
        return nil
    }

    /// A flow may hold more again.
    mutating func call(_ flow: FlowID) { wake(flow) }

    /// A host has fewer transfers.
    mutating func call(_ host: HostName, in flow: FlowID) {
        if flows.change(flow, { $0.call(host) }) == true { wake(flow) }
    }

    /// Throws out what is not current, and flows without jobs with what they owe.
    mutating func sweep(keeping isCurrent: (StageQueue.Entry) -> Bool) {
        for flow in flows.keys.sorted() {
            guard let line = flows[flow], line.count > 0 else {
                forget(flow)
                continue
            }
            flows[flow]?.sweep(keeping: isCurrent)
            wake(flow)
        }
    }
}
