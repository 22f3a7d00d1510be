import Linux
import Messages
import SharedArena
import Synchronization

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

/// Idle memory of a `CopyPool`, by class of size. Any thread.
///
/// Bounded: it keeps `idleBytesMax` at most.
struct CopyShelf: ~Copyable, Sendable {
    private struct State: ~Copyable {
        /// The one that was used last, which is warm, comes last.
        var idle: [[Int]]
        var bytes = 0
    }

    /// Two lines of a processor's cache between this shelf and what lies before it: what different
    /// processors write to must not share a line.
    private let padding = InlineArray<16, UInt64>(repeating: 0)
    private let state: Mutex<State>

    static let idleBytesMax = 8 << 20

    init(_ classCount: Int) {
        state = Mutex(State(idle: Array(repeating: [], count: classCount)))
    }

    /// Memory of that class, which has so many bytes; `nil`: there is none.
    func take(_ place: Int, _ bytes: Int) -> UnsafeMutableRawPointer? {
        let address: Int? = state.withLock { state in
            guard let known = state.idle[place].popLast() else { return nil }
            state.bytes -= bytes
            return known
        }
        return address.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
    }

    /// Keeps memory of that class; false where there is no room for it.
    func put(_ start: UnsafeMutableRawPointer, _ place: Int, _ bytes: Int) -> Bool {
        let address = Int(bitPattern: start)
        return state.withLock { state in
            guard state.bytes + bytes <= Self.idleBytesMax else { return false }
            state.idle[place].append(address)
            state.bytes += bytes
            return true
        }
    }

    deinit {
        state.withLock { state in
            for address in state.idle.joined() {
                UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
            }
            state.idle = []
        }
    }
}

/// Image bytes that somebody still reads, by the block that they came from: a further reader of the
/// same result gets the same object instead of a copy of its own. Any thread.
///
/// Keeps nothing alive. Bounded: by twice the objects that are in use.
final class BytesInUse: Sendable {
    private struct Place { weak var bytes: ImageBytes? }

    private struct State {
        var places: [BlockReference: Place] = [:]
        /// How many places there may be before those whose bytes have gone are removed.
        var placesMax = placesMin
    }

    private let state = Mutex(State())

    /// Smaller results are copied: that takes less time than two look-ups here.
    static let bytesMin: UInt64 = 64 << 10
    private static let placesMin = 64

    /// The bytes of a result that is being read; `nil`: nobody reads it.
    func bytes(of reference: BlockReference) -> ImageBytes? {
        guard reference.length >= Self.bytesMin else { return nil }
        return state.withLock { $0.places[reference]?.bytes }
    }

    /// Bytes that further readers are to get. Returns those of another thread that was faster.
    func add(_ bytes: ImageBytes, of reference: BlockReference) -> ImageBytes {
        guard reference.length >= Self.bytesMin else { return bytes }
        return state.withLock { state in
            if let known = state.places[reference]?.bytes { return known }
            if state.places.count >= state.placesMax {
                state.places = state.places.filter { $0.value.bytes != nil }
                state.placesMax = max(Self.placesMin, 2 * state.places.count)
            }
            state.places[reference] = Place(bytes: bytes)
            return bytes
        }
    }

    /// What is read now has no further readers: blocks of the next session are others.
    func forgetAll() { state.withLock { $0 = State() } }
}
