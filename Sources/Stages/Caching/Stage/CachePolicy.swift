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
