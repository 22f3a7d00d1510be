import CMessages
import Messages

/// Turns frames into messages, one at a time, in memory of its own that a quota bounds.
///
/// Each function reads the messages of one direction and throws a `WireError` for everything that
/// breaks a rule of `Proto/PROTOCOL.md`; nothing that it returns points into the frame.
public struct MessageDecoder: ~Copyable {
    private let slab: Slab

    /// A decoder; use it on one thread. No message within the limits takes more than the quota.
    public init() { slab = Slab() }

    /// A decoder with another quota in bytes.
    init(quota: Int) { slab = Slab(quota: quota) }

    /// Unpacks a body of `limit` bytes at most and reads it.
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
