/// Limits of the cache worker.
public struct CachePolicy: Sendable, Hashable {
    /// Bytes of the memory tier and of what is being delivered, together; below what the arena of
    /// `results/` may take.
    public var memoryBytesMax: Int
    /// Bytes that may wait for the disk.
    public var writeBehindBytesMax: Int
    /// Limits of the disk tier.
    public var disk: DiskPolicy

    /// 256 MiB of memory and 64 MiB of write-behind unless told otherwise.
    public init(
        memoryBytesMax: Int = 256 << 20, writeBehindBytesMax: Int = 64 << 20,
        disk: DiskPolicy = DiskPolicy()
    ) {
        self.memoryBytesMax = memoryBytesMax
        self.writeBehindBytesMax = writeBehindBytesMax
        self.disk = disk
    }
}
