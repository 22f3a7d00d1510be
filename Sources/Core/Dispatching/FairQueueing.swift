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

/// The jobs of one flow in one class and rank, those of each host in a strand of their own, so
/// that a host which is busy holds up no other.
struct FlowLine: Sendable {
    /// What a look for the next job found.
    enum Found: Sendable {
        case job(StageQueue.Entry)
        /// There are jobs, but all of their hosts are busy.
        case closed
        case nothing
    }

    /// The first job of a strand; of use while the strand says the same.
    private struct Head: Comparable, Sendable {
        let order: Int64
        let host: HostName?

        static func < (left: Head, right: Head) -> Bool { left.order < right.order }
        static func == (left: Head, right: Head) -> Bool { left.order == right.order }
    }

    private struct Strand: Sendable {
        var entries = Heap<StageQueue.Entry>()
        /// The order of its head among the heads; `nil` while it stands aside.
        var head: Int64?
    }

    /// Jobs that wait.
    var count = 0
    private var strands: [HostName?: Strand] = [:]
    private var heads = Heap<Head>()

    /// Entries of all kinds, current or not.
    var weight: Int { strands.values.reduce(heads.count) { $0 + $1.entries.count } }

    /// Returns whether there may be a next job now.
    mutating func enter(_ entry: StageQueue.Entry, _ host: HostName?) -> Bool {
        count += 1
        let isNew = strands[host] == nil
        strands.change(host, from: Strand()) { $0.entries.push(entry) }
        // A strand that stands aside is called by its host.
        guard isNew || strands[host]?.head != nil else { return false }
        if strands[host]?.head.map({ entry.order < $0 }) ?? true {
            announce(host, entry.order)
        }
        return true
    }

    private mutating func announce(_ host: HostName?, _ order: Int64) {
        strands.change(host) { $0.head = order }
        heads.push(Head(order: order, host: host))
    }

    /// Takes the next job out whose host is open; strands of others step aside.
    mutating func next(
        at place: HostGates.Place, _ gates: inout HostGates,
        _ isCurrent: (StageQueue.Entry) -> Bool
    ) -> Found {
        while let head = heads.first {
            guard strands[head.host]?.head == head.order else {
                _ = heads.pop()
                continue
            }
            let top = first(of: head.host, isCurrent)
            if let top, top.order == head.order {
                if let host = head.host, gates.isClosed(host, to: place.flow.holder) {
                    _ = heads.pop()
                    strands[host]?.head = nil
                    gates.stepAside(place, for: host)
                    continue
                }
                strands.change(head.host) { _ = $0.entries.pop() }
                _ = heads.pop()
                announceNext(of: head.host)
                return .job(top)
            }
            _ = heads.pop()
            announceNext(of: head.host)
        }
        return count > 0 ? .closed : .nothing
    }

    private mutating func announceNext(of host: HostName?) {
        if let next = strands[host]?.entries.first {
            announce(host, next.order)
        } else {
            strands[host] = nil
        }
    }

    /// The first entry of a strand that is current.
    private mutating func first(of host: HostName?, _ isCurrent: (StageQueue.Entry) -> Bool)
        -> StageQueue.Entry?
    {
        while let entry = strands[host]?.entries.first {
            if isCurrent(entry) { return entry }
            _ = strands[host]?.entries.pop()
        }
        return nil
    }

    /// A host has fewer transfers: its strand takes part again, if it stood aside.
    mutating func call(_ host: HostName) -> Bool {
        guard let strand = strands[host], strand.head == nil else { return false }
        announceNext(of: host)
        return true
    }

    /// Throws out what is not current; no strand stands aside then.
    mutating func sweep(keeping isCurrent: (StageQueue.Entry) -> Bool) {
        heads = Heap()
        for host in Array(strands.keys) {
            strands[host]?.entries.keep(where: isCurrent)
            announceNext(of: host)
        }
    }
}

/// Turns of keys, by start-time fair queueing (Goyal, Vin, Cheng 1996): the key with the smallest
/// start tag is next, and its tag grows by the cost of what it was given; virtual time is the
/// start tag of what was served last. A key that comes, or comes back, begins there: it neither
/// saves time up nor waits for what others were given before. All keys weigh the same. What a key
/// owes besides is added to the tag of its next turn.
struct FairTurns<Key: Hashable & Comparable & Sendable>: Sendable {
    /// The turn of a key.
    struct Turn: Comparable, Sendable {
        let startTag: UInt64
        fileprivate let serial: UInt64
        let key: Key

        static func < (left: Turn, right: Turn) -> Bool {
            (left.startTag, left.serial) < (right.startTag, right.serial)
        }
        static func == (left: Turn, right: Turn) -> Bool { left.serial == right.serial }
    }

