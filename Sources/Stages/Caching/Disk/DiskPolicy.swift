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
