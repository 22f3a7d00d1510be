import ImageModel
import Messages

/// Jobs that wait for one kind of worker: by class, then later stages first, then by virtual time.
///
/// A job that moved or left is not searched for: its old entry no longer carries the job's ticket
/// and is passed over.
struct StageQueue: Sendable {
    /// The place of a job; smaller tickets are served first.
    struct Ticket: Comparable, Hashable, Sendable {
        let priority: Priority
        let rank: UInt8
        /// Grows with every job; negative for those that were put back in front.
        let time: Int64
        /// No two tickets are the same.
        let serial: Int64

        /// Of a job that does not wait.
        static let none = Ticket(priority: .low, rank: .max, time: .max, serial: 0)

        static func < (left: Ticket, right: Ticket) -> Bool {
            if left.priority != right.priority { return left.priority > right.priority }
            return (left.rank, left.time) < (right.rank, right.time)
        }
    }

    /// One entry; current while its job has the same ticket.
    struct Entry: Comparable, Sendable {
        let ticket: Ticket
        let job: JobID

        static func < (left: Entry, right: Entry) -> Bool { left.ticket < right.ticket }
    }

    private var heap = Heap<Entry>()
    private var serial: Int64 = 0
    /// Jobs that wait.
    private(set) var count = 0

    /// Whether so many entries are of no use that it pays to throw them out.
    var wantsSweep: Bool { heap.count > 2 * count + 64 }

    /// A job begins to wait, behind all others of its class and rank, or before them.
    mutating func enter(_ job: JobID, _ priority: Priority, rank: UInt8, inFront: Bool) -> Ticket {
        count += 1
        return push(job, priority, rank, time: inFront ? -(serial + 1) : serial + 1)
    }

    /// A waiting job changes its class and keeps its time.
    mutating func move(_ job: JobID, _ ticket: Ticket, to priority: Priority) -> Ticket {
        push(job, priority, ticket.rank, time: ticket.time)
    }

    private mutating func push(_ job: JobID, _ priority: Priority, _ rank: UInt8, time: Int64)
        -> Ticket
    {
        serial += 1
        let ticket = Ticket(priority: priority, rank: rank, time: time, serial: serial)
        heap.push(Entry(ticket: ticket, job: job))
        return ticket
    }

    /// A job waits no longer.
    mutating func leave() { count -= 1 }

    /// The first entry, current or not.
    mutating func pop() -> Entry? { heap.pop() }

    /// Throws out what is not current.
    mutating func sweep(keeping isCurrent: (Entry) -> Bool) { heap.keep(where: isCurrent) }
}
