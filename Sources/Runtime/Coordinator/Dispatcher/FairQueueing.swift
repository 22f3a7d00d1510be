import Model

// Start-time fair queueing (Goyal, Vin, Cheng 1996). Everything that takes turns has a *start tag*.
// The smallest tag has the next *turn*, in which one job is served, and grows by the cost of that
// job. *Virtual time* is the start tag of the last turn. A tag that is new, or had no jobs for a
// while, begins at virtual time: nothing is saved up while idle, and nothing has to wait because
// others were served earlier. A *debt* is added to the tag when its next turn comes, and that turn
// is postponed accordingly: it charges for a worker that was lost with a job.
//
// Turns are taken on two levels: by *owners*, which are the client processes and the coordinator
// (`FlowOwner`), and by the *flows* of an owner, which are its sessions and the HTTP clients that a
// gateway's session acts for (`FlowID`). So a process gets as many turns as any other, regardless
// of its number of connections.

/// The queued jobs of one class and rank. Owners take turns, and so do the flows of each owner.
///
/// A flow or owner without jobs is removed when its turn comes.
struct FairQueue: Sendable {
    /// The number of waiting jobs, counted once per flow they are queued in.
    private(set) var count = 0
    private var owners = FairTurns<FlowOwner>()
    private var turns: [FlowOwner: FairTurns<FlowID>] = [:]
    private var flows: [FlowID: FlowQueue] = [:]

    /// The number of known flows.
    var flowCount: Int { flows.count }

    /// The number of entries in all flows, including stale ones.
    var entryCount: Int { flows.values.reduce(0) { $0 + $1.entryCount } }

    /// Queues a job in a flow; `host` is the host of its transfer if transfers are limited per
    /// host.
    mutating func enter(_ entry: StageQueue.Entry, in flow: FlowID, _ host: HostName?) {
        count += 1
        if flows[flow, default: FlowQueue()].enter(entry, host) { wake(flow) }
    }

    /// Adds a debt to a flow in which a job was just queued, if the flow is that of an HTTP client;
    /// otherwise to its owner.
    mutating func owe(_ flow: FlowID, _ cost: UInt64) {
        if flow.isOfHTTPClient {
            turns[flow.owner]?.owe(flow, cost)
        } else {
            owners.owe(flow.owner, cost)
        }
    }

    /// Schedules a turn for a flow that may have a next job, and for its owner.
    mutating func wake(_ flow: FlowID) {
        guard flows[flow] != nil else { return }
        turns[flow.owner, default: FairTurns()].wake(flow, isPrepaid: flow.isRequeued)
        owners.wake(flow.owner, isPrepaid: flow.isRequeued)
    }

    /// Wakes a flow in which jobs waited for a host, one of whose transfers has ended.
    mutating func wake(_ flow: FlowID, after host: HostName) {
        if flows[flow]?.resume(host) == true { wake(flow) }
    }

    private func isAwake(_ flow: FlowID) -> Bool { turns[flow.owner]?.isAwake(flow) == true }

    /// Counts a job of a flow as removed; its entry remains and is stale. If no jobs are left, all
    /// entries, turns and debts are removed.
    mutating func leave(_ flow: FlowID) {
        count -= 1
        guard count > 0 else { return self = FairQueue() }
        flows[flow]?.count -= 1
        if flows[flow]?.count == 0, !isAwake(flow) { forget(flow) }
    }

    private mutating func forget(_ flow: FlowID) {
        flows[flow] = nil
        turns[flow.owner]?.forget(flow)
        guard turns[flow.owner]?.isEmpty == true, !owners.isAwake(flow.owner) else { return }
        turns[flow.owner] = nil
        owners.forget(flow.owner)
    }

    /// Removes and returns the next entry whose flow may occupy a slot of the pool and of its host,
    /// and charges flow and owner for it. Flows that may not do so step aside.
    ///
    /// `index` is the position of this queue in its `StageQueue`, for flows that step aside.
    mutating func next(
        at index: Int, _ gates: inout HostGates, _ share: inout ShareGate?,
        _ isCurrent: (StageQueue.Entry) -> Bool
    ) -> (entry: StageQueue.Entry, flow: FlowID)? {
        while let turn = owners.pop() {
            guard let found = next(of: turn.key, at: index, &gates, &share, isCurrent) else {
                continue
            }
            owners.charge(turn, found.entry.cost, isPrepaid: turn.key.isRequeued)
            return found
        }
        return nil
    }

    private mutating func next(
        of owner: FlowOwner, at index: Int, _ gates: inout HostGates, _ share: inout ShareGate?,
        _ isCurrent: (StageQueue.Entry) -> Bool
    ) -> (entry: StageQueue.Entry, flow: FlowID)? {
        while let turn = turns[owner]?.pop() {
            let queued = StageQueue.QueuedFlow(queue: index, flow: turn.key)
            if share?.isClosed(to: turn.key.holder) == true {
                share?.stepAside(queued)
                continue
            }
            switch flows[turn.key]?.next(of: queued, &gates, isCurrent) ?? .nothing {
            case .job(let entry):
                turns[owner]?.charge(turn, entry.cost, isPrepaid: turn.key.isRequeued)
                return (entry, turn.key)
            case .closed: continue
            case .nothing: forget(turn.key)
            }
        }
        return nil
    }

