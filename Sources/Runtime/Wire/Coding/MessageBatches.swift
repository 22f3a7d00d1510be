import CMessages
import Glibc
public import Model

/// Collects bodies to be sent as one message (`Batch`). Confined to one thread.
///
/// Limited to `MessageLimits.batchMax` bodies of `MessageLimits.batchedBodyBytesMax` bytes; such a
/// batch fits into a frame.
public struct BatchWriter: ~Copyable {
    private let slab = Slab()
    private var bodies: [ProtobufCBinaryData] = []

    /// Creates an empty writer.
    public init() { bodies.reserveCapacity(MessageLimits.batchMax) }

    /// The number of bodies.
    public var count: Int { bodies.count }

    /// Whether there are no bodies.
    public var isEmpty: Bool { bodies.isEmpty }

    /// Whether the batch has the maximum number of bodies.
    var isFull: Bool { bodies.count == MessageLimits.batchMax }

    /// Adds a body with that token and rest (`TokenedBody`). Returns `false` if the batch is full
    /// or the body is larger than a batch permits.
    public mutating func add(_ token: Token, _ rest: RawSpan) -> Bool {
        let byteCount = TokenedBody.restOffset + rest.byteCount
        guard !isFull, byteCount <= MessageLimits.batchedBodyBytesMax,
            let start = slab.region.pointee.allocate(byteCount)
        else { return false }
        rest.withUnsafeBytes {
            TokenedBody.write(
                token, $0, into: UnsafeMutableRawBufferPointer(start: start, count: byteCount))
        }
        bodies.append(
            ProtobufCBinaryData(len: byteCount, data: start.assumingMemoryBound(to: UInt8.self)))
        return true
    }

    /// Removes all bodies.
    public mutating func removeAll() {
        bodies.removeAll(keepingCapacity: true)
        slab.reset()
    }

