/// Until when a kept answer of an origin may be used, and how. All in milliseconds.
///
/// `must-revalidate` and the like need no word of their own: nothing follows freshness then.
public struct HTTPExpiry: Hashable, Sendable {
    /// Since 1970: its age was 0 then.
    public var born: Int64
    /// So long after that it is fresh.
    public var freshFor: Int64
    /// So long after that it may be served while the origin is asked (RFC 5861 §3).
    public var staleFor: Int64
    /// So long after it was fresh it may be served where the origin fails (RFC 5861 §4).
    public var errorFor: Int64

    /// What `born` may be: from 1970 to the year 9999.
    public static let bornRange: ClosedRange<Int64> = 0...253_402_300_799_999
    /// What the others may be: RFC 9111 §1.2.2 has no longer time.
    public static let timeRange: ClosedRange<Int64> = 0...DeltaSeconds.most * 1_000

    /// Times outside their ranges are taken for their ends.
    public init(born: Int64, freshFor: Int64 = 0, staleFor: Int64 = 0, errorFor: Int64 = 0) {
        self.born = Self.nearest(born, Self.bornRange)
        self.freshFor = Self.nearest(freshFor, Self.timeRange)
        self.staleFor = Self.nearest(staleFor, Self.timeRange)
        self.errorFor = Self.nearest(errorFor, Self.timeRange)
    }

    private static func nearest(_ time: Int64, _ range: ClosedRange<Int64>) -> Int64 {
        min(max(time, range.lowerBound), range.upperBound)
    }

    /// It is fresh until then, since 1970.
    public var freshUntil: Int64 { born + freshFor }
    /// Until then it may be served while the origin is asked, since 1970.
    public var staleUntil: Int64 { freshUntil + staleFor }
    /// Until then it may be served where the origin fails, since 1970.
    public var errorUntil: Int64 { freshUntil + errorFor }

    /// From then on its origin has to be asked and has to answer, since 1970; in the year 9999 at
    /// the latest.
    package var lastUse: Int64 { Self.nearest(max(staleUntil, errorUntil), Self.bornRange) }

    /// How long what is stale may be served at most, in seconds, whatever origins say; and what
    /// is assumed where they say nothing.
    public struct Limits: Hashable, Sendable {
        /// While the origin is asked.
        public var whileRevalidate: Int64
        /// Where it fails.
        public var ifError: Int64
        /// Of an answer that says nothing of its lifetime.
        package var assumed = AssumedLifetime.none

        /// A day, and a week; nothing is assumed.
        public init(whileRevalidate: Int64 = 86_400, ifError: Int64 = 604_800) {
            (self.whileRevalidate, self.ifError) = (whileRevalidate, ifError)
        }

        /// With what a configuration says in their place.
        package func replaced(by choice: StaleLimits) -> Limits {
            Limits(
                whileRevalidate: choice.whileRevalidate ?? whileRevalidate,
                ifError: choice.ifError ?? ifError)
        }

        /// With what who asks assumes.
        package func assuming(_ lifetime: AssumedLifetime) -> Limits {
            var limits = self
            limits.assumed = lifetime
            return limits
        }
    }

    /// That of an answer, for a cache of that role. Without an explicit lifetime it is as the
    /// limits assume, which is stale at once unless who asks says otherwise (RFC 9111 §4.2.2). One
    /// that nobody may keep is stale at once, whatever else it says.
    package init(
        _ control: CacheControl, _ age: ResponseAge, _ role: CacheRole, _ limits: Limits = Limits()
    ) {
        let isFreshAtAll = !control.mustAlwaysRevalidate && !control.forbidsStoring
        let said = control.lifetime(role) ?? age.expiresInSeconds
        let assumed = said == nil ? limits.assumed : .none
        let lifetime = said ?? assumed.fresh
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
    /// Seconds for which it says the answer is fresh; `nil` where it says nothing of that. A cache
    /// of several looks at `s-maxage` first (RFC 9111 §4.2.1).
    func lifetime(_ role: CacheRole) -> Int64? {
        role == .personal ? maxAge : sharedMaxAge ?? maxAge
    }

    /// Whether a stale answer may be served at all (RFC 9111 §4.2.4). `s-maxage` means
    /// `proxy-revalidate` (RFC 9111 §5.2.2.10).
    func permitsStale(_ role: CacheRole) -> Bool {
        guard !mustRevalidate, !mustAlwaysRevalidate, !forbidsStoring else { return false }
        return role == .personal || (!proxyRevalidate && sharedMaxAge == nil)
    }
}

/// What is done with a kept answer where `Cache-Control` counts.
public enum FreshnessDecision: Hashable, Sendable {
    /// It is served.
    case fresh
    /// It is served, and the origin is asked in the background.
    case staleWhileRevalidate
    /// The origin is asked first.
    case revalidate

    /// Of an answer whose expiry is known or not, at a moment in milliseconds since 1970. One that
    /// was born later than that is of unknown age: the clock was set back since.
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
    /// Whether it may be served although the origin failed when it was asked.
    public func mayServe(afterErrorAt now: Int64) -> Bool { isBorn(at: now) && now < errorUntil }

    /// Whole seconds since its age was 0.
    public func age(at now: Int64) -> Int64 { max(0, now - born) / 1_000 }

    /// Whole seconds for which it is still fresh; 0 where it is stale.
    public func remaining(at now: Int64) -> Int64 {
        isBorn(at: now) ? max(0, freshUntil - now) / 1_000 : 0
    }

