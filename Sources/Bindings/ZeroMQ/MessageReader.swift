import CZMQ
import Glibc

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
