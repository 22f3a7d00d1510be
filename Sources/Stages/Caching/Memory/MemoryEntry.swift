internal import ImageModel
public import Messages

/// Bytes in `results/` that the memory tier keeps account of.
public struct MemoryEntry: Sendable, Hashable {
    /// The text of the cache key; `nil` for a result that is only delivered.
    public var key: String?
    /// Where the bytes are; its block is the entry's name.
    public var reference: BlockReference
    /// What was stored with them.
    public var metadata: StoredMetadata
    /// Bytes that it takes: the block, the key, `MemoryTier.overhead`, tags and extended data.
    public var cost: Int
    /// From then on it is not used any more; `nil` for never.
    public var expires: UnixTime?
    /// When its bytes were stored; `nil` for what is only delivered.
    public var stored: UnixTime?

    /// Describes an entry; `blockBytes` is what the block takes, not only what is filled.
    public init(
        key: String?, reference: BlockReference, metadata: StoredMetadata, blockBytes: Int,
        expires: UnixTime? = nil, stored: UnixTime? = nil
    ) {
        self.stored = stored
        self.key = key
        self.reference = reference
        self.metadata = metadata
        self.cost = MemoryTier.cost(
            key: key, blockBytes: blockBytes, partBytes: metadata.partBytes)
        self.expires = expires
    }

    /// Its receivers may have mapped it (SEMANTICS §14.6).
    public var isLarge: Bool { reference.length >= UInt64(CacheStage.largeBytes) }

    /// Its name.
    public var block: BlockID { reference.block }
}
