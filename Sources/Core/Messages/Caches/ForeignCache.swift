/// A named cache that the workers of a foreign pool hold (SEMANTICS §5.26).
public struct ForeignCache: Hashable, Sendable {
    /// The pool whose workers are asked.
    public var pool: String
    /// Milliseconds that a load waits for the answer to a query.
    public var patience: Int
    /// Where our own cache keeps what a query found in it.
    public var promotion: CachePromotion

    /// Held by that pool.
    public init(
        pool: String, patience: Int = ForeignCache.patienceUsual,
        promotion: CachePromotion = .memory
    ) {
        (self.pool, self.patience, self.promotion) = (pool, patience, promotion)
    }

    /// Milliseconds where nobody says how long.
    public static let patienceUsual = 250
    /// What may be said.
    public static let patienceRange = 1...10_000
    /// How many times as long a store, or a removal, may take: no load waits for them, unless it
    /// says so.
    private static let writesFactor = 10

    /// Milliseconds until the answer to a job is not waited for any more.
    public func patience(for work: JobWork) -> Int {
        switch work {
        case .query: return patience
        case .entry(let work) where work.action == .contains: return patience
        default: return patience * Self.writesFactor
        }
    }
}
