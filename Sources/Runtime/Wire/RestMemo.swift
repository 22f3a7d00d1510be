/// Values that were made from the rests of bodies (`TokenedBody`) before, found by the bytes.
///
/// Bounded: each rest has one place, and a newer one takes it. A place is chosen by a hash that
/// nobody outside the process can foresee.
public struct RestMemo<Value> {
    /// A class, so that a place that is not used takes eight bytes.
    private final class Entry {
        let hash: Int
        let rest: [UInt8]
        let value: Value

        init(hash: Int, rest: [UInt8], value: Value) {
            (self.hash, self.rest, self.value) = (hash, rest, value)
        }
    }

    private let restBytesMax: Int
    private var entries: [Entry?]

    /// For `1 << bits` rests of so many bytes at most.
    public init(bits: Int, restBytesMax: Int) {
        self.restBytesMax = restBytesMax
        entries = Array(repeating: nil, count: 1 << bits)
    }

    /// What was kept for exactly these bytes.
    public func value(for rest: RawSpan) -> Value? {
        guard rest.byteCount <= restBytesMax else { return nil }
        let hash = Self.hash(rest)
        guard let entry = entries[hash & (entries.count - 1)], entry.hash == hash,
            Self.isEqual(entry.rest, rest)
        else { return nil }
        return entry.value
    }

    /// Keeps a value for these bytes, unless they are too many.
    public mutating func keep(_ value: Value, for rest: RawSpan) {
        guard rest.byteCount <= restBytesMax else { return }
        let hash = Self.hash(rest)
        entries[hash & (entries.count - 1)] = Entry(
            hash: hash, rest: rest.withUnsafeBytes { Array($0) }, value: value)
    }

    private static func hash(_ rest: RawSpan) -> Int {
        var hasher = Hasher()
        rest.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// By words: comparing bytes one by one costs as much as the hash.
    private static func isEqual(_ known: [UInt8], _ rest: RawSpan) -> Bool {
        guard known.count == rest.byteCount else { return false }
        let known = known.span.bytes
        var offset = 0
        while offset + 8 <= rest.byteCount {
            let same =
                known.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
                == rest.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard same else { return false }
            offset += 8
        }
        while offset < rest.byteCount {
            guard
                known.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                    == rest.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            else { return false }
            offset += 1
        }
        return true
    }
}
