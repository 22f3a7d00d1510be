import Model

/// The queue for one pool of workers: by class, then later stages first, then fairly between flows
/// (`FairQueue`), and in order within a flow.
///
/// Entries of moved or removed jobs are not searched for. They are *stale*: they no longer match
/// the job's ticket and are skipped.
struct StageQueue: Sendable {
    private static let ranks = 4

    /// Highest class and latest stage first.
    private var queues = (0..<Priority.allCases.count * ranks).map { _ in FairQueue() }
    private(set) var gates: HostGates
    /// Limits the share of running jobs per flow; `nil` means unlimited.
    private(set) var share: ShareGate?
    private let order: DispatchLimits.FetchOrder
    private var serial: Int64 = 0
    /// The only waiting job. Most jobs find an empty queue and are assigned at once, so `queues`
    /// need not be involved.
    private var only: Waiting?
    /// Debts of flows for workers lost with their jobs, charged when the flow next waits alongside
    /// others.
    private var debts: [FlowID: UInt64] = [:]
    private static let debtorsMax = 1_024
    /// The number of waiting jobs.
    private(set) var count = 0
    /// The number of entries that the last sweep left plus those added since, and the number that
    /// it left.
    private var entryCount = 0
    private var sweptEntryCount = 0

    init(
        order: DispatchLimits.FetchOrder = .fifo, heldPerHostMax: Int = 0, isShared: Bool = false
    ) {
        self.order = order
        share = isShared ? ShareGate() : nil
        gates = HostGates(heldMax: heldPerHostMax)
    }

    /// Whether enough entries may be stale for a sweep to pay off.
    ///
    /// A job is queued in each of its flows, and may be a head for its host in each of them. A
    /// sweep may therefore leave that many entries, and the next sweep must be amortized over
    /// entries added since.
    var wantsSweep: Bool {
        let kept = min(2 * sweptEntryCount, 4 * Flows.countMax * count)
        return entryCount + gates.waitingCount > max(8 * count, kept) + 256
    }

    /// Queues a new job in its flows, behind all others of its class and rank.
    mutating func enter(_ job: ActiveJob) -> Ticket {
        enter(job, job.urgency.flows, order: order == .fifo ? serial + 1 : -serial - 1)
    }

    /// Requeues a job that was assigned before, behind all waiting jobs of its class and rank.
    mutating func enterLast(_ job: ActiveJob) -> Ticket {
        enter(job, job.urgency.flows, order: serial + 1)
    }

    /// Requeues a job that was assigned before, ahead of all jobs of its class and rank.
    mutating func putBack(_ job: ActiveJob) -> Ticket {
        enter(job, job.urgency.flows.asRequeued, order: -serial - 1)
    }

    /// Moves a waiting job to another class or to other flows; it keeps its order.
    mutating func move(_ job: ActiveJob) -> Ticket {
        leave(job.ticket)
        let flows = job.ticket.isRequeued ? job.urgency.flows.asRequeued : job.urgency.flows
        return enter(job, flows, order: job.ticket.order)
    }

    private mutating func enter(_ job: ActiveJob, _ flows: Flows, order: Int64) -> Ticket {
        serial += 1
        let ticket = Ticket(
            priority: job.urgency.priority, rank: job.rank, flows: flows, order: order,
            serial: serial)
        let entry = Entry(order: order, serial: serial, cost: job.spec.cost, job: job.id)
        let waiting = Waiting(
            entry: entry, ticket: ticket, host: gates.heldMax > 0 ? job.spec.host : nil)
        count += 1
        if count == 1 {
            only = waiting
        } else {
            if let first = only.take() { insert(first) }
            insert(waiting)
        }
        return ticket
    }

    private mutating func insert(_ waiting: Waiting) {
        let index = Self.index(waiting.ticket.priority, waiting.ticket.rank)
        waiting.ticket.flows.forEach { queues[index].enter(waiting.entry, in: $0, waiting.host) }
        entryCount += waiting.ticket.flows.count
        guard !debts.isEmpty else { return }
        waiting.ticket.flows.forEach { flow in
            if let debt = debts.removeValue(forKey: flow) { queues[index].owe(flow, debt) }
        }
    }

    /// Charges a flow for a worker lost with one of its jobs. The loss delays other flows, whose
    /// turns therefore come first. Above the limit, earlier debts are dropped.
    mutating func owe(_ flow: FlowID, _ cost: UInt64) {
        if debts.count >= Self.debtorsMax, debts[flow] == nil { debts.removeAll() }
        debts[flow, default: 0] &+= cost
    }

