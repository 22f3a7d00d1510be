import Messages
import Tables

/// Moments at which jobs are looked after that are still there then.
struct JobAlarms: Sendable {
    /// Current while the job has this very moment.
    struct Alarm: Comparable, Sendable {
        let at: Instant
        let serial: UInt64
        let job: JobID

        static func < (left: Alarm, right: Alarm) -> Bool {
            (left.at, left.serial) < (right.at, right.serial)
        }

        static func == (left: Alarm, right: Alarm) -> Bool { left.serial == right.serial }
    }

    private var heap = Heap<Alarm>()
    private var last: UInt64 = 0

    var first: Alarm? { heap.first }
    var count: Int { heap.count }

    mutating func set(_ job: JobID, at moment: Instant) {
        last += 1
        heap.push(Alarm(at: moment, serial: last, job: job))
    }

    mutating func removeFirst() { _ = heap.pop() }

    mutating func keep(where isCurrent: (Alarm) -> Bool) { heap.keep(where: isCurrent) }
}
