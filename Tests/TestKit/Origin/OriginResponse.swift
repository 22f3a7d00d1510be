/// A response of the origin server and how it is sent; each aspect can be changed separately.
public struct OriginResponse: Sendable {
    /// The status code.
    public var status = 200
    /// Header fields in order, without those that state the length.
    public var headers: [(name: String, value: String)] = []
    /// The body.
    public var body = OriginBody.bytes([])
    /// The length stated in the head, true or not.
    public var length = OriginLength.exact
    /// How fast the body is sent.
    public var pace = OriginPace.atOnce
    /// The gate that the server waits for before it sends the head.
    public var headGate: Gate?
    /// The gate that the server waits for between head and body.
    public var bodyGate: Gate?
    /// The gate that the server waits for after the body.
    public var endGate: Gate?
    /// The number of body bytes after which the server closes the connection.
    public var closesAfter: Int?
    /// Bytes to send instead of a head, for responses that aren't HTTP.
    public var rawHead: [UInt8]?
    /// Whether the server closes the connection without sending anything.
    public var closesAtOnce = false

    /// An empty 200.
    public init() {}

    /// A response with these bytes.
    public init(_ bytes: [UInt8], contentType: String? = nil, status: Int = 200) {
        self.status = status
        body = .bytes(bytes)
        if let contentType { headers.append(("Content-Type", contentType)) }
    }
}

/// The body of a response.
public enum OriginBody: Sendable {
    case bytes([UInt8])
    /// `count` bytes generated while sending; byte n is `OriginBody.generatedByte(at: n)`.
    case generated(count: Int)

    /// The byte at an offset of a generated body. The period is a prime, so that blocks at a wrong
    /// offset are noticed.
    public static func generatedByte(at offset: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: offset % period)
    }

    /// Part of a generated body.
    public static func generatedBytes(from offset: Int = 0, count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let start = (offset + bytes.count) % period
            bytes += pattern[start..<min(pattern.count, start + count - bytes.count)]
        }
        return bytes
    }

    private static let period = 251
    private static let pattern = (0..<(period * 300)).map(generatedByte)

    /// The length in bytes.
    public var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .generated(let count): count
        }
    }

    /// A part of the body, clamped to its end.
    func slice(from offset: Int, count wanted: Int) -> [UInt8] {
        let end = min(count, offset + wanted)
        switch self {
        case .bytes(let bytes): return Array(bytes[offset..<end])
        case .generated: return Self.generatedBytes(from: offset, count: end - offset)
        }
    }
}

/// What the head of a response states about the length.
public enum OriginLength: Sendable {
    /// `Content-Length` with the true length.
    case exact
    /// `Content-Length` with this number. If it exceeds the body, the connection closes after the
    /// body; otherwise the client would wait forever.
    case declared(Int)
    /// `Transfer-Encoding: chunked`.
    case chunked
    /// Nothing: the body ends when the connection closes.
    case untilClose
}

/// How fast a body is sent.
public enum OriginPace: Sendable {
    case atOnce
    /// `bytes` at a time, with a pause of `every`; without pauses once the gate is open.
    case steady(bytes: Int, every: Duration, until: Gate? = nil)
    /// `bytes` per step that the turnstile admits.
    case stepped(bytes: Int, Turnstile)
}
