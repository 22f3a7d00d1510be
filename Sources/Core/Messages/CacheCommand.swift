public import ImageModel

/// What an operator wants of one entry of a cache, or of several (SEMANTICS §5.7).
public struct CacheCommand: Hashable, Sendable {
    /// Chosen by the asker, for the answer.
    public var number: UInt64
    /// What is done.
    public var action: EntryAction
    /// The named cache of the key; `nil`: the default one.
    public var cache: String?
    /// The text of the cache key, as replies show it; empty where several entries are meant.
    public var key: String
    /// The tiers concerned.
    public var tiers: CacheTypes
    /// Which entries are meant, where no key is named. Its cache is a name, too.
    public var selection: EntrySelection
    /// Where a list goes on: `EntryPage.next` of the page before; 0 is the beginning.
    public var after: UInt64
    /// Entries of one page of a list; 0: as many as there may be.
    public var limit: UInt32
    /// Of `removeSelected` and `clear`: whether reports of progress precede the answer.
    public var wantsProgress = false

    /// Describes a command.
    public init(
        number: UInt64, action: EntryAction, cache: String? = nil, key: String,
        tiers: CacheTypes = .all, selection: EntrySelection = EntrySelection(), after: UInt64 = 0,
        limit: UInt32 = 0
    ) {
        self.selection = selection
        self.after = after
        self.limit = limit
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
        /// Entries that are listed, and how many are listed, counted, or gone.
        case page(EntryPage)
        /// How far a removal is; the answer follows. Only for commands that want progress.
        case progress(EntryPage)
        /// It could not be done.
        case failure(ImageError)
    }

    /// An answer.
    public init(number: UInt64, outcome: Outcome) {
        self.number = number
        self.outcome = outcome
    }
}