    /// Removes stale entries, and flows without jobs including their debts.
    mutating func sweep(keeping isCurrent: (StageQueue.Entry) -> Bool) {
        for flow in flows.keys.sorted() {
            guard let queue = flows[flow], queue.count > 0 else {
                forget(flow)
                continue
            }
            flows[flow]?.sweep(keeping: isCurrent)
            wake(flow)
        }
    }
}

/// The queued jobs of one flow within a class and rank. Each host has a *strand*, the entries of
/// its transfers in order, so that a busy host doesn't block others; jobs that aren't transfers
/// share one. `heads` has the first entry of each strand. A strand whose host is at its limit
/// *steps aside*: it has no head until a transfer of that host ends (`resume`).
struct FlowQueue: Sendable {
    /// The result of looking for the next job.
    enum Found: Sendable {
        case job(StageQueue.Entry)
        /// There are jobs, but all of their hosts are at their limit.
        case closed
        case nothing
    }

    /// The first entry of a strand. Heads are not removed when a strand gets another first entry,
    /// so a head is stale unless its order is the one recorded in the strand.
    private struct Head: Comparable, Sendable {
        let order: Int64
        let host: HostName?

        static func < (left: Head, right: Head) -> Bool { left.order < right.order }
        static func == (left: Head, right: Head) -> Bool { left.order == right.order }
    }

    private struct Strand: Sendable {
        var entries = Heap<StageQueue.Entry>()
        /// The order of its current head; `nil` after it stepped aside.
        var head: Int64?
    }

    /// The number of waiting jobs.
    var count = 0
    private var strands: [HostName?: Strand] = [:]
    private var heads = Heap<Head>()

    /// The number of entries and heads, including stale ones.
    var entryCount: Int { strands.values.reduce(heads.count) { $0 + $1.entries.count } }

    /// Adds an entry. Returns whether there may be a next job now.
    mutating func enter(_ entry: StageQueue.Entry, _ host: HostName?) -> Bool {
        count += 1
        let isNew = strands[host] == nil
        strands[host, default: Strand()].entries.push(entry)
        // A strand that stepped aside is resumed when a transfer of its host ends.
        guard isNew || strands[host]?.head != nil else { return false }
        if strands[host]?.head.map({ entry.order < $0 }) ?? true {
            announce(host, entry.order)
        }
        return true
    }

    /// Gives a strand a head.
    private mutating func announce(_ host: HostName?, _ order: Int64) {
        strands[host]?.head = order
        heads.push(Head(order: order, host: host))
    }

    /// Removes and returns the next job whose host is open; strands of busy hosts step aside.
    mutating func next(
        of queued: StageQueue.QueuedFlow, _ gates: inout HostGates,
        _ isCurrent: (StageQueue.Entry) -> Bool
    ) -> Found {
        while let head = heads.first {
            guard strands[head.host]?.head == head.order else {
                _ = heads.pop()
                continue
            }
            let top = first(of: head.host, isCurrent)
            if let top, top.order == head.order {
                if let host = head.host, gates.isClosed(host, to: queued.flow.holder) {
                    _ = heads.pop()
                    strands[host]?.head = nil
                    gates.stepAside(queued, for: host)
                    continue
                }
                _ = strands[head.host]?.entries.pop()
                _ = heads.pop()
                announceNext(of: head.host)
                return .job(top)
            }
            _ = heads.pop()
            announceNext(of: head.host)
        }
        return count > 0 ? .closed : .nothing
    }

    /// Gives a strand its first entry as head, or removes it if it is empty.
    private mutating func announceNext(of host: HostName?) {
        if let next = strands[host]?.entries.first {
            announce(host, next.order)
        } else {
            strands[host] = nil
        }
    }

    /// Returns the first entry of a strand that isn't stale, and removes those before it.
    private mutating func first(of host: HostName?, _ isCurrent: (StageQueue.Entry) -> Bool)
        -> StageQueue.Entry?
    {
        while let entry = strands[host]?.entries.first {
            if isCurrent(entry) { return entry }
            _ = strands[host]?.entries.pop()
        }
        return nil
    }

    /// Resumes the strand of a host, one of whose transfers has ended. Returns whether it had
    /// stepped aside.
    mutating func resume(_ host: HostName) -> Bool {
        guard let strand = strands[host], strand.head == nil else { return false }
        announceNext(of: host)
        return true
    }

    /// Removes stale entries and heads, and resumes all strands.
    mutating func sweep(keeping isCurrent: (StageQueue.Entry) -> Bool) {
        heads = Heap()
        for host in Array(strands.keys) {
            strands[host]?.entries.keep(where: isCurrent)
            announceNext(of: host)
        }
    }
}

