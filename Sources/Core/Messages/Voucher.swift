/// Lets a client repeat an answer without asking, for as long as the voucher stands
/// (SEMANTICS §5.24).
public struct Voucher: Hashable, Sendable {
    /// Which one, in this life of the coordinator; not 0, and never used twice.
    public var number: UInt64
    /// By the coordinator's monotonic clock; `nil`: it does not expire.
    public var until: Instant?

    /// Names one.
    public init(number: UInt64, until: Instant? = nil) {
        self.number = number
        self.until = until
    }
}

/// Loads that a client answered by itself, by vouchers.
public struct UsedVouchers: Hashable, Sendable {
    /// How many loads; not 0.
    public var loads: UInt64
    /// By which vouchers, each once.
    public var numbers: [UInt64]

    /// A tally.
    public init(loads: UInt64, numbers: [UInt64]) {
        self.loads = loads
        self.numbers = numbers
    }
}
