import CMessages
public import Messages

/// A message that is ready to be packed: what its frames need to be allocated.
public struct EncodedMessage: Hashable, Sendable {
    /// The first frame.
    public let header: FrameHeader
    /// Bytes of the second frame.
    public let byteCount: Int
}

/// Turns messages into frames, one at a time, without allocating for each.
///
///     let message = try encoder.encode(.credit(1))
///     // send message.header.encoded, then allocate message.byteCount bytes and:
///     encoder.pack(into: bytes)
///
/// `encode` throws `field` for a value that the receiver would refuse, `tooLarge` for a body over
/// the limit of its sockets. An `ImageError` never throws: what is too long in it is cut.
public struct MessageEncoder: ~Copyable {
    private let slab = Slab()
    private var prepared: UnsafeMutablePointer<ProtobufCMessage>?
    private var byteCount = 0

    /// An encoder; use it on one thread.
    public init() {}

    /// Writes the message that was encoded last. `bytes` has exactly its `byteCount`.
    public borrowing func pack(into bytes: UnsafeMutableRawBufferPointer) {
        precondition(bytes.count == byteCount, "the body is packed into a frame of its size")
        guard byteCount > 0 else { return }
        protobuf_c_message_pack(prepared, bytes.bindMemory(to: UInt8.self).baseAddress)
    }

    /// Writes the message that was encoded last. `bytes` has exactly its `byteCount`.
    public borrowing func pack(into bytes: inout MutableRawSpan) {
        bytes.withUnsafeMutableBytes { pack(into: $0) }
    }

    /// The body of the message that was encoded last, where an allocation does not matter.
    public borrowing func packed() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { bytes, count in
            pack(into: UnsafeMutableRawBufferPointer(bytes))
            count = byteCount
        }
    }

    /// Builds the C form and measures it.
    mutating func prepare(_ kind: MessageKind, limit: Int, _ value: consuming some WireMessage)
        throws(WireError) -> EncodedMessage
    {
        slab.reset()
        (prepared, byteCount) = (nil, 0)
        // Every generated message begins with its base.
        let message = UnsafeMutableRawPointer(
            try FieldWriter.build(&value, in: slab.region, "")
        ).assumingMemoryBound(to: ProtobufCMessage.self)
        let size = protobuf_c_message_get_packed_size(message)
        guard size <= limit else { throw .tooLarge(limit: limit) }
        (prepared, byteCount) = (message, size)
        return EncodedMessage(header: FrameHeader(kind: kind), byteCount: size)
    }
}