/// Fair turns between keys of equal weight (see the top of this file).
///
/// A key is *awake* while it has a scheduled turn. Prepaid jobs, which were charged when they were
/// assigned before, get turns with tag 0, ahead of all others.
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

    private struct KeyState: Sendable {
        /// The virtual time at which the key was woken, plus the cost of everything it has been
        /// served since.
        var startTag: UInt64
        /// Whether the key has a scheduled turn.
        var isAwake = false
        /// Cost to add to the tag of the next turn.
        var debt: UInt64 = 0
    }

    /// Starts at 1, after the tag of prepaid jobs.
    private var virtualTime: UInt64 = 1
    private var states: [Key: KeyState] = [:]
    private var turns = Heap<Turn>()
    private var lastTurn: UInt64 = 0

    /// Whether no key is known.
    var isEmpty: Bool { states.isEmpty }

    /// Whether a key has a scheduled turn.
    func isAwake(_ key: Key) -> Bool { states[key]?.isAwake == true }

    /// Schedules a turn for a key unless it has one.
    mutating func wake(_ key: Key, isPrepaid: Bool) {
        let earliest = isPrepaid ? 0 : virtualTime
        let state = states[key] ?? KeyState(startTag: earliest)
        guard !state.isAwake else { return }
        giveTurn(key, max(state.startTag, earliest))
    }

    private mutating func giveTurn(_ key: Key, _ startTag: UInt64) {
        lastTurn += 1
        states[key] = KeyState(startTag: startTag, isAwake: true)
        turns.push(Turn(startTag: startTag, serial: lastTurn, key: key))
    }

    /// Adds a debt to a key with a scheduled turn.
    mutating func owe(_ key: Key, _ cost: UInt64) { states[key]?.debt &+= cost }

    /// Removes and returns the next turn; its key sleeps until it is charged or woken. A key with a
    /// debt gets another turn instead, later by the debt, which is thereby paid.
    mutating func pop() -> Turn? {
        while let turn = turns.pop() {
            let debt = states[turn.key]?.debt ?? 0
            guard debt > 0 else {
                states[turn.key]?.isAwake = false
                return turn
            }
            giveTurn(turn.key, turn.startTag &+ debt)
        }
        return nil
    }

    /// Schedules the key's next turn after a job was served in this one, later by the cost of the
    /// job unless it was prepaid.
    mutating func charge(_ turn: Turn, _ cost: UInt64, isPrepaid: Bool) {
        guard !isPrepaid else { return giveTurn(turn.key, 0) }
        virtualTime = max(virtualTime, turn.startTag)
        giveTurn(turn.key, turn.startTag &+ cost)
    }

    /// Removes a sleeping key together with its debt.
    mutating func forget(_ key: Key) {
        if !isAwake(key) { states[key] = nil }
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
/// way. A single HTTP client gets at most three quarters of that share, so that the next one finds
/// a slot at once.
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

    /// Whether the flow may occupy one of the `free` slots. With k for `heldPerFree`:
    ///
    /// - The owner may if it holds fewer than k · `free` slots; `left` is the difference.
    /// - If other flows of the owner hold slots, a session may if it holds fewer than k · `left`.
    /// - An HTTP client may if it holds fewer than k · ⌈`left` / (k + 1)⌉. That quotient is the
    ///   number of slots that the owner can still occupy: each of them reduces `left` by k + 1,
    ///   because there is one free slot less and the owner holds one more.
    func admits(_ flow: FlowID, free: Int) -> Bool {
        let left = Self.heldPerFree * free - count(of: flow.owner)
        guard left > 0 else { return false }
        let own = count(of: flow)
        let others = (owners[flow.owner]?.flows ?? 0) - (own > 0 ? 1 : 0)
        guard flow.isOfHTTPClient else { return others == 0 || own / Self.heldPerFree < left }
        let stillForOwner = (left + Self.heldPerFree) / (Self.heldPerFree + 1)
        return own < Self.heldPerFree * stillForOwner
    }

    /// Counts a slot as occupied by a flow.
    mutating func occupy(_ flow: FlowID) {
        count += 1
        let own = count(of: flow) + 1
        held[flow] = own
        count(flow.owner, by: 1, flows: own == 1 ? 1 : 0)
    }

    /// Counts a slot that a flow occupied as free.
    mutating func vacate(_ flow: FlowID) {
        count -= 1
        let left = count(of: flow) - 1
        held[flow] = left > 0 ? left : nil
        count(flow.owner, by: -1, flows: left == 0 ? -1 : 0)
    }

    private mutating func count(_ owner: FlowOwner, by change: Int, flows: Int) {
        var known = owners[owner] ?? Owner()
        known.count += change
        known.flows += flows
        owners[owner] = known.count > 0 ? known : nil
    }
}
