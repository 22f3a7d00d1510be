import CMessages
public import Model

/// A message that is ready to be packed, with the information needed to allocate its frames.
public struct EncodedMessage: Hashable, Sendable {
    /// The first frame.
    public let header: FrameHeader
    /// The size of the second frame in bytes.
    public let byteCount: Int
}

/// Encodes messages to frames, one at a time, without allocating for each of them.
///
///     let message = try encoder.encode(.credit(1))
///     // send message.header.encoded, then allocate message.byteCount bytes and:
///     encoder.pack(into: bytes)
///
/// `encode` throws `field` for a value that the receiver would reject, and `tooLarge` for a body
/// over the limit of its sockets. An `ImageError` never throws: its texts are truncated to the
/// limits.
public struct MessageEncoder: ~Copyable {
    private let slab = Slab()
    private var prepared: UnsafeMutablePointer<ProtobufCMessage>?
    private var byteCount = 0

    /// Creates an encoder, to be used on one thread.
    public init() {}

    /// Writes the message that was encoded last. `bytes` must have exactly its `byteCount`.
    public borrowing func pack(into bytes: UnsafeMutableRawBufferPointer) {
        precondition(bytes.count == byteCount, "the frame must have the size of the body")
        guard byteCount > 0 else { return }
        protobuf_c_message_pack(prepared, bytes.bindMemory(to: UInt8.self).baseAddress)
    }

    /// Writes the message that was encoded last. `bytes` must have exactly its `byteCount`.
    public borrowing func pack(into bytes: inout MutableRawSpan) {
        bytes.withUnsafeMutableBytes { pack(into: $0) }
    }

    /// Returns the body of the message that was encoded last as an array, for code that may
    /// allocate.
    public borrowing func packed() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { bytes, count in
            pack(into: UnsafeMutableRawBufferPointer(bytes))
            count = byteCount
        }
    }

    /// Builds the C form and computes its packed size.
    mutating func prepare(_ kind: MessageKind, limit: Int, _ value: consuming some WireMessage)
        throws(WireError) -> EncodedMessage
    {
        try build(value, limit: limit)
        return EncodedMessage(header: FrameHeader(kind: kind), byteCount: byteCount)
    }

    /// Builds the C form without a frame.
    mutating func build(_ value: consuming some WireMessage, limit: Int) throws(WireError) {
        slab.reset()
        (prepared, byteCount) = (nil, 0)
        // Every generated message begins with its base.
        let message = UnsafeMutableRawPointer(
            try FieldWriter.build(&value, in: slab.region, "")
        ).assumingMemoryBound(to: ProtobufCMessage.self)
        let size = protobuf_c_message_get_packed_size(message)
        guard size <= limit else { throw .tooLarge(limit: limit) }
        (prepared, byteCount) = (message, size)
    }
}

/// Decodes frames to messages, one at a time, in its own memory, which a quota limits.
///
/// Each function decodes the messages of one direction and throws a `WireError` for every violation
/// of `Proto/PROTOCOL.md`. The results never point into the frame.
public struct MessageDecoder: ~Copyable {
    private let slab: Slab

    /// Creates a decoder, to be used on one thread. Every message within the limits fits into the
    /// quota.
    public init() { slab = Slab() }

    /// Creates a decoder with another quota in bytes.
    init(quota: Int) { slab = Slab(quota: quota) }

    /// Unpacks a body of at most `limit` bytes and reads its fields.
    mutating func decode<Message: WireMessage>(
        _ body: RawSpan, limit: Int,
        _ unpack: (UnsafeMutablePointer<ProtobufCAllocator>?, Int, UnsafePointer<UInt8>?)
            -> CPart<Message.Form>?
    ) throws(WireError) -> Message {
        guard body.byteCount <= limit else { throw .tooLarge(limit: limit) }
        slab.reset()
        var allocator = slab.allocator
        let part = body.withUnsafeBytes { bytes in
            unpack(&allocator, bytes.count, bytes.bindMemory(to: UInt8.self).baseAddress)
        }
        guard let part else {
            throw slab.region.pointee.isExhausted ? .quotaExceeded : .malformed
        }
        var message = Message.blank
        try message.fields(FieldReader(region: slab.region, container: ""), part)
        return message
    }
}

/// Memory for one message at a time: allocations count toward a quota, and freeing resets
/// everything.
///
/// All parts of a message have the same lifetime, so a bump allocator suffices; the quota limits
/// the amplification of a malicious body. Pages that no message touched are never resident.
struct Slab: ~Copyable {
    /// Enough for every message within the limits (a full `Load` takes 60 KB), and far less than
    /// the most wasteful fields in 96 KB would take.
    static let defaultQuota = 256 * 1024

