internal import CMicroHTTPD
import Glibc

/// An HTTP/1.1 server on a free port of 127.0.0.1 for GET and HEAD, with a thread per connection.
///
///     let server = try HTTPServer { request in HTTPResponse(body: Array("hello".utf8)) }
///     // http://127.0.0.1:\(server.port)/
///
/// Stops when the value ends: open connections are closed and their threads joined.
public struct HTTPServer: ~Copyable {
    private let daemon: OpaquePointer
    private let context: Unmanaged<HTTPServerContext>
    /// The TCP port chosen by the system.
    public let port: UInt16

    /// The largest number of concurrent connections; further ones are closed at once.
    public static let connectionsMax = 256
    /// The idle timeout of a connection in seconds.
    public static let idleSecondsMax = 60

    /// Starts listening at once. `answer` runs on the connections' threads, concurrently.
    public init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse)
        throws(HTTPServerError)
    {
        context = Unmanaged.passRetained(HTTPServerContext(answer))
        let daemon = cmicrohttpd_start(
            answerRequest, context.toOpaque(), beginRequest, endRequest,
            UInt32(Self.connectionsMax), UInt32(Self.idleSecondsMax))
        guard let daemon else {
            context.release()
            throw .cannotListen
        }
        self.daemon = daemon
        port = cmicrohttpd_port(daemon)
    }

    deinit {
        MHD_stop_daemon(daemon)
        context.release()
    }
}

/// Why the server couldn't start.
public enum HTTPServerError: Error, Hashable, Sendable {
    /// No socket on loopback, thread or memory is available.
    case cannotListen
}

// Sendable: both handles are immutable from init to deinit, and only deinit uses them.
extension HTTPServer: @unchecked Sendable {}

/// A request as received.
public struct HTTPRequest: Hashable, Sendable {
    /// `GET` or `HEAD`; other methods are refused before the handler is called.
    public let method: String
    /// The path and query as written, not decoded.
    public let target: String

    /// The target without its query.
    public var path: Substring { target.prefix { $0 != "?" } }
}

/// A response: a status, headers, and a body that can be held back.
public struct HTTPResponse: Sendable {
    /// The status code, such as 200.
    public var status: UInt16
    /// Header names and values; Content-Length is added.
    public var headers: [(name: String, value: String)]
    /// The complete body, announced in `Content-Length`.
    public var body: [UInt8]
    /// Sends this many bytes of the body, then waits for the gate before sending the rest.
    public var hold: (after: Int, gate: BodyGate)?
    /// Called once with how the response ended, on the connection's thread.
    public var ended: (@Sendable (HTTPEnd) -> Void)?

    /// Creates a response whose body is sent at once.
    public init(
        status: UInt16 = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        ended: (@Sendable (HTTPEnd) -> Void)? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.ended = ended
    }
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

/// Holds response bodies back until it's opened, once and for all waiters.
public final class BodyGate: Sendable {
    /// Readable once the gate is open. -1 if no descriptor was available; then the gate counts as
    /// open.
    private let event: Int32

    /// Creates a closed gate.
    public init() { event = cmicrohttpd_gate() }

    deinit { if event >= 0 { close(event) } }

    /// Releases all bodies that wait here now or later.
    public func open() { cmicrohttpd_open(event) }

    /// Waits until the gate is open. Returns `false` if the peer at `socket` disconnects first.
    func wait(orUntilClosed socket: Int32) -> Bool {
        event < 0 || cmicrohttpd_wait(event, socket) == 1
    }
}

/// The state shared by all callbacks of a server.
final class HTTPServerContext: Sendable {
    let answer: @Sendable (HTTPRequest) -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) { self.answer = answer }
}

/// A request in progress, from its first line to its end. libmicrohttpd invokes the callbacks of a
/// connection on one thread at a time.
final class HTTPExchange {
    let target: String
    var isHeadRead = false
    var ended: (@Sendable (HTTPEnd) -> Void)?

    init(target: String) { self.target = target }
}

