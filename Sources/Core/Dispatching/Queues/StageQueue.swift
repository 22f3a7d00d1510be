import ImageModel
import Messages

/// Jobs that wait for one kind of worker: by class, then later stages first, then fairly between
/// flows (`FairLine`), within a flow in order.
///
/// A job that moved or left is not searched for: its old entry no longer carries the job's ticket
/// and is passed over.
struct StageQueue: Sendable {
    private static let ranks = 4

    /// The highest class and the latest stage first.
    private var lines = (0..<Priority.allCases.count * ranks).map { _ in FairLine() }
    private(set) var gates: HostGates
    /// Where no flow may hold all that is taken at a time; `nil`: anybody may.
    private(set) var share: ShareGate?
    private let order: DispatchLimits.FetchOrder
    private var serial: Int64 = 0
    /// The only job that waits. Most jobs find nobody in front of them and go at once: the lines
    /// need not know of them.
    private var only: Waiting?
    /// What flows owe for workers that were lost with their jobs, until they stand in line beside
    /// others the next time.
    private var debts: [FlowID: UInt64] = [:]
    private static let debtorsMax = 1_024
    /// Jobs that wait.
    private(set) var count = 0
    /// Entries that were left by the last sweep or made since, and those that it left.
    private var weight = 0
    private var sweptWeight = 0

    init(
        order: DispatchLimits.FetchOrder = .fifo, heldPerHostMax: Int = 0, isShared: Bool = false
    ) {
        self.order = order
        share = isShared ? ShareGate() : nil
        gates = HostGates(heldMax: heldPerHostMax)
    }

    /// Whether so much may be of no use that it pays to look for it and throw it out.
    ///
    /// A job stands in the line of each of its flows, perhaps at the head for its host in each. So
    /// a sweep may leave as much as that: the next one has to be paid for by what came since.
    var wantsSweep: Bool {
        let kept = min(2 * sweptWeight, 4 * Flows.countMax * count)
        return weight + gates.waitingCount > max(8 * count, kept) + 256
    }

    /// A job begins to wait in its flows, behind all others of its class and rank.
    mutating func enter(_ job: ActiveJob) -> Ticket {
        serial += 1
        return enter(job, job.urgency.flows, order: order == .fifo ? serial : -serial)
    }

    /// A job that was given out goes behind all others of its class and rank that wait now.
    mutating func enterLast(_ job: ActiveJob) -> Ticket {
        serial += 1
        return enter(job, job.urgency.flows, order: serial)
    }

    /// A job that was given out goes before all others of its class and rank.
    mutating func putBack(_ job: ActiveJob) -> Ticket {
        serial += 1
        return enter(job, job.urgency.flows.returned, order: -serial)
    }

    /// A waiting job changes class or flows and keeps its time.
    mutating func move(_ job: ActiveJob) -> Ticket {
        leave(job.ticket)
        serial += 1
        let flows = job.ticket.isReturned ? job.urgency.flows.returned : job.urgency.flows
        return enter(job, flows, order: job.ticket.order)
    }

    private mutating func enter(_ job: ActiveJob, _ flows: Flows, order: Int64) -> Ticket {
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
            if let first = only.take() { standInLine(first) }
            standInLine(waiting)
        }
        return ticket
    }

    private mutating func standInLine(_ waiting: Waiting) {
        let line = Self.line(waiting.ticket.priority, waiting.ticket.rank)
        waiting.ticket.flows.forEach { lines[line].enter(waiting.entry, in: $0, waiting.host) }
        weight += waiting.ticket.flows.count
        guard !debts.isEmpty else { return }
        waiting.ticket.flows.forEach { flow in
            if let debt = debts.removeValue(forKey: flow) { lines[line].owe(flow, debt) }
        }
    }

    /// A worker was lost with a job of that flow. It costs others as much, whose turns come first
    /// now; beyond the limit debts of earlier ones are forgotten.
    mutating func owe(_ flow: FlowID, _ cost: UInt64) {
        if debts.count >= Self.debtorsMax, debts[flow] == nil { debts.removeAll() }
        debts[flow, default: 0] &+= cost
    }

    /// A job waits no longer.
    mutating func leave(_ ticket: Ticket) {
        count -= 1
        guard only == nil else { return only = nil }
        let line = Self.line(ticket.priority, ticket.rank)
        ticket.flows.forEach { lines[line].leave($0) }
    }

    private static func line(_ priority: Priority, _ rank: UInt8) -> Int {
        Int(Priority.high.rawValue - priority.rawValue) * ranks + Int(rank)
    }

    /// Takes the first job out that may be given to a worker now, where workers take `free` more;
    /// it still waits until it leaves.
    mutating func next(withLow: Bool, free: Int, _ isCurrent: (Entry) -> Bool) -> Next? {
        share?.sees(free: free)
        if let only {
            guard withLow || only.ticket.priority > .low,
                let flow = only.ticket.flows.first(where: { !isHeldUp($0, by: only.host) })
            else { return nil }
            return Next(job: only.entry.job, holder: flow.holder)
        }
        for place in share?.call() ?? [] { lines[place.line].call(place.flow) }
        let end = withLow ? lines.count : Self.line(.low, 0)
        for line in lines[..<end].indices where lines[line].count > 0 {
            guard let next = lines[line].next(at: line, &gates, &share, isCurrent) else { continue }
            return Next(job: next.entry.job, holder: next.flow.holder)
        }
        return nil
    }

    // MARK: - What is at workers

    /// A job is at a worker.
    mutating func began(_ job: ActiveJob) {
        share?.began(job.holder)
        if gates.heldMax > 0, let host = job.spec.host { gates.began(host, job.holder) }
    }

    /// A job is at a worker no longer: those who waited for its host are called.
    mutating func ended(_ job: ActiveJob) {
        share?.ended(job.holder)
        guard gates.heldMax > 0, let host = job.spec.host else { return }
        for place in gates.ended(host, job.holder) { lines[place.line].call(host, in: place.flow) }
    }

    /// Whether the job has to wait until its host has fewer transfers, or those who want it do.
    func isHeldUp(_ job: ActiveJob) -> Bool {
        let host = gates.heldMax > 0 ? job.spec.host : nil
        return job.ticket.flows.first { !isHeldUp($0, by: host) } == nil
    }

    private func isHeldUp(_ flow: FlowID, by host: HostName?) -> Bool {
        if share?.isClosed(to: flow.holder) == true { return true }
        return host.map { gates.isClosed($0, to: flow.holder) } == true
    }

    // MARK: - Rubbish

    /// Throws out what is not current.
    mutating func sweep(keeping isCurrent: (Entry) -> Bool) {
        gates.forgetWaiting()
        share?.forgetWaiting()
        weight = 0
        for line in lines.indices {
            lines[line].sweep(keeping: isCurrent)
            weight += lines[line].weight
        }
        sweptWeight = weight
    }

    /// Whether nothing waits, and nothing is counted that is at workers.
    var isIdle: Bool { count == 0 && gates.hosts.isEmpty && (share?.share.count ?? 0) == 0 }

    /// What is kept for jobs, current or not.
    var size: Int { lines.reduce(gates.waitingCount) { $0 + $1.weight + $1.flowCount } }
}
