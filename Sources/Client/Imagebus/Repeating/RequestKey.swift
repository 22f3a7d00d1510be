import ImageModel

/// What tells apart requests that have different answers of memory.
struct RequestKey: Hashable {
    private let request: ImageRequest

    var url: String { request.url }

    init(_ request: ImageRequest) {
        var request = request
        // How long somebody would wait does not matter to who does not wait.
        request.timeoutMilliseconds = 0
        self.request = request
    }

    /// Of what usually differs: the rest is compared.
    func hash(into hasher: inout Hasher) {
        hasher.combine(request.url)
        hasher.combine(request.steps)
        hasher.combine(request.thumbnail)
        hasher.combine(request.frame)
    }
}
