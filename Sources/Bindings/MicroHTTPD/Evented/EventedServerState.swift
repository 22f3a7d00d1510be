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
    /// Connections that were closed since their peers read too slowly.
    private(set) var slowReaders: UInt64 = 0
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

    /// An answer of so many bytes is sent: its peer has to take some of it in time. If the system
    /// does not say how much it has taken, and of an answer that the system takes at once, it has
    /// to take all of it at the same rate.
    func awaitReading(of byteCount: Int, on connection: EventedConnection) {
        let isLong = byteCount > HTTPLimits.unsentBytes
        connection.takenBefore = isLong ? connection.takenBytes : nil
        let all = limits.idleSeconds + byteCount / max(1, limits.leastBytesPerSecond)
        let seconds = connection.takenBefore == nil ? all : limits.readSeconds
        allow(.answer, of: connection, seconds: seconds)
    }

    /// Whether a peer has taken enough of its answer to be given more time, which begins now.
    private func goesOnReading(_ connection: EventedConnection) -> Bool {
        guard let before = connection.takenBefore, let taken = connection.takenBytes,
            taken - before >= Int64(limits.readSeconds) * Int64(limits.leastBytesPerSecond)
        else { return false }
        connection.takenBefore = taken
        allow(.answer, of: connection, seconds: limits.readSeconds)
        return true
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
        for (connection, awaited) in deadlines.takeOverdue(among: connections.values, at: now) {
            let socket = cmicrohttpd_socket(connection.pointer)
            switch awaited {
            case .request: cmicrohttpd_end(socket)
            case .answer where goesOnReading(connection): break
            case .answer:
                slowReaders &+= 1
                cmicrohttpd_abort(socket)
            }
        }
    }

    /// Answers a head that the library has read and refuses, and ends its connection.
    ///
    /// libmicrohttpd 0.9.75 answers such a head twice: it writes the head of its answer, and then
    /// goes on as if the request had none. That is an invalid Content-Length, and cookies
    /// for which there is no room. Its only call in between is for the log, which does not say for
    /// which connection; of those that read a head, only that one is said to have read it.
    func refuseHeads() {
        for connection in connections.values where connection.readsHead {
            guard cmicrohttpd_head_bytes(connection.pointer) > 0 else { continue }
            connection.readsHead = false
            let answer = RefusedHead(
                length: FieldLines.value(of: "Content-Length", on: connection.pointer)
            ).bytes
            let socket = cmicrohttpd_socket(connection.pointer)
            cmicrohttpd_end_with(socket, answer, answer.count)
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
