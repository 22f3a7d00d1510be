import ImageModel
import Messages

/// What a caller wants to be loaded into the caches.
struct PrefetchOrder: Sendable {
    let batch: Token
    /// How each URL is loaded.
    let template: ImageRequest
    let urls: [String]
    /// 0: as the coordinator likes.
    let concurrency: Int
}
