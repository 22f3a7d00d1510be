import CMessages
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
