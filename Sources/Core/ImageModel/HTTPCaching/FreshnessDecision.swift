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
