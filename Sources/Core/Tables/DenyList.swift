public import ImageModel
public import Messages

/// What is not tried for a while, or may soon not be: blacklist and quarantine are such tables.
///
/// It is keyed by the standard library's hash, whose key is drawn anew in every process: collisions
/// cannot be prepared. It lives as long as the coordinator.
public struct DenyList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// One entry.
    public struct Entry: Sendable {
        /// Counts the entries of all tables; stays when the entry is renewed.
        public let number: UInt64
        /// The whole URL without user info, to find it again; people see `shownURL`.
        public let url: String
        /// What is known of the key.
        public var value: Value
        /// When it was entered, or renewed last.
        public fileprivate(set) var since: Instant
        /// `nil`: never.
        @usableFromInline fileprivate(set) var expiry: Instant?

        /// Whether it has not expired.
        @inlinable public func isLive(at now: Instant) -> Bool { expiry.map { $0 > now } ?? true }

        /// As a report has it: 0 for ever.
        public func millisecondsLeft(at now: Instant) -> UInt64 {
            expiry.map { UInt64($0.milliseconds(since: now)) } ?? 0
        }
    }

    private let entriesMax: Int
    private let milliseconds: Int
    @usableFromInline var entries: [Key: Entry] = [:]
    /// By age; some may have left.
    private var order = Fifo<(number: UInt64, key: Key)>()

    /// At most `entriesMax` entries, the oldest makes room; `milliseconds` until one is forgotten,
    /// give or take a tenth, so that what came together does not come back together; 0: never.
    public init(entriesMax: Int, milliseconds: Int) {
        self.entriesMax = entriesMax
        self.milliseconds = milliseconds
    }

    /// Whether there is no entry at all: then a key needs not even be made.
    @inlinable public var isEmpty: Bool { entries.isEmpty }

    /// Entries, forgotten ones that are still there included.
    @inlinable public var count: Int { entries.count }

    /// The entry of a key, unless it expired.
    @inlinable public func entry(_ key: Key, at now: Instant) -> Entry? {
        guard let entry = entries[key], entry.isLive(at: now) else { return nil }
        return entry
    }

    /// All entries that have not expired, in no order.
    public func live(at now: Instant) -> [(key: Key, entry: Entry)] {
        entries.compactMap { $0.value.isLive(at: now) ? ($0.key, $0.value) : nil }
    }

    /// Enters a key, or renews its entry. `numbers` is the last one that any table gave.
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

    /// Changes the value of a key that is there; its age stays.
    public mutating func update(_ key: Key, _ value: Value) { entries[key]?.value = value }

    /// Forgets a key; nothing where there is none.
    public mutating func remove(_ key: Key) { entries[key] = nil }

    /// Removes what is meant; returns those that had not expired.
    public mutating func remove(
        at now: Instant, where isMeant: (Entry) -> Bool
    ) -> [Entry] {
        let meant = entries.filter { isMeant($0.value) }
        for key in meant.keys { entries[key] = nil }
        return meant.values.filter { $0.isLive(at: now) }
    }

    /// What expired in front goes, and beyond the limit the oldest.
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

extension DenyList.Entry {
    /// The URL as logs show it: queries are often signed or carry keys.
    public var shownURL: String { (try? SourceURL(url))?.forLogs ?? "" }

    /// Whether an operator means it who writes this, a whole URL or what the list shows. User info
    /// does not count.
    public func isNamed(_ text: String) -> Bool {
        let text = SourceURL.percentEncodingNonASCII(text)
        return SourceKey.withoutUserInfo(text) == url || text == shownURL
    }
}

extension SourceKey {
    /// The URL without user info.
    public var bareURL: String { Self.withoutUserInfo(url) }

    /// A URL without user info; any other text as it is.
    public static func withoutUserInfo(_ url: String) -> String {
        (try? SourceURL(url))?.withoutUserInfo ?? url
    }
}

/// Spreads what came together, so that it does not come back together.
public enum Jitter {
    /// `milliseconds`, give or take one `part`-th of it. The same seed gives the same answer, by
    /// Fibonacci hashing: no clock, no dice.
    public static func spread(_ milliseconds: Int, part: Int, seed: UInt64) -> Int {
        let dice = Int((seed &* 0x9E37_79B9_7F4A_7C15) >> 48)
        let most = milliseconds / part
        return milliseconds - most + 2 * most * dice / 65_535
    }
}
