internal import ImageModel

/// A moment of the calendar clock, handed in by whoever calls: nothing here reads a clock.
///
/// Ages outlive restarts, therefore not the monotonic clock.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970.
    public var milliseconds: Int64

    /// Takes a reading of the clock.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Takes what was stored; `nil` for what no clock says: before 1970, or after the year 9999.
    init?(plausibleMilliseconds: Int64) {
        guard (0..<253_402_300_800_000).contains(plausibleMilliseconds) else { return nil }
        self.init(milliseconds: plausibleMilliseconds)
    }

    /// Earlier moments are smaller.
    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The moment so many milliseconds later, or earlier where negative; stays within the range.
    func adding(milliseconds step: Int64) -> UnixTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(step)
        return UnixTime(milliseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }
}

/// Which date of an entry counts for its age and for its turn to go; SDWebImage's numbers
/// (SEMANTICS §5.5).
public enum ExpireType: UInt8, Sendable, Hashable, CaseIterable {
    /// When it was last read: least recently used goes first. The default.
    case access = 0
    /// When its bytes were last stored.
    case modification = 1
    /// When its key was first stored.
    case creation = 2
    /// When bytes or metadata last changed; both change together here, so as `modification`.
    case change = 3
}

/// Limits of the disk tier.
public struct DiskPolicy: Sendable, Hashable {
    /// Bytes that all entries may take, what the file system and the index add included;
    /// 0 is unlimited. Hard: a write makes room first.
    public var bytesMax: Int
    /// Entries that there may be; 0 is unlimited. Hard as well.
    public var countMax: Int
    /// To which part of the limits a trim goes down, percent.
    public var lowWaterPercent: Int
    /// Age from which an entry is not answered any more and is removed, seconds; negative is never,
    /// 0 is at once.
    public var ageMax: Int64
    /// Which date counts.
    public var expireType: ExpireType
    /// What holds for named caches instead; limits of bytes and entries are those of the cache
    /// alone, which the limits here stay above.
    public var caches: [String: DiskPolicy] = [:]

    /// Named caches that are accounted for at most.
    static let cachesMax = 4_096

    /// Unlimited in size, 50 percent, 7 days, by access: upstream's defaults.
    public init(
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

    /// Entries of this date and older are over age; `nil` where nothing ever is.
    func expiryLimit(now: UnixTime) -> UnixTime? {
        guard ageMax >= 0 else { return nil }
        return now.adding(milliseconds: -ageMilliseconds)
    }

    /// When an entry stored now stops being answered whatever happens to it; `nil` where use keeps
    /// it alive, or nothing ends it.
    func expiry(created: UnixTime, stored: UnixTime) -> UnixTime? {
        guard ageMax >= 0 else { return nil }
        switch expireType {
        case .access: return nil
        case .modification, .change: return stored.adding(milliseconds: ageMilliseconds)
        case .creation: return created.adding(milliseconds: ageMilliseconds)
        }
    }

    /// Where a trim ends, bytes.
    var lowWater: Int {
        bytesMax / 100 * lowWaterPercent + bytesMax % 100 * lowWaterPercent / 100
    }

    /// Where a trim ends, entries.
    var countLowWater: Int {
        countMax / 100 * lowWaterPercent + countMax % 100 * lowWaterPercent / 100
    }

    private var ageMilliseconds: Int64 {
        let (product, overflow) = ageMax.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : product
    }
}

// Named caches with limits and ages of their own (SEMANTICS §5.17).
extension DiskTier {
    /// The policy of the cache of which a key is.
    func policy(of key: String) -> DiskPolicy {
        guard !policy.caches.isEmpty else { return policy }
        return policy.caches[CacheKey.cache(inStored: key)] ?? policy
    }

    /// The named cache of a key, where that has limits of its own.
    private func limited(_ key: String) -> (name: String, policy: DiskPolicy)? {
        guard !policy.caches.isEmpty else { return nil }
        let name = CacheKey.cache(inStored: key)
        return policy.caches[name].flatMap { $0.isLimited ? (name, $0) : nil }
    }

    /// Why an entry can never be in its cache; `nil` where it can.
    func refusal(of charge: Int, _ key: String, length: Int) -> String? {
        guard let own = limited(key), own.policy.bytesMax > 0, charge > own.policy.bytesMax else {
            return nil
        }
        return "disk: \(length) bytes are over the limit of their cache"
    }

