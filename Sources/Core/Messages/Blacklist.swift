public import ImageModel

/// What an operator wants of the list of what is not tried (SEMANTICS §7.2, §7.5).
public enum BlacklistCommand: Hashable, Sendable {
    /// The entries whose number is greater than `after`, as many as one report holds.
    case list(after: UInt64)
    /// Take the entries of a URL off, whatever they are for: of a whole URL, or of all whose URL a
    /// list shows so.
    case remove(url: String)
    /// Take all entries off.
    case clear
}

/// Answers a `BlacklistCommand`.
public struct BlacklistReport: Hashable, Sendable {
    /// Entries in the order of their numbers.
    public var entries: [Entry]
    /// Whether there are more: list again after the last one.
    public var hasMore: Bool
    /// How many were taken off.
    public var removed: UInt32

    /// An answer.
    public init(entries: [Entry] = [], hasMore: Bool = false, removed: UInt32 = 0) {
        self.entries = entries
        self.hasMore = hasMore
        self.removed = removed
    }

    /// Something that is not tried for a while.
    public struct Entry: Hashable, Sendable {
        /// Counts entries; never 0, never reused.
        public var number: UInt64
        /// The URL without user information and query.
        public var url: String
        /// The stage that is not tried, and of what: `fetch`, `decode`, `decode frame 3`,
        /// `decode all frames` or `transform`.
        public var operation: String
        /// What those who need it end with: `poisoned` where it is quarantined, else the error
        /// for which it was entered.
        public var reason: ErrorCode
        /// Milliseconds until it is tried again; 0: never.
        public var expiresInMilliseconds: UInt64

        /// Describes an entry.
        public init(
            number: UInt64, url: String, operation: String, reason: ErrorCode,
            expiresInMilliseconds: UInt64
        ) {
            self.number = number
            self.url = url
            self.operation = operation
            self.reason = reason
            self.expiresInMilliseconds = expiresInMilliseconds
        }
    }
}