    /// Removes a waiting job.
    mutating func leave(_ ticket: Ticket) {
        count -= 1
        guard only == nil else { return only = nil }
        let index = Self.index(ticket.priority, ticket.rank)
        ticket.flows.forEach { queues[index].leave($0) }
    }

    /// Returns the position in `queues`.
    private static func index(_ priority: Priority, _ rank: UInt8) -> Int {
        Int(Priority.high.rawValue - priority.rawValue) * ranks + Int(rank)
    }

    /// Returns the first job that may be assigned now, given that workers can take `free` more
    /// jobs. The job keeps waiting until it leaves.
    mutating func next(withLow: Bool, free: Int, _ isCurrent: (Entry) -> Bool) -> Next? {
        share?.sees(free: free)
        if let only {
            guard withLow || only.ticket.priority > .low,
                let flow = only.ticket.flows.first(where: { !isHeldUp($0, by: only.host) })
            else { return nil }
            return Next(job: only.entry.job, holder: flow.holder)
        }
        for ready in share?.popReady() ?? [] { queues[ready.queue].wake(ready.flow) }
        let end = withLow ? queues.count : Self.index(.low, 0)
        for index in queues[..<end].indices where queues[index].count > 0 {
            guard let next = queues[index].next(at: index, &gates, &share, isCurrent) else {
                continue
            }
            return Next(job: next.entry.job, holder: next.flow.holder)
        }
        return nil
    }

    // MARK: - Running jobs

    /// Records that a job was assigned to a worker.
    mutating func began(_ job: ActiveJob) {
        share?.began(job.holder)
        if gates.heldMax > 0, let host = job.spec.host { gates.began(host, job.holder) }
    }

    /// Records that a job is no longer at a worker, and wakes flows that waited for its host.
    mutating func ended(_ job: ActiveJob) {
        share?.ended(job.holder)
        guard gates.heldMax > 0, let host = job.spec.host else { return }
        for ready in gates.ended(host, job.holder) {
            queues[ready.queue].wake(ready.flow, after: host)
        }
    }

    /// Whether the job waits because of its host's limit or its flows' share.
    func isHeldUp(_ job: ActiveJob) -> Bool {
        let host = gates.heldMax > 0 ? job.spec.host : nil
        return job.ticket.flows.first { !isHeldUp($0, by: host) } == nil
    }

    private func isHeldUp(_ flow: FlowID, by host: HostName?) -> Bool {
        if share?.isClosed(to: flow.holder) == true { return true }
        return host.map { gates.isClosed($0, to: flow.holder) } == true
    }

    // MARK: - Stale entries

    /// Removes stale entries.
    mutating func sweep(keeping isCurrent: (Entry) -> Bool) {
        gates.forgetWaiting()
        share?.forgetWaiting()
        entryCount = 0
        for index in queues.indices {
            queues[index].sweep(keeping: isCurrent)
            entryCount += queues[index].entryCount
        }
        sweptEntryCount = entryCount
    }

    /// Whether no job waits or is at a worker.
    var isIdle: Bool { count == 0 && gates.hosts.isEmpty && (share?.share.count ?? 0) == 0 }

    /// The number of retained records, including stale ones.
    var size: Int { queues.reduce(gates.waitingCount) { $0 + $1.entryCount + $1.flowCount } }
}

extension StageQueue {
    /// The position of a waiting job.
    struct Ticket: Hashable, Sendable {
        let priority: Priority
        let rank: UInt8
        /// The flows in which the job is queued.
        let flows: Flows
        /// Smaller goes first within a flow; kept when the job moves.
        let order: Int64
        /// Unique per ticket.
        let serial: Int64

        /// Whether the job was assigned before and was put back.
        var isRequeued: Bool { flows.first.isRequeued }

        /// Whether the position matches the urgency.
        func suits(_ urgency: Urgency) -> Bool {
            priority == urgency.priority
                && flows == (isRequeued ? urgency.flows.asRequeued : urgency.flows)
        }

        /// The ticket of a job that isn't queued.
        static let none = Ticket(
            priority: .low, rank: .max, flows: Flows(.coordinator), order: .max, serial: 0)
    }

    /// A job with the information that `queues` need.
    struct Waiting: Sendable {
        let entry: Entry
        let ticket: Ticket
        let host: HostName?
    }

