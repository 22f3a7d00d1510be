package import ImageModel
import Messages
import Tables

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

extension StageQueue {
    /// The place of a job that waits.
    struct Ticket: Hashable, Sendable {
        let priority: Priority
        let rank: UInt8
        /// The flows in which it stands.
        let flows: Flows
        /// Smaller goes first within a flow; kept when the job moves.
        let order: Int64
        /// No two tickets are the same.
        let serial: Int64

        /// Whether it is for a job that was given out before.
        var isReturned: Bool { flows.first.isReturned }

        /// Whether a job that is wanted so is in the right place.
        func suits(_ urgency: Urgency) -> Bool {
            priority == urgency.priority
                && flows == (isReturned ? urgency.flows.returned : urgency.flows)
        }

        /// Of a job that does not wait.
        static let none = Ticket(
            priority: .low, rank: .max, flows: Flows(.house), order: .max, serial: 0)
    }

    /// A job with all that the lines have to know of it.
    struct Waiting: Sendable {
        let entry: Entry
        let ticket: Ticket
        let host: HostName?
    }

    /// The job that is next, and whose share it takes.
    struct Next: Sendable {
        let job: JobID
        let holder: FlowID
    }

    /// A job in one flow; current while its job's ticket has the same serial.
    struct Entry: Comparable, Sendable {
        let order: Int64
        let serial: Int64
        let cost: UInt64
        let job: JobID

        static func < (left: Entry, right: Entry) -> Bool { left.order < right.order }
        static func == (left: Entry, right: Entry) -> Bool { left.serial == right.serial }
    }
}

/// How many transfers each host has at workers, whose they are, and which places wait for it to
/// have fewer.
struct HostGates: Sendable {
    /// Where jobs for a host stand aside: a line of the queue and a flow in it.
    struct Place: Hashable, Sendable {
        let line: Int
        let flow: FlowID
    }

    /// At a time; 0: as many as there are.
    let heldMax: Int
    private var held: [HostName: FairShare] = [:]
    private var waiting: [HostName: [Place]] = [:]
    /// Places that stand aside, some of them for nothing any more.
    private(set) var waitingCount = 0

    init(heldMax: Int) { self.heldMax = heldMax }

    /// Whether one more transfer of the flow has to wait.
    func isClosed(_ host: HostName, to flow: FlowID) -> Bool {
        let share = held[host] ?? FairShare()
        return !share.admits(flow, free: heldMax - share.count)
    }

    /// Transfers of a host at workers, cancelled ones included until their outcome.
    func count(_ host: HostName) -> Int { held[host]?.count ?? 0 }

    /// All hosts that have transfers at workers.
    var hosts: Dictionary<HostName, FairShare>.Keys { held.keys }

    mutating func began(_ host: HostName, _ flow: FlowID) {
        held.change(host, from: FairShare()) { $0.took(flow) }
    }

    /// A transfer is over; the places that waited for that may try again.
    mutating func ended(_ host: HostName, _ flow: FlowID) -> [Place] {
        let left = held.change(host) {
            $0.gaveBack(flow)
            return $0.count
        }
        if left == 0 { held[host] = nil }
        guard let places = waiting.removeValue(forKey: host) else { return [] }
        waitingCount -= places.count
        return places
    }

    mutating func stepAside(_ place: Place, for host: HostName) {
        waiting[host, default: []].append(place)
        waitingCount += 1
    }

    /// Everybody tries again.
    mutating func forgetWaiting() {
        waiting.removeAll()
        waitingCount = 0
    }
}

/// The host and port of a transfer, lower case, the port always named: what a limit per host
/// counts.
package struct HostName: Hashable, Sendable {
    let text: String

    /// `nil` for URLs without a host.
    package init?(_ url: SourceURL) {
        let authority = url.authority
        guard !authority.isEmpty else { return nil }
        text = authority
    }
}

/// Whether a flow may hold one more of the jobs that a kind of worker takes at a time, and which
/// flows wait for that.
struct ShareGate: Sendable {
    private(set) var share = FairShare()
    private var free = 0
    private var waiting: [HostGates.Place] = []
    /// Whether somebody may be called who stood aside.
    private var hasNews = false

    /// Places that stand aside: those of owners who hold three jobs at least for each that is free,
    /// so that there are not many.
    var waitingCount: Int { waiting.count }

    func isClosed(to flow: FlowID) -> Bool { !share.admits(flow, free: free) }

    /// So many more jobs are taken now.
    mutating func sees(free: Int) {
        if free > self.free { hasNews = true }
        self.free = free
    }

    mutating func began(_ flow: FlowID) { share.took(flow) }

    mutating func ended(_ flow: FlowID) {
        share.gaveBack(flow)
        hasNews = true
    }

    mutating func stepAside(_ place: HostGates.Place) {
        if !waiting.contains(place) { waiting.append(place) }
    }

    /// The places that may try again.
    mutating func call() -> [HostGates.Place] {
        guard hasNews else { return [] }
        hasNews = false
        let all = waiting
        waiting = all.filter { isClosed(to: $0.flow.holder) }
        return all.filter { !isClosed(to: $0.flow.holder) }
    }

    /// Everybody tries again.
    mutating func forgetWaiting() { waiting.removeAll() }
}
