import ImageModel
import Messages

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
