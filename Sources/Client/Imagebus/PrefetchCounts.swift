/// How far a prefetch is, or how it ended.
public struct PrefetchCounts: Hashable, Sendable {
    /// URLs in all.
    public var total: Int
    /// URLs that ended by themselves, with or without success.
    public var finished: Int
    /// Of those, the ones that ended with an error. That no cache has it is none.
    public var skipped: Int
    /// URLs that were cancelled; with `finished` it makes `total` at the end.
    public var cancelled: Int

    /// Counts.
    public init(total: Int, finished: Int = 0, skipped: Int = 0, cancelled: Int = 0) {
        self.total = total
        self.finished = finished
        self.skipped = skipped
        self.cancelled = cancelled
    }
}
