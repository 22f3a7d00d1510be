import Glibc

/// A real HTTP/1.1 server on a loopback port for tests: routes by path, keep-alive, one thread per
/// connection, and waits for every kind of event.
public final class OriginServer: Sendable {
    private let listener: OriginListener
    private let ledger = Monitor(OriginLedger())
    private let stopGate = Gate()

    /// The TCP port; chosen by the system unless one was given.
    public let port: UInt16
    /// The address it listens on, `127.0.0.1` or `::1`.
    public let host: String

    /// Starts to listen, on a port chosen by the system unless one is given. With `ipv6` it listens
    /// on `::1` instead of `127.0.0.1`.
    public init(ipv6: Bool = false, port wanted: UInt16 = 0) {
        listener = OriginListener(ipv6: ipv6, port: wanted)
        port = listener.port
        host = ipv6 ? "::1" : "127.0.0.1"
        ledger.withLock { $0.threads = 1 }
        _ = BackgroundThread { [listener, ledger, stopGate] in
            listener.acceptAll(ledger, until: stopGate)
            ledger.withLock { $0.threads -= 1 }
        }
    }

    /// A server with one route.
    public convenience init(_ path: String, _ behavior: OriginBehavior) {
        self.init()
        route(path, behavior)
    }

    deinit {
        stop()
    }

    /// `IP:PORT`, the form used in allowlists; IPv6 addresses are in brackets.
    public var authority: String {
        host == "::1" ? "[::1]:\(port)" : "\(host):\(port)"
    }

    /// The absolute URL of a path on this server.
    public func url(_ path: String) -> String {
        "http://\(authority)\(path)"
    }

    /// Sets how requests for a path are answered; the query is ignored. A path that ends in `/*`
    /// matches everything below it that has no route of its own. Any thread, any time.
    public func route(_ path: String, _ behavior: OriginBehavior) {
        ledger.withLock { $0.routes[path] = behavior }
    }

    /// Closes every connection and the port, and waits until all threads have ended.
    public func stop() {
        ledger.withLock { $0.isStopped = true }
        stopGate.open()
        _ = ledger.wait(until: { $0.threads == 0 }) as Bool
    }
}

extension OriginServer {
    /// The number of requests for a path.
    public func requestCount(_ path: String) -> Int {
        ledger.withLock { $0.requestCounts[path, default: 0] }
    }

    /// The total number of requests.
    public var totalRequestCount: Int { ledger.withLock { $0.totalRequests } }

    /// The first hundred requests for a path, in order.
    public func requests(_ path: String) -> [OriginRequest] {
        ledger.withLock { $0.requests[path, default: []] }
    }

    /// The latest request for a path, even beyond the first hundred.
    public func newestRequest(_ path: String) -> OriginRequest? {
        ledger.withLock { $0.newest[path] }
    }

    /// The number of open connections.
    public var openConnectionCount: Int { ledger.withLock { $0.openConnections } }

    /// The number of connections accepted since the start.
    public var acceptedConnectionCount: Int { ledger.withLock { $0.acceptedConnections } }

    /// Waits until `count` requests for a path have arrived. Returns false on timeout.
    public func waitForRequest(
        _ path: String, count: Int = 1, timeout: Duration = defaultTimeout
    ) -> Bool {
        ledger.wait(timeout: timeout) { $0.requestCounts[path, default: 0] >= count }
    }

    /// The same for async tests.
    public func waitForRequest(
        _ path: String, count: Int = 1, timeout: Duration = defaultTimeout
    ) async -> Bool {
        await ledger.wait(timeout: timeout) { $0.requestCounts[path, default: 0] >= count }
    }

    /// Waits until clients have closed `count` connections whose latest request was for a path.
    /// Returns false on timeout. Connections closed by the server don't count.
    public func waitForConnectionClosed(
        _ path: String, count: Int = 1, timeout: Duration = defaultTimeout
    ) -> Bool {
        ledger.wait(timeout: timeout) { $0.closedByClient[path, default: 0] >= count }
    }

    /// The same for async tests.
    public func waitForConnectionClosed(
        _ path: String, count: Int = 1, timeout: Duration = defaultTimeout
    ) async -> Bool {
        await ledger.wait(timeout: timeout) { $0.closedByClient[path, default: 0] >= count }
    }
}
