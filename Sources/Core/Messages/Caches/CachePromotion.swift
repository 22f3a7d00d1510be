public import ImageModel

/// Whether a hit of an external cache enters our own (SEMANTICS §5.26).
public enum CachePromotion: String, Hashable, Sendable, CaseIterable {
    /// It stays where it is; the next load asks there again.
    case none
    /// It enters the memory tier, as far as the load stores in memory.
    case memory
    /// It is written to the disk as well, as far as the load stores on the disk.
    case disk

    /// The tiers that a hit may enter.
    public var tiers: CacheTypes {
        switch self {
        case .none: .none
        case .memory: .memory
        case .disk: .all
        }
    }
}
