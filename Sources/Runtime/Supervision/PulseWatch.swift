import Messages

/// Which children have not shown that they live: each has a counter that grows at least once a
/// second while its loop turns (SEMANTICS §14.9).
///
/// Looks come once a second. A child whose counter stands still for five of them hangs, unless it
/// could not run (`Standstill`). A look that comes late says nothing: whoever kept this process
/// from running may have kept the others.
struct PulseWatch: Sendable {
    private struct Pulse: Sendable {
        let incarnation: Incarnation
        var value: UInt64
        var standstill = Standstill()
    }

    private var pulses: [Int: Pulse] = [:]
    private var lastLook: Instant?

    /// Milliseconds from look to look.
    static let lookMilliseconds = 1_000
    private static let latenessMilliseconds = 500

    /// When the next look is due; `nil` before the first.
    var nextLook: Instant? { lastLook?.adding(milliseconds: Self.lookMilliseconds) }

    /// Whether it is time to look.
    func isDue(at now: Instant) -> Bool { nextLook.map { $0 <= now } ?? true }

    /// Whether a child's counter is what it was at the last look.
    func standsStill(_ slot: Int, at value: UInt64) -> Bool { pulses[slot]?.value == value }

    /// Takes the counters of the children that live, by slot, and what those that stand still
    /// `waited` for a processor, in milliseconds since the last look; names those that hang. A
    /// child without a counter is not watched.
    mutating func looked(
        _ counters: [Int: (incarnation: Incarnation, value: UInt64)], waited: [Int: Int] = [:],
        at now: Instant
    ) -> [Int] {
        let isLate =
            nextLook.map { now > $0.adding(milliseconds: Self.latenessMilliseconds) } ?? true
        lastLook = now
        pulses = pulses.filter { counters[$0.key]?.incarnation == $0.value.incarnation }
        for (slot, counter) in counters {
            var pulse = Pulse(incarnation: counter.incarnation, value: counter.value)
            if let known = pulses[slot], known.value == counter.value {
                pulse.standstill = known.standstill
                pulse.standstill.lasts(waitedMilliseconds: waited[slot] ?? 0, isLate: isLate)
            }
            pulses[slot] = pulse
        }
        return pulses.filter { $0.value.standstill.isHang }.keys.sorted()
    }

    /// It is being killed: a new life is looked at anew. How long it stood still.
    mutating func forget(_ slot: Int) -> Standstill {
        pulses.removeValue(forKey: slot)?.standstill ?? Standstill()
    }
}
