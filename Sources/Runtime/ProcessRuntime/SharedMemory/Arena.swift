public import Linux
public import Model
import Synchronization

/// The segments of one producer in one directory, and the blocks in them. May be used from any
/// thread.
///
/// Allocation fails immediately instead of waiting for space. Segments are reserved in full, never
/// truncated or hole-punched; unlinking returns space to the system (SEMANTICS §14.4).
public final class Arena: SharingSpace {
    /// The name of the arena, which identifies the directory of its segments.
    public let name: ArenaName
    private let state: Mutex<ArenaState>

    /// Opens `directory`, which must be a directory and not a link. Segments are readable by the
    /// directory's group. With `isLocked` each segment is locked for the lifetime of this process,
    /// for directories where leftover segments can't be identified otherwise
    /// (`OrphanSegments.removeOrphans`).
    public init(
        directory path: String, name: ArenaName, incarnation: Incarnation, totalBytesMax: Int,
        isLocked: Bool = false
    ) throws(Errno) {
        let directory = try FileDescriptor.openDirectory(path)
        let fileSystem = try directory.fileSystemStatus()
        let limits = ArenaLimits(
            totalBytesMax: totalBytesMax, fileSystemBytes: Int(clamping: fileSystem.totalBytes))
        self.name = name
        state = Mutex(
            ArenaState(
                directory: directory, name: name, incarnation: incarnation, limits: limits,
                isLocked: isLocked))
    }

    /// See `OutputSpace`.
    public func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        let block = state.withLock { $0.reserve(max(1, bytes)) }
        guard let block else {
            throw ImageError(
                .arenaFull, "no space for \(bytes) bytes of payload; retry, or raise the limit")
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

    /// Publishes the block to readers of `results/` after its bytes are complete; until then they
    /// find no ID. Call once per block, after writing its bytes and before sending its reference.
    public func publish(_ block: OutputBlock) {
        guard let start = block.bytes.baseAddress else { return }
        BlockHeader.publish(block.id.value, at: start - BlockHeader.byteCount)
    }

    /// Frees the block's space. Unknown IDs are ignored, so a second release has no effect.
    public func free(_ id: BlockID) { state.withLock { $0.free(id) } }

    /// Unlinks the segment of a large block instead of reusing it; processes that mapped it keep
    /// the pages. A small block is freed.
    public func retire(_ id: BlockID) { state.withLock { $0.free(id, isFinal: true) } }

    /// Returns the segments created and unlinked since the last call. They must be announced before
    /// any reference to them.
    public func drainAnnouncements() -> SegmentChanges {
        state.withLock { exchange(&$0.changes, with: SegmentChanges()) }
    }

    /// Returns all current segments, to announce them to a new coordinator.
    public func allSegments() -> [SegmentAnnouncement] { state.withLock { $0.allSegments() } }

    /// Usage counters for status reports and tests.
    public var usage: ArenaUsage { state.withLock { $0.usage } }

    /// Unlinks all segments: the last call on an arena. They stay mapped as long as the arena
    /// exists, because a thread that ignores cancellation may still write to them.
    public func unlinkAll() { state.withLock { $0.unlinkAll() } }
}

/// Segments created and unlinked since the last report.
public struct SegmentChanges: Hashable, Sendable {
    /// The created segments.
    public var opened: [SegmentAnnouncement] = []
    /// The unlinked segments.
    public var closed: [SegmentAnnouncement] = []

    /// Whether there is nothing to announce.
    public var isEmpty: Bool { opened.isEmpty && closed.isEmpty }
}

/// The usage of an arena.
public struct ArenaUsage: Hashable, Sendable {
    /// The number of blocks in use.
    public var blocks = 0
    /// The bytes of these blocks, including headers and rounding.
    public var usedBytes = 0
    /// The bytes of all segments.
    public var segmentBytes = 0
    /// The number of segments.
    public var segments = 0
}

/// The size limits of an arena, in bytes.
struct ArenaLimits {
    /// The maximum total size of all segments.
    let totalBytesMax: Int
    /// The size of a segment that several blocks share.
    let sharedSegmentBytes: Int
    /// Payloads of at least this size get a segment of their own (SEMANTICS §14.4).
    let ownSegmentBytes: Int
    /// The maximum size of unused single-block segments kept for reuse. Small on a small tmpfs,
    /// since other processes can't use that space.
    let spareBytesMax: Int

