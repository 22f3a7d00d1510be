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

/// Of a clock that only goes on.
typealias Milliseconds = Int64

/// A connection of an evented server. libmicrohttpd carries it from its first packet to its end.
final class EventedConnection {
    let pointer: OpaquePointer
    let peer: PeerAddress
    /// By when it has to get on, whatever trickles in or out meanwhile: the library's own limit
    /// begins anew with every byte. `nil`: it may take as long as it likes.
    fileprivate(set) var deadline: (awaited: Awaited, instant: Milliseconds)?
    /// Whether its peer has closed its side: nothing more comes of it.
    var hasLeft = false
    /// Whether a head is being read of which the first line is there.
    var readsHead = false
    /// The exchange that waits for its answer.
    var waiting: EventedExchange?
    /// Bytes that its peer had taken when its time for the answer began; `nil`: it has to
    /// take all of it.
    var takenBefore: Int64?

    /// What is awaited of its peer.
    enum Awaited { case request, answer }

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        peer = cmicrohttpd_peer(pointer).map { PeerAddress($0) } ?? .unix
    }

    /// Bytes that its peer has taken; `nil` where the system does not say it.
    var takenBytes: Int64? {
        let count = cmicrohttpd_taken(cmicrohttpd_socket(pointer))
        return count < 0 ? nil : count
    }
}

/// Whose time is over, of many connections.
struct ConnectionDeadlines {
    /// No deadline lies before it; it may lie before all of them.
    private var earliest: Milliseconds?

    /// In place of what was set before.
    mutating func set(
        _ connection: EventedConnection, _ awaited: EventedConnection.Awaited,
        at instant: Milliseconds
    ) {
        connection.deadline = (awaited, instant)
        if let earliest, earliest <= instant { return }
        earliest = instant
    }

    /// It may take as long as it likes.
    func clear(_ connection: EventedConnection) { connection.deadline = nil }

    /// Those whose time is over, and what was awaited of them; they have no deadline afterwards.
    /// Looks at all of them no more often than one may be due.
    mutating func takeOverdue(
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

    /// After how long there may be one; `nil`: never.
    func millisecondsUntilNext(from now: Milliseconds) -> Int? {
        earliest.map { Int(max(0, $0 - now)) }
    }
}

/// How many connections each address has, and whether it may have one more.
struct PeerConnections {
    /// Connections of one address; 0: any number.
    let most: Int
    private var counts: [PeerAddress: Int] = [:]

    init(most: Int) { self.most = most }

    /// Whether it has as many as it may have. A Unix socket has no addresses to count.
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

/// The address of whoever is at the other end of a connection.
public enum PeerAddress: Hashable, Sendable {
    /// The 128 bits of an IPv6 address. An IPv4 address is the one that maps it (RFC 4291,
    /// section 2.5.5.2).
    case ip(UInt128)
    /// A process of this machine, at a Unix socket.
    case unix

    /// Bits of an IPv6 address before those of an IPv4 address that it maps.
    public static let mappedBits = 96
    private static let mappedPrefix: UInt128 = 0xFFFF

    /// An address of a family other than IP is a Unix socket's.
    init(_ address: UnsafePointer<sockaddr>) {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard cmicrohttpd_address(address, &bytes) != 0 else {
            self = .unix
            return
        }
        self.init(bytes: bytes)
    }

    /// An address in numbers, such as `192.0.2.1` or `2001:db8::1`; `nil` for any other text.
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

    /// The address in numbers; `unix` for a Unix socket.
    public var text: String {
        guard case .ip(let number) = self else { return "unix" }
        let bytes = (0..<16).map { UInt8(truncatingIfNeeded: number >> UInt128(120 - 8 * $0)) }
        if isIPv4 { return bytes.suffix(4).map { "\($0)" }.joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }
}
