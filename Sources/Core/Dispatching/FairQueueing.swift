import Tables

/// The queued jobs of one class and rank. Owners take turns, and within an owner its flows
/// (`FairTurns`): a process gets the turns of one client regardless of its number of connections.
///
/// A flow or owner without jobs is removed once virtual time has passed its tag.
struct FairLine: Sendable {
    /// The number of waiting jobs, counted once per flow they are queued in.
    private(set) var count = 0
    private var owners = FairTurns<FlowOwner>()
    /// Turns of the flows of each owner.
    private var turns: [FlowOwner: FairTurns<FlowID>] = [:]
    private var flows: [FlowID: FlowLine] = [:]

    /// The number of known flows.
    var flowCount: Int { flows.count }

    /// The number of entries in all flows, including stale ones.
    var weight: Int { flows.values.reduce(0) { $0 + $1.weight } }

    mutating func enter(_ entry: StageQueue.Entry, in flow: FlowID, _ host: HostName?) {
        count += 1
        let mayBeNext = flows.change(flow, from: FlowLine()) { $0.enter(entry, host) }
        if mayBeNext { wake(flow) }
    }

    /// Adds a debt to a flow in which a job was just queued: to the user's flow if it belongs to
    /// one of the client's users, else to the client.
    mutating func owe(_ flow: FlowID, _ cost: UInt64) {
        if flow.isOfHTTPClient {
            turns[flow.owner]?.owe(flow, cost)
        } else {
            owners.owe(flow.owner, cost)
        }
    }

    private mutating func wake(_ flow: FlowID) {
        guard flows[flow] != nil else { return }
        // Returned jobs were charged before and go first.
        turns.change(flow.owner, from: FairTurns()) { $0.wake(flow, isPaid: flow.isReturned) }
        owners.wake(flow.owner, isPaid: flow.isReturned)
    }

    private func isAwake(_ flow: FlowID) -> Bool { turns[flow.owner]?.isAwake(flow) == true }

    /// Removes a job from the count of a flow. Removing the last job clears all debts.
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

    /// Removes and returns the next entry, and charges its flow, which must be open.
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

    /// Wakes a flow that may hold more jobs again.
    mutating func call(_ flow: FlowID) { wake(flow) }

    /// Wakes a flow after a host has finished a transfer.
    mutating func call(_ host: HostName, in flow: FlowID) {
        if flows.change(flow, { $0.call(host) }) == true { wake(flow) }
    }

    /// Removes stale entries, and flows without jobs including their debts.
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

/// The queued jobs of one flow within a class and rank, with one strand per host so that a busy
/// host doesn't block others.
struct FlowLine: Sendable {
    /// The result of looking for the next job.
    enum Found: Sendable {
        case job(StageQueue.Entry)
        /// There are jobs, but all of their hosts are at their limit.
        case closed
        case nothing
    }

    /// The head of a strand; valid while it matches the head recorded in the strand.
    private struct Head: Comparable, Sendable {
        let order: Int64
        let host: HostName?

        static func < (left: Head, right: Head) -> Bool { left.order < right.order }
        static func == (left: Head, right: Head) -> Bool { left.order == right.order }
    }

    private struct Strand: Sendable {
        var entries = Heap<StageQueue.Entry>()
        /// The order of the strand's entry among the heads; `nil` while the strand is stepping
        /// aside for its busy host.
        var head: Int64?
    }

    /// The number of waiting jobs.
    var count = 0
    private var strands: [HostName?: Strand] = [:]
    private var heads = Heap<Head>()

    /// The number of entries of all kinds, including stale ones.
    var weight: Int { strands.values.reduce(heads.count) { $0 + $1.entries.count } }

