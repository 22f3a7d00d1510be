/// What the disk tier did since the process started.
public struct DiskCounts: Sendable, Hashable {
    /// Entries and what they took, bytes.
    public struct Gone: Sendable, Hashable {
        /// How many.
        public var entries: UInt64 = 0
        /// What they took.
        public var bytes: UInt64 = 0

        mutating func add(_ victims: [IndexVictim]) {
            entries += UInt64(victims.count)
            bytes += victims.reduce(0) { $0 + UInt64(clamping: $1.charge) }
        }
    }

    /// Bytes of bodies and their headers that were written.
    public var bytesWritten: UInt64 = 0
    /// How often it began to go down to the low-water mark.
    public var trims: UInt64 = 0
    /// What went for the limits.
    public var trimmed = Gone()
    /// What went for its age.
    public var expired = Gone()
    /// How often it began to fail.
    public var failures: UInt64 = 0

    /// Nothing yet.
    public init() {}
}
