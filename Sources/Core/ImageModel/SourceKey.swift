/// What is fetched, and what may come back: equal keys share one transfer (DESIGN §3).
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
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}
