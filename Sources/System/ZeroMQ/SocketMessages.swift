import CZMQ
import Glibc

/// The result of sending a frame.
public enum SendOutcome: Hashable, Sendable {
    /// libzmq has accepted the frame.
    case sent
    /// The peer's queue is full, or there is no peer yet. Nothing was sent; keep the message.
    case wouldBlock
    /// A ROUTER doesn't have this peer (any more). Nothing was sent; drop the session.
    ///
    /// A ROUTER notices that a peer has disconnected when it receives the peer's last message,
    /// after the monitor has reported it. Until then a frame to that peer is either `sent` and
    /// lost, or would block.
    case hostUnreachable
}

extension Socket {
    /// Sends one frame without blocking; libzmq copies the bytes.
    ///
    /// Only the first frame of a message can have an outcome other than `sent`: a ROUTER decides by
    /// the routing ID, a DEALER by its queue, for the whole message.
    public borrowing func send(
        _ bytes: RawSpan, more: Bool = false
    ) throws(ZMQError) -> SendOutcome {
        let pointer = pointer
        handle.invalidatePoll()
        return try bytes.withUnsafeBytes { (raw) throws(ZMQError) in
            try Self.outcome { czmq_send(pointer, raw.baseAddress, raw.count, Self.flags(more)) }
        }
    }

    /// Sends the routing ID that starts a ROUTER's message. `wouldBlock` and `hostUnreachable`
    /// refer to that peer.
    public borrowing func send(to peer: RoutingID) throws(ZMQError) -> SendOutcome {
        let frame = peer.frame
        return try send(frame.span.bytes, more: true)
    }

    /// Sends one frame of `byteCount` bytes written in place by `fill`, without a copy or
    /// intermediate buffer.
    ///
    /// `fill` must write every byte: the buffer isn't zeroed.
    public borrowing func send(
        byteCount: Int, more: Bool = false, fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(ZMQError) -> SendOutcome {
        let pointer = pointer
        handle.invalidatePoll()
        var message = zmq_msg_t()
        // A small body is stored inside the structure, so the structure must not move until it's
        // sent.
        return try withUnsafeMutablePointer(to: &message) { (slot) throws(ZMQError) in
            try zmq { czmq_msg_init_size(slot, byteCount) }
            // After a successful send libzmq has emptied the message, and this has no effect.
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

/// Receives messages of a few frames into slots that are allocated once and reused.
///
/// The bytes of a message are valid until the next `receive`.
public struct MessageReader: ~Copyable {
    private let slots: UnsafeMutablePointer<zmq_msg_t>
    private let framesMax: Int
    /// The number of frames of the last message in the slots.
    public private(set) var count = 0
    /// Whether the last message had more frames than slots; the excess was discarded unread.
    public private(set) var isOverlong = false

    /// Creates a reader with `framesMax` slots plus one for discarded frames. A ROUTER's routing ID
    /// takes one slot.
    public init(framesMax: Int) {
        precondition(framesMax > 0, "a message must have at least one frame")
        self.framesMax = framesMax
        slots = .allocate(capacity: framesMax + 1)
        for index in 0...framesMax { zmq_msg_init(slots + index) }
    }

    deinit {
        for index in 0...framesMax { zmq_msg_close(slots + index) }
        slots.deallocate()
    }

    /// Receives the next complete message without blocking; returns `false` if there is none.
    ///
    /// libzmq delivers a message only once all its frames have arrived.
    public mutating func receive(from socket: borrowing Socket) throws(ZMQError) -> Bool {
        count = 0
        isOverlong = false
        socket.handle.invalidatePoll()
        guard try receive(0, socket.pointer) else {
            socket.handle.foundNothingToRead()
            return false
        }
        count = 1
        while zmq_msg_more(slots + count - 1) != 0 {
            if count == framesMax {
                try dropRest(socket.pointer)
                return true
            }
            guard try receive(count, socket.pointer) else { return true }
            count += 1
        }
        return true
    }

    /// Returns the bytes of one frame, valid until the next `receive`. Precondition: `index` <
    /// `count`.
    @_lifetime(borrow self)
    public borrowing func bytes(at index: Int) -> RawSpan {
        let span = RawSpan(_unsafeBytes: raw(at: index))
        return _overrideLifetime(span, borrowing: self)
    }

    /// The routing ID of a message received by a ROUTER; `nil` if the peer chose its own.
    public var routingID: RoutingID? {
        count > 0 ? RoutingID(raw(at: 0)) : nil
    }

    /// The descriptor of the connection that the message arrived on; `nil` if libzmq doesn't know
    /// it.
    ///
    /// Looks up a string in the message's metadata, so use it for messages that open a session
    /// rather than for each message.
    public var sourceDescriptor: Int32? {
        guard count > 0 else { return nil }
        // A ROUTER creates the first frame itself; the others arrived on the connection.
        let descriptor = czmq_msg_source(slots + (count - 1))
        return descriptor >= 0 ? descriptor : nil
    }

    private func raw(at index: Int) -> UnsafeRawBufferPointer {
        precondition(index >= 0 && index < count, "the message has no such frame")
        let slot = slots + index
        return UnsafeRawBufferPointer(start: zmq_msg_data(slot), count: zmq_msg_size(slot))
    }

    private mutating func dropRest(_ socket: UnsafeMutableRawPointer) throws(ZMQError) {
        isOverlong = true
        repeat {
            guard try receive(framesMax, socket) else { return }
        } while zmq_msg_more(slots + framesMax) != 0
    }

    private func receive(
        _ index: Int, _ socket: UnsafeMutableRawPointer
    ) throws(ZMQError) -> Bool {
        while true {
            switch czmq_msg_recv(slots + index, socket, ZMQ_DONTWAIT) {
            case 0...: return true
            case -EAGAIN: return false
            case -EINTR: continue
            case let failure: throw ZMQError(rawValue: -failure)
            }
        }
    }
}

/// The name that a ROUTER assigned to one connection; not reused before 2^32 connections.
///
/// libzmq's own names are five bytes, a zero and a number. A peer that sets its own identity gets
/// no `RoutingID`: no legitimate peer on this bus does, and a chosen name could imitate another
/// peer's.
public struct RoutingID: Hashable, Sendable, CustomStringConvertible {
    /// The number after the zero byte, in memory order.
    public let rawValue: UInt32

    /// Creates a routing ID from its number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Parses the first frame delivered by a ROUTER. Returns `nil` for an identity chosen by the
    /// peer.
    public init?(_ frame: UnsafeRawBufferPointer) {
        guard frame.count == 5, frame[0] == 0 else { return nil }
        rawValue = frame.loadUnaligned(fromByteOffset: 1, as: UInt32.self)
    }

    /// A description for logs.
    public var description: String {
        String(rawValue.byteSwapped, radix: 16)
    }

    var frame: InlineArray<5, UInt8> {
        [
            0, UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8),
            UInt8(truncatingIfNeeded: rawValue >> 16), UInt8(truncatingIfNeeded: rawValue >> 24),
        ]
    }
}
