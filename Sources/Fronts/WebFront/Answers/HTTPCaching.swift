package import Model
import WebGrammar

/// How long clients may cache a response (RFC 9111, RFC 5861): as the origin specifies, and never
/// longer, unless the operator or the URL specifies otherwise.
package struct CacheHeader: Hashable, Sendable {
    /// The lifetime in seconds if the origin doesn't specify one.
    package var usualSeconds = 3_600
    /// The maximum lifetime in seconds, whatever the origin specifies.
    package var mostSeconds = 31_536_000
    /// The maximum lifetime in browsers, in seconds; shared caches receive the full lifetime
    /// (`s-maxage`). `nil` means the same for both.
    package var browserSeconds: Int?
    /// Whether responses never change under the same URL.
    package var isImmutable = false

    /// The maximum lifetime of a response with a damaged image, in seconds: its origin may soon
    /// have an intact one.
    private static let damagedSeconds = 60

    /// Returns the value of `Cache-Control`.
    ///
    /// - Parameters:
    ///   - validity: The validity specified by the origin; `nil` if there is none.
    ///   - stated: The lifetime in seconds specified in the URL (thumbor's `max_age`).
    ///   - until: When the URL expires, in seconds since 1970 (imgproxy's `expires`).
    ///   - isDamaged: Whether the image is damaged; it is then cached for at most one minute.
    ///   - now: The current time in milliseconds since 1970.
    package func text(
        _ validity: Validity?, stated: Int? = nil, until: Int? = nil, isDamaged: Bool = false,
        now: Int64
    ) -> String {
        let control = validity?.caching?.cacheControl ?? CacheControl(nil)
        if control.forbidsStoring { return control.isPrivate ? "private, no-store" : "no-store" }
        var times = Times(validity, usual: usualSeconds, stated: stated, now: now)
        let left = until.map { max(0, $0 - Int(now / 1_000)) } ?? mostSeconds
        times.limit(to: min(mostSeconds, left))
        if isDamaged {
            times.limit(to: Self.damagedSeconds)
            (times.whileRevalidate, times.ifError) = (0, 0)
        }
        if let browserSeconds, times.fresh > browserSeconds {
            if !control.isPrivate { times.shared = times.shared ?? times.fresh }
            times.fresh = browserSeconds
        }

        var words: [String] = []
        if control.isPrivate {
            words.append("private")
        } else if control.isPublic || times.areAssumed, times.fresh > 0 {
            words.append("public")
        }
        let mustAsk = (control.mustAlwaysRevalidate && stated == nil) || times.isNothing
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

/// The lifetimes of a response, in seconds from now.
private struct Times {
    /// The lifetime for all caches; 0 if stale.
    var fresh: Int
    /// The lifetime for shared caches if it differs.
    var shared: Int?
    var whileRevalidate: Int
    var ifError: Int
    /// Whether the lifetimes were set by the operator and not by the origin.
    let areAssumed: Bool

    init(_ validity: Validity?, usual: Int, stated: Int?, now: Int64) {
        guard let caching = validity?.caching, let expiry = validity?.expiry else {
            (fresh, whileRevalidate, ifError, areAssumed) = (stated ?? usual, 0, 0, true)
            return
        }
        areAssumed = caching.leavesLifetimeOpen
        let age = max(0, now - caching.age.bornMilliseconds + 999) / 1_000
        func left(_ seconds: Int64) -> Int { Int(clamping: max(0, seconds - age)) }
        let control = caching.cacheControl
        let stated = stated.map { Int64($0) }
        let lifetime =
            areAssumed
            ? expiry.freshFor / 1_000 : control.maxAge ?? caching.age.expiresInSeconds ?? 0
        let stale = areAssumed ? expiry.staleFor / 1_000 : control.staleWhileRevalidate ?? 0
        let error = areAssumed ? expiry.errorFor / 1_000 : control.staleIfError ?? 0
        // The time since the response became stale counts against these.
        let overrun = max(0, age - lifetime)
        whileRevalidate = Int(clamping: max(0, stale - overrun))
        ifError = Int(clamping: max(0, error - overrun))
        fresh = stated.map { Int(clamping: $0) } ?? left(lifetime)
        shared = stated == nil ? control.sharedMaxAge.map(left) : nil
        if stated == 0 || (stated != nil && areAssumed) { (whileRevalidate, ifError) = (0, 0) }
    }

    /// Limits all lifetimes.
    mutating func limit(to most: Int) {
        fresh = min(max(0, fresh), most)
        shared = shared.map { min($0, most) }
        whileRevalidate = min(whileRevalidate, most)
        ifError = min(ifError, most)
    }

    /// Whether the response must not be used without revalidation.
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

/// The conditions of a conditional or range request (RFC 9110 §13).
package struct Conditions: Hashable, Sendable {
    private var ifMatch: String?
    private var ifUnmodifiedSince: String?
    private let ifNoneMatch: String?
    private var ifModifiedSince: String?
    private let ifRange: String?
    private let range: String?
    /// The time of the request in seconds since 1970, needed to interpret two-digit years.
    private var now: Int64 = 0

    /// Creates conditions from the unparsed values of these fields; without values they always hold.
    package init(ifNoneMatch: String? = nil, ifRange: String? = nil, range: String? = nil) {
        (self.ifNoneMatch, self.ifRange, self.range) = (ifNoneMatch, ifRange, range)
    }

    /// Creates conditions from the unparsed values of all relevant fields.
    package init(_ field: (String) -> String?, now: Int) {
        self.init(
            ifNoneMatch: field("If-None-Match"), ifRange: field("If-Range"), range: field("Range"))
        ifMatch = field("If-Match")
        ifUnmodifiedSince = field("If-Unmodified-Since")
        ifModifiedSince = field("If-Modified-Since")
        self.now = Int64(now)
    }

    /// Returns the status that replaces 200 for a representation with this tag and modification
    /// time in seconds since 1970: 412 or 304, evaluated in the order of RFC 9110 §13.2.2; `nil` to
    /// keep 200.
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

    /// Whether the client's copy is current, judging by the tag alone, so that the response is 304.
    package func isUnmodified(_ tag: String) -> Bool { status(tag, nil) == 304 }

    /// The requested part.
    package enum Part: Hashable, Sendable {
        /// The whole representation: no part is requested, the range is not understood, or it
        /// refers to another representation.
        case whole
        case bytes(Range<Int>)
        /// A range beyond the end: 416.
        case none
    }

    /// Returns the requested part of `count` bytes with this tag and modification time. Multiple
    /// ranges are answered with the whole representation, which RFC 9110 §14.2 leaves to the
    /// server.
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

    /// Whether `If-Range` matches: the tag must be the same, or the date (RFC 9110 §13.1.5).
    private func holds(_ ifRange: String?, _ tag: String, _ modified: Int64?) -> Bool {
        guard let text = ifRange?.trimmedOfBlanks else { return true }
        if text == tag[...] { return true }
        guard let date = date(String(text)), let modified else { return false }
        return date == modified
    }

    private func date(_ text: String?) -> Int64? {
        text.flatMap { HTTPDate.seconds(String($0.trimmedOfBlanks), now: now) }
    }

    /// Whether a list of tags contains this one. Our tags are strong.
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

    /// Parses at most eighteen digits, so that arithmetic can't overflow.
    private static func number(_ text: Substring) -> Int? {
        let text = text.trimmedOfBlanks
        guard (1...18).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(text)
    }
}

/// Where the image in a response came from, as reported in `X-Cache`.
package enum CacheResult: String, Hashable, Sendable {
    /// The memory tier had it, or the original it was produced from.
    case memory
    /// The disk tier had it.
    case disk
    /// The original was fetched.
    case origin
    /// A cache had an image that is no longer fresh; it is served while the origin is being asked,
    /// or because the origin failed.
    case stale
}

extension DeliveredProperties {
    /// Returns where the image came from; `nil` for a fallback and for an upload.
    ///
    /// - Parameter now: The current time in milliseconds since 1970.
    package func cacheResult(for plan: RequestPlan, now: Int64) -> CacheResult? {
        guard plan.upload == nil, plan.fallbackFor == nil, fallbackFor == nil else { return nil }
        if validity?.originFailure != nil { return .stale }
        guard !tiers.isEmpty else { return .origin }
        if FreshnessDecision(validity?.expiry, at: now) == .staleWhileRevalidate { return .stale }
        return tiers.contains(.memory) ? .memory : .disk
    }
}
