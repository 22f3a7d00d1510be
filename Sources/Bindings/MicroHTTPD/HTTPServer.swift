internal import CMicroHTTPD

/// An HTTP/1.1 server on a free port of 127.0.0.1, for GET and HEAD; a thread for each connection.
///
///     let server = try HTTPServer { request in HTTPResponse(body: Array("hello".utf8)) }
///     // http://127.0.0.1:\(server.port)/
///
/// Stops with its last use: open connections are ended and their threads awaited.
public struct HTTPServer: ~Copyable {
    private let daemon: OpaquePointer
    private let context: Unmanaged<HTTPServerContext>
    /// The TCP port, chosen by the system.
    public let port: UInt16

    /// Connections at a time; one more is closed at once.
    public static let connectionsMax = 256
    /// Seconds after which a connection without traffic is closed.
    public static let idleSecondsMax = 60

    /// Listens at once. `answer` runs on the threads of the connections, several at a time.
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

/// Why there is no server.
public enum HTTPServerError: Error, Hashable, Sendable {
    /// No socket on loopback, no thread, or no memory.
    case cannotListen
}

// Both handles stay as they are from init to deinit, and only deinit uses them.
extension HTTPServer: @unchecked Sendable {}
