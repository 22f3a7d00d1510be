import ImageModel

/// What tells apart requests that have different answers of memory.
struct RequestKey: Hashable {
    private let request: ImageRequest

    var url: String { request.url }

    /// Bytes of its texts, as far as a stranger chooses how long they are.
    var textBytes: Int {
        request.headers.reduce(request.url.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }

    init(_ request: ImageRequest) {
        var request = request
        // How long somebody would wait does not matter to who does not wait.
        request.timeoutMilliseconds = 0
        self.request = request
    }

    func hash(into hasher: inout Hasher) { Self.hash(request, into: &hasher) }

    /// The hash of a request's key, for who has no use for the key.
    static func digest(of request: borrowing ImageRequest) -> Int {
        var hasher = Hasher()
        hash(request, into: &hasher)
        return hasher.finalize()
    }

    /// Of what usually differs between requests. What most requests do not say costs nothing.
    private static func hash(_ request: borrowing ImageRequest, into hasher: inout Hasher) {
        hasher.combine(request.url)
        let format = UInt64(UInt16(bitPattern: request.output.format?.rawValue ?? -1))
        let quality = UInt64(UInt8(truncatingIfNeeded: request.output.quality ?? -1))
        let isInfo: UInt64 = request.infoOnly ? 1 : 0
        hasher.combine(format | quality << 16 | isInfo << 24)
        hasher.combine(request.options)
        if request.pixelRatio != 1 { hasher.combine(request.pixelRatio) }
        if !request.steps.isEmpty { hasher.combine(request.steps) }
        if request.thumbnail != nil { hasher.combine(request.thumbnail) }
        if request.frame != nil { hasher.combine(request.frame) }
        if !request.headers.isEmpty { hasher.combine(request.headers) }
        if request.hasContext { hasher.combine(request.context) }
    }
}
