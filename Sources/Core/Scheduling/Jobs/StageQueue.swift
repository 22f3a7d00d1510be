import ImageModel
import Messages

/// Jobs that wait for one kind of worker: by class, then later stages first, then fairly between
/// flows (`FairLine`), within a flow in order.
///
/// A job that moved or left is not searched for: its old entry no longer carries the job's ticket
/// and is passed over.
struct StageQueue: Sendable {
    private static let ranks = 3

    /// The highest class and the latest stage first.
    private var lines = (0..<Priority.allCases.count * ranks).map { _ in FairLine() }
    private(set) var gates: HostGates
    private let order: SchedulerLimits.FetchOrder
    private var serial: Int64 = 0
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
        count += 1
        let ticket = Ticket(
            priority: job.urgency.priority, rank: job.rank, flows: flows, order: order,
            serial: serial)
        let entry = Entry(order: order, serial: serial, cost: job.sheet.cost, job: job.id)
        let host = gates.heldMax > 0 ? job.sheet.host : nil
        let line = Self.line(ticket.priority, ticket.rank)
        flows.forEach { lines[line].enter(entry, in: $0, host) }
        weight += flows.count
        return ticket
    }

    /// A job waits no longer.
    mutating func leave(_ ticket: Ticket) {
        count -= 1
        let line = Self.line(ticket.priority, ticket.rank)
        ticket.flows.forEach { lines[line].leave($0) }
    }

    private static func line(_ priority: Priority, _ rank: UInt8) -> Int {
        Int(Priority.high.rawValue - priority.rawValue) * ranks + Int(rank)
    }

    /// Takes the first job out that may be given to a worker now; it still waits until it leaves.
    mutating func next(withLow: Bool, _ isCurrent: (Entry) -> Bool) -> Entry? {
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
        gates.heldMax > 0 && job.sheet.host.map(gates.isClosed) == true
    }

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
