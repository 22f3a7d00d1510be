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
