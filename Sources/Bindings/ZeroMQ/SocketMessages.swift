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

/// Receives messages of a few frames into slots that are allocated once and used again.
///
/// The bytes of a message are valid until the next `receive`.
public struct MessageReader: ~Copyable {
    private let slots: UnsafeMutablePointer<zmq_msg_t>
    private let framesMax: Int
    /// How many frames of the last message are in the slots.
    public private(set) var count = 0
    /// Whether the last message had more frames than slots; the rest of it was dropped unread.
    public private(set) var isOverlong = false

    /// Makes a reader with `framesMax` slots and one for what is dropped; a ROUTER's routing id
    /// takes one.
    public init(framesMax: Int) {
        precondition(framesMax > 0, "a message has at least one frame")
        self.framesMax = framesMax
        slots = .allocate(capacity: framesMax + 1)
        for index in 0...framesMax { zmq_msg_init(slots + index) }
    }

    deinit {
        for index in 0...framesMax { zmq_msg_close(slots + index) }
        slots.deallocate()
    }

    /// Takes the next whole message without waiting; false when there is none.
    ///
    /// libzmq hands out a message only when all its frames are there. Throws `terminated`.
    public mutating func receive(from socket: borrowing Socket) throws(ZMQError) -> Bool {
        count = 0
        isOverlong = false
        socket.handle.stir()
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

    /// The bytes of one frame; valid until the next `receive`. A precondition: `index` < `count`.
    @_lifetime(borrow self)
    public borrowing func bytes(at index: Int) -> RawSpan {
        let span = RawSpan(_unsafeBytes: raw(at: index))
        return _overrideLifetime(span, borrowing: self)
    }

    /// Lends the bytes of one frame. A precondition: `index` < `count`.
    @inlinable
    public borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        at index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(raw(at: index))
    }

    /// The routing id of a message that came through a ROUTER; nil when the peer chose its own.
    public var routingID: RoutingID? {
        count > 0 ? RoutingID(raw(at: 0)) : nil
    }

    /// The descriptor of the connection that the message came through; nil when libzmq has none.
    ///
    /// Looks a text up in the message's metadata: ask for what opens a session, not for each
    /// message.
    public var sourceDescriptor: Int32? {
        guard count > 0 else { return nil }
        // A ROUTER makes the first frame itself; what follows came through the connection.
        let descriptor = czmq_msg_source(slots + (count - 1))
        return descriptor >= 0 ? descriptor : nil
    }

    @usableFromInline
    func raw(at index: Int) -> UnsafeRawBufferPointer {
        precondition(index >= 0 && index < count, "no such frame in this message")
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

/// The name that a ROUTER gave to one connection: never reused before 2^32 connections.
///
/// libzmq's own names are five bytes, a zero and a number. A peer that sets an identity of its own
/// gets no `RoutingID`: nobody on this bus does, and a chosen name could be made to look like
/// another's.
public struct RoutingID: Hashable, Sendable, CustomStringConvertible {
    /// The number behind the zero byte, in memory order.
    public let rawValue: UInt32

    /// A routing id of this number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Reads the first frame that a ROUTER delivers; nil for an identity that the peer chose.
    public init?(_ frame: UnsafeRawBufferPointer) {
        guard frame.count == 5, frame[0] == 0 else { return nil }
        rawValue = frame.loadUnaligned(fromByteOffset: 1, as: UInt32.self)
    }

    /// For logs.
    public var description: String {
        String(rawValue.byteSwapped, radix: 16)
    }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes: InlineArray<5, UInt8> = [0, 0, 0, 0, 0]
        let number = rawValue
        bytes[1] = UInt8(truncatingIfNeeded: number)
        bytes[2] = UInt8(truncatingIfNeeded: number >> 8)
        bytes[3] = UInt8(truncatingIfNeeded: number >> 16)
        bytes[4] = UInt8(truncatingIfNeeded: number >> 24)
        return try bytes.span.bytes.withUnsafeBytes { (raw) throws(Failure) in try body(raw) }
    }
}
