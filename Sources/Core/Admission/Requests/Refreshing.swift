import Derivation
import ImageModel

/// The image that a request got at first, while its origin is asked.
struct Refreshing: Sendable {
    /// The mark of the bytes that the image was made of.
    let mark: BodyMark
    /// Tiers that have it under the key of the request: what follows it replaces it there.
    let tiers: CacheTypes
}
