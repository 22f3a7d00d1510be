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

    /// Of what usually differs: the rest is compared.
    private static func hash(_ request: borrowing ImageRequest, into hasher: inout Hasher) {
        hasher.combine(request.url)
        hasher.combine(request.steps)
        hasher.combine(request.thumbnail)
        hasher.combine(request.frame)
        hasher.combine(request.headers)
        hasher.combine(request.output.format)
        hasher.combine(request.output.quality)
        hasher.combine(request.infoOnly)
    }
}
