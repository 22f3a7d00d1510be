import Glibc

/// A real HTTP/1.1 server on a loopback port of its own, for tests: routes by path, keep-alive,
/// one thread a connection, and every event can be awaited.
public final class OriginServer: Sendable {
    private let listener: OriginListener
    private let ledger = Monitor(OriginLedger())
    private let stopGate = Gate()

    /// The TCP port; chosen by the system where none was named.
    public let port: UInt16
    /// The address it listens on, `127.0.0.1` or `::1`.
    public let host: String

    /// Listens at once, on a port of its own where none is named. `ipv6` listens on `::1` instead
    /// of `127.0.0.1`.
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

    deinit {
        stop()
    }

    /// `IP:PORT`, as an allow list wants it; an IPv6 address is in brackets.
    public var authority: String {
        host == "::1" ? "[::1]:\(port)" : "\(host):\(port)"
    }

    /// The absolute URL of a path of this server.
    public func url(_ path: String) -> String {
        "http://\(authority)\(path)"
    }

    /// Sets how a path is answered; the query is not looked at. A path that ends in `/*` stands
    /// for all below it that have no route of their own. Any thread, any time.
    public func route(_ path: String, _ behavior: OriginBehavior) {
        ledger.withLock { $0.routes[path] = behavior }
    }

    /// Closes every connection and the port, and waits until all threads are gone.
    public func stop() {
        ledger.withLock { $0.isStopped = true }
        stopGate.open()
        _ = ledger.wait(until: { $0.threads == 0 }) as Bool
    }
}

extension OriginServer {
    /// How many requests came for a path.
    public func requestCount(_ path: String) -> Int {
        ledger.withLock { $0.requestCounts[path, default: 0] }
    }

    /// How many requests came in all.
    public var totalRequestCount: Int { ledger.withLock { $0.totalRequests } }

    /// The first hundred requests for a path, in order.
    public func requests(_ path: String) -> [OriginRequest] {
        ledger.withLock { $0.requests[path, default: []] }
    }

    /// The newest request for a path, however many came before.
    public func newestRequest(_ path: String) -> OriginRequest? {
        ledger.withLock { $0.newest[path] }
    }

    /// How many connections are open now.
    public var openConnectionCount: Int { ledger.withLock { $0.openConnections } }

    /// How many connections were ever accepted.
    public var acceptedConnectionCount: Int { ledger.withLock { $0.acceptedConnections } }

    /// Waits until `count` requests came for a path; false where `timeout` passes first.
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

    /// Waits until clients have closed `count` connections whose newest request was for a path;
    /// false where `timeout` passes first. Connections that the server closed do not count.
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
