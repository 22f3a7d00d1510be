public import ImageModel
public import Linux
public import Messages
public import StageContract
import Synchronization

/// The segments of one producer in one directory, and the blocks in them. Any thread.
///
/// Space is tried, never waited for. Segments are reserved whole, never truncated or punched; space
/// goes back to the system by unlinking (SEMANTICS §14.4).
public final class Arena: SharingSpace {
    /// The directory of its segments.
    public let name: ArenaName
    private let state: Mutex<ArenaState>

    /// Opens `directory`, which must be one, not a link. Segments get `mode`: readable by the
    /// directory's group. With `isLocked` each is locked as long as this process lives, for where
    /// nobody knows by other means whose segments are left (`OrphanSegments.removeForsaken`).
    public init(
        directory path: String, name: ArenaName, incarnation: Incarnation, totalBytesMax: Int,
        mode: UInt32 = 0o640, isLocked: Bool = false
    ) throws(Errno) {
        let directory = try FileDescriptor.openDirectory(path)
        let fileSystem = try directory.fileSystemStatus()
        let limits = ArenaLimits(
            totalBytesMax: totalBytesMax, fileSystemBytes: Int(clamping: fileSystem.totalBytes))
        self.name = name
        state = Mutex(
            ArenaState(
                directory: directory, name: name, incarnation: incarnation, limits: limits,
                mode: mode, isLocked: isLocked))
    }

    /// See `OutputSpace`.
    public func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        let block = state.withLock { $0.reserve(max(1, bytes)) }
        guard let block else {
            throw ImageError(
                .arenaFull, "no room for \(bytes) bytes of payload; retry, or raise the limit")
        }
        return block
    }

    /// See `OutputSpace`.
    public func discard(_ block: OutputBlock) { free(block.id) }

    /// See `SharingSpace`.
    public func share(_ block: OutputBlock) -> OutputBlock? {
        guard let id = state.withLock({ $0.share(block.id) }) else { return nil }
        return OutputBlock(
            id: id, arena: block.arena, segment: block.segment, offset: block.offset,
            bytes: block.bytes)
    }

    /// See `SharingSpace`.
    public func isInUse(_ id: BlockID) -> Bool { state.withLock { $0.isInUse(id) } }

    /// Tells readers of `results/` that the block's bytes are complete; until then they find no
    /// id. Once for each block, after its bytes, before its reference travels.
    public func publish(_ block: OutputBlock) {
        guard let start = block.bytes.baseAddress else { return }
        BlockHeader.publish(block.id.value, at: start - BlockHeader.byteCount)
    }

    /// Makes the block's space usable again. Unknown ids are ignored: a second release changes
    /// nothing.
    public func free(_ id: BlockID) { state.withLock { $0.free(id) } }

    /// Unlinks the segment of a large block instead of using it again: whoever mapped it keeps the
    /// pages. A small block is freed.
    public func retire(_ id: BlockID) { state.withLock { $0.retire(id) } }

    /// Segments made and unlinked since the last call. To be announced before any reference.
    public func takeAnnouncements() -> SegmentChanges { state.withLock { $0.takeChanges() } }

    /// All segments there are: what a new coordinator has to be told.
    public func allSegments() -> [SegmentAnnouncement] { state.withLock { $0.allSegments() } }

    /// Counts for status and tests.
    public var usage: ArenaUsage { state.withLock { $0.usage } }

    /// Removes the names of all segments: the last call on an arena. They stay mapped as long as
    /// the arena lives, since a thread that heeds no cancel may still write into them.
    public func unlinkAll() { state.withLock { $0.unlinkAll() } }
}

/// Segments that came and went.
public struct SegmentChanges: Hashable, Sendable {
    /// Made.
    public var opened: [SegmentAnnouncement] = []
    /// Unlinked.
    public var closed: [SegmentAnnouncement] = []

    /// Whether there is nothing to announce.
    public var isEmpty: Bool { opened.isEmpty && closed.isEmpty }
}

/// How full an arena is.
public struct ArenaUsage: Hashable, Sendable {
    /// Blocks that are in use.
    public var blocks = 0
    /// Bytes of these blocks, headers and rounding included.
    public var usedBytes = 0
    /// Bytes of all segments.
    public var segmentBytes = 0
    /// Segments.
    public var segments = 0
}
