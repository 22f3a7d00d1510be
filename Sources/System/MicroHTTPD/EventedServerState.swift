internal import CMicroHTTPD

/// The state shared by the callbacks of an evented server. Belongs to one thread.
final class EventedServerState {
    let handler: any EventedHandler
    let limits: HTTPLimits
    /// Watches all connections for peers that disconnect. libmicrohttpd doesn't check a connection
    /// while it's suspended, and misses a close that arrives with the last packet of an incomplete
    /// request.
    let leaving: Int32
    private var connections: [OpaquePointer: EventedConnection] = [:]
    private var ofPeers: PeerConnections
    private(set) var deadlines = ConnectionDeadlines()
    /// The number of connections closed because their peers read too slowly.
    private(set) var slowReaders: UInt64 = 0
    /// The start of the current turn, which is precise enough for deadlines in seconds.
    private var now: Milliseconds = cmicrohttpd_now()

    /// The time in which libmicrohttpd reads what a peer sent before it disconnected, in
    /// milliseconds.
    private static let lastMilliseconds: Milliseconds = 1_000
    /// The number of disconnected peers that are handled per turn.
    private static let leftMax = 64

    init?(_ handler: any EventedHandler, _ limits: HTTPLimits) {
        leaving = cmicrohttpd_set()
        guard leaving >= 0 else { return nil }
        (self.handler, self.limits) = (handler, limits)
        ofPeers = PeerConnections(most: limits.connectionsPerPeer)
    }

    deinit { close(leaving) }

    /// The number of requests that have begun in the current turn.
    var requests = 0

    /// Called before libmicrohttpd does its work.
    func beginTurn() {
        now = cmicrohttpd_now()
        requests = 0
    }

    /// The number of bodies currently kept.
    private var bodies = 0

