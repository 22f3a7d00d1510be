/// What the origin server sends, and how: each aspect can be changed on its own.
public struct OriginResponse: Sendable {
    /// The status line's code.
    public var status = 200
    /// Header fields in their order, without those that describe the length.
    public var headers: [(name: String, value: String)] = []
    /// The body.
    public var body = OriginBody.bytes([])
    /// What the head says about the length of the body, true or not.
    public var length = OriginLength.exact
    /// How fast the body goes out.
    public var pace = OriginPace.atOnce
    /// Before the head goes out, the server waits for this gate.
    public var headGate: Gate?
    /// Between head and body, the server waits for this gate.
    public var bodyGate: Gate?
    /// After the body, the server waits for this gate.
    public var endGate: Gate?
    /// The server closes the connection after this many bytes of the body.
    public var closesAfter: Int?
    /// These bytes go out instead of a head, for answers that are no HTTP.
    public var rawHead: [UInt8]?
    /// The server closes the connection without sending anything.
    public var closesAtOnce = false

    /// An empty 200.
    public init() {}

    /// An answer with these bytes.
    public init(_ bytes: [UInt8], contentType: String? = nil, status: Int = 200) {
        self.status = status
        body = .bytes(bytes)
        if let contentType { headers.append(("Content-Type", contentType)) }
    }
}

/// The body of an answer.
public enum OriginBody: Sendable {
    case bytes([UInt8])
    /// `count` bytes made while sending; byte n is `OriginBody.generatedByte(at: n)`.
    case generated(count: Int)

    /// The byte at an offset of a generated body. The period is a prime, so that blocks which
    /// land at the wrong offset do not look right.
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

    /// How many bytes it has.
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

/// What the head of an answer says about the length.
public enum OriginLength: Sendable {
    /// `Content-Length` with the truth.
    case exact
    /// `Content-Length` with this number. Where it is more than the body, the connection closes
    /// after the body, else the client would wait for ever.
    case declared(Int)
    /// `Transfer-Encoding: chunked`.
    case chunked
    /// Nothing: the end of the connection is the end of the body.
    case untilClose
}

/// How fast a body goes out.
public enum OriginPace: Sendable {
    case atOnce
    /// `bytes` at once, then a pause of `every`; without pauses once the gate is open.
    case steady(bytes: Int, every: Duration, until: Gate? = nil)
    /// `bytes` for each step that the turnstile admits.
    case stepped(bytes: Int, Turnstile)
}
