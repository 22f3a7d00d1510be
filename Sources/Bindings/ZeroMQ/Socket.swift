import CZMQ

/// The owner of one libzmq socket: closed when the value ends. Belongs to one thread.
///
/// Nothing here blocks: sending and receiving say when they would, and `PollSet` waits.
public struct Socket: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    let handle: SocketHandle
    /// On which libzmq tells that something may have changed (ZMQ_FD).
    let descriptor: Int32
    /// Its type.
    public let kind: SocketKind

    /// Opens a socket with every option set.
    ///
    /// Throws `tooManySockets`, `terminated` after a shutdown, and EINVAL for a value that libzmq
    /// does not take.
    public init(
        _ kind: SocketKind, in context: Context, _ options: SocketOptions
    ) throws(ZMQError) {
        var opened: UnsafeMutableRawPointer?
        try zmq { czmq_socket(context.pointer, kind.number, &opened) }
        guard let opened else { throw .notSocket }
        // From here on the handle closes it, whatever is thrown.
        let owner = SocketHandle(opened, context)
        try Self.apply(options, kind: kind, to: opened)
        descriptor = try Self.get(opened, ZMQ_FD, Int32(-1))
        pointer = opened
        handle = owner
        self.kind = kind
    }

    deinit {
        handle.close()
    }

    /// Listens. An existing Unix socket of that path is replaced without a word: whoever binds must
    /// hold a lock that says that nobody else serves there.
    public borrowing func bind(_ endpoint: Endpoint) throws(ZMQError) {
        let pointer = pointer
        handle.stir()
        try zmq { czmq_bind(pointer, endpoint.description) }
    }

    /// Stops listening. What was accepted there is lost with it: libzmq ends such connections'
    /// sessions without a word to the other side.
    public borrowing func unbind(_ endpoint: Endpoint) throws(ZMQError) {
        let pointer = pointer
        handle.stir()
        try zmq { czmq_unbind(pointer, endpoint.description) }
    }

    /// Connects in the background, again and again until `disconnect` or the end.
    public borrowing func connect(_ endpoint: Endpoint) throws(ZMQError) {
        let pointer = pointer
        handle.stir()
        try zmq { czmq_connect(pointer, endpoint.description) }
    }

    /// Gives a connection up, with what is queued for it.
    public borrowing func disconnect(_ endpoint: Endpoint) throws(ZMQError) {
        let pointer = pointer
        handle.stir()
        try zmq { czmq_disconnect(pointer, endpoint.description) }
    }
}

/// What a socket and its monitor share: which of them ends first does not matter.
///
/// A class, because a noncopyable value cannot be referred to from two places.
final class SocketHandle {
    private(set) var pointer: UnsafeMutableRawPointer?
    /// What may be possible although the descriptor does not say so: something was called on the
    /// socket since its state was known, and libzmq may have read within that call what the
    /// descriptor had to say.
    var unknown = PollReadiness(isReadable: true, isWritable: true)
    private let context: Context

    init(_ pointer: UnsafeMutableRawPointer, _ context: Context) {
        self.pointer = pointer
        self.context = context
    }

    /// Something is called on the socket.
    func stir() { unknown = PollReadiness(isReadable: true, isWritable: true) }

    /// libzmq looked for a message and has none. It looks at its descriptor before it says so:
    /// what comes from now on, the descriptor tells.
    func foundNothingToRead() { unknown.isReadable = false }

    /// What can be done now (ZMQ_EVENTS). Throws `notSocket` after `close`.
    func readiness() throws(ZMQError) -> PollReadiness {
        guard let pointer else { throw .notSocket }
        let state = try Socket.get(pointer, ZMQ_EVENTS, Int32(0))
        return PollReadiness(
            isReadable: state & Int32(ZMQ_POLLIN) != 0,
            isWritable: state & Int32(ZMQ_POLLOUT) != 0)
    }

    func close() {
        guard let open = pointer else { return }
        pointer = nil
        // Fails only for a pointer that is no socket.
        _ = czmq_close(open)
    }

    deinit {
        close()
    }
}
