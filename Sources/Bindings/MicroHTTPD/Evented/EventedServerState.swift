internal import CMicroHTTPD

/// What the callbacks of an evented server share. One thread.
final class EventedServerState {
    let handler: any EventedHandler
    let limits: HTTPLimits
    /// Watches all connections for peers that leave, which libmicrohttpd does not look at while one
    /// waits, and misses where a request is cut off in its last packet.
    let leaving: Int32
    private var connections: [OpaquePointer: EventedConnection] = [:]
    private var ofPeers: PeerConnections
    /// By when connections have to get on.
    private(set) var deadlines = ConnectionDeadlines()
    /// When the turn began that runs: deadlines are seconds, a turn is none.
    private var now: Milliseconds = cmicrohttpd_now()

    /// Milliseconds in which the library reads what a peer said before it left.
    private static let lastMilliseconds: Milliseconds = 1_000

    init?(_ handler: any EventedHandler, _ limits: HTTPLimits) {
        leaving = cmicrohttpd_set()
        guard leaving >= 0 else { return nil }
        (self.handler, self.limits) = (handler, limits)
        ofPeers = PeerConnections(most: limits.connectionsPerPeer)
    }

    deinit { close(leaving) }

    /// The library is about to do what can be done now.
    func beginTurn() { now = cmicrohttpd_now() }

    /// Bodies that are kept now.
    private var bodies = 0

    /// Whether the body of a request is read; what it is answered with where it is not.
    func refusalOfBody(_ exchange: EventedExchange) -> HTTPReply? {
        switch handler.admitBody(of: exchange) {
        case .refuse(let reply): return reply
        case .take(let bytesMax):
            exchange.bodyBytesMax = min(bytesMax, limits.bodyBytes)
            guard exchange.bodyBytesMax > 0 else { return nil }
            guard bodies < limits.bodies else {
                return HTTPReply(status: 503, headers: [("Retry-After", "1")])
            }
            bodies += 1
            exchange.keepsBody = true
            return nil
        }
    }

    var waitingCount: Int { connections.values.count { $0.waiting != nil } }

    // MARK: - Connections

    /// Whether an address may have one more connection.
    func accepts(_ peer: PeerAddress) -> Bool {
        guard ofPeers.isFull(peer), !handler.hasUnlimitedConnections(peer) else { return true }
        handler.refusedConnection(of: peer)
        return false
    }

    /// A connection was made. It is kept until `forget`.
    func begin(_ pointer: OpaquePointer) -> EventedConnection {
        let connection = EventedConnection(pointer)
        connections[pointer] = connection
        ofPeers.add(connection.peer)
        _ = cmicrohttpd_watch(
            leaving, cmicrohttpd_socket(pointer), Unmanaged.passUnretained(connection).toOpaque())
        awaitRest(of: connection)
        return connection
    }

    /// A connection is gone; its socket is watched no longer once it is closed.
    func forget(_ pointer: OpaquePointer) {
        guard let connection = connections.removeValue(forKey: pointer) else { return }
        ofPeers.remove(connection.peer)
    }

    /// An answer was sent: its connection may take that long for the next request.
    func awaitRequest(on connection: EventedConnection) {
        allow(.request, of: connection, seconds: limits.idleSeconds + limits.headSeconds)
    }

    /// A connection was made, or the first line of a request is there: what is left of the request
    /// may take that long.
    func awaitRest(of connection: EventedConnection) {
        allow(.request, of: connection, seconds: limits.headSeconds)
    }

    /// A peer may take that long for so many bytes.
    func awaitReading(of byteCount: Int, on connection: EventedConnection) {
        let seconds = limits.idleSeconds + byteCount / max(1, limits.leastBytesPerSecond)
        allow(.answer, of: connection, seconds: seconds)
    }

    /// A request is there as a whole: its answer may take as long as it likes.
    func awaitAnswer(on connection: EventedConnection) { deadlines.clear(connection) }

    private func allow(
        _ awaited: EventedConnection.Awaited, of connection: EventedConnection, seconds: Int
    ) {
        deadlines.set(connection, awaited, at: now + Milliseconds(seconds) * 1_000)
        if connection.hasLeft { shorten(connection) }
    }

    /// Whose peer has closed its side, of that connection no more comes than has come. The library
    /// was told of that once, maybe while it read a request, and would wait for more.
    private func shorten(_ connection: EventedConnection) {
        guard connection.deadline?.awaited == .request else { return }
        deadlines.set(connection, .request, at: now + Self.lastMilliseconds)
    }

    /// Ends connections that took too long: the library finds them closed.
    func endOverdue() {
        for connection in deadlines.takeOverdue(among: connections.values, at: now) {
            shutdown(cmicrohttpd_socket(connection.pointer), Int32(SHUT_RDWR))
        }
    }

    // MARK: - Exchanges

    /// The handler has not answered: the connection waits. Returns the answer where nobody is left
    /// to wait for one.
    func suspend(_ exchange: EventedExchange) -> HTTPReply? {
        let connection = exchange.connection
        guard !connection.hasLeft else {
            end(exchange, .peerLeft)
            return HTTPReply(status: 499)
        }
        connection.waiting = exchange
        MHD_suspend_connection(connection.pointer)
        return nil
    }

    /// There is an answer, or nobody to take one: the library goes on with the connection.
    func wake(_ exchange: EventedExchange) {
        guard exchange.connection.waiting === exchange else { return }
        exchange.connection.waiting = nil
        MHD_resume_connection(exchange.connection.pointer)
    }

    /// Ends exchanges whose peers have left; whether there were any.
    func noteLeft() -> Bool {
        var keys = [UnsafeMutableRawPointer?](repeating: nil, count: 64)
        let count = Int(cmicrohttpd_left(leaving, &keys, CInt(keys.count)))
        for key in keys.prefix(count) {
            guard let key else { continue }
            // `begin` watches it, and `forget` comes before its socket is closed.
            let connection = Unmanaged<EventedConnection>.fromOpaque(key).takeUnretainedValue()
            connection.hasLeft = true
            shorten(connection)
            guard let exchange = connection.waiting else { continue }
            end(exchange, .peerLeft)
            // Nobody reads it; the library finds that out as it sends.
            exchange.reply = HTTPReply(status: 499)
            wake(exchange)
        }
        return count > 0
    }

    /// Says once that an exchange is over.
    func end(_ exchange: EventedExchange, _ end: HTTPEnd) {
        guard exchange.standing != .over else { return }
        exchange.standing = .over
        if exchange.keepsBody { bodies -= 1 }
        if exchange.isTold { handler.ended(exchange, end) }
    }

    /// Goes on with all that wait, as the server stops.
    func wakeAll() {
        for exchange in connections.values.compactMap(\.waiting) {
            end(exchange, .stopped)
            exchange.reply = HTTPReply(status: 503)
            wake(exchange)
        }
    }
}
