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

/// Which entries of the caches are meant (SEMANTICS §5.7): those that everything holds for which
/// is said. One that says nothing means all of them.
public struct EntrySelection: Hashable, Sendable {
    /// Of that cache; `nil`: of every one. Operators name it; in jobs it is as stored texts begin,
    /// empty for the default one.
    public var cache: String?
    /// In jobs: caches that are meant as well, where there is one.
    package var furtherCaches: [String] = []
    /// The original of that URL and all that was made of it, whoever asked for it.
    public var url: String?
    /// Entries whose key begins so.
    public var prefix: String?
    /// Entries that were stored so many seconds ago, or earlier.
    public var olderThanSeconds: UInt64?
    /// Entries that have that tag (SEMANTICS §5.20).
    public var tag: String?

    /// Means the entries of which all of this holds.
    public init(
        cache: String? = nil, url: String? = nil, prefix: String? = nil,
        olderThanSeconds: UInt64? = nil, tag: String? = nil
    ) {
        self.cache = cache
        self.url = url
        self.prefix = prefix
        self.olderThanSeconds = olderThanSeconds
        self.tag = tag
    }

    /// More seconds nobody means: a thousand years.
    public static let secondsMax = UInt64(DurationText.secondsMax)

    /// Whether it means every entry.
    public var isAll: Bool { self == EntrySelection() }

    /// Whether it means an entry by the text under which it is stored and its tags, whatever its
    /// age. Tags that are not known may be any.
    public func matches(_ stored: String, tags: [String]?) -> Bool {
        if let tag, let tags, !tags.contains(tag) { return false }
        if let cache, !means(CacheKey.cache(inStored: stored), besides: cache) { return false }
        guard url != nil || prefix != nil else { return true }
        let key = CacheKey.key(inStored: stored)
        if let prefix, !key.hasPrefix(prefix) { return false }
        if let url, !CacheKey.isOf(url, key) { return false }
        return true
    }

    private func means(_ other: String, besides cache: String) -> Bool {
        other == cache || furtherCaches.contains(other)
    }
}

/// Entries, and their bytes.
public struct EntryCount: Hashable, Sendable {
    /// How many.
    public var entries: UInt64
    /// What they take, bytes.
    public var bytes: UInt64

    /// A count; nothing unless told otherwise.
    public init(entries: UInt64 = 0, bytes: UInt64 = 0) {
        (self.entries, self.bytes) = (entries, bytes)
    }

    /// Counts one more.
    public mutating func add(_ bytes: Int) {
        entries += 1
        self.bytes += UInt64(clamping: bytes)
    }
}

/// One entry of one tier.
public struct EntryDescription: Hashable, Sendable {
    /// The named cache; empty: the default one.
    public var cache: String
    /// The key, as replies show it; in outcomes the text under which it is stored.
    public var key: String
    /// Memory or disk.
    public var tier: CacheTypes
    /// Length of its bytes.
    public var bytes: UInt64
    /// What they are.
    public var format: ImageFormat
    /// Displayed size; 0 x 0 where the format has none.
    public var size: PixelSize
    /// When they were stored, milliseconds since 1970; 0: the tier does not say.
    public var storedMilliseconds: UInt64
    /// When they were last used, as far as the disk knows; 0: the tier does not say.
    public var accessedMilliseconds: UInt64

    /// Describes an entry.
    public init(
        cache: String = "", key: String, tier: CacheTypes, bytes: UInt64, format: ImageFormat,
        size: PixelSize, storedMilliseconds: UInt64 = 0, accessedMilliseconds: UInt64 = 0
    ) {
        self.cache = cache
        self.key = key
        self.tier = tier
        self.bytes = bytes
        self.format = format
        self.size = size
        self.storedMilliseconds = storedMilliseconds
        self.accessedMilliseconds = accessedMilliseconds
    }
}

/// What came of a command about several entries. An entry that is in both tiers counts in both.
public struct EntryPage: Hashable, Sendable {
    /// Of a list: the next entries, those of the disk first.
    public var entries: [EntryDescription]
    /// Of a list: where the next page begins; 0: that was all. Of a removal in steps: where the
    /// next step begins; 0: it is complete.
    public var next: UInt64
    /// Entries of memory that are in this page, that were counted, or that are gone.
    public var memory: EntryCount
    /// The same of the disk.
    public var disk: EntryCount
    /// Of a removal in steps: entries of external caches that were examined so far; in the outcome
    /// of one step, those of that step.
    public var examined: UInt64 = 0
    /// Of a removal in steps: about how many entries there are to examine in all; in the outcome of
    /// one step, how many the cache holds after it. 0: not known.
    public var total: UInt64 = 0

    /// A page.
    public init(
        entries: [EntryDescription] = [], next: UInt64 = 0, memory: EntryCount = EntryCount(),
        disk: EntryCount = EntryCount()
    ) {
        self.entries = entries
        self.next = next
        self.memory = memory
        self.disk = disk
    }

    /// Entries of one page at most, so that a page fits into a message.
    public static let entriesMax = 256
    /// Bytes of their keys at most, besides those of the first one.
    public static let keyBytesMax = 12 * 1_024
}
