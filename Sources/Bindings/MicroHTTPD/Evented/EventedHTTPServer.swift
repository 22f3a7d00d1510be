internal import CMicroHTTPD

/// Who answers the requests of an `EventedHTTPServer`; called on the thread that runs it.
public protocol EventedHandler: AnyObject {
    /// The head of a request with a body was read, and nothing of the body yet. Who says nothing
    /// takes what the limits of the server permit.
    func admitBody(of exchange: EventedExchange) -> BodyAdmission
    /// The head of a request was read, and not looked at yet. Who has answered the same one before
    /// (`EventedExchange.has`) may answer it so again; `ended` follows, and `handle` does not.
    func answerToKnownHead(of exchange: EventedExchange) -> HTTPReply?
    /// A request has come as a whole. It is answered here or later.
    func handle(_ exchange: EventedExchange)
    /// It is over, however it ended: nobody wants an answer any more. Once for each.
    func ended(_ exchange: EventedExchange, _ end: HTTPEnd)
    /// Whether an address may have more connections than the limits of the server permit.
    func hasUnlimitedConnections(_ peer: PeerAddress) -> Bool
    /// A connection was closed at once: the address has as many as it may have.
    func refusedConnection(of peer: PeerAddress)
}

extension EventedHandler {
    /// None is known.
    public func answerToKnownHead(of exchange: EventedExchange) -> HTTPReply? { nil }

    /// None has.
    public func hasUnlimitedConnections(_ peer: PeerAddress) -> Bool { false }

    /// Nobody wants to know.
    public func refusedConnection(of peer: PeerAddress) {}

    /// As the limits say.
    public func admitBody(of exchange: EventedExchange) -> BodyAdmission {
        .take(bytesMax: exchange.server.limits.bodyBytes)
    }
}

/// An HTTP/1.1 server without a thread of its own: its owner waits for `descriptor`, and at most
/// `millisecondsUntilDue`, and then calls `run`. One thread.
///
/// A request may be answered later. Its connection waits until then, and the handler is told within
/// one turn when its peer leaves.
public struct EventedHTTPServer: ~Copyable {
    /// The TCP port; 0: it listens at a Unix socket.
    public let port: UInt16
    /// Readable when `run` has something to do.
    public let descriptor: Int32
    private let daemon: OpaquePointer
    private let state: EventedServerState

    /// Turns of the library in one `run`, so that the owner's other work is not starved.
    private static let turnsMax = 64

    /// Accepts at a socket that listens and does not block, which it closes from then on, also
    /// where it throws.
    public init(
        listener socket: Int32, limits: HTTPLimits = HTTPLimits(), handler: any EventedHandler
    ) throws(HTTPListenError) {
        guard let state = EventedServerState(handler, limits) else {
            let error = cmicrohttpd_errno()
            close(socket)
            throw HTTPListenError(errno: error)
        }
        let calls = cmicrohttpd_calls(
            answer: answerEvented, began: beginEvented, ended: endEvented,
            connected: noteConnection, accepts: acceptConnection, failed: noteFailure,
            context: Unmanaged.passUnretained(state).toOpaque())
        let told = cmicrohttpd_limits(
            connections: UInt32(clamping: limits.connections),
            idle_seconds: UInt32(clamping: limits.idleSeconds), head_bytes: limits.headBytes)
        cmicrohttpd_limit_unsent(socket, CInt(HTTPLimits.unsentBytes))
        let set = cmicrohttpd_set()
        guard set >= 0, let daemon = cmicrohttpd_start_evented(socket, told, calls) else {
            let error = cmicrohttpd_errno()
            close(socket)
            if set >= 0 { close(set) }
            throw HTTPListenError(errno: error)
        }
        _ = cmicrohttpd_set_add(set, cmicrohttpd_epoll(daemon))
        _ = cmicrohttpd_set_add(set, state.leaving)
        (self.port, descriptor) = (cmicrohttpd_port_of(socket), set)
        (self.daemon, self.state) = (daemon, state)
    }

    deinit {
        state.wakeAll()
        MHD_stop_daemon(daemon)
        close(descriptor)
    }

    /// Connections that are open.
    public var connectionCount: Int { Int(cmicrohttpd_connections(daemon)) }

    /// Connections that were closed since their peers read too slowly.
    public var slowReaders: UInt64 { state.slowReaders }

    /// Exchanges that wait for their answers.
    public var waitingCount: Int { state.waitingCount }

    /// After how long `run` is to be called although the descriptor is not readable; `nil`: never.
    public var millisecondsUntilDue: Int? {
        let ours = state.deadlines.millisecondsUntilNext(from: cmicrohttpd_now())
        return [libraryDue, ours].compactMap { $0 }.min()
    }

    private var libraryDue: Int? {
        let milliseconds = cmicrohttpd_due(daemon)
        return milliseconds < 0 ? nil : Int(clamping: milliseconds)
    }

    /// Does what can be done now.
    public borrowing func run() {
        for _ in 0..<Self.turnsMax {
            state.beginTurn()
            let hadLeft = state.noteLeft()
            state.endOverdue()
            guard MHD_run(daemon) == .YES else { return }
            // Zero: something is left that no descriptor tells of, such as a connection that was
            // resumed.
            guard hadLeft || libraryDue == 0 else { return }
        }
    }

    /// Leaves whoever connects from now on without an answer of the system: once `stopListening`
    /// has closed the socket, their next attempt is refused. Connections that are under way become
    /// whole, so that few of them, and on one machine none, are lost in between.
    public borrowing func refuseConnections() {
        cmicrohttpd_refuse(cmicrohttpd_listening(daemon))
    }

    /// Takes no more connections, after those that wait; those that are open go on.
    public borrowing func stopListening() {
        run()
        let socket = MHD_quiesce_daemon(daemon)
        guard socket >= 0 else { return }
        // Another process may go on with the same socket.
        cmicrohttpd_refuse_no_more(socket)
        close(socket)
    }
}

/// Why no server can be made of a socket.
public struct HTTPListenError: Error, Hashable, Sendable {
    /// As in errno(3).
    public let errno: Int32

    /// In words of the system.
    public var text: String { String(cString: strerror(errno)) }
}
