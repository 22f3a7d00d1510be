import Linux

/// How many bytes of frames are held.
public enum FrameBudget: Hashable, Sendable {
    /// What SDWebImage's player takes, a fifth of the memory of the machine or of its control
    /// group, but no more than three fifths of what is free; at most `automaticBytesMax` of that,
    /// since a server plays more than one animation.
    case automatic
    /// The frame that is seen and no other.
    case least
    /// So many bytes.
    case bytes(Int)
    /// All frames, however large.
    case all

    /// What `automatic` is at most: 256 MiB.
    public static let automaticBytesMax = 256 << 20

    /// In bytes, with the memory that there is now.
    var bytes: Int { bytes(of: .now()) }

    func bytes(of supply: MemorySupply) -> Int {
        switch self {
        case .automatic: Self.automatic(supply)
        case .least: 0
        case .bytes(let bytes): max(0, bytes)
        case .all: .max
        }
    }

    /// What the kernel does not say limits nothing.
    private static func automatic(_ supply: MemorySupply) -> Int {
        let limit = supply.limitBytes
        let left = limit.map { max(0, $0 - (supply.usedBytes ?? 0)) }
        let total = [supply.totalBytes, limit].compactMap { $0.map { $0 / 5 } }
        let free = [supply.availableBytes, left].compactMap { $0.map { $0 / 5 * 3 } }
        return (total + free).reduce(automaticBytesMax, min)
    }
}
