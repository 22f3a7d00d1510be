/// What is fetched, and what may come back: equal keys share one transfer (SEMANTICS §3.1).
public struct SourceKey: Hashable, Sendable {
    /// The URL as given, user info included: two users never share a transfer.
    public let url: String
    /// All request headers, names in lower case, in a canonical order.
    public let headers: [HTTPHeader]

    /// The key of a request.
    public init(_ request: ImageRequest) {
        url = request.url
        headers = request.headers
            .map { HTTPHeader(name: $0.name.lowercased(), value: $0.value) }
            .sorted(by: Self.precedes)
    }

    /// By bytes: texts that only look alike have no order of their own otherwise.
    private static func precedes(_ left: HTTPHeader, _ right: HTTPHeader) -> Bool {
        if !left.name.utf8.elementsEqual(right.name.utf8) {
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        return left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
    }
}
