import Dispatching
import ImageModel
import Messages

/// What a waiter has laid over its image: fetched and decoded before the image is, and kept until
/// the image is made.
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
    /// Whether who waits has an image already.
    let refreshes: Bool
    /// Whether somebody waits; who has gone on waits for a result that knows by itself.
    var isAwaited = true
}

/// Who lays the pixels of a decode over an image.
enum OverlayConsumer: Hashable, Sendable {
    /// A waiter, by the number of the overlay.
    case waiter(Waiter.ID, Int)
    /// A result that is being made.
    case result(ResultNode.ID)
}