    /// The memory, whose address is stable while the slab exists.
    let region: UnsafeMutablePointer<SlabRegion>

    init(quota: Int = defaultQuota) {
        region = .allocate(capacity: 1)
        region.initialize(to: SlabRegion(capacity: max(quota, 0)))
    }

    deinit {
        region.pointee.base.deallocate()
        region.deinitialize(count: 1)
        region.deallocate()
    }

    /// Frees all allocations.
    func reset() {
        region.pointee.used = 0
        region.pointee.isExhausted = false
    }

    /// The slab as an allocator for protobuf-c; valid while the slab exists.
    var allocator: ProtobufCAllocator {
        ProtobufCAllocator(
            alloc: { data, size in
                data?.assumingMemoryBound(to: SlabRegion.self).pointee.allocate(size)
            },
            free: { _, _ in },
            allocator_data: UnsafeMutableRawPointer(region))
    }
}

/// The memory of a slab. Each allocation is preceded by its size, which provides the length of a
/// text even if it contains a NUL.
struct SlabRegion {
    let base: UnsafeMutableRawPointer
    let capacity: Int
    var used = 0
    /// Whether an allocation has failed.
    var isExhausted = false

    private static let alignment = 8

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: max(capacity, 1), alignment: Self.alignment)
    }

    /// Returns `size` uninitialized bytes, 8-aligned; `nil` if the quota is exhausted.
    mutating func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
        let free = capacity - used
        guard size >= 0, size <= free, Self.whole(size) <= free else {
            isExhausted = true
            return nil
        }
        let header = base + used
        header.storeBytes(of: size, as: Int.self)
        used += Self.whole(size)
        return header + Self.alignment
    }

    /// Returns the size requested for the allocation at `pointer`; `nil` for memory outside this
    /// slab.
    func size(at pointer: UnsafeRawPointer) -> Int? {
        guard pointer >= UnsafeRawPointer(base) + Self.alignment,
            pointer <= UnsafeRawPointer(base) + used
        else { return nil }
        return (pointer - Self.alignment).load(as: Int.self)
    }

    private static func whole(_ size: Int) -> Int {
        alignment + (size + alignment - 1) / alignment * alignment
    }
}

extension FrameHeader {
    /// "IBUS".
    private static let name: InlineArray<4, UInt8> = [0x49, 0x42, 0x55, 0x53]

    /// Parses a first frame. Throws `notOurs`, `unsupportedVersion` or `unknownKind`, in that
    /// order. A version rejection is parsed in every version.
    public init(decoding frame: RawSpan) throws(WireError) {
        guard frame.byteCount == Self.byteCount else { throw .notOurs }
        let word = frame.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self).littleEndian
        func byte(_ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (8 * index)) }
        guard UInt32(truncatingIfNeeded: word) == Self.word, byte(7) == 0 else { throw .notOurs }
        let (version, number) = (byte(4), byte(5))
        let isRefusal = number == MessageKind.versions.rawValue
        guard isRefusal || version == Self.currentVersion else {
            throw .unsupportedVersion(version)
        }
        guard let kind = MessageKind(rawValue: number) else { throw .unknownKind(number) }
        self.init(kind: kind, version: version, flags: byte(6))
    }

    /// The name as a little-endian word.
    private static let word = UInt32(0x5355_4249)

    /// The encoded frame.
    public var encoded: InlineArray<8, UInt8> {
        [
            Self.name[0], Self.name[1], Self.name[2], Self.name[3], version, kind.rawValue, flags,
            0,
        ]
    }

    /// The encoded frame as an array, for code that may allocate.
    public var bytes: [UInt8] { encoded.span.withUnsafeBytes { Array($0) } }
}

/// The answer to an unsupported protocol version; both frames are the same in all future versions.
public enum VersionRefusal {
    /// The first frame.
    public static let header: [UInt8] = FrameHeader(kind: .versions).bytes
    /// The second frame: the lowest and highest supported version.
    public static let body: [UInt8] = [FrameHeader.currentVersion, FrameHeader.currentVersion]

    /// Converts the second frame of a rejection to an error.
    static func error(_ body: RawSpan) -> WireError {
        guard body.byteCount >= 2 else { return .malformed }
        return body.withUnsafeBytes { .versionRefused(lowest: $0[0], highest: $0[1]) }
    }
}
