/// How long a cached response may be used, and in which way. All times are in milliseconds.
///
/// `must-revalidate` and the like need no field: they leave no time after freshness ends.
public struct HTTPExpiry: Hashable, Sendable {
    /// The time at which the age was 0, since 1970.
    public var born: Int64
    /// How long after `born` the response is fresh.
    public var freshFor: Int64
    /// How long after that it may be served while it is revalidated (RFC 5861 §3).
    public var staleFor: Int64
    /// How long after freshness ends it may be served if the origin fails (RFC 5861 §4).
    public var errorFor: Int64

    /// The valid range of `born`: from 1970 to the year 9999.
    public static let bornRange: ClosedRange<Int64> = 0...253_402_300_799_999
    /// The valid range of the durations, bounded by RFC 9111 §1.2.2.
    public static let timeRange: ClosedRange<Int64> = 0...DeltaSeconds.most * 1_000

    /// Clamps times to their ranges.
    public init(born: Int64, freshFor: Int64 = 0, staleFor: Int64 = 0, errorFor: Int64 = 0) {
        self.born = Self.nearest(born, Self.bornRange)
        self.freshFor = Self.nearest(freshFor, Self.timeRange)
        self.staleFor = Self.nearest(staleFor, Self.timeRange)
        self.errorFor = Self.nearest(errorFor, Self.timeRange)
    }

    private static func nearest(_ time: Int64, _ range: ClosedRange<Int64>) -> Int64 {
        min(max(time, range.lowerBound), range.upperBound)
    }

    /// The end of freshness, since 1970.
    public var freshUntil: Int64 { born + freshFor }
    /// The end of stale-while-revalidate, since 1970.
    public var staleUntil: Int64 { freshUntil + staleFor }
    /// The end of stale-if-error, since 1970.
    public var errorUntil: Int64 { freshUntil + errorFor }

    /// The time from which the origin must respond before any use, since 1970; at most in the year
    /// 9999.
    package var lastUse: Int64 { Self.nearest(max(staleUntil, errorUntil), Self.bornRange) }

    /// Upper limits for serving stale responses, in seconds, whatever origins permit, and the
    /// lifetime assumed if an origin states none.
    public struct Limits: Hashable, Sendable {
        /// While the response is revalidated.
        public var whileRevalidate: Int64
        /// If the origin fails.
        public var ifError: Int64
        /// For a response without a stated lifetime.
        package var assumed = AssumedLifetime.none

        /// A day and a week; no assumed lifetime.
        public init(whileRevalidate: Int64 = 86_400, ifError: Int64 = 604_800) {
            (self.whileRevalidate, self.ifError) = (whileRevalidate, ifError)
        }

        /// Returns the limits with the configuration's values applied.
        package func replaced(by choice: StaleLimits) -> Limits {
            Limits(
                whileRevalidate: choice.whileRevalidate ?? whileRevalidate,
                ifError: choice.ifError ?? ifError)
        }

        /// Returns the limits with the lifetime that the request assumes.
        package func assuming(_ lifetime: AssumedLifetime) -> Limits {
            var limits = self
            limits.assumed = lifetime
            return limits
        }
    }

    /// Computes the expiry of a response in a cache of that role. Without an explicit lifetime it
    /// is the one assumed by the limits; by default the response is stale immediately
    /// (RFC 9111 §4.2.2). A `no-store` response is stale immediately, whatever else it says.
    package init(
        _ control: CacheControl, _ age: ResponseAge, _ role: CacheRole, _ limits: Limits = Limits()
    ) {
        let isFreshAtAll = !control.mustAlwaysRevalidate && !control.forbidsStoring
        let stated = control.lifetime(role) ?? age.expiresInSeconds
        let assumed = stated == nil ? limits.assumed : .none
        let lifetime = stated ?? assumed.fresh
        let mayBeStale = control.permitsStale(role)
        let stale = control.staleWhileRevalidate ?? assumed.whileRevalidate
        let error = control.staleIfError ?? assumed.ifError
        self.init(
            born: age.bornMilliseconds,
            freshFor: (isFreshAtAll ? lifetime : 0) * 1_000,
            staleFor: mayBeStale ? min(stale, limits.whileRevalidate) * 1_000 : 0,
            errorFor: mayBeStale ? min(error, limits.ifError) * 1_000 : 0)
    }
}