    /// 16 MiB shared segments, or 1/32 of the tmpfs if that is less; single-block segments from 1
    /// MiB.
    init(totalBytesMax: Int, fileSystemBytes: Int) {
        self.totalBytesMax = max(Self.page, totalBytesMax)
        let share = max(64 * 1024, fileSystemBytes / 32)
        let shared = min(16 << 20, share, self.totalBytesMax)
        sharedSegmentBytes = max(Self.page, shared / Self.page * Self.page)
        ownSegmentBytes = min(Self.largePayload, sharedSegmentBytes / 2)
        spareBytesMax = min(128 << 20, self.totalBytesMax / 4, share)
    }

    /// Clients may keep a mapping of payloads of at least this size (SEMANTICS §14.6).
    static let largePayload = 1 << 20

    static let page = 4096

    static func roundedToPages(_ bytes: Int) -> Int { (bytes + page - 1) / page * page }
}

/// The state protected by the arena's lock.
struct ArenaState: ~Copyable {
    /// The location of a block.
    private struct Placement: Hashable {
        var segment: UInt32
        var page: Int
        var pages: Int
    }

    private let directory: FileDescriptor
    private let name: ArenaName
    private let incarnation: Incarnation
    private let limits: ArenaLimits
    private let isLocked: Bool
    private var segments: [UInt32: Segment] = [:]
    /// The free pages of the shared segments.
    private var shared: [UInt32: FreePageRanges] = [:]
    /// Unused single-block segments, kept for reuse.
    private var spare: [UInt32] = []
    private var blocks: [BlockID: Placement] = [:]
    /// The number of additional IDs of placements that have several.
    private var shares: [Placement: Int] = [:]
    private var segmentBytes = 0
    private var nextSegment: UInt32 = 1
    /// Starts at a random value, so that leftover bytes can't be mistaken for a header
    /// (`BlockHeader`).
    private var nextBlock = Random.uint64() >> 1 | 1
    fileprivate var changes = SegmentChanges()

    init(
        directory: consuming FileDescriptor, name: ArenaName, incarnation: Incarnation,
        limits: ArenaLimits, isLocked: Bool
    ) {
        self.directory = directory
        (self.name, self.incarnation) = (name, incarnation)
        (self.limits, self.isLocked) = (limits, isLocked)
    }

    // MARK: - Blocks

    mutating func reserve(_ bytes: Int) -> OutputBlock? {
        guard bytes <= limits.totalBytesMax else { return nil }
        let placed =
            bytes >= limits.ownSegmentBytes
            ? placeAlone(bytes + BlockHeader.byteCount)
            : placeShared(bytes + BlockHeader.byteCount)
        guard let placed, let segment = segments[placed.segment] else { return nil }
        let id = BlockID(nextBlock)
        nextBlock += 1
        blocks[id] = placed
        return block(id, placed, in: segment)
    }

    private func block(_ id: BlockID, _ placed: Placement, in segment: Segment) -> OutputBlock {
        let start = placed.page * ArenaLimits.page
        let whole = segment.bytes[start..<(start + placed.pages * ArenaLimits.page)]
        let all = UnsafeMutableRawBufferPointer(rebasing: whole)
        if let header = all.baseAddress { BlockHeader.invalidate(header) }
        return OutputBlock(
            id: id, arena: name, segment: placed.segment,
            offset: UInt64(start + BlockHeader.byteCount),
            bytes: UnsafeMutableRawBufferPointer(rebasing: all[BlockHeader.byteCount...]))
    }

