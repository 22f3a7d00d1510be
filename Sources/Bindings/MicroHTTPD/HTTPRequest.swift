/// A request as it came.
public struct HTTPRequest: Hashable, Sendable {
    /// `GET` or `HEAD`; others are refused before the handler.
    public let method: String
    /// Path and query as they were written, undecoded.
    public let target: String

    /// The target up to its query.
    public var path: Substring { target.prefix { $0 != "?" } }
}
