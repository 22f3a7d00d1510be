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
        if let peer {
            let routed = try send(to: peer)
            guard routed == .sent else { return routed }
        }
        let header = message.header.encoded
        let first = try send(header.span.bytes, more: true)
        guard first == .sent else { return first }
        return try send(byteCount: message.byteCount) { encoder.pack(into: $0) }
    }
}
