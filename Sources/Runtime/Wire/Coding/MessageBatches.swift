import CMessages
import Glibc
public import Messages

/// Collects bodies that go out as one message (`Batch`). Use it on one thread.
///
/// Bounded: it has room for `MessageLimits.batchMax` bodies of
/// `MessageLimits.batchedBodyBytesMax` bytes, and such a batch fits a frame.
public struct BatchWriter: ~Copyable {
    private let slab = Slab()
    private var bodies: [ProtobufCBinaryData] = []

    /// A writer without bodies.
    public init() { bodies.reserveCapacity(MessageLimits.batchMax) }

    /// How many bodies were added.
    public var count: Int { bodies.count }

    /// Whether nothing was added.
    public var isEmpty: Bool { bodies.isEmpty }

    /// Whether there is no room for another one.
    var isFull: Bool { bodies.count == MessageLimits.batchMax }

    /// Adds the body of that token and rest (`TokenedBody`). `false` where there is no room for it,
    /// or it has more bytes than a body in a batch may have.
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

    /// Forgets all bodies.
    public mutating func removeAll() {
        bodies.removeAll(keepingCapacity: true)
        slab.reset()
    }

    /// One body; valid until `removeAll`. A precondition: `index` < `count`.
    @_lifetime(borrow self)
    public borrowing func body(at index: Int) -> RawSpan {
        let body = bodies[index]
        let span = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: body.data, count: body.len))
        return _overrideLifetime(span, borrowing: self)
    }

    /// Lends the message of all bodies: its bytes, and how to write them into a frame of so many.
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

/// Reads messages that bring several bodies (`Batch`): of loads, or of replies.
///
/// Holds one batch at a time, in memory of its own that a quota bounds; use it on one thread.
public struct BatchReader: ~Copyable {
    private let slab = Slab()
    private var bodies = UnsafeBufferPointer<ProtobufCBinaryData>(start: nil, count: 0)

    /// A reader without a batch.
    public init() {}

    /// How many bodies the batch has.
    public var count: Int { bodies.count }

    /// Reads a batch; the one before is gone, also where this throws.
    ///
    /// Throws `field` for none and for more than `MessageLimits.batchMax` bodies, `malformed`,
    /// `tooLarge` or `quotaExceeded` for what is no batch. What the bodies say is not looked at.
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

    /// One body; valid until the next batch. A precondition: `index` < `count`.
    @_lifetime(borrow self)
    public borrowing func body(at index: Int) -> RawSpan {
        let body = bodies[index]
        let span = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: body.data, count: body.len))
        return _overrideLifetime(span, borrowing: self)
    }
}

/// The body of a `Load` or `Reply`: its token in front, and all the rest.
///
/// Both have the token as their first field. Bodies with the same rest say the same of different
/// requests: what was learnt of one holds for the other, provided that the first one was written
/// in the one canonical way (`MessageEncoder`'s), so that the rest has no token of its own.
public struct TokenedBody: ~Copyable, ~Escapable {
    /// The token.
    public let token: Token
    /// The bytes behind it.
    public let rest: RawSpan

    /// Where the rest begins: tag, length and 16 bytes come before.
    public static let restOffset = 2 + Identifier128.byteCount
    private static let tagAndLength: [UInt8] = [0x0A, UInt8(Identifier128.byteCount)]

    /// Splits a body; `nil` where it begins with no token.
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

    /// Writes a body of that rest for another token. `target` has room for exactly both.
    public static func write(
        _ token: Token, _ rest: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) {
        precondition(target.count == restOffset + rest.count, "a body is its token and its rest")
        target[0] = tagAndLength[0]
        target[1] = tagAndLength[1]
        target.storeBytes(of: token.value.high.bigEndian, toByteOffset: 2, as: UInt64.self)
        target.storeBytes(of: token.value.low.bigEndian, toByteOffset: 10, as: UInt64.self)
        UnsafeMutableRawBufferPointer(rebasing: target[restOffset...]).copyMemory(from: rest)
    }
}

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

/// Objects by hash, in a bounded number of places: each hash has a set of four, and where these are
/// taken a new object takes one of them in turn.
///
/// Four, since with one place each a quarter of 10,000 objects would drive another one out of
/// 32,768 places.
public struct WayTable<Object: AnyObject> {
    @usableFromInline
    var places: [Object?]
    @usableFromInline
    let setMask: Int
    /// Who goes next where a set is full.
    @usableFromInline
    var turn = 0

    @usableFromInline
    static var ways: Int { 4 }

    /// With `1 << bits` places, at least four.
    @inlinable
    public init(bits: Int) {
        let count = max(1 << bits, Self.ways)
        places = Array(repeating: nil, count: count)
        setMask = count / Self.ways - 1
    }

    /// The object of that hash for which `isMeant` holds.
    @inlinable
    public func find(_ hash: Int, where isMeant: (Object) -> Bool) -> Object? {
        let first = (hash & setMask) * Self.ways
        for place in first..<(first + Self.ways) {
            if let object = places[place], isMeant(object) { return object }
        }
        return nil
    }

    /// Enters an object, in the place of one for which `isOlder` holds, of none, or of any.
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