    private struct Place: Sendable {
        /// The virtual time at which it came, and from then on the cost of all that it was given.
        var startTag: UInt64
        /// Whether it has a turn.
        var isAwake = false
        /// What is added to the tag of its next turn.
        var debt: UInt64 = 0
    }

    /// What was paid for before is at 0, and so before all others.
    private var virtualTime: UInt64 = 1
    private var places: [Key: Place] = [:]
    private var turns = Heap<Turn>()
    private var lastTurn: UInt64 = 0

    /// Whether no key is known.
    var isEmpty: Bool { places.isEmpty }

    func isAwake(_ key: Key) -> Bool { places[key]?.isAwake == true }

    /// Gives a key a turn, unless it has one.
    mutating func wake(_ key: Key, isPaid: Bool) {
        let earliest = isPaid ? 0 : virtualTime
        let place = places[key] ?? Place(startTag: earliest)
        guard !place.isAwake else { return }
        giveTurn(key, max(place.startTag, earliest))
    }

    private mutating func giveTurn(_ key: Key, _ startTag: UInt64) {
        lastTurn += 1
        places[key] = Place(startTag: startTag, isAwake: true)
        turns.push(Turn(startTag: startTag, serial: lastTurn, key: key))
    }

    /// A key that has a turn owes so much more.
    mutating func owe(_ key: Key, _ cost: UInt64) { places[key]?.debt &+= cost }

    /// Takes the next turn out; who has it sleeps until it is charged or woken. One that owes
    /// something has its turn later.
    mutating func pop() -> Turn? {
        while let turn = turns.pop() {
            let debt = places[turn.key]?.debt ?? 0
            guard debt > 0 else {
                places[turn.key]?.isAwake = false
                return turn
            }
            giveTurn(turn.key, turn.startTag &+ debt)
        }
        return nil
    }

    /// A turn was used: the key has another one, later by that cost unless that was paid before.
    mutating func charge(_ turn: Turn, _ cost: UInt64, isPaid: Bool) {
        guard !isPaid else { return giveTurn(turn.key, 0) }
        virtualTime = max(virtualTime, turn.startTag)
        giveTurn(turn.key, turn.startTag &+ cost)
    }

    /// A key that sleeps owes nothing any more.
    mutating func forget(_ key: Key) {
        if !isAwake(key) { places[key] = nil }
    }
}

/// Places of which each flow holds some, and none so many that others find none.
///
/// An owner may take one more while it holds less than three times as many as are free (dynamic
/// thresholds; Choudhury, Hahne 1998). One alone comes to three quarters of all places, two to
/// three sevenths each, and so on: whoever holds none takes the next free place, and there is one
/// without anybody being stopped. Nobody has to know how many there are.
///
/// Flows share what is left of their owner's share in the same way if several hold some of it. One
/// visitor comes to three quarters of that share at most, and the next one finds a place at once.
struct FairShare: Sendable {
    private static let heldPerFree = 3

    private(set) var count = 0
    private var held: [FlowID: Int] = [:]
    private var owners: [FlowOwner: Owner] = [:]

    private struct Owner: Sendable {
        var count = 0
        /// Flows that hold some.
        var flows = 0
    }

    /// Places that a flow holds.
    func count(of flow: FlowID) -> Int { held[flow, default: 0] }

    /// Places that all flows of an owner hold.
    func count(of owner: FlowOwner) -> Int { owners[owner]?.count ?? 0 }

    /// Whether the flow may take one of the `free` places.
    func admits(_ flow: FlowID, free: Int) -> Bool {
        let left = Self.heldPerFree * free - count(of: flow.owner)
        guard left > 0 else { return false }
        let own = count(of: flow)
        let others = (owners[flow.owner]?.flows ?? 0) - (own > 0 ? 1 : 0)
        guard flow.isOfVisitor else { return others == 0 || own / Self.heldPerFree < left }
        // Each place that the owner takes is one less that is free and one more that it holds.
        let stillForOwner = (left + Self.heldPerFree) / (Self.heldPerFree + 1)
        return own < Self.heldPerFree * stillForOwner
    }

    mutating func took(_ flow: FlowID) {
        count += 1
        let isFirst = held.change(flow, from: 0) {
            $0 += 1
            return $0 == 1
        }
        owners.change(flow.owner, from: Owner()) {
            $0.count += 1
            if isFirst { $0.flows += 1 }
        }
    }

    mutating func gaveBack(_ flow: FlowID) {
        count -= 1
        let left = count(of: flow) - 1
        held[flow] = left > 0 ? left : nil
        let ofOwner = owners.change(flow.owner) {
            $0.count -= 1
            if left == 0 { $0.flows -= 1 }
            return $0.count
        }
        if ofOwner == 0 { owners[flow.owner] = nil }
    }
}
