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

extension Instant? {
    /// The earlier of two optional instants, ignoring `nil`.
    func min(_ other: Instant?) -> Instant? {
        guard let self else { return other }
        return other.map { Swift.min(self, $0) } ?? self
    }
}
