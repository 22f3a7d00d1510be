import Messages

/// Which children have not shown that they live: each has a counter that grows at least once a
/// second while its loop turns (SEMANTICS §14.9).
///
/// Looks come once a second. A child whose counter stands still for five of them hangs. A look that
/// comes late says nothing: whoever kept this process from running may have kept the others.
struct PulseWatch: Sendable {
    private struct Pulse: Sendable {
        let incarnation: Incarnation
        var value: UInt64
        var missed = 0
    }

    private var pulses: [Int: Pulse] = [:]
    private var lastLook: Instant?

    /// Milliseconds from look to look.
    static let lookMilliseconds = 1_000
    /// Looks without a sign of life after which a child hangs.
    static let missedMax = 5
    private static let latenessMilliseconds = 500

    /// When the next look is due; `nil` before the first.
    var nextLook: Instant? { lastLook?.adding(milliseconds: Self.lookMilliseconds) }

    /// Whether it is time to look.
    func isDue(at now: Instant) -> Bool { nextLook.map { $0 <= now } ?? true }

    /// Takes the counters of the children that live, by slot, and names those that hang. A child
    /// without a counter is not watched.
    mutating func looked(
        _ counters: [Int: (incarnation: Incarnation, value: UInt64)], at now: Instant
    ) -> [Int] {
        let isLate =
            nextLook.map { now > $0.adding(milliseconds: Self.latenessMilliseconds) } ?? true
        lastLook = now
        pulses = pulses.filter { counters[$0.key]?.incarnation == $0.value.incarnation }
        for (slot, counter) in counters {
            let known = pulses[slot]
            var pulse = Pulse(incarnation: counter.incarnation, value: counter.value)
            if let known, known.value == counter.value {
                // On a machine that is full of work every look may be late: what the others said
                // stays.
                pulse.missed = known.missed + (isLate ? 0 : 1)
            }
            pulses[slot] = pulse
        }
        return pulses.filter { $0.value.missed >= Self.missedMax }.keys.sorted()
    }

    /// It is being killed: a new life is looked at anew.
    mutating func forget(_ slot: Int) { pulses[slot] = nil }
}
