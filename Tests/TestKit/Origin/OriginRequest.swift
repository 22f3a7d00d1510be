/// One request as the origin server received it.
public struct OriginRequest: Sendable {
    /// The method, as sent.
    public let method: String
    /// The request target, as sent: path and query.
    public let target: String
    /// All header fields in order, with lowercase names.
    public let headers: [(name: String, value: String)]
    /// The ordinal of its connection, from 1.
    public let connection: Int

    /// The target without its query.
    public var path: String {
        String(target.prefix { $0 != "?" })
    }

    /// The first value of a header field, or nil. The name must be lowercase.
    public func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}
