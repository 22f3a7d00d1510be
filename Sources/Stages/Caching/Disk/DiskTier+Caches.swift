internal import ImageModel

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
