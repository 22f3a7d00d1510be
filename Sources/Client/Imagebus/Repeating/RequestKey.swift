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

    static func == (one: RequestKey, other: RequestKey) -> Bool {
        isOne(of: one.request, other.request)
    }

    /// Whether two requests have one key. How long somebody would wait does not matter to who does
    /// not wait. Requests of one caller hardly ever differ in that.
    static func isOne(of one: ImageRequest, _ other: ImageRequest) -> Bool {
        // A key path is an object: it is made for those alone that are not equal.
        one == other || one.differs(from: other, onlyIn: \.timeoutMilliseconds)
    }

    /// Its hash, which the request keeps.
    var digest: Int { request.digest }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
