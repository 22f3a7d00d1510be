import Linux
import Model
import ProcessRuntime
import Synchronization

/// A pool of buffers for copies of results. Reusing them avoids page faults: malloc returns large
/// buffers to the system immediately, and faulting them in again costs more than the copy.
///
/// Bounded: a buffer returned to a full shard is freed (`BufferPoolShard.idleBytesMax`). Can be
/// used from any thread. Threads are distributed over the shards, so they rarely contend, and
/// mostly get memory that is in their own processor's caches.
final class BufferPool: Sendable {
    private typealias Shards = InlineArray<4, BufferPoolShard>
    private let shards = Shards { _ in BufferPoolShard(classCount) }
    /// Results still being read, for which no second copy is made.
    let inUse = BytesInUse()

    private static let alignment = 64
    /// The base-2 logarithm of the smallest size class in bytes; every four classes double the
    /// size.
    private static let smallestBits = 10
    /// Covers sizes up to 1 MiB; larger buffers are not pooled.
    private static let classCount = 4 * 10 + 1

    /// The index of the calling thread's shard.
    static var shard: Int { Thread.ordinal % Shards.count }

    /// Returns a copy of a block's payload, shared by all concurrent readers. Returns `nil` if the
    /// block was reused before it was copied, or if the reference exceeds the segment, in which
    /// case no memory is allocated.
    func copy(_ reference: BlockReference, in segment: MappedSegment) -> ImageBytes? {
        if let known = inUse.bytes(of: reference) { return known }
        var copy = PooledBuffer()
        let isCurrent = segment.read(reference) { source in
            copy = allocate(source.count)
            copy.target.copyMemory(from: source)
        }
        return isCurrent ? inUse.add(ImageBytes(copy), of: reference) : nil
    }

    /// Returns a buffer of `count` bytes, not zeroed.
    func allocate(_ count: Int) -> PooledBuffer {
        let size = Self.size(count)
        let start =
            size.place.flatMap { idle($0, size.bytes) }
            ?? .allocate(byteCount: size.bytes, alignment: Self.alignment)
        return PooledBuffer(start, count: count, of: self)
    }

    /// Returns an idle buffer of the thread's own shard, or else of another one, because buffers
    /// may be taken and returned on different threads.
    private func idle(_ place: Int, _ bytes: Int) -> UnsafeMutableRawPointer? {
        let own = Self.shard
        for step in 0..<shards.count {
            let shard = (own + step) % shards.count
            if let start = shards[shard].removeIdle(place, bytes) { return start }
        }
        return nil
    }

    fileprivate func giveBack(_ start: UnsafeMutableRawPointer, count: Int) {
        let size = Self.size(count)
        if let place = size.place, shards[Self.shard].put(start, place, size.bytes) { return }
        start.deallocate()
    }

    /// Returns the size class and its size in bytes, at most a quarter more than requested; no
    /// class if the size is too large for the pool.
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

/// A copy of a result. Its memory returns to the pool, if it came from one, when the copy is
/// destroyed.
///
/// Unchecked: it is written only by the thread that took it, before it is shared, and only read
/// afterwards.
struct PooledBuffer: ~Copyable, @unchecked Sendable {
    private let start: UnsafeMutableRawPointer?
    let count: Int
    private let pool: BufferPool?

    /// The bytes of memory allocated for it.
    var heldBytes: Int { pool == nil ? count : BufferPool.size(count).bytes }

    /// Creates an empty buffer, which stands for `nil`: an optional noncopyable property could not
    /// be borrowed.
    init() { (start, count, pool) = (nil, 0, nil) }

    fileprivate init(_ start: UnsafeMutableRawPointer, count: Int, of pool: BufferPool) {
        (self.start, self.count, self.pool) = (start, count, pool)
    }

    /// Creates a copy in separately allocated memory, for bytes that are not in a block.
    init(of bytes: [UInt8]) {
        (count, pool) = (bytes.count, nil)
        start = .allocate(byteCount: max(1, bytes.count), alignment: 1)
        target.copyBytes(from: bytes)
    }

    /// The memory to write to, once, before the buffer is shared.
    var target: UnsafeMutableRawBufferPointer { .init(start: start, count: count) }
    /// The bytes; empty if there is no copy.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    deinit {
        guard let start else { return }
        if let pool { pool.giveBack(start, count: count) } else { start.deallocate() }
    }
}

/// Idle buffers of a `BufferPool` (one shard), by size class. Can be used from any thread.
///
/// Bounded: it holds at most `idleBytesMax`.
struct BufferPoolShard: ~Copyable, Sendable {
    private struct State: ~Copyable {
        /// Addresses by size class; the most recently used buffer, still in the cache, is last.
        var idle: [[Int]]
        var bytes = 0
    }

    /// Two cache lines between this shard and what precedes it in memory, because data written by
    /// different processors must not share a line.
    private let padding = InlineArray<16, UInt64>(repeating: 0)
    private let state: Mutex<State>

    static let idleBytesMax = 8 << 20

    init(_ classCount: Int) {
        state = Mutex(State(idle: Array(repeating: [], count: classCount)))
    }

    /// Returns a buffer of a size class, which has `bytes` bytes, or `nil` if none is idle.
    func removeIdle(_ place: Int, _ bytes: Int) -> UnsafeMutableRawPointer? {
        let address: Int? = state.withLock { state in
            guard let known = state.idle[place].popLast() else { return nil }
            state.bytes -= bytes
            return known
        }
        return address.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
    }

    /// Keeps a buffer of a size class. Returns false if the shard is full.
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

/// Image bytes that are still being read, by the block they came from. Another reader of the same
/// result gets the same object instead of a copy. Can be used from any thread.
///
/// Holds weak references only. Bounded by twice the number of objects in use.
final class BytesInUse: Sendable {
    private struct Place { weak var bytes: ImageBytes? }

    private struct State {
        var places: [BlockReference: Place] = [:]
        /// The number of entries at which those whose bytes are gone are removed.
        var placesMax = placesMin
    }

    private let state = Mutex(State())

    /// Smaller results are always copied: that is faster than two lookups here.
    static let bytesMin: UInt64 = 64 << 10
    private static let placesMin = 64

    /// Returns the bytes of a result that is being read, or `nil` if none is.
    func bytes(of reference: BlockReference) -> ImageBytes? {
        guard reference.length >= Self.bytesMin else { return nil }
        return state.withLock { $0.places[reference]?.bytes }
    }

    /// Makes bytes available to further readers. Returns another thread's bytes if that thread
    /// added them first.
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

    /// Forgets all results when a session ends; block references of the next session are unrelated.
    func forgetAll() { state.withLock { $0 = State() } }
}
