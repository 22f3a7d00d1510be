public import ImageModel

/// What an operator wants of one entry of a cache (SEMANTICS §5.7).
public struct CacheCommand: Hashable, Sendable {
    /// Chosen by the asker, for the answer.
    public var number: UInt64
    /// What is done.
    public var action: EntryAction
    /// The named cache; `nil`: the default one.
    public var cache: String?
    /// The text of the cache key, as replies show it.
    public var key: String
    /// The tiers concerned.
    public var tiers: CacheTypes

    /// Describes a command.
    public init(
        number: UInt64, action: EntryAction, cache: String? = nil, key: String,
        tiers: CacheTypes = .all
    ) {
        self.number = number
        self.action = action
        self.cache = cache
        self.key = key
        self.tiers = tiers
    }
}

/// Answers a `CacheCommand`.
public struct CacheReport: Hashable, Sendable {
    /// Whose answer.
    public var number: UInt64
    /// What came of it.
    public var outcome: Outcome

    /// What came of a command.
    public enum Outcome: Hashable, Sendable {
        /// The tiers that have the entry, or from which it is gone.
        case tiers(CacheTypes)
        /// It could not be done.
        case failure(ImageError)
    }

    /// An answer.
    public init(number: UInt64, outcome: Outcome) {
        self.number = number
        self.outcome = outcome
    }
}
