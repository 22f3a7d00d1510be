import ImageModel
import Messages

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
