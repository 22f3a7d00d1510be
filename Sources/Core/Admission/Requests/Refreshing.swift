import Derivation
import ImageModel

/// The image that a request has at first, while its origin is asked.
struct Refreshing: Sendable {
    /// The mark of the bytes that the image was made of.
    let mark: BodyMark
    /// Tiers that have it under the key of the request: what follows it replaces it there.
    let tiers: CacheTypes
    /// What its origin says of caching, as it was stored.
    let caching: OriginCaching?
    /// The image, where it was not delivered yet: it is stale, and what the origin says decides.
    var held: LiveRequest.Pending?
    /// Whether external caches were asked what they know of it.
    var hasAskedOthers = false
    /// Whether one of them has confirmed it, and the origin was not asked.
    var isConfirmedElsewhere = false
}
