import CZMQ

/// The events of one socket's connections, in order, as messages of a PAIR.
///
/// Death of a peer is an event here, without heartbeats. Lives on the socket's thread; which of the
/// two ends first does not matter.
public struct SocketMonitor: ~Copyable {
    /// What `PollSet` watches.
    public let socket: Socket
    private let monitored: SocketHandle
    private var reader = MessageReader(framesMax: 2)

    /// How many events may wait, unless a monitor is given another number.
    public static let eventsMax = 65_536
    /// Events that may wait on libzmq's side of the queue, which nobody can change.
    public static let senderEventsMax = 1_000

    /// Starts monitoring. Do it before bind or connect, or the first events are missed.
    ///
    /// When `eventsMax` and `senderEventsMax` events wait, libzmq's I/O thread waits until they
    /// are read: drain the monitor in every turn. As each accepted connection is an event, that
    /// bounds how many there can be that nobody has looked at.
    ///
    /// Throws EADDRINUSE when the socket has a monitor already.
    public init(
        _ socket: borrowing Socket, in context: Context, eventsMax: Int = SocketMonitor.eventsMax
    ) throws(ZMQError) {
        let pointer = socket.pointer
        socket.handle.stir()
        let name = context.nextMonitorName()
        var options = SocketOptions(frameBytesMax: 4_096)
        options.receiveQueueMax = eventsMax
        let events = try Socket(.pair, in: context, options)
        let reading = events.pointer
        events.handle.stir()
        try zmq { czmq_monitor(pointer, name, ZMQ_EVENT_ALL) }
        do {
            try zmq { czmq_connect(reading, name) }
        } catch {
            _ = czmq_monitor(pointer, nil, 0)
            throw error
        }
        monitored = socket.handle
        self.socket = events
    }

    deinit {
        // libzmq would go on sending, and wait for a reader that has gone: stop it first.
        guard let pointer = monitored.pointer else { return }
        // Its last event needs room in the queue that nobody but this thread empties.
        var last = MessageReader(framesMax: 2)
        while (try? last.receive(from: socket)) == true {}
        _ = czmq_monitor(pointer, nil, 0)
    }

    /// The next event; nil when there is none. Throws `terminated` after a shutdown.
    public mutating func next() throws(ZMQError) -> MonitorEvent? {
        guard try reader.receive(from: socket) else { return nil }
        return reader.withBytes(at: 0) { frame in
            guard frame.count == 6 else { return .unknown(event: 0) }
            return MonitorEvent(
                frame.loadUnaligned(fromByteOffset: 0, as: UInt16.self),
                frame.loadUnaligned(fromByteOffset: 2, as: Int32.self))
        }
    }
}
