/// Keys that are not to be tried until they expire: the failure cache and the quarantine are such
/// tables.
///
/// Keys are hashed by the standard library with a random seed per process, so collisions can't be
/// provoked. The table lives as long as the coordinator.
public struct FailureCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// An entry of the table.
    public struct Entry: Sendable {
        /// A number unique across all tables; unchanged when the entry is renewed.
        public let number: UInt64
        /// The whole URL without user info, used for lookups; people see `shownURL`.
        public let url: String
        /// The value stored for the key.
        public var value: Value
        /// When the entry was added or last renewed.
        public fileprivate(set) var since: Instant
        /// The expiry; `nil` for never.
        @usableFromInline fileprivate(set) var expiry: Instant?

        /// Returns whether the entry has not expired.
        @inlinable public func isLive(at now: Instant) -> Bool { expiry.map { $0 > now } ?? true }

        /// Returns the milliseconds until expiry for a report; 0 for never.
        public func millisecondsLeft(at now: Instant) -> UInt64 {
            expiry.map { UInt64($0.milliseconds(since: now)) } ?? 0
        }
    }

    private let entriesMax: Int
    private let milliseconds: Int
    @usableFromInline var entries: [Key: Entry] = [:]
    /// Keys by age; some may have been removed.
    private var order = Deque<(number: UInt64, key: Key)>()

    /// Creates a table of at most `entriesMax` entries, evicting the oldest. Entries expire after
    /// `milliseconds`, plus or minus a tenth, so that entries added together don't expire together;
    /// 0 for never.
    public init(entriesMax: Int, milliseconds: Int) {
        self.entriesMax = entriesMax
        self.milliseconds = milliseconds
    }

    /// Whether there are no entries, so that not even a key has to be computed.
    @inlinable public var isEmpty: Bool { entries.isEmpty }

    /// The number of entries, including expired ones that are not removed yet.
    @inlinable public var count: Int { entries.count }

    /// Returns the entry of a key unless it has expired.
    @inlinable public func entry(_ key: Key, at now: Instant) -> Entry? {
        guard let entry = entries[key], entry.isLive(at: now) else { return nil }
        return entry
    }

    /// Returns all entries that have not expired, unordered.
    public func live(at now: Instant) -> [(key: Key, entry: Entry)] {
        entries.compactMap { $0.value.isLive(at: now) ? ($0.key, $0.value) : nil }
    }

    /// Adds a key, or renews its entry. `numbers` is the last number assigned in any table.
    public mutating func put(
        _ key: Key, _ value: Value, url: String, at now: Instant, numbers: inout UInt64
    ) {
        guard entriesMax > 0 else { return }
        if var entry = entry(key, at: now) {
            entry.value = value
            entry.since = now
            entry.expiry = expiry(entry.number, from: now)
            entries[key] = entry
            return
        }
        entries[key] = nil
        makeRoom(at: now)
        numbers += 1
        entries[key] = Entry(
            number: numbers, url: url, value: value, since: now,
            expiry: expiry(numbers, from: now))
        order.append((numbers, key))
    }

    /// Changes the value of an existing key without renewing it.
    public mutating func update(_ key: Key, _ value: Value) { entries[key]?.value = value }

    /// Removes a key if present.
    public mutating func remove(_ key: Key) { entries[key] = nil }

    /// Removes matching entries; returns those that had not expired.
    public mutating func remove(
        at now: Instant, where isMeant: (Entry) -> Bool
    ) -> [Entry] {
        let meant = entries.filter { isMeant($0.value) }
        for key in meant.keys { entries[key] = nil }
        return meant.values.filter { $0.isLive(at: now) }
    }

    /// Removes the oldest entries while they are expired or the table is full.
    private mutating func makeRoom(at now: Instant) {
        while let oldest = order.first {
            if let entry = entries[oldest.key], entry.number == oldest.number {
                guard entries.count >= entriesMax || !entry.isLive(at: now) else { break }
                entries[oldest.key] = nil
            }
            _ = order.popFirst()
        }
        guard order.count > 2 * entries.count + 64 else { return }
        order.keep { [entries] in entries[$0.key]?.number == $0.number }
    }

    private func expiry(_ number: UInt64, from now: Instant) -> Instant? {
        guard milliseconds > 0 else { return nil }
        return now.adding(
            milliseconds: Jitter.spread(milliseconds, part: 10, seed: number))
    }
}

extension FailureCache.Entry {
    /// The URL as shown in logs, because queries are often signed or contain keys.
    public var shownURL: String { (try? SourceURL(url))?.forLogs ?? "" }

    /// Returns whether an operator's text refers to the entry: the whole URL, or the form shown in
    /// lists. User info is ignored.
    public func isNamed(_ text: String) -> Bool {
        let text = SourceURL.percentEncodingNonASCII(text)
        return SourceKey.withoutUserInfo(text) == url || text == shownURL
    }
}

extension SourceKey {
    /// The URL without user info.
    public var bareURL: String { Self.withoutUserInfo(url) }

    /// Returns a URL without user info; any other text is returned unchanged.
    public static func withoutUserInfo(_ url: String) -> String {
        (try? SourceURL(url))?.withoutUserInfo ?? url
    }
}

/// Adds jitter, so that simultaneous events don't recur simultaneously.
public enum Jitter {
    /// Returns `milliseconds` plus or minus up to `milliseconds / part`. Deterministic for a seed,
    /// by Fibonacci hashing: no clock, no random numbers.
    public static func spread(_ milliseconds: Int, part: Int, seed: UInt64) -> Int {
        let dice = Int((seed &* 0x9E37_79B9_7F4A_7C15) >> 48)
        let most = milliseconds / part
        return milliseconds - most + 2 * most * dice / 65_535
    }
}
