import Linux
import Messages
import StageContract

/// Everything behind the arena's lock.
struct ArenaState: ~Copyable {
    /// Where a block lies.
    private struct Placement: Hashable {
        var segment: UInt32
        var page: Int
        var pages: Int
    }

    private let directory: FileDescriptor
    private let name: ArenaName
    private let incarnation: Incarnation
    private let limits: ArenaLimits
    private let mode: UInt32
    private let isLocked: Bool
    private var segments: [UInt32: Segment] = [:]
    /// Free pages of the segments that blocks share.
    private var shared: [UInt32: PageRuns] = [:]
    /// Segments of their own that are in no use, warm.
    private var spare: [UInt32] = []
    private var blocks: [BlockID: Placement] = [:]
    /// How many further ids the blocks of a place have that have several.
    private var shares: [Placement: Int] = [:]
    private var segmentBytes = 0
    private var nextSegment: UInt32 = 1
    /// Starts anywhere: bytes that somebody wrote can then not pass for a header (`BlockHeader`).
    private var nextBlock = Random.uint64() >> 1 | 1
    private var changes = SegmentChanges()

    init(
        directory: consuming FileDescriptor, name: ArenaName, incarnation: Incarnation,
        limits: ArenaLimits, mode: UInt32, isLocked: Bool
    ) {
        self.directory = directory
        self.name = name
        self.incarnation = incarnation
        self.limits = limits
        self.mode = mode
        self.isLocked = isLocked
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

    /// Another id of the same place.
    mutating func share(_ id: BlockID) -> BlockID? {
        guard let placed = blocks[id] else { return nil }
        let other = BlockID(nextBlock)
        nextBlock += 1
        blocks[other] = placed
        shares[placed, default: 0] += 1
        return other
    }

    func isInUse(_ id: BlockID) -> Bool { blocks[id] != nil }

    mutating func free(_ id: BlockID) {
        guard let placed = withdraw(id) else { return }
        if shared[placed.segment] != nil {
            giveBack(placed)
        } else {
            keepSpare(placed.segment)
        }
    }

    mutating func retire(_ id: BlockID) {
        guard let placed = withdraw(id) else { return }
        if shared[placed.segment] != nil {
            giveBack(placed)
        } else {
            unlink(placed.segment)
        }
    }

    /// Takes the block out of the books; its header says so to readers before anything is written.
    /// `nil` where its place is not free with that.
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
            if let page = shared[number]?.take(pages) {
                return Placement(segment: number, page: page, pages: pages)
            }
        }
        let size = max(limits.sharedSegmentBytes, pages * ArenaLimits.page)
        guard let number = open(byteCount: size) else { return nil }
        shared[number] = PageRuns(pageCount: size / ArenaLimits.page)
        guard let page = shared[number]?.take(pages) else { return nil }
        return Placement(segment: number, page: page, pages: pages)
    }

    private mutating func giveBack(_ placed: Placement) {
        shared[placed.segment]?.give(placed.page, placed.pages)
        // One unused segment stays warm; more of them are given back.
        let unused = shared.filter { $0.value.isUnused }.map(\.key).sorted()
        for number in unused.dropFirst() { unlink(number) }
    }

    // MARK: - Segments of their own

    private mutating func placeAlone(_ bytes: Int) -> Placement? {
        let size = ArenaLimits.roundedToPages(bytes)
        if let number = takeSpare(size) ?? open(byteCount: size),
            let segment = segments[number]
        {
            return Placement(
                segment: number, page: 0, pages: segment.byteCount / ArenaLimits.page)
        }
        return nil
    }

    /// The smallest spare segment that holds `size` without wasting more than half of it.
    private mutating func takeSpare(_ size: Int) -> UInt32? {
        var best: Segment?
        for number in spare {
            guard let segment = segments[number], segment.byteCount >= size,
                segment.byteCount <= size * 2, segment.byteCount < best?.byteCount ?? .max
            else { continue }
            best = segment
        }
        guard let best else { return nil }
        spare.removeAll { $0 == best.number }
        return best.number
    }

    private mutating func keepSpare(_ number: UInt32) {
        spare.append(number)
        while spareBytes > limits.spareBytesMax, let oldest = spare.first { unlink(oldest) }
    }

    private var spareBytes: Int {
        var sum = 0
        for number in spare { sum += segments[number]?.byteCount ?? 0 }
        return sum
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

    /// A full tmpfs takes what is only kept warm.
    private mutating func make(_ number: UInt32, _ byteCount: Int) -> Segment? {
        let segmentName = SegmentName(incarnation: incarnation, number: number)
        while true {
            let made = try? Segment(
                in: directory, name: segmentName, byteCount: byteCount, mode: mode,
                isLocked: isLocked)
            guard made == nil, let oldest = spare.first else { return made }
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

    // MARK: - Facts

    private func announcement(_ segment: Segment) -> SegmentAnnouncement {
        SegmentAnnouncement(arena: name, number: segment.number, size: UInt64(segment.byteCount))
    }

    mutating func takeChanges() -> SegmentChanges {
        defer { changes = SegmentChanges() }
        return changes
    }

    func allSegments() -> [SegmentAnnouncement] {
        var all: [SegmentAnnouncement] = []
        for number in segments.keys.sorted() {
            if let segment = segments[number] { all.append(announcement(segment)) }
        }
        return all
    }

    var usage: ArenaUsage {
        ArenaUsage(
            blocks: blocks.count,
            usedBytes: Set(blocks.values).reduce(0) { $0 + $1.pages * ArenaLimits.page },
            segmentBytes: segmentBytes, segments: segments.count)
    }
}
