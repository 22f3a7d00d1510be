/// How long a child has shown no sign of life, and why.
///
/// Only time counts in which it could have shown one: not what it waited for a processor, and not a
/// look that came late. After a minute nobody asks for the reason.
public struct Standstill: Hashable, Sendable {
    /// Milliseconds in which it could have run.
    public private(set) var stoodMilliseconds = 0
    /// Milliseconds in which it, or the supervisor, waited for a processor.
    public private(set) var waitedMilliseconds = 0
    private var looks = 0

    /// It has just shown that it lives.
    public init() {}

    /// Milliseconds after which a child hangs.
    static let stoodMax = 5_000
    /// Looks after which it hangs, whatever it waited for.
    static let looksMax = 60

    /// It showed nothing from the last look to this one, and waited for so many milliseconds of it.
    mutating func lasts(waitedMilliseconds waited: Int, isLate: Bool) {
        looks += 1
        waitedMilliseconds += waited
        // On a machine that is full of work every look may be late: what the others said stays.
        guard !isLate else { return }
        stoodMilliseconds += max(0, PulseWatch.lookMilliseconds - waited)
    }

    /// Whether it hangs.
    var isHang: Bool { stoodMilliseconds >= Self.stoodMax || looks >= Self.looksMax }
}