    /// The next job and the flow whose share it uses.
    struct Next: Sendable {
        let job: JobID
        let holder: FlowID
    }

    /// A flow within one of `queues`, given by its position there.
    struct QueuedFlow: Hashable, Sendable {
        let queue: Int
        let flow: FlowID
    }

    /// A job in one flow. Stale unless the job's ticket has the same serial.
    struct Entry: Comparable, Sendable {
        let order: Int64
        let serial: Int64
        let cost: UInt64
        let job: JobID

        static func < (left: Entry, right: Entry) -> Bool { left.order < right.order }
        static func == (left: Entry, right: Entry) -> Bool { left.serial == right.serial }
    }
}

/// Counts running transfers per host and flow, and tracks the flows that stepped aside, because
/// they may not occupy a slot of a host.
struct HostGates: Sendable {
    /// The largest number of concurrent transfers per host; 0 means unlimited.
    let heldMax: Int
    private var held: [HostName: FairShare] = [:]
    private var waiting: [HostName: [StageQueue.QueuedFlow]] = [:]
    /// The number of flows that stepped aside, including stale ones.
    private(set) var waitingCount = 0

    init(heldMax: Int) { self.heldMax = heldMax }

    /// Whether another transfer of the flow must wait.
    func isClosed(_ host: HostName, to flow: FlowID) -> Bool {
        let share = held[host] ?? FairShare()
        return !share.admits(flow, free: heldMax - share.count)
    }

    /// The number of transfers of a host at workers, including canceled ones without an outcome.
    func count(_ host: HostName) -> Int { held[host]?.count ?? 0 }

    /// All hosts with transfers at workers.
    var hosts: Dictionary<HostName, FairShare>.Keys { held.keys }

    mutating func began(_ host: HostName, _ flow: FlowID) {
        held[host, default: FairShare()].occupy(flow)
    }

    /// Records the end of a transfer. Returns the flows that may try again.
    mutating func ended(_ host: HostName, _ flow: FlowID) -> [StageQueue.QueuedFlow] {
        held[host]?.vacate(flow)
        if held[host]?.count == 0 { held[host] = nil }
        guard let ready = waiting.removeValue(forKey: host) else { return [] }
        waitingCount -= ready.count
        return ready
    }

    mutating func stepAside(_ flow: StageQueue.QueuedFlow, for host: HostName) {
        waiting[host, default: []].append(flow)
        waitingCount += 1
    }

    /// Lets all waiting flows try again.
    mutating func forgetWaiting() {
        waiting.removeAll()
        waitingCount = 0
    }
}

/// The host and port of a transfer in lowercase, always with the port: the key of the per-host
/// limit.
struct HostName: Hashable, Sendable {
    let text: String

    /// Returns `nil` for URLs without a host.
    init?(_ url: SourceURL) {
        let authority = url.authority
        guard !authority.isEmpty else { return nil }
        text = authority
    }
}

/// Limits each flow's share of the concurrent jobs of a pool, and tracks the flows that stepped
/// aside, because they have their share.
struct ShareGate: Sendable {
    private(set) var share = FairShare()
    private var free = 0
    private var waiting: [StageQueue.QueuedFlow] = []
    /// Whether a flow that stepped aside may be able to continue.
    private var hasNews = false

    /// The number of flows that stepped aside. It is small because the owner of such a flow holds
    /// at least three jobs for each free slot.
    var waitingCount: Int { waiting.count }

    func isClosed(to flow: FlowID) -> Bool { !share.admits(flow, free: free) }

    /// Updates the number of free slots.
    mutating func sees(free: Int) {
        if free > self.free { hasNews = true }
        self.free = free
    }

    mutating func began(_ flow: FlowID) { share.occupy(flow) }

    mutating func ended(_ flow: FlowID) {
        share.vacate(flow)
        hasNews = true
    }

    mutating func stepAside(_ flow: StageQueue.QueuedFlow) {
        if !waiting.contains(flow) { waiting.append(flow) }
    }

    /// Removes and returns the flows that may try again.
    mutating func popReady() -> [StageQueue.QueuedFlow] {
        guard hasNews else { return [] }
        hasNews = false
        let all = waiting
        waiting = all.filter { isClosed(to: $0.flow.holder) }
        return all.filter { !isClosed(to: $0.flow.holder) }
    }

    /// Lets all waiting flows try again.
    mutating func forgetWaiting() { waiting.removeAll() }
}
