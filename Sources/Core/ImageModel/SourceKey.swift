/// What is fetched, and what may come back: equal keys share one transfer (SEMANTICS §3.1).
public struct SourceKey: Hashable, Sendable {
    /// The URL as given, user info included: two users never share a transfer.
    public let url: String
    /// All request headers, names in lower case, in a canonical order.
    public let headers: [HTTPHeader]
    /// Hashed once: keys are looked up many times while an image is made.
    private let digest: Int

    /// The key of a request.
    public init(_ request: borrowing ImageRequest) {
        url = request.url
        headers = request.headers
            .map { HTTPHeader(name: $0.name.lowercased(), value: $0.value) }
            .sorted(by: Self.precedes)
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(headers)
        digest = hasher.finalize()
    }

    /// By what is fetched; the digest tells most of what differs at once.
    public static func == (left: SourceKey, right: SourceKey) -> Bool {
        left.digest == right.digest && left.url == right.url && left.headers == right.headers
    }

    /// The digest stands for all of it.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// By bytes: texts that only look alike have no order of their own otherwise.
    private static func precedes(_ left: HTTPHeader, _ right: HTTPHeader) -> Bool {
        if !left.name.utf8.elementsEqual(right.name.utf8) {
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        return left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
    }
}
