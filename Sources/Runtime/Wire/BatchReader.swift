import CMessages
import Messages

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
