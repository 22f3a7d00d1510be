/// Until when a kept answer of an origin may be used, and how: moments in milliseconds since 1970.
///
/// The later ones are never before the earlier ones. `must-revalidate` and the like need no word of
/// their own: the moments are the same then.
public struct HTTPExpiry: Hashable, Sendable {
    /// Its age was 0 then.
    public var born: Int64
    /// It is fresh until then.
    public var freshUntil: Int64
    /// Until then it may be served while the origin is asked (RFC 5861 §3).
    public var staleUntil: Int64
    /// Until then it may be served where the origin fails (RFC 5861 §4).
    public var errorUntil: Int64

    /// `nil` where the moments are not in order, or before 1970.
    public init?(born: Int64, freshUntil: Int64, staleUntil: Int64, errorUntil: Int64) {
        guard born >= 0, freshUntil >= born, staleUntil >= freshUntil, errorUntil >= freshUntil
        else { return nil }
        (self.born, self.freshUntil) = (born, freshUntil)
        (self.staleUntil, self.errorUntil) = (staleUntil, errorUntil)
    }

    /// How long what is stale may be served at most, in seconds, whatever origins say.
    public struct Limits: Hashable, Sendable {
        /// While the origin is asked.
        public var whileRevalidate: Int64
        /// Where it fails.
        public var ifError: Int64

        /// A day, and a week.
        public init(whileRevalidate: Int64 = 86_400, ifError: Int64 = 604_800) {
            (self.whileRevalidate, self.ifError) = (whileRevalidate, ifError)
        }
    }

    /// That of an answer, for a cache of that role. Without an explicit lifetime it is stale at
    /// once: nothing is guessed (RFC 9111 §4.2.2).
    public init(
        _ control: CacheControl, _ age: ResponseAge, _ role: CacheRole, _ limits: Limits = Limits()
    ) {
        let lifetime = control.lifetime(role) ?? age.expiresInSeconds ?? 0
        self.init(control, born: age.bornMilliseconds, lifetime: lifetime, role, limits)
    }

    private init(
        _ control: CacheControl, born: Int64, lifetime: Int64, _ role: CacheRole, _ limits: Limits
    ) {
        self.born = born
        freshUntil = born + (control.mustAlwaysRevalidate ? 0 : lifetime) * 1_000
        let mayBeStale = control.permitsStale(role)
        let stale = mayBeStale ? min(control.staleWhileRevalidate ?? 0, limits.whileRevalidate) : 0
        let error = mayBeStale ? min(control.staleIfError ?? 0, limits.ifError) : 0
        staleUntil = freshUntil + max(0, stale) * 1_000
        errorUntil = freshUntil + max(0, error) * 1_000
    }

    /// That of an answer once its origin has confirmed it: what 304 says takes the place of what
    /// was said before (RFC 9111 §4.3.4, §3.2). Where it only has `Expires`, the shorter of the two
    /// lifetimes counts: whether the old one was that of a `max-age` is not known any more.
    public func renewed(
        _ control: CacheControl, _ age: ResponseAge, _ role: CacheRole, _ limits: Limits = Limits()
    ) -> HTTPExpiry {
        if control.field != nil { return HTTPExpiry(control, age, role, limits) }
        var renewed = self
        let old = freshUntil - born
        let lifetime = min(old, age.expiresInSeconds.map { $0 * 1_000 } ?? old)
        renewed.born = age.bornMilliseconds
        renewed.freshUntil = renewed.born + lifetime
        renewed.staleUntil = renewed.freshUntil + (staleUntil - freshUntil)
        renewed.errorUntil = renewed.freshUntil + (errorUntil - freshUntil)
        return renewed
    }
}

extension CacheControl {
    /// Seconds for which it says the answer is fresh; `nil` where it says nothing of that. A cache
    /// of several looks at `s-maxage` first (RFC 9111 §4.2.1).
    func lifetime(_ role: CacheRole) -> Int64? {
        role == .personal ? maxAge : sharedMaxAge ?? maxAge
    }

    /// Whether a stale answer may be served at all (RFC 9111 §4.2.4). `s-maxage` means
    /// `proxy-revalidate` (§5.2.2.10).
    func permitsStale(_ role: CacheRole) -> Bool {
        guard !mustRevalidate, !mustAlwaysRevalidate else { return false }
        return role == .personal || (!proxyRevalidate && sharedMaxAge == nil)
    }
}
