internal import CMicroHTTPD

/// Handles the requests of an `EventedHTTPServer`. Called on the thread that runs the server.
public protocol EventedHandler: AnyObject {
    /// Called when the head of a request with a body has been read, but none of the body. The
    /// default implementation accepts what the server's limits permit.
    func admitBody(of exchange: EventedExchange) -> BodyAdmission
    /// Called when the head of a request has been read but not validated. A handler that has
    /// answered an identical head before (`EventedExchange.has`) may return the same reply again;
    /// then `ended` follows and `handle` isn't called.
    func answerToKnownHead(of exchange: EventedExchange) -> PreparedReply?
    /// Called when a request has been received completely. It can be answered now or later.
    func handle(_ exchange: EventedExchange)
    /// Called exactly once per exchange when it's over, for whatever reason. No answer is needed
    /// any more.
    func ended(_ exchange: EventedExchange, _ end: HTTPEnd)
    /// Whether an address is exempt from the server's limit of connections per peer.
    func hasUnlimitedConnections(_ peer: PeerAddress) -> Bool
    /// Called when a connection was closed at once because the address has reached its limit.
    func refusedConnection(of peer: PeerAddress)
}

extension EventedHandler {
    /// Knows no heads.
    public func answerToKnownHead(of exchange: EventedExchange) -> PreparedReply? { nil }

    /// Exempts no address.
    public func hasUnlimitedConnections(_ peer: PeerAddress) -> Bool { false }

    /// Does nothing.
    public func refusedConnection(of peer: PeerAddress) {}

    /// Accepts bodies up to the server's limit.
    public func admitBody(of exchange: EventedExchange) -> BodyAdmission {
        .accept(bytesMax: exchange.server.limits.bodyBytes)
    }
}

/// An HTTP/1.1 server without a thread of its own. Its owner waits for `descriptor`, for at most
/// `millisecondsUntilDue`, and then calls `run`. Belongs to one thread.
///
/// A request may be answered later; its connection waits until then. If the peer disconnects, the
/// handler is notified within one turn.
public struct EventedHTTPServer: ~Copyable {
    /// The TCP port, or 0 if it listens on a Unix socket.
    public let port: UInt16
    /// Readable when `run` has work to do.
    public let descriptor: Int32
    private let daemon: OpaquePointer
    private let state: EventedServerState

    /// The largest number of libmicrohttpd's turns per `run`, and the number of requests after
    /// which no further turn begins, so that other work of the owner isn't starved.
    private static let (turnsMax, requestsMax) = (16, 64)

