import Dispatching
import ImageModel
import Messages

/// The overlays of a waiter's image. They are fetched and decoded before the image is, and kept
/// until the image is made.
struct Gathering: Sendable {
    /// One overlay.
    struct Layer: Sendable {
        /// Its load, as it was admitted.
        let order: Order
        /// Where its pixels are, or will be.
        var decode: Need<DecodeNode>?
        /// Whether the cache was asked for its original, or is not asked.
        var hasAskedCache: Bool
        /// Tiers that were asked for it, in vain.
        var missed = CacheTypes.none
    }

    var layers: [Layer]
    /// How badly it is wanted, while somebody waits.
    var urgency: Urgency
    /// Whether the waiter has an image already.
    let refreshes: Bool
    /// Whether the waiter waits here. One that has gone on waits for a result, which is a consumer
    /// of the overlays itself.
    var isAwaited = true
}

/// A consumer that lays the pixels of a decode over an image.
enum OverlayConsumer: Hashable, Sendable {
    /// A waiter, by the number of the overlay.
    case waiter(Waiter.ID, Int)
    /// A result that is being made.
    case result(ResultNode.ID)
}