/// A body being sent; belongs to its connection's thread.
final class HTTPBody {
    private let bytes: [UInt8]
    private let hold: (after: Int, gate: BodyGate)?
    private let socket: Int32

    init(_ response: HTTPResponse, socket: Int32) {
        (bytes, hold, self.socket) = (response.body, response.hold, socket)
    }

    /// Copies the bytes at offset `place`. Returns a negative value if the peer has disconnected.
    func read(at place: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let start = Int(clamping: place)
        var end = min(bytes.count, start + buffer.count)
        if let hold {
            if start < hold.after {
                end = min(end, hold.after)
            } else if !hold.gate.wait(orUntilClosed: socket) {
                return -2  // MHD_CONTENT_READER_END_WITH_ERROR, a macro with a cast
            }
        }
        guard start < end else { return -1 }  // MHD_CONTENT_READER_END_OF_STREAM, likewise
        bytes.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<end]))
        }
        return end - start
    }
}

// The callbacks invoked by libmicrohttpd. Objects are passed through its `void *` with a reference
// of their own: the exchange from the first line to the end of the request, the body as long as its
// response.

/// Called when the first line of a request has been read.
func beginRequest(
    _: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    let exchange = HTTPExchange(target: target.map { String(cString: $0) } ?? "/")
    return Unmanaged.passRetained(exchange).toOpaque()
}

/// Called when the head of a request has been read, then with the data that came with it, and last
/// without data. Answering in the first call would close the connection.
func answerRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let slot, let method,
        let exchange = slot.pointee.map({ Unmanaged<HTTPExchange>.fromOpaque($0) })
    else { return .NO }
    guard exchange.takeUnretainedValue().isHeadRead, count?.pointee == 0 else {
        exchange.takeUnretainedValue().isHeadRead = true
        count?.pointee = 0
        return .YES
    }
    let request = HTTPRequest(
        method: String(cString: method), target: exchange.takeUnretainedValue().target)
    guard request.method == "GET" || request.method == "HEAD" else {
        return queue(HTTPResponse(status: 405), connection)
    }
    let server = Unmanaged<HTTPServerContext>.fromOpaque(context).takeUnretainedValue()
    let response = server.answer(request)
    exchange.takeUnretainedValue().ended = response.ended
    return queue(response, connection)
}

/// Called when a request is over, for whatever reason.
func endRequest(
    _: UnsafeMutableRawPointer?, _: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    guard let slot, let pointer = slot.pointee else { return }
    slot.pointee = nil
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(pointer).takeRetainedValue()
    switch code {
    case .REQUEST_TERMINATED_COMPLETED_OK: exchange.ended?(.complete)
    case .REQUEST_TERMINATED_DAEMON_SHUTDOWN: exchange.ended?(.stopped)
    default: exchange.ended?(.peerLeft)
    }
}

private func queue(_ response: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
    let body = HTTPBody(response, socket: cmicrohttpd_socket(connection))
    let pointer = Unmanaged.passRetained(body).toOpaque()
    let created = MHD_create_response_from_callback(
        UInt64(response.body.count), 64 * 1024, readBody, pointer, freeBody)
    guard let created else {
        freeBody(pointer)
        return .NO
    }
    defer { MHD_destroy_response(created) }
    for header in response.headers
    where MHD_add_response_header(created, header.name, header.value) == .NO {
        return .NO
    }
    return MHD_queue_response(connection, UInt32(response.status), created)
}

private func readBody(
    _ body: UnsafeMutableRawPointer?, _ place: UInt64, _ buffer: UnsafeMutablePointer<CChar>?,
    _ count: Int
) -> Int {
    guard let body, let buffer else { return -2 }
    return Unmanaged<HTTPBody>.fromOpaque(body).takeUnretainedValue()
        .read(at: place, into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
}

private func freeBody(_ body: UnsafeMutableRawPointer?) {
    if let body { Unmanaged<HTTPBody>.fromOpaque(body).release() }
}
