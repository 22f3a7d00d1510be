internal import Messages

// Limits that change while the cache runs.
extension CacheStage {
    /// Holds to another policy from now on: what does not fit any more leaves. The memory tier
    /// grows to what it had at the start at most, since its segments were measured by that.
    ///
    /// The limits of the `named` policies are those of each cache alone; 0 is none of its own. In
    /// the `readOnly` directories caches look for what they do not have; empty: the default one.
    public func adopt(
        _ policy: CachePolicy, named: [String: CachePolicy] = [:],
        readOnly: [String: [String]] = [:], now: UnixTime
    ) -> [CacheAction] {
        var policy = policy
        policy.memoryBytesMax = min(policy.memoryBytesMax, memoryBytesAtStart)
        policy.disk.caches = named.mapValues(\.disk)
        let isNewDisk = policy.disk != self.policy.disk
        (self.policy, namedPolicies) = (policy, named)
        apply(memory.limit(costMax: policy.memoryBytesMax, countMax: policy.memoryCountMax))
        apply(
            memory.limit(
                shares: named.mapValues {
                    ShareLimits(bytesMax: $0.memoryBytesMax, countMax: $0.memoryCountMax)
                }))
        for entry in memory.entries(now: now) {
            guard let key = entry.key, !self.policy(of: key).usesMemory else { continue }
            apply(memory.remove(key: key))
        }
        if isNewDisk { owesPolicy = true }
        tellPolicy(now)
        follow(readOnly)
        return settle(now)
    }

    /// Tells the disk of another policy, as soon as its queue has room.
    func tellPolicy(_ now: UnixTime) {
        if owesPolicy, ask(.adopt(policy.disk), .noting, now) { owesPolicy = false }
    }

    /// Memory is short: the memory tier goes down to its low-water mark. Counted where something
    /// left.
    public func shrinkMemory(now: UnixTime) -> [CacheAction] {
        let gone = memory.shrink(toPercent: policy.disk.lowWaterPercent)
        if !gone.isEmpty { counts.memoryShrinks += 1 }
        apply(gone)
        return settle(now)
    }
}
