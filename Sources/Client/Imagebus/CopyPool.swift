import Linux
import Messages
import SharedArena

/// Memory for copies of results, used again and again: what malloc gives back to the system at once
/// comes back as page faults, which cost more than the copy itself.
///
/// Bounded: what is given back to a full shelf is freed (`CopyShelf.idleBytesMax`). Any thread.
/// Threads are parted among the shelves, so that two of them seldom wait for each other, and mostly
/// get memory that their own processor has in its caches.
final class CopyPool: Sendable {
    private typealias Shelves = InlineArray<4, CopyShelf>
    private let shelves = Shelves { _ in CopyShelf(classCount) }
    /// Results of which nobody gets a further copy.
    let inUse = BytesInUse()

    private static let alignment = 64
    /// The smallest class has so many bytes; four classes double it.
    private static let smallestBits = 10
    /// Up to 1 MiB; what is larger is not kept.
    private static let classCount = 4 * 10 + 1

    /// That of the calling thread.
    static var shelf: Int { Thread.ordinal % Shelves.count }

    /// A copy of a block's payload, the same for all who read it at a time; `nil` where the block
    /// was used again before it was copied, and where the reference leaves the segment, for which
    /// no memory is taken.
    func copy(_ reference: BlockReference, in segment: MappedSegment) -> ImageBytes? {
        if let known = inUse.bytes(of: reference) { return known }
        var copy = CopyBuffer()
        let isCurrent = segment.read(reference) { source in
            copy = take(source.count)
            copy.target.copyMemory(from: source)
        }
        return isCurrent ? inUse.add(ImageBytes(copy), of: reference) : nil
    }

    /// Memory for so many bytes, not zeroed.
    func take(_ count: Int) -> CopyBuffer {
        let size = Self.size(count)
        let start =
            size.place.flatMap { idle($0, size.bytes) }
            ?? .allocate(byteCount: size.bytes, alignment: Self.alignment)
        return CopyBuffer(start, count: count, of: self)
    }

    /// Of the thread's own shelf, else of another one: who takes may not be who gives back.
    private func idle(_ place: Int, _ bytes: Int) -> UnsafeMutableRawPointer? {
        let own = Self.shelf
        for step in 0..<shelves.count {
            let shelf = (own + step) % shelves.count
            if let start = shelves[shelf].take(place, bytes) { return start }
        }
        return nil
    }

    fileprivate func giveBack(_ start: UnsafeMutableRawPointer, count: Int) {
        let size = Self.size(count)
        if let place = size.place, shelves[Self.shelf].put(start, place, size.bytes) { return }
        start.deallocate()
    }

    /// The class and the bytes of its memory, at most a quarter more than asked for; no class for
    /// what is too large.
    static func size(_ count: Int) -> (place: Int?, bytes: Int) {
        let least = 1 << smallestBits
        guard count > least else { return (0, least) }
        let bits = Int.bitWidth - 1 - (count - 1).leadingZeroBitCount
        let quarter = 1 << (bits - 2)
        let quarters = (count - 1 - (1 << bits)) / quarter + 1
        let place = 4 * (bits - smallestBits) + quarters
        let bytes = (1 << bits) + quarters * quarter
        return place < classCount ? (place, bytes) : (nil, bytes)
    }
}

/// A copy of a result; its memory goes back to the pool with it, if it came from one.
///
/// Unchecked: it is written by whoever took it, before anybody else knows it, and only read then.
struct CopyBuffer: ~Copyable, @unchecked Sendable {
    private let start: UnsafeMutableRawPointer?
    let count: Int
    private let pool: CopyPool?

    /// Bytes of memory that it takes.
    var heldBytes: Int { pool == nil ? count : CopyPool.size(count).bytes }

    /// Stands for nil: an optional noncopyable property could not be borrowed.
    init() { (start, count, pool) = (nil, 0, nil) }

    fileprivate init(_ start: UnsafeMutableRawPointer, count: Int, of pool: CopyPool) {
        (self.start, self.count, self.pool) = (start, count, pool)
    }

    /// A copy in memory of its own, for what is in no block.
    init(of bytes: [UInt8]) {
        (count, pool) = (bytes.count, nil)
        start = .allocate(byteCount: max(1, bytes.count), alignment: 1)
        target.copyBytes(from: bytes)
    }

    var isThere: Bool { start != nil }

    /// To be written once, before it is shared.
    var target: UnsafeMutableRawBufferPointer { .init(start: start, count: count) }
    /// Nothing where there is no copy.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    deinit {
        guard let start else { return }
        if let pool { pool.giveBack(start, count: count) } else { start.deallocate() }
    }
}