    func isBorn(at now: Int64) -> Bool { ResponseAge.isBorn(born, at: now) }
}

/// What an origin says of caching a response, and how old the response was when it came.
///
/// It is kept as it was said, with the bytes and all that is made of them. Until when these may be
/// used depends on who keeps them and who asks (`expiry`).
public struct OriginCaching: Hashable, Sendable {
    /// The directives of `Cache-Control`.
    public var cacheControl: CacheControl
    /// When its age was 0, and how long its `Expires` lets it live.
    public var age: ResponseAge
    /// Whether it is for one request alone (`Vary: *`).
    public var variesOnEverything: Bool

    /// What a response says.
    public init(
        _ cacheControl: CacheControl, _ age: ResponseAge, variesOnEverything: Bool = false
    ) {
        (self.cacheControl, self.age) = (cacheControl, age)
        self.variesOnEverything = variesOnEverything
    }

    /// Until when a cache of that role may use the response, within these limits.
    package func expiry(
        _ role: CacheRole, _ limits: HTTPExpiry.Limits = HTTPExpiry.Limits()
    ) -> HTTPExpiry {
        HTTPExpiry(cacheControl, age, role, limits)
    }

    /// Whether who asks may assume a lifetime: there is neither one nor anything that forbids it
    /// (RFC 9111 §4.2.2).
    package var leavesLifetimeOpen: Bool {
        cacheControl.maxAge == nil && cacheControl.sharedMaxAge == nil
            && age.expiresInSeconds == nil && !cacheControl.mustAlwaysRevalidate
            && !cacheControl.forbidsStoring
    }

    /// From then on a cache of several has to ask the origin, whatever happens, in milliseconds
    /// since 1970; `nil` where it leaves the lifetime open.
    package var lastUse: Int64? { leavesLifetimeOpen ? nil : expiry(.shared).lastUse }

    /// The same after a 304 (RFC 9111 §3.2, §4.3.4). What that does not say stays: the earlier
    /// directives, and where these have no lifetime the shorter one of both `Expires`.
    package func renewed(by confirmation: OriginCaching) -> OriginCaching {
        var renewed = confirmation
        guard confirmation.cacheControl.field == nil else { return renewed }
        renewed.cacheControl = cacheControl
        let lifetimes = [age.expiresInSeconds, confirmation.age.expiresInSeconds]
        renewed.age.expiresInSeconds = lifetimes.compactMap { $0 }.min()
        return renewed
    }
}

/// How old an answer of an origin is, and how long its `Expires` lets it live: what only who got it
/// can know (RFC 9111 §4.2.3).
public struct ResponseAge: Hashable, Sendable {
    /// The moment at which its age was 0, in milliseconds since 1970: never before 0.
    public var bornMilliseconds: Int64
    /// Seconds from its `Date` to its `Expires`, 0 where that is past or no date; `nil` without
    /// one.
    public var expiresInSeconds: Int64?

    /// What is known of an answer.
    public init(bornMilliseconds: Int64, expiresInSeconds: Int64? = nil) {
        self.bornMilliseconds = bornMilliseconds
        self.expiresInSeconds = expiresInSeconds
    }

    /// Reads the fields as they came; the moments are milliseconds since 1970. Several `Age` fields
    /// are their list, of which the first counts; one that is no number says nothing
    /// (RFC 9111 §5.1).
    public init(
        date: String?, age: String?, expires: String?, asked: Int64, answered: Int64
    ) {
        let now = answered / 1_000
        let said = date.flatMap { HTTPDate.seconds($0, now: now) }
        let apparent = said.map { max(0, answered - $0 * 1_000) } ?? 0
        let first = age.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).first }
        let told = first.flatMap { DeltaSeconds.parse(Self.trimmed($0)) } ?? 0
        let corrected = told * 1_000 + max(0, answered - asked)
        bornMilliseconds = max(0, answered - max(apparent, corrected))
        expiresInSeconds = expires.map { text in
            guard let end = HTTPDate.seconds(text, now: now) else { return 0 }
            return min(max(0, end - (said ?? now)), DeltaSeconds.most)
        }
    }

    /// Whether its age is known at a moment in milliseconds since 1970. It is not if the clock was
    /// set back after the answer came.
    package func isKnown(at now: Int64) -> Bool { Self.isBorn(bornMilliseconds, at: now) }

    /// Two processes that look at one clock may see a second of difference.
    static func isBorn(_ born: Int64, at now: Int64) -> Bool { born <= now + 1_000 }

    private static func trimmed(_ text: Substring) -> Substring {
        let front = text.drop { $0 == " " || $0 == "\t" }
        return front.prefix { $0 != " " && $0 != "\t" }
    }
}

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

/// How long what is stale may be served at most, as far as a configuration says it
/// (SEMANTICS §6.6).
public struct StaleLimits: Hashable, Sendable {
    /// Seconds, while the origin is asked; `nil`: as usual.
    public var whileRevalidate: Int64?
    /// Seconds, where it fails; `nil`: as usual.
    public var ifError: Int64?

    /// Says nothing.
    public init() {}

    /// The seconds that may be said: those of RFC 9111 §1.2.2.
    public static let range: ClosedRange<Int64> = 0...DeltaSeconds.most

    /// What a later rule says wins.
    public mutating func merge(_ later: StaleLimits) {
        whileRevalidate = later.whileRevalidate ?? whileRevalidate
        ifError = later.ifError ?? ifError
    }
}
