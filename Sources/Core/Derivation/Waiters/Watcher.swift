package import ImageModel
import Messages
import Tables

/// A waiter that has its image, and waits for stores before it is answered.
struct Watcher: Sendable {
    let id: Waiter.ID
    /// The cache that has its image, unless it is facts.
    let cache: WorkerID?
    /// The source whose store it waits for after that of what a serializer makes.
    let source: SourceNode.ID?
    /// The text of the original where that alone is stored.
    let original: String?
    /// Tiers that stored it so far.
    var stored: CacheTypes
}

typealias WatcherList = SeatList<Watcher>

/// A watcher that waits for no store any more, and the tiers that have its image.
package struct Stored: Sendable {
    package let id: Waiter.ID
    package let tiers: CacheTypes
}