    /// Accepts connections on a listening, nonblocking socket. Takes ownership of the socket even
    /// if it throws.
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
        let shimLimits = cmicrohttpd_limits(
            connections: UInt32(clamping: limits.connections),
            idle_seconds: UInt32(clamping: limits.idleSeconds), head_bytes: limits.headBytes)
        cmicrohttpd_limit_unsent(socket, CInt(HTTPLimits.unsentBytes))
        let set = cmicrohttpd_set()
        guard set >= 0, let daemon = cmicrohttpd_start_evented(socket, shimLimits, calls) else {
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

    /// The number of open connections.
    public var connectionCount: Int { Int(cmicrohttpd_connections(daemon)) }

    /// The number of connections closed because their peers read too slowly.
    public var slowReaders: UInt64 { state.slowReaders }

    /// The number of exchanges waiting for an answer.
    public var waitingCount: Int { state.waitingCount }

    /// The milliseconds after which `run` must be called even if the descriptor isn't readable;
    /// `nil` means never.
    public var millisecondsUntilDue: Int? {
        let ours = state.deadlines.millisecondsUntilNext(from: cmicrohttpd_now())
        guard let library = libraryDue else { return ours }
        return min(library, ours ?? library)
    }

    private var libraryDue: Int? {
        let milliseconds = cmicrohttpd_due(daemon)
        return milliseconds < 0 ? nil : Int(clamping: milliseconds)
    }

    /// Does all work that is possible without blocking.
    public borrowing func run() {
        var requests = 0
        for _ in 0..<Self.turnsMax where requests < Self.requestsMax {
            state.beginTurn()
            let hadLeft = state.noteLeft()
            state.endOverdue()
            guard MHD_run(daemon) == .YES else { return }
            // After a request, the next one has often arrived, and looking costs less than waiting
            // does. Zero means that work remains that no descriptor signals, such as a resumed
            // connection.
            guard hadLeft || state.requests > 0 || libraryDue == 0 else { return }
            requests += state.requests
        }
    }

    /// Makes the system ignore new connection attempts, so that once `stopListening` has closed the
    /// socket, their retries are refused. Handshakes in progress complete, so that few connections,
    /// and none from the same machine, are lost in between.
    public borrowing func refuseConnections() {
        cmicrohttpd_refuse(cmicrohttpd_listening(daemon))
    }

    /// Accepts the pending connections and then stops listening. Open connections stay open.
    public borrowing func stopListening() {
        run()
        let socket = MHD_quiesce_daemon(daemon)
        guard socket >= 0 else { return }
        // Another process may continue to use the same socket.
        cmicrohttpd_refuse_no_more(socket)
        close(socket)
    }
}

/// Why a server can't be created on a socket.
public struct HTTPListenError: Error, Hashable, Sendable {
    /// The error number; see errno(3).
    public let errno: Int32

    /// The system's description.
    public var text: String { String(cString: strerror(errno)) }
}

/// How a response ended.
public enum HTTPEnd: Hashable, Sendable {
    /// It was sent completely.
    case complete
    /// The peer disconnected or timed out first.
    case peerLeft
    /// The server stopped first.
    case stopped
}

/// Whether the body of a request is read.
public enum BodyAdmission {
    /// Read the body up to this many bytes, and never more than the server's limit. A larger body
    /// is read to its end but discarded, and the request is answered with 413.
    case accept(bytesMax: Int)
    /// Answer at once without reading the body, and close the connection.
    case refuse(HTTPReply)
}

/// The limits that an `EventedHTTPServer` imposes on untrusted clients.
public struct HTTPLimits: Hashable, Sendable {
    /// The largest number of concurrent connections.
    public var connections = 12_000
    /// The largest number of connections per address; 0 means only `connections` applies. Peers of
    /// a Unix socket have no address, so this limit doesn't apply to them.
    public var connectionsPerPeer = 512
    /// The idle timeout of a connection in seconds. A connection whose answer is pending isn't
    /// idle.
    public var idleSeconds = 60
    /// The timeout for receiving a complete request in seconds, however slowly its bytes arrive. It
    /// starts with the connection or with the first line of the request; after an answer, the first
    /// line may take another `idleSeconds`.
    public var headSeconds = 30
    /// The lowest rate in bytes per second at which a peer must read an answer, measured over each
    /// `readSeconds`. Slow mobile networks are faster.
    public var leastBytesPerSecond = 16 << 10
    /// The interval in seconds after which a peer that has read more slowly is disconnected.
    var readSeconds: Int { min(idleSeconds, Self.readSecondsMax) }
    /// The largest size of a request line and header in bytes; more is refused with 431 or 414.
    public var headBytes = 32 << 10
    /// The largest body in bytes; more is refused with 413.
    public var bodyBytes = 0
    /// The largest number of bodies kept at a time, from their first byte to the end of their
    /// requests; more are refused with 503.
    public var bodies = 16

    private static let readSecondsMax = 60
    /// The bytes of an answer that the system buffers per peer in addition to those in flight. By
    /// default it would buffer megabytes, which count against the process's memory. Most images are
    /// smaller and are sent in one call.
    public static let unsentBytes = 64 << 10