extension CacheControl {
    /// Returns the explicit lifetime in seconds; `nil` if there is none. In shared caches
    /// `s-maxage` takes precedence (RFC 9111 §4.2.1).
    func lifetime(_ role: CacheRole) -> Int64? {
        role == .personal ? maxAge : sharedMaxAge ?? maxAge
    }

    /// Returns whether a stale response may be served at all (RFC 9111 §4.2.4). `s-maxage` implies
    /// `proxy-revalidate` (RFC 9111 §5.2.2.10).
    func permitsStale(_ role: CacheRole) -> Bool {
        guard !mustRevalidate, !mustAlwaysRevalidate, !forbidsStoring else { return false }
        return role == .personal || (!proxyRevalidate && sharedMaxAge == nil)
    }
}

/// How a cached response is used if `Cache-Control` is respected.
public enum FreshnessDecision: Hashable, Sendable {
    /// Serve it.
    case fresh
    /// Serve it and revalidate in the background.
    case staleWhileRevalidate
    /// Revalidate first.
    case revalidate

    /// Decides for a response, whose expiry may be unknown, at a time in milliseconds since 1970.
    /// If `born` is in the future, the age is unknown because the clock was set back.
    public init(_ expiry: HTTPExpiry?, at now: Int64) {
        guard let expiry, expiry.isBorn(at: now) else {
            self = .revalidate
            return
        }
        if now < expiry.freshUntil {
            self = .fresh
        } else {
            self = now < expiry.staleUntil ? .staleWhileRevalidate : .revalidate
        }
    }
}

extension HTTPExpiry {
    /// Returns whether the response may be served after a failed revalidation.
    public func mayServe(afterErrorAt now: Int64) -> Bool { isBorn(at: now) && now < errorUntil }

    /// Returns the age in whole seconds.
    public func age(at now: Int64) -> Int64 { max(0, now - born) / 1_000 }

    /// Returns the remaining freshness in whole seconds; 0 if stale.
    public func remaining(at now: Int64) -> Int64 {
        isBorn(at: now) ? max(0, freshUntil - now) / 1_000 : 0
    }

    func isBorn(at now: Int64) -> Bool { ResponseAge.isBorn(born, at: now) }
}

/// The caching directives of a response, and its age on arrival.
///
/// Stored unmodified with the bytes and everything derived from them. The expiry depends on the
/// kind of cache and on the request (`expiry`).
public struct OriginCaching: Hashable, Sendable {
    /// The directives of `Cache-Control`.
    public var cacheControl: CacheControl
    /// When the age was 0, and the lifetime from `Expires`.
    public var age: ResponseAge
    /// Whether the response is valid for a single request only (`Vary: *`).
    public var variesOnEverything: Bool

    /// Creates the caching information of a response.
    public init(
        _ cacheControl: CacheControl, _ age: ResponseAge, variesOnEverything: Bool = false
    ) {
        (self.cacheControl, self.age) = (cacheControl, age)
        self.variesOnEverything = variesOnEverything
    }

    /// Returns the expiry in a cache of that role, within these limits.
    package func expiry(
        _ role: CacheRole, _ limits: HTTPExpiry.Limits = HTTPExpiry.Limits()
    ) -> HTTPExpiry {
        HTTPExpiry(cacheControl, age, role, limits)
    }

    /// Whether a lifetime may be assumed: there is neither a stated one nor a directive against it
    /// (RFC 9111 §4.2.2).
    package var leavesLifetimeOpen: Bool {
        cacheControl.maxAge == nil && cacheControl.sharedMaxAge == nil
            && age.expiresInSeconds == nil && !cacheControl.mustAlwaysRevalidate
            && !cacheControl.forbidsStoring
    }

    /// The time from which a shared cache must ask the origin in any case, in milliseconds since
    /// 1970; `nil` if the lifetime is open.
    package var lastUse: Int64? { leavesLifetimeOpen ? nil : expiry(.shared).lastUse }

    /// Returns the caching information after a 304 (RFC 9111 §3.2, §4.3.4). Anything the 304 omits
    /// is retained: the earlier directives, and if these contain no lifetime, the shorter of both
    /// `Expires` lifetimes.
    package func renewed(by confirmation: OriginCaching) -> OriginCaching {
        var renewed = confirmation
        guard confirmation.cacheControl.field == nil else { return renewed }
        renewed.cacheControl = cacheControl
        let lifetimes = [age.expiresInSeconds, confirmation.age.expiresInSeconds]
        renewed.age.expiresInSeconds = lifetimes.compactMap { $0 }.min()
        return renewed
    }
}

