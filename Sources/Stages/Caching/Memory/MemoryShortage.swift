public import Linux

/// Whether memory is so short that the memory tier has to shrink. A decision over what the kernel
/// says; whoever asks reads that.
public struct MemoryShortage: Sendable {
    /// The part of its limit that a group may use before the tier shrinks, percent.
    public static let usedPercentMax = 90
    /// From so many percent of waiting on, the tier shrinks.
    public static let stallPercentMax = 10.0
    /// Below so many percent of the machine's memory that are available, the tier shrinks.
    public static let availablePercentMin = 5
    /// How long the tier is left alone after it shrank, milliseconds: the averages of the kernel
    /// look back ten seconds.
    public static let pause: Int64 = 10_000

    private var shrankAt: UnixTime?

    /// Nothing was shrunk yet.
    public init() {}

    /// Why the tier has to shrink now; `nil` where it need not, or did a moment ago.
    public mutating func reason(_ supply: MemorySupply, now: UnixTime) -> String? {
        if let shrankAt, now >= shrankAt, now < shrankAt.adding(milliseconds: Self.pause) {
            return nil
        }
        guard let reason = Self.reason(supply) else { return nil }
        shrankAt = now
        return reason
    }

    private static func reason(_ supply: MemorySupply) -> String? {
        if let limit = supply.limitBytes, let used = supply.usedBytes,
            limit > 0, used >= limit / 100 * usedPercentMax
        {
            return "the control group uses \(used) of \(limit) bytes"
        }
        if let stall = supply.stallPercent, stall >= stallPercentMax {
            return "processes waited for memory in \(Int(stall)) of 100 seconds"
        }
        if let available = supply.availableBytes, let total = supply.totalBytes,
            available < total / 100 * availablePercentMin
        {
            return "the machine has \(available) of \(total) bytes left"
        }
        return nil
    }
}
