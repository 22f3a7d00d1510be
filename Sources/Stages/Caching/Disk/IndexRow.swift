internal import Messages

/// One entry of the index, without its bytes.
struct IndexRow: Hashable, Sendable {
    /// Names the entry, and its file.
    var number: Int64
    var bodyLength: Int
    var checksum: UInt64
    /// Where the body begins in its file; `nil` where it lies in the index itself.
    var fileOffset: Int?
    var created: UnixTime
    var stored: UnixTime
    var accessed: UnixTime
    var metadata: StoredMetadata

    /// The date that counts.
    func date(_ type: ExpireType) -> UnixTime {
        switch type {
        case .access: accessed
        case .modification, .change: stored
        case .creation: created
        }
    }
}

/// An entry that is to go: what must be known to remove it.
struct IndexVictim: Hashable, Sendable {
    var number: Int64
    var hasFile: Bool
    /// What its removal gives back, bytes.
    var charge: Int
}

/// What the disk tier takes.
public struct DiskUsage: Hashable, Sendable {
    /// Entries.
    public var entries: Int
    /// Bytes: bodies and headers rounded up to blocks, and rows of the index.
    public var bytes: Int
    /// Bytes of what is beside the entries: the log of the index, and indexes that were set aside.
    public var overhead = 0

    /// All of it, bytes.
    public var total: Int { bytes + overhead }
}