    /// Creates the default limits.
    public init() {}
}

// The callbacks invoked by libmicrohttpd for an evented server. The exchange is passed through its
// `void *` with a reference of its own, from the first line to the end of the request.

/// Returns the server's state for the context of a callback.
private func serverState(_ context: UnsafeMutableRawPointer?) -> EventedServerState? {
    context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
}

/// Whether to accept a connection.
func acceptConnection(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _: socklen_t
) -> MHD_Result {
    guard let state = serverState(context), let address else { return .YES }
    return state.accepts(PeerAddress(address)) ? .YES : .NO
}

/// Called when a connection was opened or closed.
func noteConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ kept: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ code: MHD_ConnectionNotificationCode
) {
    guard let state = serverState(context), let connection, let kept else { return }
    switch code {
    case .CONNECTION_NOTIFY_STARTED:
        kept.pointee = Unmanaged.passUnretained(state.begin(connection)).toOpaque()
    default:
        kept.pointee = nil
        state.forget(connection)
    }
}

/// Called when the first line of a request has been read.
func beginEvented(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?,
    _ pointer: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let state = serverState(context), let pointer, let kept = cmicrohttpd_kept(pointer)
    else { return nil }
    let connection = Unmanaged<EventedConnection>.fromOpaque(kept).takeUnretainedValue()
    state.requests += 1
    state.awaitRest(of: connection)
    connection.readsHead = true
    let exchange = EventedExchange(
        connection, target.map { String(cString: $0) } ?? "/", state)
    return Unmanaged.passRetained(exchange).toOpaque()
}

/// Called when libmicrohttpd is about to answer a request itself or to close its connection.
func noteFailure(
    _ context: UnsafeMutableRawPointer?, _: UnsafePointer<CChar>?, _: CVaListPointer?
) {
    serverState(context)?.refuseHeads()
}

/// Called when the head has been read, then with each chunk of the body, and then without data,
/// which is repeated after each suspension.
func answerEvented(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?, _ target: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?,
    _ bytes: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let state = serverState(context), let slot, let method, let count,
        let pointer = slot.pointee
    else { return .NO }
    let exchange = Unmanaged<EventedExchange>.fromOpaque(pointer).takeUnretainedValue()
    if !exchange.isHeadRead {
        exchange.isHeadRead = true
        exchange.connection.readsHead = false
        exchange.method = String(cString: method)
        exchange.head = RequestHead(
            exchange.connection.pointer, method: method, target: target, version: version)
        return begin(exchange, state)
    }
    if count.pointee > 0 {
        guard let bytes else { return .NO }
        return receiveBody(
            UnsafeRawBufferPointer(start: bytes, count: count.pointee), count, exchange)
    }
    if exchange.standing == .reading { notify(exchange, state) }
    guard let reply = exchange.reply ?? state.suspend(exchange) else { return .YES }
    if exchange.standing == .waiting { exchange.standing = .answered }
    // From here on only the response retains the body's owner.
    exchange.reply = nil
    return queue(reply, exchange)
}

/// Answers a known head at once, without validating it. If the handler refuses the body, its reply
/// takes precedence over one for the body's size. The connection is closed after an answer that's
/// sent before the body was read.
private func begin(_ exchange: EventedExchange, _ state: EventedServerState) -> MHD_Result {
    if let reply = state.handler.answerToKnownHead(of: exchange) {
        exchange.isNotified = true
        exchange.store(reply)
        exchange.standing = .waiting
        // The reply is sent in the next call, since libmicrohttpd closes connections answered in
        // this one.
        return .YES
    }
    let fault = exchange.head.map { $0.fault(of: exchange) } ?? .lines
    var reply = fault?.reply
    if fault == nil || fault == .bodyTooLarge, exchange.announcesBody {
        reply = state.refusalOfBody(exchange) ?? reply
    }
    guard let reply else { return .YES }
    exchange.standing = .answered
    exchange.isLast = true
    return queue(PreparedReply(reply), exchange)
}

