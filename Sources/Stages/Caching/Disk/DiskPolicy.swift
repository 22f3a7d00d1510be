internal import Model

/// A wall-clock time supplied by the caller: nothing here reads a clock.
///
/// Ages must survive restarts, so monotonic time can't be used.
package struct UnixTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970.
    package var milliseconds: Int64

    /// Creates a time from a clock reading.
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Creates a time from a stored value; `nil` if it is implausible: before 1970, or after the
    /// year 9999.
    init?(plausibleMilliseconds: Int64) {
        guard (0..<253_402_300_800_000).contains(plausibleMilliseconds) else { return nil }
        self.init(milliseconds: plausibleMilliseconds)
    }

    /// Orders times chronologically.
    package static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Returns the time that is later by `step` milliseconds, or earlier if negative; saturates.
    func adding(milliseconds step: Int64) -> UnixTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(step)
        return UnixTime(milliseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }
}

/// The date of an entry that determines its age and eviction order; SDWebImage's numbers
/// (SEMANTICS §5.5).
package enum ExpireType: UInt8, Sendable, Hashable, CaseIterable {
    /// The last read, for least-recently-used eviction. The default.
    case access = 0
    /// The last time its bytes were stored.
    case modification = 1
    /// The first time its key was stored.
    case creation = 2
    /// The last change of bytes or metadata. Both change together here, so the same as
    /// `modification`.
    case change = 3
}

/// The limits of the disk tier.
package struct DiskPolicy: Sendable, Hashable {
    /// The maximum size of all entries in bytes, including the overhead of file system and index; 0
    /// is unlimited. A hard limit: writes evict first.
    package var bytesMax: Int
    /// The maximum number of entries; 0 is unlimited. Also a hard limit.
    package var countMax: Int
    /// The percentage of the limits at which a trim ends.
    package var lowWaterPercent: Int
    /// The age in seconds at which an entry is no longer answered and is removed; negative for
    /// never, 0 for immediately.
    package var ageMax: Int64
    /// The date that determines ages.
    package var expireType: ExpireType
    /// The policies of named caches; their limits apply to each cache alone, in addition to the
    /// limits here.
    package var caches: [String: DiskPolicy] = [:]

    /// The maximum number of named caches with their own accounting.
    static let cachesMax = 4_096

    /// Creates a policy; the defaults are SDWebImage's: unlimited size, 50 percent, 7 days, by
    /// access.
    package init(
        bytesMax: Int = 0, countMax: Int = 0, lowWaterPercent: Int = 50,
        ageMax: Int64 = 7 * 24 * 3600,
        expireType: ExpireType = .access
    ) {
        self.bytesMax = max(0, bytesMax)
        self.countMax = max(0, countMax)
        self.lowWaterPercent = min(max(0, lowWaterPercent), 100)
        self.ageMax = ageMax
        self.expireType = expireType
    }

    /// Returns the latest date of expired entries; `nil` if entries never expire.
    func expiryLimit(now: UnixTime) -> UnixTime? {
        guard ageMax >= 0 else { return nil }
        return now.adding(milliseconds: -ageMilliseconds)
    }

    /// Returns when an entry stored now expires even if it is used; `nil` if use extends it, or it
    /// never expires.
    func expiry(created: UnixTime, stored: UnixTime) -> UnixTime? {
        guard ageMax >= 0 else { return nil }
        switch expireType {
        case .access: return nil
        case .modification, .change: return stored.adding(milliseconds: ageMilliseconds)
        case .creation: return created.adding(milliseconds: ageMilliseconds)
        }
    }

    /// The bytes at which a trim ends.
    var lowWater: Int {
        bytesMax / 100 * lowWaterPercent + bytesMax % 100 * lowWaterPercent / 100
    }

    /// The number of entries at which a trim ends.
    var countLowWater: Int {
        countMax / 100 * lowWaterPercent + countMax % 100 * lowWaterPercent / 100
    }

    private var ageMilliseconds: Int64 {
        let (product, overflow) = ageMax.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : product
    }
}

// Named caches with their own limits and ages (SEMANTICS §5.17).
extension DiskTier {
    /// Returns the policy of a key's cache.
    func policy(of key: String) -> DiskPolicy {
        guard !policy.caches.isEmpty else { return policy }
        return policy.caches[CacheKey.cache(inStored: key)] ?? policy
    }

    /// The limits of the whole tier, and those of named caches that have some.
    var allLimits: [DiskLimits] {
        let own = policy.caches.filter(\.value.isLimited)
        return [DiskLimits(cache: nil, policy: policy)]
            + own.map { DiskLimits(cache: $0.key, policy: $0.value) }
    }

    /// Returns the limits that apply to an entry of a key: those of its cache, if it has some, and
    /// those of the whole tier.
    func limits(of key: String) -> [DiskLimits] {
        let whole = DiskLimits(cache: nil, policy: policy)
        guard !policy.caches.isEmpty else { return [whole] }
        let name = CacheKey.cache(inStored: key)
        return [policy.caches[name].map { DiskLimits(cache: name, policy: $0) }, whole]
            .compactMap { $0 }
    }

    /// Returns a batch of expired entries of one cache, if maximum ages differ between caches.
    func overAge(_ now: UnixTime, _ index: DiskIndex) throws(DiskError) -> [IndexVictim] {
        try flushAccesses(index)
        let names = try index.usageByCache().keys.sorted() + [""]
        for name in names {
            let own = policy.caches[name] ?? policy
            guard let limit = own.expiryLimit(now: now) else { continue }
            let victims = try index.oldest(
                of: (name: name, type: own.expireType), upTo: limit, count: Chores.batch)
            if !victims.isEmpty { return victims }
        }
        return []
    }
}

/// Limits, and the entries to which they apply.
struct DiskLimits {
    /// The named cache; `nil` for the whole tier.
    let cache: String?
    let policy: DiskPolicy
}

extension DiskPolicy {
    /// Whether it limits bytes or entries.
    var isLimited: Bool { bytesMax > 0 || countMax > 0 }

    /// Returns whether a limit is exceeded.
    func isExceeded(by usage: DiskUsage) -> Bool {
        bytesMax > 0 && usage.total > bytesMax || countMax > 0 && usage.entries > countMax
    }

    /// Whether a named cache has a different maximum age or uses a different date.
    var hasOwnAges: Bool {
        caches.values.contains { $0.ageMax != ageMax || $0.expireType != expireType }
    }

    /// The dates by which the entries of one cache must be sortable.
    var orderedTypes: Set<ExpireType> {
        var types = Set(caches.values.filter(\.isLimited).map(\.expireType))
        if hasOwnAges { types.formUnion(caches.values.map(\.expireType) + [expireType]) }
        return types
    }
}
