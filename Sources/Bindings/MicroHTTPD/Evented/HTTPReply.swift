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