    /// Whether one more entry fits below the limits of its cache.
    func fitsOwn(_ charge: Int, _ key: String, _ index: DiskIndex) throws(DiskError) -> Bool {
        guard let own = limited(key) else { return true }
        let usage = try index.usage(of: own.name)
        if own.policy.countMax > 0, usage.entries >= own.policy.countMax { return false }
        return own.policy.bytesMax == 0 || usage.bytes + charge <= own.policy.bytesMax
    }

    /// Removes the oldest entries of the key's own cache until one more fits there.
    func makeOwnRoom(_ charge: Int, _ key: String, _ index: DiskIndex) throws(DiskError) {
        guard let own = limited(key), try !fitsOwn(charge, key, index) else { return }
        beginTrim(of: own.name)
        let bytes = own.policy.bytesMax > 0 ? own.policy.bytesMax - charge : Int.max
        let entries = own.policy.countMax > 0 ? own.policy.countMax - 1 : Int.max
        while try dropOldest(of: own.name, own.policy, downTo: (bytes, entries), index) {}
    }

    private func beginTrim(of cache: String) {
        if chores.trimmedCaches.insert(cache).inserted { counts.trims += 1 }
    }

    /// Caches that have more than they may go down, bit by bit.
    func beginOwnTrims(_ index: DiskIndex) throws(DiskError) {
        for (name, own) in policy.caches where own.isLimited {
            let usage = try index.usage(of: name)
            if own.bytesMax > 0 && usage.bytes > own.bytesMax
                || own.countMax > 0 && usage.entries > own.countMax
            {
                beginTrim(of: name)
            }
        }
    }

    /// A trim that is asked for.
    func beginAllOwnTrims() {
        for (name, own) in policy.caches where own.isLimited { beginTrim(of: name) }
    }

    /// Goes on down to the low-water marks of caches.
    func trimCaches(_ index: DiskIndex) throws(DiskError) -> Bool {
        guard let name = chores.trimmedCaches.first else { return false }
        if let own = policy.caches[name], own.isLimited {
            let bytes = own.bytesMax > 0 ? own.lowWater : Int.max
            let entries = own.countMax > 0 ? own.countLowWater : Int.max
            if try dropOldest(of: name, own, downTo: (bytes, entries), index) { return true }
        }
        chores.trimmedCaches.remove(name)
        chores.isShrinking = true
        return true
    }

    private func dropOldest(
        of cache: String, _ own: DiskPolicy, downTo target: (bytes: Int, entries: Int),
        _ index: DiskIndex
    ) throws(DiskError) -> Bool {
        let usage = try index.usage(of: cache)
        var excess = usage.bytes - max(0, target.bytes)
        var surplus = usage.entries - max(0, target.entries)
        guard excess > 0 || surplus > 0 else { return false }
        try flushAccesses(index)
        let oldest = try index.oldest(
            of: cache, by: own.expireType, upTo: UnixTime(milliseconds: .max), count: Chores.batch)
        guard !oldest.isEmpty else {
            throw DiskError(
                .badIndex, "the index counts \(usage.entries) entries of a cache that are not there"
            )
        }
        let victims = oldest.prefix { victim in
            defer {
                excess -= victim.charge
                surplus -= 1
            }
            return excess > 0 || surplus > 0
        }
        counts.trimmed.add(try dropSome(Array(victims), index))
        return !victims.isEmpty
    }

    /// Entries over age where caches differ in what that is: a batch of one of them.
    func overAge(_ now: UnixTime, _ index: DiskIndex) throws(DiskError) -> [IndexVictim] {
        try flushAccesses(index)
        let names = try index.usageByCache().keys.sorted() + [""]
        for name in names {
            let own = policy.caches[name] ?? policy
            guard let limit = own.expiryLimit(now: now) else { continue }
            let victims = try index.oldest(
                of: name, by: own.expireType, upTo: limit, count: Chores.batch)
            if !victims.isEmpty { return victims }
        }
        return []
    }

    /// What named caches have, for those who look at the tier.
    func lookAtCaches() {
        guard let index else { return }
        if let usage = try? index.usageByCache() { usageByCache = usage }
    }
}

extension DiskPolicy {
    /// Whether it limits bytes or entries.
    var isLimited: Bool { bytesMax > 0 || countMax > 0 }

    /// Whether a named cache is of another age than the others, or by another date.
    var hasOwnAges: Bool {
        caches.values.contains { $0.ageMax != ageMax || $0.expireType != expireType }
    }

    /// The dates by which the entries of one cache have to be found in order.
    var orderedTypes: Set<ExpireType> {
        var types = Set(caches.values.filter(\.isLimited).map(\.expireType))
        if hasOwnAges { types.formUnion(caches.values.map(\.expireType) + [expireType]) }
        return types
    }
}
