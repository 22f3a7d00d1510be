/// Values that were made from the rests of bodies (`TokenedBody`) before, found by the bytes.
///
/// Bounded: a newer rest takes the place of an older one. A place is chosen by a hash that nobody
/// outside the process can foresee.
public struct RestMemo<Value> {
    @usableFromInline
    final class Entry {
        @usableFromInline
        let hash: Int
        @usableFromInline
        let rest: [UInt8]
        @usableFromInline
        let value: Value

        @inlinable
        init(hash: Int, rest: [UInt8], value: Value) {
            (self.hash, self.rest, self.value) = (hash, rest, value)
        }

        @inlinable
        func isOf(_ rest: RawSpan, _ hash: Int) -> Bool {
            self.hash == hash && RestBytes.isEqual(self.rest, rest)
        }
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
    public func value(for rest: RawSpan) -> Value? {
        guard rest.byteCount <= restBytesMax else { return nil }
        let hash = RestBytes.hash(rest)
        return entries.find(hash) { $0.isOf(rest, hash) }?.value
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
