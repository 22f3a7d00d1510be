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

/// Whether the body of a request is read.
public enum BodyAdmission {
    /// It is, up to so many bytes, and never more than the limits of the server permit. One that is
    /// larger is read to its end, is not kept, and is answered 413.
    case take(bytesMax: Int)
    /// It is answered at once; the body is not read, and the connection closed.
    case refuse(HTTPReply)
}

/// What an `EventedHTTPServer` takes of strangers at most.
public struct HTTPLimits: Hashable, Sendable {
    /// Connections at a time.
    public var connections = 12_000
    /// Of one address; 0: as many as in all. Peers of a Unix socket have no address, so this limit
    /// does not apply to them.
    public var connectionsPerPeer = 512
    /// Seconds after which a connection without traffic is closed; one whose answer is awaited
    /// counts as busy.
    public var idleSeconds = 60
    /// Seconds in which a request has to come as a whole, from the beginning of its connection or
    /// from its first line on, however its bytes trickle in; behind an answer the first line has
    /// `idleSeconds` besides.
    public var headSeconds = 30
    /// Bytes a second that a peer has to take of an answer, over each `readSeconds`; slow mobile
    /// networks have more.
    public var leastBytesPerSecond = 16 << 10
    /// Seconds after which a peer that has taken less than that is closed.
    var readSeconds: Int { min(idleSeconds, Self.readSecondsMax) }
    /// Bytes of a request line and its headers; more is refused with 431 or 414.
    public var headBytes = 32 << 10
    /// Bytes of a body; more is refused with 413.
    public var bodyBytes = 0
    /// Bodies that are kept at a time, from their first byte to the end of their requests; one more
    /// is refused with 503.
    public var bodies = 16

    private static let readSecondsMax = 60
    /// Bytes of an answer that the system keeps for a peer beyond those that are on their way. It
    /// would keep megabytes, which count against the memory of the process. Most images are
    /// smaller and go out in one call.
    public static let unsentBytes = 64 << 10

    /// The limits above.
    public init() {}
}

// What libmicrohttpd calls for an evented server. The exchange travels through its `void *` with a
// reference of its own, from the first line to the end of the request.

/// Whether a connection is taken.
func acceptConnection(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _: socklen_t
) -> MHD_Result {
    guard let context, let address else { return .YES }
    let state = Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue()
    return state.accepts(PeerAddress(address)) ? .YES : .NO
}

/// A connection was made, or is gone.
func noteConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ kept: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ code: MHD_ConnectionNotificationCode
) {
    guard let context, let connection, let kept else { return }
    let state = Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue()
    switch code {
    case .CONNECTION_NOTIFY_STARTED:
        kept.pointee = Unmanaged.passUnretained(state.begin(connection)).toOpaque()
    default:
        kept.pointee = nil
        state.forget(connection)
    }
}

/// The first line of a request was read.
func beginEvented(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?,
    _ pointer: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let pointer, let kept = cmicrohttpd_kept(pointer) else { return nil }
    let state = Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue()
    let connection = Unmanaged<EventedConnection>.fromOpaque(kept).takeUnretainedValue()
    state.awaitRest(of: connection)
    connection.readsHead = true
    let exchange = EventedExchange(
        connection, target.map { String(cString: $0) } ?? "/", state)
    return Unmanaged.passRetained(exchange).toOpaque()
}

/// The library is about to answer a request by itself, or to close its connection.
func noteFailure(
    _ context: UnsafeMutableRawPointer?, _: UnsafePointer<CChar>?, _: CVaListPointer?
) {
    guard let context else { return }
    Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue().refuseHeads()
}

/// The head was read; later calls bring the body, the one behind it nothing, and so does each after
/// a wait.
func answerEvented(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?, _ target: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?,
    _ bytes: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let slot, let method, let count, let pointer = slot.pointee
    else { return .NO }
    let state = Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue()
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
        return take(UnsafeRawBufferPointer(start: bytes, count: count.pointee), count, exchange)
    }
    if exchange.standing == .reading { tell(exchange, state) }
    guard let reply = exchange.reply ?? state.suspend(exchange) else { return .YES }
    if exchange.standing == .waiting { exchange.standing = .answered }
    // What it names is kept by the response alone from here on.
    exchange.reply = nil
    return queue(reply, exchange)
}