/// Reads a body. Beyond its limit it's read to the end but discarded.
private func receiveBody(
    _ bytes: UnsafeRawBufferPointer, _ count: UnsafeMutablePointer<Int>,
    _ exchange: EventedExchange
) -> MHD_Result {
    count.pointee = 0
    guard exchange.reply == nil else { return .YES }
    if exchange.body.count + bytes.count > exchange.bodyBytesMax {
        exchange.body = []
        exchange.isLast = true
        exchange.reply = PreparedReply(HeadError.bodyTooLarge.reply)
    } else {
        exchange.body += bytes
    }
    return .YES
}

private func notify(_ exchange: EventedExchange, _ state: EventedServerState) {
    exchange.standing = .waiting
    // Answering a complete request may take any time.
    exchange.connection.deadline = nil
    guard exchange.reply == nil else { return }
    exchange.isNotified = true
    state.handler.handle(exchange)
}

/// Called when a request is over, for whatever reason.
func endEvented(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    guard let state = serverState(context), let slot, let pointer = slot.pointee else { return }
    slot.pointee = nil
    let exchange = Unmanaged<EventedExchange>.fromOpaque(pointer).takeRetainedValue()
    state.awaitRequest(on: exchange.connection)
    exchange.connection.readsHead = false
    exchange.head = nil
    switch code {
    case .REQUEST_TERMINATED_COMPLETED_OK: state.end(exchange, .complete)
    case .REQUEST_TERMINATED_DAEMON_SHUTDOWN: state.end(exchange, .stopped)
    default: state.end(exchange, .peerLeft)
    }
}

private func queue(_ reply: PreparedReply, _ exchange: EventedExchange) -> MHD_Result {
    let reply = exchange.isLast ? reply.closing() : reply
    guard let response = reply.response else { return .NO }
    exchange.server.awaitReading(of: reply.bodyBytes, on: exchange.connection)
    return MHD_queue_response(exchange.connection.pointer, UInt32(reply.status), response)
}

/// A request and its answer. Belongs to the server's thread.
///
/// `EventedHTTPServer` passes it to its handler once, and reports once that it's over. In between,
/// the handler answers it, at once or later; the connection waits until then.
public final class EventedExchange {
    /// The method as written, such as `GET`.
    public internal(set) var method = ""
    /// The path and query as written, not decoded.
    public let target: String
    /// The bytes of the body.
    public internal(set) var body: [UInt8] = []
    /// Any object that the handler associates with the exchange.
    public var note: AnyObject?

    /// The head, once it has been read, in the connection's buffer.
    var head: RequestHead?
    /// Whether the head has been examined.
    var isHeadRead = false
    /// Whether the connection is closed after the answer, so that the framing of the request's body
    /// need not be trusted.
    var isLast = false
    /// The status and body size of the answer, once it has been given.
    public private(set) var answered: (status: UInt16, bodyBytes: Int)?

    enum Standing { case reading, waiting, answered, over }

    var standing = Standing.reading
    var reply: PreparedReply?
    /// Whether the handler has seen the exchange.
    var isNotified = false
    /// The largest number of body bytes to keep.
    var bodyBytesMax = 0
    /// Whether it counts toward the number of kept bodies.
    var keepsBody = false
    let connection: EventedConnection
    unowned let server: EventedServerState

    init(_ connection: EventedConnection, _ target: String, _ server: EventedServerState) {
        (self.connection, self.target, self.server) = (connection, target, server)
    }

    /// Returns the value of a request header; the name is case-insensitive. Several lines are
    /// joined by commas (RFC 9110 §5.3). `nil` once the exchange is over.
    public func header(_ name: String) -> String? {
        standing == .over ? nil : FieldLines.value(of: name, on: connection.pointer)
    }

    /// The address of the peer.
    public var peer: PeerAddress { connection.peer }

    /// Answers the exchange. Further answers, and one to an exchange that's over, are dropped.
    public func answer(_ reply: PreparedReply) {
        guard standing == .waiting, self.reply == nil else { return }
        store(reply)
        server.wake(self)
    }