    /// Adds an entry. Returns whether there may be a next job now.
    mutating func enter(_ entry: StageQueue.Entry, _ host: HostName?) -> Bool {
        count += 1
        let isNew = strands[host] == nil
        strands.change(host, from: Strand()) { $0.entries.push(entry) }
        // A strand that stepped aside is woken by its host.
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

    /// Removes and returns the next job whose host is open; strands of busy hosts step aside.
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

    /// The first entry of a strand that isn't stale.
    private mutating func first(of host: HostName?, _ isCurrent: (StageQueue.Entry) -> Bool)
        -> StageQueue.Entry?
    {
        while let entry = strands[host]?.entries.first {
            if isCurrent(entry) { return entry }
            _ = strands[host]?.entries.pop()
        }
        return nil
    }

    /// A host has finished a transfer: reactivates its strand if it stepped aside.
    mutating func call(_ host: HostName) -> Bool {
        guard let strand = strands[host], strand.head == nil else { return false }
        announceNext(of: host)
        return true
    }

    /// Removes stale entries and reactivates all strands.
    mutating func sweep(keeping isCurrent: (StageQueue.Entry) -> Bool) {
        heads = Heap()
        for host in Array(strands.keys) {
            strands[host]?.entries.keep(where: isCurrent)
            announceNext(of: host)
        }
    }
}

/// Fair turns between keys, by start-time fair queueing (Goyal, Vin, Cheng 1996). The key with the
/// smallest start tag is next, and its tag grows by the cost of each job served; virtual time is
/// the start tag of the last job served. A new or returning key starts at virtual time, so it can't
/// save up turns and doesn't wait for earlier service of other keys. All keys have equal weight.
/// The debt of a key is added to the tag of its next turn.
struct FairTurns<Key: Hashable & Comparable & Sendable>: Sendable {
    /// A scheduled turn of a key.
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
        /// The virtual time at which the key arrived, plus the cost of everything it has been
        /// served since.
        var startTag: UInt64
        /// Whether the key has a scheduled turn.
        var isAwake = false
        /// Cost to add to the tag of the next turn.
        var debt: UInt64 = 0
    }

    /// Starts at 1, because keys with prepaid jobs use tag 0 and go first.
    private var virtualTime: UInt64 = 1
    private var places: [Key: Place] = [:]
    private var turns = Heap<Turn>()
    private var lastTurn: UInt64 = 0

    /// Whether no key is known.
    var isEmpty: Bool { places.isEmpty }

    func isAwake(_ key: Key) -> Bool { places[key]?.isAwake == true }

    /// Schedules a turn for a key unless it has one.
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

    /// Adds a debt to a key with a scheduled turn.
    mutating func owe(_ key: Key, _ cost: UInt64) { places[key]?.debt &+= cost }

    /// Removes and returns the next turn; its key sleeps until it is charged or woken. A key with
    /// debt is rescheduled later instead.
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

    /// Schedules the key's next turn after this one was used, later by the cost unless it was
    /// prepaid.
    mutating func charge(_ turn: Turn, _ cost: UInt64, isPaid: Bool) {
        guard !isPaid else { return giveTurn(turn.key, 0) }
        virtualTime = max(virtualTime, turn.startTag)
        giveTurn(turn.key, turn.startTag &+ cost)
    }

    /// Removes a sleeping key together with its debt.
    mutating func forget(_ key: Key) {
        if !isAwake(key) { places[key] = nil }
    }
}

/// Divides a pool of slots among flows such that every flow can get some.
///
/// An owner may take another slot while it holds less than three times the number of free slots
/// (dynamic thresholds; Choudhury, Hahne 1998). A single owner gets up to three quarters of all
/// slots, two owners three sevenths each, and so on; an owner without slots gets the next free one,
/// so no job has to be stopped to make room. The total number of slots need not be known.
///
/// If several flows of an owner hold slots, they divide the rest of the owner's share in the same
/// way. A single user gets at most three quarters of that share, and the next user finds a slot at
/// once.
struct FairShare: Sendable {
    private static let heldPerFree = 3

    private(set) var count = 0
    private var held: [FlowID: Int] = [:]
    private var owners: [FlowOwner: Owner] = [:]

    private struct Owner: Sendable {
        var count = 0
        /// The number of flows that hold slots.
        var flows = 0
    }

    /// The number of slots held by a flow.
    func count(of flow: FlowID) -> Int { held[flow, default: 0] }

    /// The number of slots held by all flows of an owner.
    func count(of owner: FlowOwner) -> Int { owners[owner]?.count ?? 0 }

    /// Whether the flow may take one of the `free` slots.
    func admits(_ flow: FlowID, free: Int) -> Bool {
        let left = Self.heldPerFree * free - count(of: flow.owner)
        guard left > 0 else { return false }
        let own = count(of: flow)
        let others = (owners[flow.owner]?.flows ?? 0) - (own > 0 ? 1 : 0)
        guard flow.isOfHTTPClient else { return others == 0 || own / Self.heldPerFree < left }
        // Each slot that the owner takes reduces the free slots by one and increases those it holds
        // by one.
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
