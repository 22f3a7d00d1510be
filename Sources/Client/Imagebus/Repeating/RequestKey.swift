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

    init(_ request: ImageRequest) { self.request = request }

    /// How long somebody would wait does not matter to who does not wait. Requests of one caller
    /// hardly ever differ in that.
    static func == (one: RequestKey, other: RequestKey) -> Bool {
        if one.request == other.request { return true }
        var equal = other.request
        guard equal.timeoutMilliseconds != one.request.timeoutMilliseconds else { return false }
        equal.timeoutMilliseconds = one.request.timeoutMilliseconds
        return one.request == equal
    }

    /// Its hash, for who keeps it.
    var digest: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }

    /// Of what usually differs between requests. What most requests do not say costs nothing.
    func hash(into hasher: inout Hasher) {
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
