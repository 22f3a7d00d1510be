/// How much a client keeps in the memory of its own process (`ClientConfiguration.memoryCache`).
public struct MemoryCacheLimits: Hashable, Sendable {
    /// Bytes at most, by `MemoryCacheStatistics.bytes`. What has more by itself is not kept.
    public var bytesMax: Int
    /// Entries at most.
    public var entriesMax: Int
    /// Milliseconds for which an answer that has no voucher is given again.
    ///
    /// 0, as it is unless it is set: not at all. What is given again then was never removed,
    /// replaced or refused in the stack. More: an answer may be that old, whatever became of it
    /// there meanwhile, and whoever was told that it is gone may get it here for so long. That is
    /// for stacks that issue no vouchers and for clients that get their images in pieces.
    /// At most `staleMillisecondsMax`.
    public var staleMilliseconds: Int

    /// A day.
    public static let staleMillisecondsMax = 86_400_000
    /// What an entry costs beside the bytes of its image and the texts of URL, headers and key: the
    /// rest of its request, its head, and its place.
    public static let entryBytes = 1_024

    /// So many bytes; values below 0 are 0, with which nothing is kept.
    public init(bytesMax: Int, entriesMax: Int = 65_536, staleMilliseconds: Int = 0) {
        self.bytesMax = max(0, bytesMax)
        self.entriesMax = max(0, entriesMax)
        self.staleMilliseconds = min(max(0, staleMilliseconds), Self.staleMillisecondsMax)
    }
}