    /// Returns an additional ID for the same placement.
    mutating func share(_ id: BlockID) -> BlockID? {
        guard let placed = blocks[id] else { return nil }
        let other = BlockID(nextBlock)
        nextBlock += 1
        blocks[other] = placed
        shares[placed, default: 0] += 1
        return other
    }

    func isInUse(_ id: BlockID) -> Bool { blocks[id] != nil }

    /// Frees the block's space; a segment of its own is kept for reuse or, if `isFinal`, unlinked.
    mutating func free(_ id: BlockID, isFinal: Bool = false) {
        guard let placed = withdraw(id) else { return }
        if shared[placed.segment] != nil {
            giveBack(placed)
        } else if isFinal {
            unlink(placed.segment)
        } else {
            keepSpare(placed.segment)
        }
    }

    /// Removes the block's ID; invalidates its header for readers before its space can be
    /// overwritten. Returns `nil` if the placement still has other IDs or the ID is unknown.
    private mutating func withdraw(_ id: BlockID) -> Placement? {
        guard let placed = blocks.removeValue(forKey: id), let segment = segments[placed.segment]
        else { return nil }
        if let others = shares[placed] {
            shares[placed] = others == 1 ? nil : others - 1
            return nil
        }
        if let base = segment.bytes.baseAddress {
            BlockHeader.invalidate(base + placed.page * ArenaLimits.page)
        }
        return placed
    }

    // MARK: - Shared segments

    private mutating func placeShared(_ bytes: Int) -> Placement? {
        let pages = ArenaLimits.roundedToPages(bytes) / ArenaLimits.page
        for number in shared.keys.sorted() {
            if let page = shared[number]?.allocate(pages) {
                return Placement(segment: number, page: page, pages: pages)
            }
        }
        let size = max(limits.sharedSegmentBytes, pages * ArenaLimits.page)
        guard let number = open(byteCount: size) else { return nil }
        shared[number] = FreePageRanges(pageCount: size / ArenaLimits.page)
        guard let page = shared[number]?.allocate(pages) else { return nil }
        return Placement(segment: number, page: page, pages: pages)
    }

    private mutating func giveBack(_ placed: Placement) {
        shared[placed.segment]?.give(placed.page, placed.pages)
        // Keep one unused segment for reuse and unlink the others.
        let unused = shared.filter { $0.value.isUnused }.map(\.key).sorted()
        for number in unused.dropFirst() { unlink(number) }
    }

    // MARK: - Single-block segments

    private mutating func placeAlone(_ bytes: Int) -> Placement? {
        let size = ArenaLimits.roundedToPages(bytes)
        if let number = removeSpare(size) ?? open(byteCount: size),
            let segment = segments[number]
        {
            return Placement(
                segment: number, page: 0, pages: segment.byteCount / ArenaLimits.page)
        }
        return nil
    }

    /// Returns the smallest spare segment that holds `size` without wasting more than half of it.
    private mutating func removeSpare(_ size: Int) -> UInt32? {
        let fitting = spare.lazy.compactMap { [segments] in segments[$0] }
            .filter { (size...size * 2).contains($0.byteCount) }
        guard let best = fitting.min(by: { $0.byteCount < $1.byteCount }) else { return nil }
        spare.removeAll { $0 == best.number }
        return best.number
    }

    private mutating func keepSpare(_ number: UInt32) {
        spare.append(number)
        while let oldest = spare.first,
            spare.reduce(0, { $0 + (segments[$1]?.byteCount ?? 0) }) > limits.spareBytesMax
        {
            unlink(oldest)
        }
    }

    // MARK: - Files

