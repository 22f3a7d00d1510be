/// An answer: a status, headers, and bytes that may be held back.
public struct HTTPResponse: Sendable {
    /// Such as 200.
    public var status: UInt16
    /// Name and value; the length is added.
    public var headers: [(name: String, value: String)]
    /// The whole body; it is announced in `Content-Length`.
    public var body: [UInt8]
    /// Sends so many bytes of the body and waits for the gate before the rest.
    public var hold: (after: Int, gate: BodyGate)?
    /// Told once how it ended, on the thread of the connection.
    public var ended: (@Sendable (HTTPEnd) -> Void)?

    /// An answer whose body is sent at once.
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

/// How an answer ended.
public enum HTTPEnd: Hashable, Sendable {
    /// All of it was sent.
    case complete
    /// The peer closed the connection before, or was silent for too long.
    case peerLeft
    /// The server stopped before.
    case stopped
}