    /// Decides whether to read the body of a request. Returns the reply that refuses it, if any.
    func refusalOfBody(_ exchange: EventedExchange) -> HTTPReply? {
        switch handler.admitBody(of: exchange) {
        case .refuse(let reply): return reply
        case .accept(let bytesMax):
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

    /// Whether an address may open another connection.
    func accepts(_ peer: PeerAddress) -> Bool {
        guard ofPeers.isFull(peer), !handler.hasUnlimitedConnections(peer) else { return true }
        handler.refusedConnection(of: peer)
        return false
    }

    /// Registers a new connection and keeps it until `forget`.
    func begin(_ pointer: OpaquePointer) -> EventedConnection {
        let connection = EventedConnection(pointer)
        connections[pointer] = connection
        ofPeers.add(connection.peer)
        _ = cmicrohttpd_watch(
            leaving, cmicrohttpd_socket(pointer), Unmanaged.passUnretained(connection).toOpaque())
        awaitRest(of: connection)
        return connection
    }

    /// Removes a closed connection. Its socket stops being watched when it's closed.
    func forget(_ pointer: OpaquePointer) {
        guard let connection = connections.removeValue(forKey: pointer) else { return }
        ofPeers.remove(connection.peer)
    }

    /// Starts the timeout for the next request, after an answer has been sent.
    func awaitRequest(on connection: EventedConnection) {
        allow(.request, of: connection, seconds: limits.idleSeconds + limits.headSeconds)
    }

    /// Starts the timeout for the rest of a request, when a connection was opened or the first line
    /// has been read.
    func awaitRest(of connection: EventedConnection) {
        allow(.request, of: connection, seconds: limits.headSeconds)
    }

    /// Starts the timeout for reading an answer of `byteCount` bytes. The peer must make progress
    /// in time. If the system doesn't report progress, or buffers the whole answer at once, the
    /// peer must read all of it at the same minimum rate.
    func awaitReading(of byteCount: Int, on connection: EventedConnection) {
        let isLong = byteCount > HTTPLimits.unsentBytes
        connection.takenBefore = isLong ? connection.takenBytes : nil
        let all = limits.idleSeconds + byteCount / max(1, limits.leastBytesPerSecond)
        let seconds = connection.takenBefore == nil ? all : limits.readSeconds
        allow(.answer, of: connection, seconds: seconds)
    }

    /// Whether a peer has read enough of its answer. If so, a new interval starts.
    private func goesOnReading(_ connection: EventedConnection) -> Bool {
        guard let before = connection.takenBefore, let taken = connection.takenBytes,
            taken - before >= Int64(limits.readSeconds) * Int64(limits.leastBytesPerSecond)
        else { return false }
        connection.takenBefore = taken
        allow(.answer, of: connection, seconds: limits.readSeconds)
        return true
    }

    private func allow(
        _ awaited: EventedConnection.Awaited, of connection: EventedConnection, seconds: Int
    ) {
        deadlines.set(connection, awaited, at: now + Milliseconds(seconds) * 1_000)
        if connection.hasLeft { shorten(connection) }
    }

    /// Shortens the deadline of a request whose peer has closed its side, since no more data will
    /// arrive. libmicrohttpd was notified only once, perhaps while it was reading a request, and
    /// would keep waiting.
    private func shorten(_ connection: EventedConnection) {
        guard connection.deadline?.awaited == .request else { return }
        deadlines.set(connection, .request, at: now + Self.lastMilliseconds)
    }

    /// Ends connections whose deadlines have passed; libmicrohttpd then finds them closed.
    func endOverdue() {
        for (connection, awaited) in deadlines.removeOverdue(among: connections.values, at: now) {
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

    /// Answers a head that libmicrohttpd has read and refuses, and ends its connection.
    ///
    /// libmicrohttpd 0.9.75 answers such a head twice: it writes the head of its answer and then
    /// continues as if the request had none. This concerns an invalid Content-Length, and cookies
    /// that exceed its memory. The only callback in between is the one for the log, which doesn't
    /// identify the connection. Of the connections that are reading a head, only that one reports
    /// its head as complete.
    func refuseHeads() {
        for connection in connections.values where connection.readsHead {
            guard cmicrohttpd_head_bytes(connection.pointer) > 0 else { continue }
            connection.readsHead = false
            let answer = RefusedHead.answer(
                length: FieldLines.value(of: "Content-Length", on: connection.pointer))
            let socket = cmicrohttpd_socket(connection.pointer)
            cmicrohttpd_end_with(socket, answer, answer.count)
        }
    }

    // MARK: - Exchanges

    /// Suspends the connection until the handler answers. If the peer has already disconnected,
    /// returns a reply that ends the exchange.
    func suspend(_ exchange: EventedExchange) -> PreparedReply? {
        let connection = exchange.connection
        guard !connection.hasLeft else {
            end(exchange, .peerLeft)
            return PreparedReply(HTTPReply(status: 499))
        }
        connection.waiting = exchange
        MHD_suspend_connection(connection.pointer)
        return nil
    }

    /// Resumes the connection of an exchange that has an answer or whose peer has disconnected.
    func wake(_ exchange: EventedExchange) {
        guard exchange.connection.waiting === exchange else { return }
        exchange.connection.waiting = nil
        MHD_resume_connection(exchange.connection.pointer)
    }

    /// Ends the exchanges of peers that have disconnected. Returns whether there were any.
    func noteLeft() -> Bool {
        withUnsafeTemporaryAllocation(
            of: UnsafeMutableRawPointer?.self, capacity: Self.leftMax
        ) { keys in
            let count = Int(cmicrohttpd_left(leaving, keys.baseAddress, CInt(keys.count)))
            for case let key? in keys.prefix(count) {
                // The pointer is valid: `begin` registers it, and `forget` runs before the socket
                // is closed.
                noteLeft(Unmanaged<EventedConnection>.fromOpaque(key).takeUnretainedValue())
            }
            return count > 0
        }
    }

    private func noteLeft(_ connection: EventedConnection) {
        connection.hasLeft = true
        shorten(connection)
        guard let exchange = connection.waiting else { return }
        end(exchange, .peerLeft)
        // The peer won't read it; libmicrohttpd notices that when it sends.
        exchange.reply = PreparedReply(HTTPReply(status: 499))
        wake(exchange)
    }

    /// Reports once that an exchange is over.
    func end(_ exchange: EventedExchange, _ end: HTTPEnd) {
        guard exchange.standing != .over else { return }
        exchange.standing = .over
        if exchange.keepsBody { bodies -= 1 }
        if exchange.isNotified { handler.ended(exchange, end) }
    }

    /// Resumes all suspended connections when the server stops.
    func wakeAll() {
        for exchange in connections.values.compactMap(\.waiting) {
            end(exchange, .stopped)
            exchange.reply = PreparedReply(HTTPReply(status: 503))
            wake(exchange)
        }
    }
}

/// Monotonic time in milliseconds.
typealias Milliseconds = Int64

/// A connection of an evented server. libmicrohttpd holds it from its first packet to its end.
final class EventedConnection {
    let pointer: OpaquePointer
    let peer: PeerAddress
    /// The deadline by which the peer must make progress; libmicrohttpd's own timeout restarts with
    /// every byte. `nil` means no deadline.
    var deadline: (awaited: Awaited, instant: Milliseconds)?
    /// Whether the peer has closed its side, so that no more data arrives.
    var hasLeft = false
    /// Whether a head is being read whose first line is complete.
    var readsHead = false
    /// The exchange that waits for its answer.
    var waiting: EventedExchange?
    /// The bytes that the peer had read when the current interval began; `nil` if it must read the
    /// whole answer within the interval.
    var takenBefore: Int64?

    /// The action expected of the peer.
    enum Awaited { case request, answer }

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        peer = cmicrohttpd_peer(pointer).map { PeerAddress($0) } ?? .unix
    }

    /// The number of bytes that the peer has read; `nil` if the system doesn't report it.
    var takenBytes: Int64? {
        let count = cmicrohttpd_taken(cmicrohttpd_socket(pointer))
        return count < 0 ? nil : count
    }
}

/// Finds the connections whose deadlines have passed.
struct ConnectionDeadlines {
    /// A lower bound of all deadlines; it may be earlier than each of them.
    private var earliest: Milliseconds?

    /// Sets a connection's deadline, replacing the previous one.
    mutating func set(
        _ connection: EventedConnection, _ awaited: EventedConnection.Awaited,
        at instant: Milliseconds
    ) {
        connection.deadline = (awaited, instant)
        if let earliest, earliest <= instant { return }
        earliest = instant
    }

    /// Removes and returns the deadlines that have passed, with what was expected of the peers.
    /// Only scans all connections when one may be due.
    mutating func removeOverdue(
        among connections: some Collection<EventedConnection>, at now: Milliseconds
    ) -> [(connection: EventedConnection, awaited: EventedConnection.Awaited)] {
        guard let earliest, earliest <= now else { return [] }
        let overdue = connections.compactMap { connection in
            connection.deadline.flatMap { $0.instant <= now ? (connection, $0.awaited) : nil }
        }
        for (connection, _) in overdue { connection.deadline = nil }
        self.earliest = connections.compactMap { $0.deadline?.instant }.min()
        return overdue
    }

    /// Returns the milliseconds until a deadline may pass, or `nil` if there is none.
    func millisecondsUntilNext(from now: Milliseconds) -> Int? {
        earliest.map { Int(max(0, $0 - now)) }
    }
}

/// Counts the connections of each address and enforces their limit.
struct PeerConnections {
    /// The largest number of connections per address; 0 means no limit.
    let most: Int
    private var counts: [PeerAddress: Int] = [:]

    init(most: Int) { self.most = most }

    /// Whether the address has reached its limit. Unix sockets have no addresses to count.
    func isFull(_ peer: PeerAddress) -> Bool {
        most > 0 && peer != .unix && counts[peer, default: 0] >= most
    }

    mutating func add(_ peer: PeerAddress) {
        guard most > 0, peer != .unix else { return }
        counts[peer, default: 0] += 1
    }

    mutating func remove(_ peer: PeerAddress) {
        guard let count = counts[peer] else { return }
        counts[peer] = count > 1 ? count - 1 : nil
    }
}

/// The address of a connection's peer.
public enum PeerAddress: Hashable, Sendable {
    /// The 128 bits of an IPv6 address. An IPv4 address is stored IPv4-mapped (RFC 4291, section
    /// 2.5.5.2).
    case ip(UInt128)
    /// A process on this machine, connected through a Unix socket.
    case unix

    /// The number of bits in front of an IPv4-mapped address.
    public static let mappedBits = 96
    private static let mappedPrefix: UInt128 = 0xFFFF

    /// Converts a socket address. Any family other than IP is treated as a Unix socket.
    init(_ address: UnsafePointer<sockaddr>) {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard cmicrohttpd_address(address, &bytes) != 0 else {
            self = .unix
            return
        }
        self.init(bytes: bytes)
    }

    /// Parses a numeric address such as `192.0.2.1` or `2001:db8::1`. Returns `nil` for any other
    /// text.
    public init?(text: some StringProtocol) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET6, String(text), &bytes) == 1 {
            self.init(bytes: bytes)
            return
        }
        guard inet_pton(AF_INET, String(text), &bytes) == 1 else { return nil }
        let number = bytes.prefix(4).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        self = .ip(Self.mappedPrefix << 32 | number)
    }

    private init(bytes: [UInt8]) { self = .ip(bytes.reduce(0) { $0 << 8 | UInt128($1) }) }

    /// Whether it is an IPv4 address.
    public var isIPv4: Bool {
        guard case .ip(let number) = self else { return false }
        return number >> 32 == Self.mappedPrefix
    }

    /// The numeric address, or `unix` for a Unix socket.
    public var text: String {
        guard case .ip(let number) = self else { return "unix" }
        let bytes = (0..<16).map { UInt8(truncatingIfNeeded: number >> UInt128(120 - 8 * $0)) }
        if isIPv4 { return bytes.suffix(4).map { "\($0)" }.joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }
}
