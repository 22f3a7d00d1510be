internal import CMicroHTTPD

/// What the callbacks of an evented server share. One thread.
final class EventedServerState {
    let handler: any EventedHandler
    let limits: HTTPLimits
    /// Watches connections that wait, whose peers libmicrohttpd does not look at.
    let leaving: Int32
    /// Exchanges that wait, by their addresses: these are what the watch says.
    private var waiting: [UnsafeMutableRawPointer: EventedExchange] = [:]

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

    /// The handler has not answered: the connection waits.
    func suspend(_ exchange: EventedExchange) {
        let key = Unmanaged.passUnretained(exchange).toOpaque()
        waiting[key] = exchange
        exchange.isSuspended = true
        MHD_suspend_connection(exchange.connection)
        _ = cmicrohttpd_watch(leaving, exchange.socket, key)
    }

    /// There is an answer, or nobody to take one: the library goes on with the connection.
    func wake(_ exchange: EventedExchange) {
        guard exchange.isSuspended else { return }
        exchange.isSuspended = false
        waiting[Unmanaged.passUnretained(exchange).toOpaque()] = nil
        cmicrohttpd_unwatch(leaving, exchange.socket)
        MHD_resume_connection(exchange.connection)
    }

    /// Ends exchanges whose peers have left; whether there were any.
    func noteLeft() -> Bool {
        var keys = [UnsafeMutableRawPointer?](repeating: nil, count: 64)
        let count = Int(cmicrohttpd_left(leaving, &keys, CInt(keys.count)))
        for key in keys.prefix(count) {
            guard let key, let exchange = waiting[key] else { continue }
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
