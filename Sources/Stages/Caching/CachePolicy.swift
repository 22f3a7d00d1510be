package import Model

/// The limits of the cache worker.
package struct CachePolicy: Sendable, Hashable {
    /// The maximum total size in bytes of the memory tier and of results being delivered; must be
    /// less than the limit of the arena of `results/`.
    package var memoryBytesMax: Int
    /// The maximum number of entries in the memory tier and of results being delivered; 0 is
    /// unlimited.
    package var memoryCountMax: Int
    /// Whether entries are kept in memory; otherwise it only holds results being delivered.
    package var usesMemory: Bool
    /// Whether entries are kept on disk.
    package var usesDisk: Bool
    /// Whether an entry is written to disk at its first request; otherwise at its second.
    package var writesFirstUse: Bool
    /// Whether stores are answered before the data is on disk.
    package var writesBehind: Bool
    /// The maximum size of the write-behind queue, in bytes.
    package var writeBehindBytesMax: Int
    /// The limits of the disk tier.
    package var disk: DiskPolicy

    /// Creates a policy; the defaults include 256 MiB of memory and 64 MiB of write-behind.
    package init(
        memoryBytesMax: Int = 256 << 20, memoryCountMax: Int = 0, usesMemory: Bool = true,
        usesDisk: Bool = true, writesFirstUse: Bool = true, writesBehind: Bool = true,
        writeBehindBytesMax: Int = 64 << 20, disk: DiskPolicy = DiskPolicy()
    ) {
        self.memoryBytesMax = memoryBytesMax
        self.memoryCountMax = memoryCountMax
        self.usesMemory = usesMemory
        self.usesDisk = usesDisk
        self.writesFirstUse = writesFirstUse
        self.writesBehind = writesBehind
        self.writeBehindBytesMax = writeBehindBytesMax
        self.disk = disk
    }
}

extension CachePolicy {
    /// Applies the settings of an operator; unset ones keep their value.
    package mutating func apply(_ settings: CacheSettings) {
        for (setting, value) in settings.explicitSettings { apply(setting, value) }
    }

    /// Returns the policy of a named cache: its own settings on top of the common ones, except for
    /// the common limits. 0 means no limit of its own.
    package func named(_ settings: CacheSettings) -> CachePolicy {
        var own = self
        (own.memoryBytesMax, own.memoryCountMax) = (0, 0)
        (own.disk.bytesMax, own.disk.countMax) = (0, 0)
        own.apply(settings)
        return own
    }

    private mutating func apply(_ setting: CacheSetting, _ value: Int64) {
        switch setting {
        case .memoryLimit: memoryBytesMax = Int(clamping: value)
        case .memoryEntries: memoryCountMax = Int(clamping: value)
        case .diskLimit: disk.bytesMax = Int(clamping: value)
        case .diskEntries: disk.countMax = Int(clamping: value)
        case .maxAge: disk.ageMax = value
        case .expireType:
            disk.expireType = UInt8(exactly: value).flatMap { ExpireType(rawValue: $0) } ?? .access
        case .lowWater: disk.lowWaterPercent = Int(clamping: value)
        case .memoryCache: usesMemory = value != 0
        case .diskCache: usesDisk = value != 0
        case .diskFirstUse: writesFirstUse = value != 0
        case .writeBehind: writesBehind = value != 0
        }
    }

    /// Returns the default size of the memory tier for a process with this memory limit: a quarter,
    /// because writing, staging and delivering need memory as well.
    package static func memoryBytes(ofLimit limit: Int?) -> Int {
        guard let limit else { return CachePolicy().memoryBytesMax }
        return min(max(limit / 4, 16 << 20), 4 << 30)
    }
}

// Changing limits at run time.
extension CacheStage {
    /// Applies a new policy and evicts what exceeds it. The memory tier can't grow beyond its size
    /// at startup, which determined the size of its segments.
    ///
    /// The limits of the `named` policies apply to each cache alone; 0 means no limit of its own.
    /// The `readOnly` directories are searched after a miss of the cache; the empty name is the
    /// default cache.
    package func adopt(
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
        notifyPolicy(now)
        follow(readOnly)
        return settle(now)
    }

    /// Passes a changed policy to the disk thread as soon as its queue has capacity.
    func notifyPolicy(_ now: UnixTime) {
        if owesPolicy, ask(.adopt(policy.disk), .noting, now) { owesPolicy = false }
    }

    /// Shrinks the memory tier to its low-water mark because memory is short. Counted if entries
    /// were evicted.
    package func shrinkMemory(now: UnixTime) -> [CacheAction] {
        let gone = memory.shrink(toPercent: policy.disk.lowWaterPercent)
        if !gone.isEmpty { counts.memoryShrinks += 1 }
        apply(gone)
        return settle(now)
    }
}