    /// Returns one body, which is valid until `removeAll`. Precondition: `index` < `count`.
    @_lifetime(borrow self)
    public borrowing func body(at index: Int) -> RawSpan {
        let body = bodies[index]
        let span = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: body.data, count: body.len))
        return _overrideLifetime(span, borrowing: self)
    }

    /// Passes the message of all bodies to `send`: its size, and a function that writes it into a
    /// frame of that size.
    public mutating func withMessage<Result, Failure: Error>(
        _ send: (_ byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void)
            throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var batch = Imagebus__V1__Batch()
        imagebus__v1__batch__init(&batch)
        batch.n_bodies = bodies.count
        let result: Swift.Result<Result, Failure> = bodies.withUnsafeMutableBufferPointer {
            batch.bodies = $0.baseAddress
            let byteCount = imagebus__v1__batch__get_packed_size(&batch)
            do throws(Failure) {
                return .success(
                    try send(byteCount) { frame in
                        _ = imagebus__v1__batch__pack(
                            &batch, frame.bindMemory(to: UInt8.self).baseAddress)
                    })
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

/// Reads messages with several bodies (`Batch`) of loads or replies.
///
/// Holds one batch at a time in its own memory, which a quota limits. Confined to one thread.
public struct BatchReader: ~Copyable {
    private let slab = Slab()
    private var bodies = UnsafeBufferPointer<ProtobufCBinaryData>(start: nil, count: 0)

    /// Creates a reader without a batch.
    public init() {}

    /// The number of bodies in the batch.
    public var count: Int { bodies.count }

    /// Reads a batch and discards the previous one, even if this throws.
    ///
    /// Throws `field` for zero or more than `MessageLimits.batchMax` bodies, and `malformed`,
    /// `tooLarge` or `quotaExceeded` for an invalid batch. The bodies themselves are not validated.
    public mutating func read(_ body: RawSpan) throws(WireError) {
        bodies = UnsafeBufferPointer(start: nil, count: 0)
        let limit = MessageLimits.frontFrameBytesMax
        guard body.byteCount <= limit else { throw .tooLarge(limit: limit) }
        slab.reset()
        var allocator = slab.allocator
        let batch = body.withUnsafeBytes { bytes in
            imagebus__v1__batch__unpack(
                &allocator, bytes.count, bytes.bindMemory(to: UInt8.self).baseAddress)
        }
        guard let batch else {
            throw slab.region.pointee.isExhausted ? .quotaExceeded : .malformed
        }
        let count = batch.pointee.n_bodies
        guard count > 0 else { throw .field("Batch.bodies", .missing) }
        guard count <= MessageLimits.batchMax else {
            throw .field("Batch.bodies", .tooMany(limit: MessageLimits.batchMax))
        }
        bodies = UnsafeBufferPointer(start: batch.pointee.bodies, count: count)
    }

    /// Returns one body, which is valid until the next batch. Precondition: `index` < `count`.
    @_lifetime(borrow self)
    public borrowing func body(at index: Int) -> RawSpan {
        let body = bodies[index]
        let span = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: body.data, count: body.len))
        return _overrideLifetime(span, borrowing: self)
    }
}

/// The body of a `Load` or `Reply`, split into its token and the rest.
///
/// Both messages have the token as their first field. Bodies with equal rests have the same content
/// for different requests, so results for one apply to the other, provided that the first one has
/// the canonical encoding (of `MessageEncoder`), so that its rest contains no second token.
public struct TokenedBody: ~Copyable, ~Escapable {
    /// The token.
    public let token: Token
    /// The bytes after the token.
    public let rest: RawSpan

    /// The offset of the rest, after tag, length and 16 bytes.
    public static let restOffset = 2 + Identifier128.byteCount
    private static let tagAndLength: [UInt8] = [0x0A, UInt8(Identifier128.byteCount)]

    /// Splits a body; `nil` if it doesn't begin with a token.
    @_lifetime(copy body)
    public init?(_ body: RawSpan) {
        guard body.byteCount > Self.restOffset,
            body.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == Self.tagAndLength[0],
            body.unsafeLoad(fromByteOffset: 1, as: UInt8.self) == Self.tagAndLength[1]
        else { return nil }
        let high = body.unsafeLoadUnaligned(fromByteOffset: 2, as: UInt64.self)
        let low = body.unsafeLoadUnaligned(fromByteOffset: 10, as: UInt64.self)
        token = Token(Identifier128(high: high.bigEndian, low: low.bigEndian))
        rest = body.extracting(Self.restOffset...)
    }

    /// Writes a body with another token and this rest. `target` must have exactly their size.
    public static func write(
        _ token: Token, _ rest: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) {
        precondition(
            target.count == restOffset + rest.count, "a body must consist of its token and the rest"
        )
        target[0] = tagAndLength[0]
        target[1] = tagAndLength[1]
        target.storeBytes(of: token.value.high.bigEndian, toByteOffset: 2, as: UInt64.self)
        target.storeBytes(of: token.value.low.bigEndian, toByteOffset: 10, as: UInt64.self)
        UnsafeMutableRawBufferPointer(rebasing: target[restOffset...]).copyMemory(from: rest)
    }
}

/// A bounded memo of values computed from the rests of bodies (`TokenedBody`), keyed by their
/// bytes.
///
/// A newer entry replaces an older one. The slot is chosen by a hash that is unpredictable outside
/// the process.
public struct RestMemo<Value> {
    /// A value and the rest from which it was computed.
    public final class Entry {
        @usableFromInline
        let hash: Int
        @usableFromInline
        let rest: [UInt8]
        /// The computed value.
        public let value: Value

        @inlinable
        init(hash: Int, rest: [UInt8], value: Value) {
            (self.hash, self.rest, self.value) = (hash, rest, value)
        }

        /// Returns whether it was computed from exactly these bytes.
        @inlinable
        public func isOf(_ rest: RawSpan) -> Bool { RestBytes.isEqual(self.rest, rest) }

        @inlinable
        func isOf(_ rest: RawSpan, _ hash: Int) -> Bool { self.hash == hash && isOf(rest) }
    }

    @usableFromInline
    let restBytesMax: Int
    @usableFromInline
    var entries: SetAssociativeCache<Entry>

    /// Creates a memo with `1 << bits` slots, for rests of at most `restBytesMax` bytes.
    @inlinable
    public init(bits: Int, restBytesMax: Int) {
        self.restBytesMax = restBytesMax
        entries = SetAssociativeCache(bits: bits)
    }

    /// Returns the value for exactly these bytes.
    @inlinable
    public func value(for rest: RawSpan) -> Value? { entry(for: rest)?.value }

    /// Returns the entry for exactly these bytes, which can be compared to other bytes later.
    @inlinable
    public func entry(for rest: RawSpan) -> Entry? {
        guard rest.byteCount <= restBytesMax else { return nil }
        let hash = RestBytes.hash(rest)
        return entries.find(hash) { $0.isOf(rest, hash) }
    }

    /// Stores a value for these bytes, unless they exceed the size limit.
    @inlinable
    public mutating func keep(_ value: Value, for rest: RawSpan) {
        guard rest.byteCount <= restBytesMax else { return }
        let hash = RestBytes.hash(rest)
        let entry = Entry(hash: hash, rest: rest.withUnsafeBytes { Array($0) }, value: value)
        entries.enter(entry, hash) { $0.isOf(rest, hash) }
    }
}

/// Hashing and comparison of rests.
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

/// A set-associative cache of objects by hash: each hash maps to a set of four slots, whose entries
/// are replaced in turn when the set is full.
///
/// Four ways, because in a direct-mapped cache with 32,768 slots a quarter of 10,000 objects would
/// evict another one.
public struct SetAssociativeCache<Object: AnyObject> {
    @usableFromInline
    var places: [Object?]
    @usableFromInline
    let setMask: Int
    /// The next slot to replace in a full set.
    @usableFromInline
    var turn = 0

    @usableFromInline
    static var ways: Int { 4 }

    /// Creates a cache with `1 << bits` slots, at least four.
    @inlinable
    public init(bits: Int) {
        let count = max(1 << bits, Self.ways)
        places = Array(repeating: nil, count: count)
        setMask = count / Self.ways - 1
    }

    /// Returns the object with that hash that satisfies `isMeant`.
    @inlinable
    public func find(_ hash: Int, where isMeant: (Object) -> Bool) -> Object? {
        let first = (hash & setMask) * Self.ways
        for place in first..<(first + Self.ways) {
            if let object = places[place], isMeant(object) { return object }
        }
        return nil
    }

    /// Inserts an object, replacing one that satisfies `isOlder`, else using a free slot, else
    /// replacing any object in the set.
    @inlinable
    public mutating func enter(_ object: Object, _ hash: Int, for isOlder: (Object) -> Bool) {
        let set = (hash & setMask) * Self.ways..<((hash & setMask) + 1) * Self.ways
        if let place = set.first(where: { places[$0].map(isOlder) == true }) {
            places[place] = object
            return
        }
        turn &+= 1
        let free = set.first { places[$0] == nil }
        places[free ?? set.lowerBound + (turn & (Self.ways - 1))] = object
    }
}
