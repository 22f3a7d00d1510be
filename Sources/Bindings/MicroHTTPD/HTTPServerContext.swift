internal import CMicroHTTPD

/// What all callbacks of one server share.
final class HTTPServerContext: Sendable {
    let answer: @Sendable (HTTPRequest) -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) { self.answer = answer }
}

/// One request on its way, from its first line to its end. The library calls for one connection
/// on one thread at a time.
final class HTTPExchange {
    let target: String
    var isHeadRead = false
    var ended: (@Sendable (HTTPEnd) -> Void)?

    init(target: String) { self.target = target }
}

/// A body while it is sent; belongs to the thread of its connection.
final class HTTPBody {
    private let bytes: [UInt8]
    private let hold: (after: Int, gate: BodyGate)?
    private let socket: Int32

    init(_ response: HTTPResponse, socket: Int32) {
        (bytes, hold, self.socket) = (response.body, response.hold, socket)
    }

    /// Copies what comes at `place`; negative where the peer left meanwhile.
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
