import Synchronization

/// Memory for copies of results, used again and again: what malloc gives back to the system at once
/// comes back as page faults, which cost more than the copy itself.
///
/// Bounded: beyond `idleBytesMax` what is given back is freed. Any thread.
final class CopyPool: Sendable {
    private struct State: ~Copyable {
        /// By class of size; the one that was used last, which is warm, comes first.
        var idle = [[Int]](repeating: [], count: classCount)
        var idleBytes = 0
    }

    private let state = Mutex(State())

    private static let idleBytesMax = 8 << 20
    private static let alignment = 64
    /// The smallest class has so many bytes; four classes double it.
    private static let smallestBits = 10
    /// Up to 1 MiB; what is larger is not kept.
    private static let classCount = 4 * 10 + 1

    /// Memory for so many bytes, not zeroed.
    func take(_ count: Int) -> CopyBuffer {
        let size = Self.size(count)
        var address: Int?
        if let place = size.place {
            address = state.withLock { state in
                guard let known = state.idle[place].popLast() else { return nil }
                state.idleBytes -= size.bytes
                return known
            }
        }
        let start =
            address.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
            ?? .allocate(byteCount: size.bytes, alignment: Self.alignment)
        return CopyBuffer(start, count: count, of: self)
    }

    fileprivate func giveBack(_ start: UnsafeMutableRawPointer, count: Int) {
        let size = Self.size(count)
        let isKept = state.withLock { state in
            guard let place = size.place, state.idleBytes + size.bytes <= Self.idleBytesMax else {
                return false
            }
            state.idle[place].append(Int(bitPattern: start))
            state.idleBytes += size.bytes
            return true
        }
        if !isKept { start.deallocate() }
    }

    deinit {
        state.withLock { state in
            for address in state.idle.joined() {
                UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
            }
            state.idle = []
        }
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

/// A copy of a result; its memory goes back to the pool with it.
///
/// Unchecked: it is written by whoever took it, before anybody else knows it, and only read then.
struct CopyBuffer: ~Copyable, @unchecked Sendable {
    private let start: UnsafeMutableRawPointer?
    let count: Int
    private let pool: CopyPool?

    /// Stands for nil: an optional noncopyable property could not be borrowed.
    init() { (start, count, pool) = (nil, 0, nil) }

    fileprivate init(_ start: UnsafeMutableRawPointer, count: Int, of pool: CopyPool) {
        (self.start, self.count, self.pool) = (start, count, pool)
    }

    var isThere: Bool { start != nil }

    /// To be written once, before it is shared.
    var target: UnsafeMutableRawBufferPointer { .init(start: start, count: count) }
    /// Nothing where there is no copy.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    deinit {
        if let start { pool?.giveBack(start, count: count) }
    }
}
