public import Messages

/// Limits of the cache worker.
public struct CachePolicy: Sendable, Hashable {
    /// Bytes of the memory tier and of what is being delivered, together; below what the arena of
    /// `results/` may take.
    public var memoryBytesMax: Int
    /// Entries of the memory tier and of what is being delivered, together; 0 is unlimited.
    public var memoryCountMax: Int
    /// Whether entries are kept in memory; else it holds what is being delivered.
    public var usesMemory: Bool
    /// Whether entries are kept on the disk.
    public var usesDisk: Bool
    /// Whether the disk gets what is asked for the first time; else what is asked for again.
    public var writesFirstUse: Bool
    /// Whether stores are answered before the disk has them.
    public var writesBehind: Bool
    /// Bytes that may wait for the disk.
    public var writeBehindBytesMax: Int
    /// Limits of the disk tier.
    public var disk: DiskPolicy

    /// 256 MiB of memory and 64 MiB of write-behind unless told otherwise.
    public init(
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
    /// Takes over what an operator set; what is not set stays.
    public mutating func take(_ settings: CacheSettings) {
        for (setting, value) in settings.said { take(setting, value) }
    }

    /// The policy of a named cache: what is set of it, on top of what holds for all, but for their
    /// limits. 0 is no limit of its own.
    public func named(_ settings: CacheSettings) -> CachePolicy {
        var own = self
        (own.memoryBytesMax, own.memoryCountMax) = (0, 0)
        (own.disk.bytesMax, own.disk.countMax) = (0, 0)
        own.take(settings)
        return own
    }

    private mutating func take(_ setting: CacheSetting, _ value: Int64) {
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

    /// The memory tier of a process that may use so many bytes, where nobody says how large it is:
    /// a quarter, since what is written, staged and delivered needs room as well.
    public static func memoryBytes(ofLimit limit: Int?) -> Int {
        guard let limit else { return CachePolicy().memoryBytesMax }
        return min(max(limit / 4, 16 << 20), 4 << 30)
    }
}

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
