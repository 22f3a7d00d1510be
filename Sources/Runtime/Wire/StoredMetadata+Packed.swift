import CMessages
public import Messages

/// The message `Metadata` alone, for who keeps it outside of the stack.
extension StoredMetadata {
    /// Packs it. Throws `field` for a value beyond the limits of messages.
    public func packed() throws(WireError) -> [UInt8] {
        let slab = Slab()
        var value = self
        // Every generated message begins with its base.
        let message = UnsafeMutableRawPointer(
            try FieldWriter.build(&value, in: slab.region, "")
        ).assumingMemoryBound(to: ProtobufCMessage.self)
        let size = protobuf_c_message_get_packed_size(message)
        return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            if size > 0 { protobuf_c_message_pack(message, bytes.baseAddress) }
            count = size
        }
    }

    /// Reads what `packed` made, or whoever else: anything but such a message throws.
    public init(packed bytes: RawSpan) throws(WireError) {
        var decoder = MessageDecoder()
        self = try decoder.decode(
            bytes, limit: MessageLimits.backFrameBytesMax, imagebus__v1__metadata__unpack)
    }
}
