import CMessages

@testable import Wire

/// A body without frames: the packed form of one message.
enum WireBody {
    /// protobuf-c's descriptor of a message.
    static func descriptor<Message: WireMessage>(of type: Message.Type)
        -> UnsafePointer<ProtobufCMessageDescriptor>
    {
        let form = UnsafeMutablePointer<Message.Form>.allocate(capacity: 1)
        defer { form.deallocate() }
        Message.begin(form)
        return UnsafeRawPointer(form).assumingMemoryBound(to: ProtobufCMessage.self).pointee
            .descriptor
    }

    static func written(_ message: some WireMessage) throws(WireError) -> [UInt8] {
        let slab = Slab(quota: 4 << 20)
        var message = message
        let form = UnsafeMutableRawPointer(try FieldWriter.build(&message, in: slab.region, ""))
            .assumingMemoryBound(to: ProtobufCMessage.self)
        var bytes = [UInt8](repeating: 0, count: protobuf_c_message_get_packed_size(form))
        protobuf_c_message_pack(form, &bytes)
        return bytes
    }

    /// The decoded message; `nil` if it is refused.
    static func read<Message: WireMessage>(_ body: [UInt8]) -> Message? {
        let slab = Slab(quota: 4 << 20)
        var allocator = slab.allocator
        guard
            let unpacked = protobuf_c_message_unpack(
                descriptor(of: Message.self), &allocator, body.count, body)
        else { return nil }
        let form = UnsafeMutableRawPointer(unpacked).assumingMemoryBound(to: Message.Form.self)
        var message = Message.blank
        let reader = FieldReader(region: slab.region, container: "")
        do { try message.fields(reader, form) } catch { return nil }
        return message
    }
}
