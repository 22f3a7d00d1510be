/// Sizes of an arena, all in bytes.
public struct ArenaLimits: Hashable, Sendable {
    /// All segments together at most.
    public var totalBytesMax: Int
    /// A segment that many blocks share.
    public var sharedSegmentBytes: Int
    /// Payloads of this size and more get a segment of their own (SEMANTICS §14.4).
    public var ownSegmentBytes: Int
    /// Unused segments of their own that are kept warm: what one process keeps for later, no other
    /// has, so it is little on a small tmpfs.
    public var spareBytesMax: Int

    /// 16 MiB segments, or 1/32 of the tmpfs where that is less; own segments from 1 MiB on.
    public init(totalBytesMax: Int, fileSystemBytes: Int) {
        self.totalBytesMax = max(Self.page, totalBytesMax)
        let share = max(64 * 1024, fileSystemBytes / 32)
        let shared = min(16 << 20, share, self.totalBytesMax)
        sharedSegmentBytes = max(Self.page, shared / Self.page * Self.page)
        ownSegmentBytes = min(Self.largePayload, sharedSegmentBytes / 2)
        spareBytesMax = min(128 << 20, self.totalBytesMax / 4, share)
    }

    /// From this payload size on a client may keep a mapping (SEMANTICS §14.6).
    public static let largePayload = 1 << 20

    static let page = 4096

    static func roundedToPages(_ bytes: Int) -> Int { (bytes + page - 1) / page * page }
}
