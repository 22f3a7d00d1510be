/// The jobs of one class and rank: start-time fair queueing between flows (Goyal, Vin, Cheng 1996).
///
/// The flow whose next job has the smallest start tag is served, and its tag grows by the cost of
/// that job; virtual time is the start tag of what was served last. A flow that comes, or comes
/// back, begins there: it neither saves time up nor waits for what others were given before. All
/// flows weigh the same.
///
/// A flow without jobs is forgotten once virtual time has passed its tag.
struct FairLine: Sendable {
    private struct Turn: Comparable, Sendable {
        let startTag: UInt64
        let serial: UInt64
        let flow: FlowID

        static func < (left: Turn, right: Turn) -> Bool {
            (left.startTag, left.serial) < (right.startTag, right.serial)
        }
        static func == (left: Turn, right: Turn) -> Bool { left.serial == right.serial }
    }

    /// Jobs that wait, once for each flow in which they stand.
    private(set) var count = 0
    /// What came back is at 0, and so before all others.
    private var virtualTime: UInt64 = 1
    private var flows: [FlowID: FlowLine] = [:]
    /// One turn of each flow that is awake.
    private var turns = Heap<Turn>()
    private var lastTurn: UInt64 = 0

    /// Flows that are known.
    var flowCount: Int { flows.count }

    /// Entries of all flows, current or not.
    var weight: Int { flows.values.reduce(0) { $0 + $1.weight } }

    mutating func enter(_ entry: StageQueue.Entry, in flow: FlowID, _ host: HostName?) {
        count += 1
        let newcomer = FlowLine(startTag: startTag(of: flow))
        let mayBeNext = flows[flow, default: newcomer].enter(entry, host)
        if mayBeNext { wake(flow) }
    }

    /// What came back was paid for and goes before all.
    private func startTag(of newcomer: FlowID) -> UInt64 {
        newcomer.isReturned ? 0 : virtualTime
    }

    private mutating func wake(_ flow: FlowID) {
        guard let line = flows[flow], !line.isAwake else { return }
        flows[flow]?.isAwake = true
        giveTurn(flow, max(line.startTag, startTag(of: flow)))
    }

    private mutating func giveTurn(_ flow: FlowID, _ startTag: UInt64) {
        lastTurn += 1
        flows[flow]?.startTag = startTag
        turns.push(Turn(startTag: startTag, serial: lastTurn, flow: flow))
    }

    /// A job waits no longer in a flow. With the last one all debts are forgotten.
    mutating func leave(_ flow: FlowID) {
        count -= 1
        guard count > 0 else { return self = FairLine() }
        flows[flow]?.count -= 1
        if let line = flows[flow], line.count == 0, !line.isAwake { flows[flow] = nil }
    }

    /// Takes the entry out that is served next, and charges its flow, which has to be open.
    mutating func next(
        at line: Int, _ gates: inout HostGates, _ share: inout ShareGate?,
        _ isCurrent: (StageQueue.Entry) -> Bool
    ) -> (entry: StageQueue.Entry, flow: FlowID)? {
        while let turn = turns.pop() {
            let place = HostGates.Place(line: line, flow: turn.flow)
            if share?.isClosed(to: turn.flow.holder) == true {
                share?.stepAside(place)
                flows[turn.flow]?.isAwake = false
                continue
            }
            let found = flows[turn.flow]?.next(at: place, &gates, isCurrent)
            switch found ?? .nothing {
            case .job(let entry):
                charge(turn, entry.cost)
                return (entry, turn.flow)
            case .closed: flows[turn.flow]?.isAwake = false
            case .nothing: flows[turn.flow] = nil
            }
        }
        return nil
    }

    /// What came back was paid for.
    private mutating func charge(_ turn: Turn, _ cost: UInt64) {
        guard !turn.flow.isReturned else { return giveTurn(turn.flow, 0) }
        virtualTime = max(virtualTime, turn.startTag)
        giveTurn(turn.flow, turn.startTag &+ cost)
    }

    /// A flow may hold more again.
    mutating func call(_ flow: FlowID) { wake(flow) }

    /// A host has fewer transfers.
    mutating func call(_ host: HostName, in flow: FlowID) {
        if flows[flow]?.call(host) == true { wake(flow) }
    }

    /// Throws out what is not current, and flows without jobs with what they owe.
    mutating func sweep(keeping isCurrent: (StageQueue.Entry) -> Bool) {
        let asleep = flows.keys.filter { flows[$0]?.isAwake == false }
            .sorted()
        var awake: [Turn] = []
        while let turn = turns.pop() { awake.append(turn) }
        for flow in awake.map(\.flow) + asleep {
            guard let line = flows[flow], line.count > 0 else {
                flows[flow] = nil
                continue
            }
            flows[flow]?.sweep(keeping: isCurrent)
            flows[flow]?.isAwake = false
            wake(flow)
        }
    }
}
