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
