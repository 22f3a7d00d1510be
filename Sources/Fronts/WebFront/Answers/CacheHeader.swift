import ImageModel
package import Messages

/// How long an answer may be kept by those who get it (RFC 9111, RFC 5861): as the origin says, and
/// never longer, unless the operator or the URL says otherwise.
package struct CacheHeader: Hashable, Sendable {
    /// Seconds of what has no origin that says how long.
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

    /// Seconds that an answer with a damaged image is kept at most: its origin may have a whole one
    /// soon.
    private static let damagedSeconds = 60

    /// The text of `Cache-Control`.
    ///
    /// - Parameters:
    ///   - validity: what is known of the origin's word; `nil` where it has none.
    ///   - said: seconds that the URL says (thumbor's `max_age`).
    ///   - until: seconds since 1970 after which the URL is no longer good (imgproxy's `expires`).
    ///   - isDamaged: whether the image is; it is kept a minute at most then.
    ///   - now: milliseconds since 1970.
    package func text(
        _ validity: Validity?, said: Int? = nil, until: Int? = nil, isDamaged: Bool = false,
        now: Int64
    ) -> String {
        let control = validity?.caching?.cacheControl ?? CacheControl(nil)
        if control.forbidsStoring { return control.isPrivate ? "private, no-store" : "no-store" }
        var times = Times(validity, usual: usualSeconds, said: said, now: now)
        let left = until.map { max(0, $0 - Int(now / 1_000)) } ?? mostSeconds
        times.limit(to: min(mostSeconds, left))
        if isDamaged { times.limitStrictly(to: Self.damagedSeconds) }
        if let browserSeconds {
            times.limitBrowsers(to: browserSeconds, isPrivate: control.isPrivate)
        }

        var words: [String] = []
        if control.isPrivate {
            words.append("private")
        } else if control.isPublic || times.areAssumed, times.fresh > 0 {
            words.append("public")
        }
        let mustAsk = (control.mustAlwaysRevalidate && said == nil) || times.isNothing
        words += mustAsk ? ["no-cache"] : times.words
        let rest = [
            ("must-revalidate", control.mustRevalidate),
            ("proxy-revalidate", control.proxyRevalidate),
            ("immutable", !isDamaged && (control.isImmutable || isImmutable)),
            ("no-transform", control.forbidsTransforming),
        ]
        return (words + rest.filter(\.1).map(\.0)).joined(separator: ", ")
    }
}

/// The times of an answer, in seconds from now on.
private struct Times {
    /// For everybody; 0: it is stale.
    private(set) var fresh: Int
    /// For caches of several, where that is another time.
    private var shared: Int?
    private var whileRevalidate: Int
    private var ifError: Int
    /// Whether they are of the operator and not of the origin.
    let areAssumed: Bool

    init(_ validity: Validity?, usual: Int, said: Int?, now: Int64) {
        guard let caching = validity?.caching, let expiry = validity?.expiry else {
            (fresh, whileRevalidate, ifError, areAssumed) = (said ?? usual, 0, 0, true)
            return
        }
        areAssumed = caching.leavesLifetimeOpen
        let age = max(0, now - caching.age.bornMilliseconds + 999) / 1_000
        func left(_ seconds: Int64) -> Int { Int(clamping: max(0, seconds - age)) }
        let control = caching.cacheControl
        let said = said.map { Int64($0) }
        let lifetime =
            areAssumed
            ? expiry.freshFor / 1_000 : control.maxAge ?? caching.age.expiresInSeconds ?? 0
        let stale = areAssumed ? expiry.staleFor / 1_000 : control.staleWhileRevalidate ?? 0
        let error = areAssumed ? expiry.errorFor / 1_000 : control.staleIfError ?? 0
        // What is stale already has spent a part of these.
        let overrun = max(0, age - lifetime)
        whileRevalidate = Int(clamping: max(0, stale - overrun))
        ifError = Int(clamping: max(0, error - overrun))
        fresh = said.map { Int(clamping: $0) } ?? left(lifetime)
        shared = said == nil ? control.sharedMaxAge.map(left) : nil
        if said == 0 || (said != nil && areAssumed) { (whileRevalidate, ifError) = (0, 0) }
    }

    /// Nothing lasts longer.
    mutating func limit(to most: Int) {
        fresh = min(max(0, fresh), most)
        shared = shared.map { min($0, most) }
        whileRevalidate = min(whileRevalidate, most)
        ifError = min(ifError, most)
    }

    /// Nothing lasts longer, and nothing is shown when it is stale.
    mutating func limitStrictly(to most: Int) {
        limit(to: most)
        (whileRevalidate, ifError) = (0, 0)
    }

    /// Browsers keep it no longer; caches of several do as before.
    mutating func limitBrowsers(to most: Int, isPrivate: Bool) {
        guard fresh > most else { return }
        if !isPrivate { shared = shared ?? fresh }
        fresh = most
    }

    /// Whether nobody may use it without asking.
    var isNothing: Bool {
        fresh == 0 && shared ?? 0 == 0 && whileRevalidate == 0 && ifError == 0
    }

    var words: [String] {
        var words = ["max-age=\(fresh)"]
        if let shared { words.append("s-maxage=\(shared)") }
        if whileRevalidate > 0 { words.append("stale-while-revalidate=\(whileRevalidate)") }
        if ifError > 0 { words.append("stale-if-error=\(ifError)") }
        return words
    }
}
