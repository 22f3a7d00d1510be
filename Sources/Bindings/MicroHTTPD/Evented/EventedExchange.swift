internal import CMicroHTTPD

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
