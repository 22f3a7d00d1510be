/// The class of a request in every queue. Shared work runs in the highest class of those who wait.
public enum Priority: UInt8, Hashable, Sendable, Comparable, CaseIterable {
    /// Prefetch.
    case low = 0
    /// The default.
    case normal = 1
    /// Somebody is looking at the gap.
    case high = 2

    /// Lower classes are smaller.
    public static func < (left: Priority, right: Priority) -> Bool {
        left.rawValue < right.rawValue
    }

    /// `low`, `normal` or `high`.
    public var name: String {
        switch self {
        case .low: "low"
        case .normal: "normal"
        case .high: "high"
        }
    }
}
