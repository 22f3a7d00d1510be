import ImageModel
package import Messages
import WebGrammar

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

/// The conditions of a request that answers without a body may meet (RFC 9110 §13).
package struct Conditions: Hashable, Sendable {
    private var ifMatch: String?
    private var ifUnmodifiedSince: String?
    private let ifNoneMatch: String?
    private var ifModifiedSince: String?
    private let ifRange: String?
    private let range: String?
    /// When they came, in seconds since 1970: dates of two digits for a year count from then.
    private var now: Int64 = 0

    /// None.
    package init() { self.init(ifNoneMatch: nil, ifRange: nil, range: nil) }

    /// Takes these fields as they came.
    package init(ifNoneMatch: String?, ifRange: String?, range: String?) {
        (self.ifNoneMatch, self.ifRange, self.range) = (ifNoneMatch, ifRange, range)
    }

    /// Takes all fields as they came.
    package init(_ field: (String) -> String?, now: Int) {
        self.init(
            ifNoneMatch: field("If-None-Match"), ifRange: field("If-Range"), range: field("Range"))
        ifMatch = field("If-Match")
        ifUnmodifiedSince = field("If-Unmodified-Since")
        ifModifiedSince = field("If-Modified-Since")
        self.now = Int64(now)
    }

    /// The status in place of 200 for what has this tag and was last changed then, in seconds since
    /// 1970: 412 or 304, in the order of RFC 9110 §13.2.2; `nil`: it stays 200.
    package func status(_ tag: String?, _ modified: Int64?) -> UInt16? {
        if let ifMatch {
            if !Self.has(ifMatch, tag, isStrong: true) { return 412 }
        } else if let since = date(ifUnmodifiedSince), let modified, modified > since {
            return 412
        }
        if let ifNoneMatch { return Self.has(ifNoneMatch, tag, isStrong: false) ? 304 : nil }
        guard let since = date(ifModifiedSince), let modified else { return nil }
        return modified <= since ? 304 : nil
    }

    /// Whether the client has what it asks for, by its tag alone: 304 is the answer then.
    package func isUnmodified(_ tag: String) -> Bool { status(tag, nil) == 304 }

    /// The part that is asked for.
    package enum Part: Hashable, Sendable {
        /// All of it: no part is asked for, or not one that is known, or of another representation.
        case whole
        /// These bytes.
        case bytes(Range<Int>)
        /// One that lies behind the end: 416.
        case none
    }

    /// The part of so many bytes under that tag, last changed then. Of several ranges all of it is
    /// the answer, which RFC 9110 §14.2 leaves to the server.
    package func part(
        of count: Int, under tag: String, modified: Int64? = nil
    ) -> Part {
        guard let range, holds(ifRange, tag, modified) else { return .whole }
        let words = range.split(separator: "=", maxSplits: 1)
        guard words.count == 2, words[0].trimmedOfBlanks.lowercased() == "bytes" else {
            return .whole
        }
        let ends = words[1].trimmedOfBlanks
            .split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return .whole }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (.some(let first), let last) where last != nil || ends[1].isEmpty:
            guard first < count else { return .none }
            let end = min(last ?? count - 1, count - 1)
            return first <= end ? .bytes(first..<end + 1) : .whole
        case (nil, .some(let suffix)) where ends[0].isEmpty:
            guard suffix > 0, count > 0 else { return .none }
            return .bytes(max(0, count - suffix)..<count)
        default: return .whole
        }
    }

    /// A part is of the same representation if the tag is the same, or the date (RFC 9110 §13.1.5).
    private func holds(_ ifRange: String?, _ tag: String, _ modified: Int64?) -> Bool {
        guard let text = ifRange?.trimmedOfBlanks else { return true }
        if text == tag[...] { return true }
        guard let date = date(String(text)), let modified else { return false }
        return date == modified
    }

    private func date(_ text: String?) -> Int64? {
        text.flatMap { HTTPDate.seconds(String($0.trimmedOfBlanks), now: now) }
    }

    /// Whether a list of tags has this one. Ours are strong.
    private static func has(_ list: String, _ tag: String?, isStrong: Bool) -> Bool {
        list.split(separator: ",").map(\.trimmedOfBlanks).contains { word in
            if word == "*" { return true }
            guard let tag else { return false }
            return isStrong ? word == tag[...] : opaque(word) == opaque(tag[...])
        }
    }

    private static func opaque(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }

    /// At most eighteen digits, which no arithmetic can overflow.
    private static func number(_ text: Substring) -> Int? {
        let text = text.trimmedOfBlanks
        guard (1...18).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(text)
    }
}

/// Where the image of an answer came from, in the words of `X-Cache`.
package enum CacheResult: String, Hashable, Sendable {
    /// The memory tier had it, or the original of which it was made.
    case memory
    /// The disk tier had.
    case disk
    /// The original was fetched.
    case origin
    /// A cache had an image that is no longer fresh, which is served while the origin is asked, or
    /// because it failed.
    case stale
}

extension DeliveredFacts {
    /// Where it came from; `nil` for a fallback, and for what was made of a body.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func cacheResult(for plan: RequestPlan, now: Int64) -> CacheResult? {
        guard plan.upload == nil, plan.fallbackFor == nil, fallbackFor == nil else { return nil }
        if validity?.originFailure != nil { return .stale }
        guard !tiers.isEmpty else { return .origin }
        if FreshnessDecision(validity?.expiry, at: now) == .staleWhileRevalidate { return .stale }
        return tiers.contains(.memory) ? .memory : .disk
    }
}
