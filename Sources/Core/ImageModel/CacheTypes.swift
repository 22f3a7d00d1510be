/// Cache tiers, SDWebImage's numbers: none 0, disk 1, memory 2, all 3.
public struct CacheTypes: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Takes bits as they are.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The disk tier.
    public static let disk = CacheTypes(rawValue: 1)
    /// The memory tier.
    public static let memory = CacheTypes(rawValue: 2)
    /// Both tiers.
    public static let all: CacheTypes = [.disk, .memory]
    /// No tier.
    public static let none: CacheTypes = []

    /// `none`, `disk`, `memory` or `all`: the word in JSON and on the command line.
    public var name: String {
        switch (contains(.disk), contains(.memory)) {
        case (false, false): "none"
        case (true, false): "disk"
        case (false, true): "memory"
        case (true, true): "all"
        }
    }
}
