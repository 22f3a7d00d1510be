/// How long an answer may be used whose origin says nothing of that: neither `max-age` nor
/// `s-maxage` nor `Expires`, and nothing that forbids it (SEMANTICS §6.6). In seconds.
///
/// RFC 9111 §4.2.2 leaves it to a cache what it assumes then. Imagebus assumes nothing unless who
/// asks says so.
public struct AssumedLifetime: Hashable, Sendable {
    /// So long it is fresh.
    public var fresh: Int64
    /// So long after that it may be served while the origin is asked.
    public var whileRevalidate: Int64
    /// So long after it was fresh it may be served where the origin fails.
    public var ifError: Int64

    /// Seconds of each; what is outside `range` is refused with the request.
    public init(fresh: Int64 = 0, whileRevalidate: Int64 = 0, ifError: Int64 = 0) {
        (self.fresh, self.whileRevalidate, self.ifError) = (fresh, whileRevalidate, ifError)
    }

    /// Nothing is assumed: it is stale at once.
    public static let none = AssumedLifetime()

    /// What each may be: a year at most.
    public static let range: ClosedRange<Int64> = 0...31_536_000

    /// Throws where a request may not say it.
    package func check() throws(ImageError) {
        guard [fresh, whileRevalidate, ifError].allSatisfy(Self.range.contains) else {
            throw ImageError(
                .invalidRequest,
                "a lifetime is assumed of 0 to \(Self.range.upperBound) seconds")
        }
    }
}