    /// Answers the exchange with a reply that is sent once.
    public func answer(_ reply: HTTPReply) { answer(PreparedReply(reply)) }

    func store(_ reply: PreparedReply) {
        self.reply = reply
        answered = (reply.status, reply.bodyBytes)
    }

    /// Whether the head announces a body (RFC 9112 §6.3).
    var announcesBody: Bool {
        if header("Transfer-Encoding") != nil { return true }
        return header("Content-Length").map { $0.contains { $0 != "0" } } ?? false
    }
}

/// A reply of an `EventedHTTPServer`.
public struct HTTPReply {
    /// The storage of a body.
    public enum Body {
        /// Bytes that are copied once.
        case bytes([UInt8])
        /// Memory that isn't copied. `owner` keeps it valid and unchanged until it's sent or the
        /// connection is closed.
        case memory(UnsafeRawBufferPointer, owner: AnyObject)

        var byteCount: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .memory(let bytes, _): bytes.count
            }
        }
    }

    /// The status code, such as 200.
    public var status: UInt16
    /// Header names and values; Content-Length and Date are added.
    public var headers: [(name: String, value: String)]
    /// The body. For HEAD it isn't sent, but its length is. A 304 has none, for which libmicrohttpd
    /// always states the length 0. The length of the image would be right (RFC 9110 §8.6), but
    /// parsers such as http_parser then wait for bytes, while caches ignore it (RFC 9111 §3.2).
    public var body: Body

    /// Creates a reply whose body is copied.
    public init(
        status: UInt16 = 200, headers: [(name: String, value: String)] = [],
        body: Body = .bytes([])
    ) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// The size of the body in bytes.
    public var bodyBytes: Int { body.byteCount }
}

/// A reply in the form in which it is sent, on any number of connections. Belongs to one thread.
public final class PreparedReply {
    /// The status code.
    public let status: UInt16
    /// The size of the body in bytes.
    public let bodyBytes: Int
    /// The reply, or the server error that takes the place of an invalid one.
    public let reply: HTTPReply
    /// The response of libmicrohttpd; `nil` if memory is short.
    let response: OpaquePointer?

    /// Prepares a reply. If one of its headers is invalid, becomes a server error.
    public init(_ reply: HTTPReply) {
        let response = Self.response(to: reply)
        self.reply = response == nil ? HTTPReply(status: 500) : reply
        self.response = response ?? Self.response(to: self.reply)
        (status, bodyBytes) = (self.reply.status, self.reply.bodyBytes)
    }

    deinit {
        if let response { MHD_destroy_response(response) }
    }

    /// Returns the reply that also announces the end of its connection.
    func closing() -> PreparedReply {
        var reply = reply
        reply.headers.append(("Connection", "close"))
        return PreparedReply(reply)
    }

    private static func response(to reply: HTTPReply) -> OpaquePointer? {
        guard let created = response(of: reply.body) else { return nil }
        // Written here, since libmicrohttpd would write it again each time that it is sent.
        var date = [CChar](repeating: 0, count: Int(CMICROHTTPD_DATE_BYTES))
        cmicrohttpd_date(&date)
        var isValid = MHD_add_response_header(created, "Date", date) == .YES
        for header in reply.headers where isValid {
            isValid = MHD_add_response_header(created, header.name, header.value) == .YES
        }
        if isValid { return created }
        MHD_destroy_response(created)
        return nil
    }

    private static func response(of body: HTTPReply.Body) -> OpaquePointer? {
        switch body {
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { bytes in
                MHD_create_response_from_buffer(
                    bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                    .RESPMEM_MUST_COPY)
            }
        case .memory(let bytes, let owner):
            let pointer = Unmanaged.passRetained(owner).toOpaque()
            let created = MHD_create_response_from_buffer_with_free_callback_cls(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                { $0.map { Unmanaged<AnyObject>.fromOpaque($0).release() } }, pointer)
            if created == nil { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
            return created
        }
    }
}
