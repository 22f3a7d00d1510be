import CZMQ
import Glibc

/// What became of a frame.
public enum SendOutcome: Hashable, Sendable {
    /// libzmq has it.
    case sent
    /// The queue to the peer is full, or there is no peer yet. Nothing was sent; keep the message.
    case wouldBlock
    /// A ROUTER has no such peer (any more). Nothing was sent; drop the session.
    ///
    /// A ROUTER learns of a peer's end when it receives the last that came from there, after the
    /// monitor has told it; until then a frame to that peer is `sent` into nothing, or would block.
    case hostUnreachable
}

extension Socket {
    /// Sends one frame without waiting; libzmq copies the bytes.
    ///
    /// Only the first frame of a message can have another outcome than `sent`: a ROUTER decides by
    /// the routing id, a DEALER by its queue, for the message as a whole. Throws `terminated`.
    public borrowing func send(
        _ bytes: UnsafeRawBufferPointer, more: Bool = false
    ) throws(ZMQError) -> SendOutcome {
        let pointer = pointer
        handle.stir()
        return try Self.outcome {
            czmq_send(pointer, bytes.baseAddress, bytes.count, Self.flags(more))
        }
    }

    /// Sends one frame without waiting; libzmq copies the bytes.
    public borrowing func send(
        _ bytes: RawSpan, more: Bool = false
    ) throws(ZMQError) -> SendOutcome {
        let pointer = pointer
        handle.stir()
        return try bytes.withUnsafeBytes { (raw) throws(ZMQError) in
            try Self.outcome {
                czmq_send(pointer, raw.baseAddress, raw.count, Self.flags(more))
            }
        }
    }

    /// Sends the routing id that a ROUTER's message begins with; `wouldBlock` and
    /// `hostUnreachable` speak of that peer.
    public borrowing func send(
        to peer: RoutingID, more: Bool = true
    ) throws(ZMQError) -> SendOutcome {
        let pointer = pointer
        handle.stir()
        return try peer.withBytes { (raw) throws(ZMQError) in
            try Self.outcome {
                czmq_send(pointer, raw.baseAddress, raw.count, Self.flags(more))
            }
        }
    }

    /// Sends one frame of `byteCount` bytes that `fill` writes in place: no copy, no buffer of
    /// ours.
    ///
    /// `fill` must write every byte: they are not zeroed before.
    public borrowing func send(
        byteCount: Int, more: Bool = false, fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(ZMQError) -> SendOutcome {
        let pointer = pointer
        handle.stir()
        var message = zmq_msg_t()
        // A small body lies inside the structure, so it must not move until it is sent.
        return try withUnsafeMutablePointer(to: &message) { (slot) throws(ZMQError) in
            try zmq { czmq_msg_init_size(slot, byteCount) }
            // After a successful send libzmq has emptied it, and this does nothing.
            defer { zmq_msg_close(slot) }
            fill(UnsafeMutableRawBufferPointer(start: zmq_msg_data(slot), count: byteCount))
            return try Self.outcome { czmq_msg_send(slot, pointer, Self.flags(more)) }
        }
    }

    private static func flags(_ more: Bool) -> Int32 {
        more ? ZMQ_DONTWAIT | ZMQ_SNDMORE : ZMQ_DONTWAIT
    }

    private static func outcome(_ call: () -> Int32) throws(ZMQError) -> SendOutcome {
        while true {
            switch call() {
            case 0...: return .sent
            case -EAGAIN: return .wouldBlock
            case -EHOSTUNREACH: return .hostUnreachable
            case -EINTR: continue
            case let failure: throw ZMQError(rawValue: -failure)
            }
        }
    }
}
