public import Messages

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
