public import Messages
public import Wire
public import ZeroMQ

extension Socket {
    /// Sends the message that `encoder` encoded last, packed straight into libzmq's frame.
    ///
    /// To `peer` through a ROUTER, to the coordinator through a DEALER. What becomes of the first
    /// frame becomes of the message. Throws `terminated`.
    public borrowing func send(
        _ message: EncodedMessage, from encoder: borrowing MessageEncoder,
        to peer: RoutingID? = nil
    ) throws(ZMQError) -> SendOutcome {
        try send(message.header.kind, byteCount: message.byteCount, to: peer) {
            encoder.pack(into: $0)
        }
    }

    /// Sends a message whose body of `byteCount` bytes `fill` writes in place, all of it.
    public borrowing func send(
        _ kind: MessageKind, byteCount: Int, to peer: RoutingID? = nil,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(ZMQError) -> SendOutcome {
        if let peer {
            let routed = try send(to: peer)
            guard routed == .sent else { return routed }
        }
        let header = FrameHeader(kind: kind).encoded
        let first = try send(header.span.bytes, more: true)
        guard first == .sent else { return first }
        return try send(byteCount: byteCount, fill: fill)
    }
}