/// A head that was answered before is answered so again, and looked at no further. Who may send no
/// body is told that first, whatever its length is. The connection ends behind an answer that comes
/// before its body was read.
private func begin(_ exchange: EventedExchange, _ state: EventedServerState) -> MHD_Result {
    if let reply = state.handler.answerToKnownHead(of: exchange) {
        exchange.isTold = true
        exchange.take(reply)
        exchange.standing = .waiting
        // It is sent in the next call: the library ends connections that are answered in this one.
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
    return queue(reply, exchange)
}

/// A body beyond its limit is read to its end, but not kept.
private func take(
    _ bytes: UnsafeRawBufferPointer, _ count: UnsafeMutablePointer<Int>,
    _ exchange: EventedExchange
) -> MHD_Result {
    count.pointee = 0
    guard exchange.reply == nil else { return .YES }
    if exchange.body.count + bytes.count > exchange.bodyBytesMax {
        exchange.body = []
        exchange.isLast = true
        exchange.reply = HeadFault.bodyTooLarge.reply
    } else {
        exchange.body += bytes
    }
    return .YES
}

private func tell(_ exchange: EventedExchange, _ state: EventedServerState) {
    exchange.standing = .waiting
    state.awaitAnswer(on: exchange.connection)
    guard exchange.reply == nil else { return }
    exchange.isTold = true
    state.handler.handle(exchange)
}

/// A request is over, however it ended.
func endEvented(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    guard let context, let slot, let pointer = slot.pointee else { return }
    slot.pointee = nil
    let state = Unmanaged<EventedServerState>.fromOpaque(context).takeUnretainedValue()
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

private func queue(_ reply: HTTPReply, _ exchange: EventedExchange) -> MHD_Result {
    var reply = reply
    if exchange.isLast { reply.headers.append(("Connection", "close")) }
    if reply.response == nil { reply = reply.prepared() }
    // A header of it cannot be one: whoever asked is told that something is wrong here.
    if reply.response == nil { reply = HTTPReply(status: 500).prepared() }
    guard let response = reply.response else { return .NO }
    exchange.server.awaitReading(of: reply.body.byteCount, on: exchange.connection)
    return MHD_queue_response(exchange.connection.pointer, UInt32(reply.status), response.pointer)
}

/// A request and its answer, on the thread of its server.
///
/// `EventedHTTPServer` tells its handler of it once, and once that it is over. In between the
/// handler answers it, at once or later; until then the connection waits.
public final class EventedExchange {
    /// As it was written, such as `GET`.
    public internal(set) var method = ""
    /// Path and query as they were written, undecoded.
    public let target: String
    /// Bytes that came behind the head.
    public internal(set) var body: [UInt8] = []
    /// For the handler: what it knows of the exchange.
    public var note: AnyObject?

    /// Its head, once that was read, in the buffer of its connection.
    var head: RequestHead?
    /// Whether its head was looked at.
    var isHeadRead = false
    /// Whether its connection ends with its answer: where its body ends is no matter of trust then.
    var isLast = false
    /// What it was answered, once it was: status, and bytes of the body.
    public private(set) var answered: (status: UInt16, bodyBytes: Int)?

    enum Standing { case reading, waiting, answered, over }

    var standing = Standing.reading
    var reply: HTTPReply?
    /// Whether the handler knows of it.
    var isTold = false
    /// Bytes of its body that are kept at most.
    var bodyBytesMax = 0
    /// Whether it counts as one of the bodies that are kept.
    var keepsBody = false
    let connection: EventedConnection
    unowned let server: EventedServerState

    init(_ connection: EventedConnection, _ target: String, _ server: EventedServerState) {
        (self.connection, self.target, self.server) = (connection, target, server)
    }

    /// A header of the request, whatever the case of its name; of several lines all, with commas
    /// between (RFC 9110 §5.3). `nil` once the exchange is over.
    public func header(_ name: String) -> String? {
        standing == .over ? nil : FieldLines.value(of: name, on: connection.pointer)
    }

    /// The address of the other end of its connection.
    public var peer: PeerAddress { connection.peer }

    /// Answers it, once; later answers, and one to an exchange that is over, are dropped.
    public func answer(_ reply: HTTPReply) {
        guard standing == .waiting, self.reply == nil else { return }
        take(reply)
        server.wake(self)
    }

    /// It is answered with that.
    func take(_ reply: HTTPReply) {
        self.reply = reply
        answered = (reply.status, reply.body.byteCount)
    }

    /// Whether the head announces a body (RFC 9112 §6.3).
    var announcesBody: Bool {
        if header("Transfer-Encoding") != nil { return true }
        return header("Content-Length").map { $0.contains { $0 != "0" } } ?? false
    }

    var socket: Int32 { cmicrohttpd_socket(connection.pointer) }
}

/// An answer of an `EventedHTTPServer`.
public struct HTTPReply {
    /// Where the bytes of a body are.
    public enum Body {
        /// Copied once.
        case bytes([UInt8])
        /// Left where they are until they are sent, or the connection ends: `owner` keeps them
        /// valid and unchanged until then.
        case memory(UnsafeRawBufferPointer, owner: AnyObject)

        var byteCount: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .memory(let bytes, _): bytes.count
            }
        }

        func withUnsafeBytes<Result>(_ use: (UnsafeRawBufferPointer) -> Result) -> Result {
            switch self {
            case .bytes(let bytes): bytes.withUnsafeBytes(use)
            case .memory(let bytes, let owner): withExtendedLifetime(owner) { use(bytes) }
            }
        }
    }

    /// Such as 200.
    public var status: UInt16 { didSet { response = nil } }
    /// Name and value; the length is added.
    public var headers: [(name: String, value: String)] { didSet { response = nil } }
    /// Not sent to a HEAD; its length is said all the same.
    public var body: Body { didSet { response = nil } }
    /// Made before, for an answer that is given many times.
    var response: PreparedResponse?

    /// An answer whose body is copied.
    public init(
        status: UInt16 = 200, headers: [(name: String, value: String)] = [],
        body: Body = .bytes([])
    ) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// The same, put into the form in which it is sent: for an answer that is given many times, on
    /// one thread.
    public func prepared() -> HTTPReply {
        var reply = self
        reply.response = PreparedResponse(self)
        return reply
    }

    /// The same, sent from a file in memory without copying its body each time. Takes a descriptor
    /// while it is kept. `nil` if there is none, or no memory.
    public func preparedInFile() -> HTTPReply? {
        guard let response = PreparedResponse(self, inFile: true) else { return nil }
        var reply = self
        reply.response = response
        return reply
    }

    /// Bytes of its body.
    public var bodyBytes: Int { body.byteCount }
}

/// A response as libmicrohttpd has it: made once, sent on any number of connections. One thread.
final class PreparedResponse {
    let pointer: OpaquePointer

    /// `nil` if there is no memory for it, or a header is invalid. `inFile`: the body is copied into
    /// a file in memory, from which the system sends it without another copy; this takes a
    /// descriptor.
    init?(_ reply: HTTPReply, inFile: Bool = false) {
        let response =
            inFile
            ? reply.body.withUnsafeBytes { cmicrohttpd_file_response($0.baseAddress, $0.count) }
            : Self.response(of: reply.body)
        guard let made = response else { return nil }
        pointer = made
        for header in reply.headers
        where MHD_add_response_header(made, header.name, header.value) == .NO {
            return nil
        }
    }

    deinit { MHD_destroy_response(pointer) }

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
            let made = MHD_create_response_from_buffer_with_free_callback_cls(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                { $0.map { Unmanaged<AnyObject>.fromOpaque($0).release() } }, pointer)
            if made == nil { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
            return made
        }
    }
}
