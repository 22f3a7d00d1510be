import Model

/// Timers by time. Obsolete ones are skipped when they come first, and removed once they are the
/// majority; the owner knows which ones are.
struct AlarmQueue<ID: Sendable> {
    struct Alarm: Comparable, Sendable {
        let at: Instant
        let serial: UInt64
        let id: ID

        static func < (left: Alarm, right: Alarm) -> Bool {
            (left.at, left.serial) < (right.at, right.serial)
        }

        static func == (left: Alarm, right: Alarm) -> Bool { left.serial == right.serial }
    }

    private var heap = Heap<Alarm>()
    private var last: UInt64 = 0

    var count: Int { heap.count }
    /// The earliest timer, which may be obsolete.
    var first: Alarm? { heap.first }

    mutating func set(_ id: ID, at moment: Instant) {
        last += 1
        heap.push(Alarm(at: moment, serial: last, id: id))
    }

    mutating func popFirst() -> Alarm? { heap.pop() }

    /// Removes obsolete timers: those at the front immediately, the others once they are the
    /// majority, given the number of owners.
    mutating func forget(ofWhich owners: Int, unless isCurrent: (Alarm) -> Bool) {
        while let alarm = heap.first, !isCurrent(alarm) { _ = heap.pop() }
        if heap.count > 2 * owners + 512 { heap.keep(where: isCurrent) }
    }
}

/// Something with a number and at most one current timer.
protocol Alarmed: AnyObject {
    var id: JobID { get }
    /// When its timer is due.
    var alarm: Instant? { get set }
}

extension AlarmQueue<JobID> {
    /// Sets the owner's timer, replacing any earlier one.
    mutating func set(_ owner: some Alarmed, at moment: Instant) {
        owner.alarm = moment
        set(owner.id, at: moment)
    }

    /// Removes the first timer and returns its owner, or `nil` if the timer is obsolete.
    mutating func popFirst<Owner: Alarmed>(of owners: [JobID: Owner]) -> Owner? {
        guard let alarm = popFirst(), let owner = owners[alarm.id], owner.alarm == alarm.at else {
            return nil
        }
        return owner
    }

    /// Removes obsolete timers.
    mutating func forget(unlessOf owners: [JobID: some Alarmed]) {
        forget(ofWhich: owners.count) { owners[$0.id]?.alarm == $0.at }
    }
}

extension Instant? {
    /// The earlier of two optional instants, ignoring `nil`.
    func min(_ other: Instant?) -> Instant? {
        guard let self else { return other }
        return other.map { Swift.min(self, $0) } ?? self
    }
}