    private mutating func open(byteCount: Int) -> UInt32? {
        while segmentBytes + byteCount > limits.totalBytesMax, let oldest = spare.first {
            unlink(oldest)
        }
        guard segmentBytes + byteCount <= limits.totalBytesMax else { return nil }
        let number = nextSegment
        guard let segment = make(number, byteCount) else { return nil }
        nextSegment += 1
        segments[number] = segment
        segmentBytes += byteCount
        changes.opened.append(announcement(segment))
        return number
    }

    /// Creates a segment; if the tmpfs is full, unlinks spare segments and retries.
    private mutating func make(_ number: UInt32, _ byteCount: Int) -> Segment? {
        let segmentName = SegmentName(incarnation: incarnation, number: number)
        while true {
            let created = try? Segment(
                in: directory, name: segmentName, byteCount: byteCount, isLocked: isLocked)
            guard created == nil, let oldest = spare.first else { return created }
            unlink(oldest)
        }
    }

    private mutating func unlink(_ number: UInt32) {
        guard let segment = segments.removeValue(forKey: number) else { return }
        shared[number] = nil
        spare.removeAll { $0 == number }
        segmentBytes -= segment.byteCount
        unlinkFile(of: number)
        let closed = announcement(segment)
        if let unannounced = changes.opened.firstIndex(of: closed) {
            changes.opened.remove(at: unannounced)
        } else {
            changes.closed.append(closed)
        }
    }

    func unlinkAll() {
        for number in segments.keys.sorted() { unlinkFile(of: number) }
    }

    private func unlinkFile(of number: UInt32) {
        try? directory.unlink(SegmentName(incarnation: incarnation, number: number).fileName)
    }

    // MARK: - Announcements and usage

    private func announcement(_ segment: Segment) -> SegmentAnnouncement {
        SegmentAnnouncement(arena: name, number: segment.number, size: UInt64(segment.byteCount))
    }

    func allSegments() -> [SegmentAnnouncement] {
        segments.sorted { $0.key < $1.key }.map { announcement($0.value) }
    }

    var usage: ArenaUsage {
        ArenaUsage(
            blocks: blocks.count,
            usedBytes: Set(blocks.values).reduce(0) { $0 + $1.pages * ArenaLimits.page },
            segmentBytes: segmentBytes, segments: segments.count)
    }
}

/// The free pages of one segment as sorted, disjoint runs that are never adjacent.
///
/// Best fit over runs instead of size classes: a block wastes less than one page, and adjacent runs
/// are merged when blocks are freed.
struct FreePageRanges: Hashable, Sendable {
    private struct Run: Hashable, Sendable {
        var start: Int
        var count: Int
    }

    private var free: [Run]
    /// The number of pages in the segment.
    let pageCount: Int

    init(pageCount: Int) {
        self.pageCount = pageCount
        free = [Run(start: 0, count: pageCount)]
    }

    var isUnused: Bool { free.count == 1 && free[0].count == pageCount }

    /// Allocates `count` consecutive pages and returns the first; `nil` if no run is long enough.
    mutating func allocate(_ count: Int) -> Int? {
        let fitting = free.indices.filter { free[$0].count >= count }
        guard let best = fitting.min(by: { free[$0].count < free[$1].count }) else { return nil }
        let start = free[best].start
        if free[best].count == count {
            free.remove(at: best)
        } else {
            free[best].start += count
            free[best].count -= count
        }
        return start
    }

    /// Frees pages. Precondition: they are allocated.
    mutating func give(_ start: Int, _ count: Int) {
        let next = free.firstIndex { $0.start > start } ?? free.endIndex
        precondition(next == free.endIndex || start + count <= free[next].start, "freed twice")
        free.insert(Run(start: start, count: count), at: next)
        join(next)
        if next > 0 { join(next - 1) }
    }

    private mutating func join(_ index: Int) {
        guard index + 1 < free.count else { return }
        let end = free[index].start + free[index].count
        precondition(end <= free[index + 1].start, "freed twice")
        guard end == free[index + 1].start else { return }
        free[index].count += free[index + 1].count
        free.remove(at: index + 1)
    }
}
