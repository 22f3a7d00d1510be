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
    private let order: SchedulerLimits.FetchOrder
    private var serial: Int64 = 0
    /// The only job that waits. Most jobs find nobody in front of them and go at once: the lines
    /// need not know of them.
    private var only: Waiting?
    /// Jobs that wait.
    private(set) var count = 0
    /// Entries that were left by the last sweep or made since.
    private var weight = 0

    init(order: SchedulerLimits.FetchOrder = .fifo, heldPerHostMax: Int = 0) {
        self.order = order
        gates = HostGates(heldMax: heldPerHostMax)
    }

    /// Whether so much may be of no use that it pays to look for it and throw it out.
    var wantsSweep: Bool { weight + gates.waitingCount > 8 * count + 256 }

    /// A job begins to wait in its flows, behind all others of its class and rank.
    mutating func enter(_ job: ActiveJob) -> Ticket {
        serial += 1
        return enter(job, job.urgency.flows, order: order == .fifo ? serial : -serial)
    }

    /// A job that was given out goes before all others of its class and rank.
    mutating func putBack(_ job: ActiveJob) -> Ticket {
        serial += 1
        return enter(job, Flows(.returned), order: -serial)
    }

    /// A waiting job changes class or flows and keeps its time.
    mutating func move(_ job: ActiveJob) -> Ticket {
        leave(job.ticket)
        serial += 1
        let flows = job.ticket.isReturned ? job.ticket.flows : job.urgency.flows
        return enter(job, flows, order: job.ticket.order)
    }

    private mutating func enter(_ job: ActiveJob, _ flows: Flows, order: Int64) -> Ticket {
        let ticket = Ticket(
            priority: job.urgency.priority, rank: job.rank, flows: flows, order: order,
            serial: serial)
        let entry = Entry(order: order, serial: serial, cost: job.sheet.cost, job: job.id)
        let waiting = Waiting(
            entry: entry, ticket: ticket, host: gates.heldMax > 0 ? job.sheet.host : nil)
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

    /// Takes the first job out that may be given to a worker now; it still waits until it leaves.
    mutating func next(withLow: Bool, _ isCurrent: (Entry) -> Bool) -> Entry? {
        if let only {
            let mayGo = (withLow || only.ticket.priority > .low) && !isHeldUp(by: only.host)
            return mayGo ? only.entry : nil
        }
        let end = withLow ? lines.count : Self.line(.low, 0)
        for line in lines[..<end].indices where lines[line].count > 0 {
            if let entry = lines[line].next(at: line, &gates, isCurrent) { return entry }
        }
        return nil
    }

    // MARK: - Hosts

    /// A job is at a worker.
    mutating func began(_ job: ActiveJob) {
        if gates.heldMax > 0, let host = job.sheet.host { gates.began(host) }
    }

    /// A job is at a worker no longer: those who waited for its host are called.
    mutating func ended(_ job: ActiveJob) {
        guard gates.heldMax > 0, let host = job.sheet.host else { return }
        for place in gates.ended(host) { lines[place.line].call(host, in: place.flow) }
    }

    /// Whether the job has to wait for its host.
    func isHeldUp(_ job: ActiveJob) -> Bool {
        gates.heldMax > 0 && isHeldUp(by: job.sheet.host)
    }

    private func isHeldUp(by host: HostName?) -> Bool { host.map(gates.isClosed) == true }

    // MARK: - Rubbish

    /// Throws out what is not current.
    mutating func sweep(keeping isCurrent: (Entry) -> Bool) {
        gates.forgetWaiting()
        weight = 0
        for line in lines.indices {
            lines[line].sweep(keeping: isCurrent)
            weight += lines[line].weight
        }
    }

    /// What is kept for jobs, current or not.
    var size: Int { lines.reduce(gates.waitingCount) { $0 + $1.weight + $1.flowCount } }
}
