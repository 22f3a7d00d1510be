package import ImageModel

/// How long an answer may be kept by those who get it (RFC 9111, RFC 5861).
package struct CacheHeader: Hashable, Sendable {
    /// Seconds where nothing else says how long.
    package var usualSeconds = 3_600
    /// Seconds that no answer is kept beyond, whatever its origin says.
    package var mostSeconds = 31_536_000
    /// Seconds that browsers keep an answer at most; caches of several are told the whole time
    /// (`s-maxage`). `nil`: both the same.
    package var browserSeconds: Int?
    /// Whether an answer never changes under its URL.
    package var isImmutable = false

    /// The settings above.
    package init() {}

    /// The text of `Cache-Control`.
    ///
    /// - Parameters:
    ///   - expiry: what the origin says; `nil` where it says nothing.
    ///   - said: seconds that the URL says (thumbor's `max_age`).
    ///   - until: seconds since 1970 after which the URL is no longer good (imgproxy's `expires`).
    ///   - now: milliseconds since 1970.
    package func text(
        _ expiry: HTTPExpiry?, said: Int? = nil, until: Int? = nil, now: Int64
    ) -> String {
        var seconds = said ?? expiry.map { Self.left($0, now) } ?? usualSeconds
        if let until { seconds = min(seconds, max(0, until - Int(now / 1_000))) }
        seconds = min(max(0, seconds), mostSeconds)
        guard seconds > 0 else { return "no-cache" }
        var words = ["public", "max-age=\(min(seconds, browserSeconds ?? seconds))"]
        if browserSeconds.map({ $0 < seconds }) ?? false { words.append("s-maxage=\(seconds)") }
        if isImmutable { words.append("immutable") }
        if let expiry, expiry.staleFor > 0 {
            words.append("stale-while-revalidate=\(min(Int(expiry.staleFor / 1_000), mostSeconds))")
        }
        if let expiry, expiry.errorFor > 0 {
            words.append("stale-if-error=\(min(Int(expiry.errorFor / 1_000), mostSeconds))")
        }
        return words.joined(separator: ", ")
    }

    private static func left(_ expiry: HTTPExpiry, _ now: Int64) -> Int {
        let (end, overflows) = expiry.born.addingReportingOverflow(expiry.freshFor)
        return overflows ? .max : Int(clamping: (end - now) / 1_000)
    }
}
