/// An operator's command for one or several cache entries (SEMANTICS §5.7).
public struct CacheCommand: Hashable, Sendable {
    /// A number chosen by the client and repeated in the answer.
    public var number: UInt64
    /// The action.
    public var action: EntryAction
    /// The named cache of the key; `nil` for the default one.
    public var cache: String?
    /// The cache key as shown in replies; empty for a selection of entries.
    public var key: String
    /// The tiers to act on.
    public var tiers: CacheTypes
    /// The selected entries, if there is no key. It names its cache by the same names.
    public var selection: EntrySelection
    /// Where to continue a list: `EntryPage.next` of the previous page; 0 for the beginning.
    public var after: UInt64
    /// The maximum number of entries per page of a list; 0 for the largest page.
    public var limit: UInt32
    /// For `removeSelected` and `clear`: whether progress reports precede the answer.
    public var wantsProgress = false

    /// Creates a command.
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

/// The answer to a `CacheCommand`.
public struct CacheReport: Hashable, Sendable {
    /// The number of the command.
    public var number: UInt64
    /// The outcome.
    public var outcome: Outcome

    /// The outcome of a command.
    public enum Outcome: Hashable, Sendable {
        /// The tiers that contain the entry, or from which it was removed.
        case tiers(CacheTypes)
        /// The listed entries, and the totals of those listed, counted, or removed.
        case page(EntryPage)
        /// The progress of a removal; the answer follows. Only for commands that request progress.
        case progress(EntryPage)
        /// The command failed.
        case failure(ImageError)
    }

    /// Creates an answer.
    public init(number: UInt64, outcome: Outcome) {
        self.number = number
        self.outcome = outcome
    }
}

/// A selection of cache entries (SEMANTICS §5.7): those that satisfy all conditions that are set.
/// Without conditions it selects all entries.
public struct EntrySelection: Hashable, Sendable {
    /// The cache; `nil` for all caches. Operators use its name; in jobs it is the prefix of stored
    /// texts, empty for the default one.
    public var cache: String?
    /// In jobs: further caches, if `cache` is set.
    package var furtherCaches: [String] = []
    /// The original of that URL and everything derived from it, for any identity.
    public var url: String?
    /// Entries whose key has this prefix.
    public var prefix: String?
    /// Entries that were stored at least this number of seconds ago.
    public var olderThanSeconds: UInt64?
    /// Entries with this tag (SEMANTICS §5.20).
    public var tag: String?

    /// Creates a selection that satisfies all of these conditions.
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

    /// The maximum age in seconds: a thousand years.
    public static let secondsMax = UInt64(DurationText.secondsMax)

    /// Whether every entry is selected.
    public var isAll: Bool { self == EntrySelection() }

    /// Returns whether an entry is selected by its stored text and its tags, regardless of its age.
    /// Unknown tags (`nil`) match any.
    public func matches(_ stored: String, tags: [String]?) -> Bool {
        if let tag, let tags, !tags.contains(tag) { return false }
        if let cache, !selects(CacheKey.cache(inStored: stored), besides: cache) { return false }
        guard url != nil || prefix != nil else { return true }
        let key = CacheKey.key(inStored: stored)
        if let prefix, !key.hasPrefix(prefix) { return false }
        if let url, !CacheKey.isOf(url, key) { return false }
        return true
    }

    private func selects(_ other: String, besides cache: String) -> Bool {
        other == cache || furtherCaches.contains(other)
    }
}

/// A number of entries and their total size.
public struct EntryCount: Hashable, Sendable {
    /// The number of entries.
    public var entries: UInt64
    /// The total size in bytes.
    public var bytes: UInt64

    /// Creates a count; zero by default.
    public init(entries: UInt64 = 0, bytes: UInt64 = 0) {
        (self.entries, self.bytes) = (entries, bytes)
    }

    /// Adds one entry.
    public mutating func add(_ bytes: Int) {
        entries += 1
        self.bytes += UInt64(clamping: bytes)
    }
}

/// An entry of a tier.
public struct EntryDescription: Hashable, Sendable {
    /// The named cache; empty for the default one.
    public var cache: String
    /// The key as shown in replies; in outcomes the stored text.
    public var key: String
    /// The tier: memory or disk.
    public var tier: CacheTypes
    /// The size in bytes.
    public var bytes: UInt64
    /// The format.
    public var format: ImageFormat
    /// The displayed size; 0 × 0 if the format has none.
    public var size: PixelSize
    /// When the entry was stored, in milliseconds since 1970; 0 if the tier doesn't report it.
    public var storedMilliseconds: UInt64
    /// When the entry was last used according to the disk index; 0 if the tier doesn't report it.
    public var accessedMilliseconds: UInt64

    /// Creates a description.
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

/// The outcome of a command for several entries. An entry in both tiers counts in both.
public struct EntryPage: Hashable, Sendable {
    /// For a list: the entries of this page, those on disk first.
    public var entries: [EntryDescription]
    /// For a list: the start of the next page; 0 if this was the last. For a stepwise removal: the
    /// start of the next step; 0 if it is complete.
    public var next: UInt64
    /// Entries in memory on this page, or the number counted or removed.
    public var memory: EntryCount
    /// The same for the disk.
    public var disk: EntryCount
    /// For a stepwise removal: the number of entries of external caches examined so far; in the
    /// outcome of a single step, in that step.
    public var examined: UInt64 = 0
    /// For a stepwise removal: the approximate total number of entries to examine; in the outcome
    /// of a single step, the number of entries remaining in the cache. 0 if unknown.
    public var total: UInt64 = 0

    /// Creates a page.
    public init(
        entries: [EntryDescription] = [], next: UInt64 = 0, memory: EntryCount = EntryCount(),
        disk: EntryCount = EntryCount()
    ) {
        self.entries = entries
        self.next = next
        self.memory = memory
        self.disk = disk
    }

    /// The maximum number of entries per page, so that a page fits into a message.
    public static let entriesMax = 256
    /// The maximum total size of their keys in bytes, not counting the first one.
    public static let keyBytesMax = 12 * 1_024
}
