internal import CMicroHTTPD

/// What the callbacks of an evented server share. One thread.
final class EventedServerState {
    let handler: any EventedHandler
    let limits: HTTPLimits
    /// Watches all connections for peers that leave, which libmicrohttpd does not look at while one
    /// waits, and misses where a request is cut off in its last packet.
    let leaving: Int32
    /// Exchanges that wait, by their connections.
    private var waiting: [OpaquePointer: EventedExchange] = [:]
    /// Connections whose peers have closed their side: nothing more comes of them.
    private var left: Set<OpaquePointer> = []
    /// By when connections have to get on.
    private(set) var deadlines = ConnectionDeadlines()

    /// Milliseconds in which the library reads what a peer said before it left.
    private static let lastMilliseconds = 1_000

    init?(_ handler: any EventedHandler, _ limits: HTTPLimits) {
        leaving = cmicrohttpd_set()
        guard leaving >= 0 else { return nil }
        (self.handler, self.limits) = (handler, limits)
    }

    deinit { close(leaving) }

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

    var waitingCount: Int { waiting.count }

    // MARK: - Connections

    /// A connection was made.
    func begin(_ connection: OpaquePointer) {
        _ = cmicrohttpd_watch(
            leaving, cmicrohttpd_socket(connection), UnsafeMutableRawPointer(connection))
        awaitRest(of: connection)
    }

    /// A connection is gone; its socket is watched no longer once it is closed.
    func forget(_ connection: OpaquePointer) {
        deadlines.clear(connection)
        left.remove(connection)
    }

    /// An answer was sent: its connection may take that long for the next request.
    func awaitRequest(on connection: OpaquePointer) {
        let seconds = limits.idleSeconds + limits.headSeconds
        deadlines.set(connection, .request, after: .seconds(seconds))
        shortenIfLeft(connection)
    }

    /// Whose peer has closed its side, of that connection no more comes than has come. The library
    /// was told of that once, maybe while it read a request, and would wait for more.
    private func shortenIfLeft(_ connection: OpaquePointer) {
        guard left.contains(connection) else { return }
        deadlines.shorten(connection, toMilliseconds: Self.lastMilliseconds)
    }

    /// A connection was made, or the first line of a request is there: what is left of the request
    /// may take that long.
    func awaitRest(of connection: OpaquePointer) {
        deadlines.set(connection, .request, after: .seconds(limits.headSeconds))
        shortenIfLeft(connection)
    }

    /// A peer may take that long for so many bytes.
    func awaitReading(of byteCount: Int, on connection: OpaquePointer) {
        let seconds = limits.idleSeconds + byteCount / max(1, limits.leastBytesPerSecond)
        deadlines.set(connection, .answer, after: .seconds(seconds))
    }

    /// A request is there as a whole: its answer may take as long as it likes.
    func awaitAnswer(on connection: OpaquePointer) { deadlines.clear(connection) }

    /// Ends connections that took too long: the library finds them closed.
    func endOverdue() {
        for connection in deadlines.takeOverdue() {
            shutdown(cmicrohttpd_socket(connection), Int32(SHUT_RDWR))
        }
    }

    // MARK: - Exchanges

    /// The handler has not answered: the connection waits. Returns the answer where nobody is left
    /// to wait for one.
    func suspend(_ exchange: EventedExchange) -> HTTPReply? {
        guard !left.contains(exchange.connection) else {
            end(exchange, .peerLeft)
            return HTTPReply(status: 499)
        }
        waiting[exchange.connection] = exchange
        exchange.isSuspended = true
        MHD_suspend_connection(exchange.connection)
        return nil
    }

    /// There is an answer, or nobody to take one: the library goes on with the connection.
    func wake(_ exchange: EventedExchange) {
        guard exchange.isSuspended else { return }
        exchange.isSuspended = false
        waiting[exchange.connection] = nil
        MHD_resume_connection(exchange.connection)
    }

    /// Ends exchanges whose peers have left; whether there were any.
    func noteLeft() -> Bool {
        var keys = [UnsafeMutableRawPointer?](repeating: nil, count: 64)
        let count = Int(cmicrohttpd_left(leaving, &keys, CInt(keys.count)))
        for key in keys.prefix(count) {
            guard let key else { continue }
            let connection = OpaquePointer(key)
            left.insert(connection)
            deadlines.shorten(connection, toMilliseconds: Self.lastMilliseconds)
            guard let exchange = waiting[connection] else { continue }
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
        for exchange in Array(waiting.values) {
            end(exchange, .stopped)
            exchange.reply = HTTPReply(status: 503)
            wake(exchange)
        }
    }
}