/// The age of a response and the lifetime from its `Expires`, which only the recipient can compute
/// (RFC 9111 §4.2.3).
public struct ResponseAge: Hashable, Sendable {
    /// The time at which the age was 0, in milliseconds since 1970; never negative.
    public var bornMilliseconds: Int64
    /// Seconds from `Date` to `Expires`, 0 if that is past or invalid; `nil` without `Expires`.
    public var expiresInSeconds: Int64?

    /// Creates the age of a response.
    public init(bornMilliseconds: Int64, expiresInSeconds: Int64? = nil) {
        self.bornMilliseconds = bornMilliseconds
        self.expiresInSeconds = expiresInSeconds
    }

    /// Computes the age from the fields as received; times are in milliseconds since 1970. Of
    /// several `Age` values the first one counts; one that is not a number is ignored
    /// (RFC 9111 §5.1).
    public init(
        date: String?, age: String?, expires: String?, asked: Int64, answered: Int64
    ) {
        let now = answered / 1_000
        let stated = date.flatMap { HTTPDate.seconds($0, now: now) }
        let apparent = stated.map { max(0, answered - $0 * 1_000) } ?? 0
        let first = age.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).first }
        let statedAge = first.flatMap { DeltaSeconds.parse(Self.trimmed($0)) } ?? 0
        let corrected = statedAge * 1_000 + max(0, answered - asked)
        bornMilliseconds = max(0, answered - max(apparent, corrected))
        expiresInSeconds = expires.map { text in
            guard let end = HTTPDate.seconds(text, now: now) else { return 0 }
            return min(max(0, end - (stated ?? now)), DeltaSeconds.most)
        }
    }

    /// Returns whether the age is known at a time in milliseconds since 1970. It isn't if the clock
    /// was set back after the response arrived.
    package func isKnown(at now: Int64) -> Bool { Self.isBorn(bornMilliseconds, at: now) }

    /// Two processes may read the clock with up to a second of difference.
    static func isBorn(_ born: Int64, at now: Int64) -> Bool { born <= now + 1_000 }

    private static func trimmed(_ text: Substring) -> Substring {
        let front = text.drop { $0 == " " || $0 == "\t" }
        return front.prefix { $0 != " " && $0 != "\t" }
    }
}

/// The lifetime of a response whose origin states none: neither `max-age` nor `s-maxage` nor
/// `Expires`, and no directive against it (SEMANTICS §6.6). In seconds.
///
/// RFC 9111 §4.2.2 leaves heuristic freshness to the cache. Imagebus assumes no lifetime unless the
/// request does.
public struct AssumedLifetime: Hashable, Sendable {
    /// The time for which the response is fresh.
    public var fresh: Int64
    /// The time after that for which it may be served while it is revalidated.
    public var whileRevalidate: Int64
    /// The time after freshness ends for which it may be served if the origin fails.
    public var ifError: Int64

    /// Accepts any numbers; values outside `range` are rejected with the request.
    public init(fresh: Int64 = 0, whileRevalidate: Int64 = 0, ifError: Int64 = 0) {
        (self.fresh, self.whileRevalidate, self.ifError) = (fresh, whileRevalidate, ifError)
    }

    /// No assumption: the response is stale immediately.
    public static let none = AssumedLifetime()

    /// The valid range of each value: at most a year.
    public static let range: ClosedRange<Int64> = 0...31_536_000

    /// Throws if a request may not contain this value.
    package func check() throws(ImageError) {
        try ImageError.require(
            [fresh, whileRevalidate, ifError].allSatisfy(Self.range.contains),
            "an assumed lifetime must be 0 to \(Self.range.upperBound) seconds")
    }
}

/// Configured upper limits for serving stale responses (SEMANTICS §6.6).
public struct StaleLimits: Hashable, Sendable {
    /// Seconds while the response is revalidated; `nil` for the default.
    public var whileRevalidate: Int64?
    /// Seconds if the origin fails; `nil` for the default.
    public var ifError: Int64?

    /// Creates limits that leave the defaults.
    public init() {}

    /// The permitted range in seconds, from RFC 9111 §1.2.2.
    public static let range: ClosedRange<Int64> = 0...DeltaSeconds.most

    /// Merges a later rule, whose values take precedence.
    public mutating func merge(_ later: StaleLimits) {
        whileRevalidate = later.whileRevalidate ?? whileRevalidate
        ifError = later.ifError ?? ifError
    }
}
