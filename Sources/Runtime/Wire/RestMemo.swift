import Glibc

/// Values that were made from the rests of bodies (`TokenedBody`) before, found by the bytes.
///
/// Bounded: a newer rest takes the place of an older one. A place is chosen by a hash that nobody
/// outside the process can foresee.
public struct RestMemo<Value> {
    /// A value and the rest that it was made from.
    public final class Entry {
        @usableFromInline
        let hash: Int
        @usableFromInline
        let rest: [UInt8]
        /// What was made.
        public let value: Value

        @inlinable
        init(hash: Int, rest: [UInt8], value: Value) {
            (self.hash, self.rest, self.value) = (hash, rest, value)
        }

        /// Whether it was made from exactly these bytes.
        @inlinable
        public func isOf(_ rest: RawSpan) -> Bool { RestBytes.isEqual(self.rest, rest) }

        @inlinable
        func isOf(_ rest: RawSpan, _ hash: Int) -> Bool { self.hash == hash && isOf(rest) }
    }

    @usableFromInline
    let restBytesMax: Int
    @usableFromInline
    var entries: WayTable<Entry>

    /// For `1 << bits` rests of so many bytes at most.
    @inlinable
    public init(bits: Int, restBytesMax: Int) {
        self.restBytesMax = restBytesMax
        entries = WayTable(bits: bits)
    }

    /// What was kept for exactly these bytes.
    @inlinable
    public func value(for rest: RawSpan) -> Value? { entry(for: rest)?.value }

    /// The same as an object, which can be asked whether it is of other bytes as well.
    @inlinable
    public func entry(for rest: RawSpan) -> Entry? {
        guard rest.byteCount <= restBytesMax else { return nil }
        let hash = RestBytes.hash(rest)
        return entries.find(hash) { $0.isOf(rest, hash) }
    }

    /// Keeps a value for these bytes, unless they are too many.
    @inlinable
    public mutating func keep(_ value: Value, for rest: RawSpan) {
        guard rest.byteCount <= restBytesMax else { return }
        let hash = RestBytes.hash(rest)
        let entry = Entry(hash: hash, rest: rest.withUnsafeBytes { Array($0) }, value: value)
        entries.enter(entry, hash) { $0.isOf(rest, hash) }
    }
}

/// Hashes and compares rests.
@usableFromInline
enum RestBytes {
    @usableFromInline
    static func hash(_ rest: RawSpan) -> Int {
        var hasher = Hasher()
        rest.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    @usableFromInline
    static func isEqual(_ known: [UInt8], _ rest: RawSpan) -> Bool {
        guard known.count == rest.byteCount else { return false }
        return known.withUnsafeBytes { known in
            rest.withUnsafeBytes { rest in
                guard let start = known.baseAddress, let other = rest.baseAddress else {
                    return true
                }
                return memcmp(start, other, known.count) == 0
            }
        }
    }
}
