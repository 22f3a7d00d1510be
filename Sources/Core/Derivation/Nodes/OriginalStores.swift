import ImageModel
import Messages
import Tables

/// The stores of a source's bytes that are under way, and the watchers that wait for them.
struct OriginalStores: Sendable {
    /// By text of the cache.
    var originals = Originals()
    private(set) var jobs: [(job: JobID, plain: String)] = []
    /// Results that are these very bytes and are being delivered, which stores them as well.
    private(set) var deliveries = 0
    /// Stores of another encoding of these bytes.
    private(set) var transcodes = 0
    /// The watchers that wait for these stores.
    var watchers = WatcherList()

    /// Whether a store of the original is under way.
    var isUnderWay: Bool { !jobs.isEmpty || deliveries > 0 || transcodes > 0 }

    mutating func began(_ job: JobID, _ plain: String) { jobs.append((job, plain)) }

    /// A store ended; `tiers` have the original now, under the plain text that comes back.
    @discardableResult
    mutating func ended(_ job: JobID, tiers: CacheTypes) -> String? {
        guard let ended = jobs.firstIndex(where: { $0.job == job }) else { return nil }
        let plain = jobs.remove(at: ended).plain
        originals.ended(tiers, plain)
        return plain
    }

    /// A result under this plain text that is these very bytes is delivered, and stores them.
    mutating func beganDelivery(storing tiers: CacheTypes, as plain: String) {
        deliveries += 1
        originals.attempt(tiers, plain)
    }

    mutating func endedDelivery() { deliveries -= 1 }

    mutating func beganTranscode() { transcodes += 1 }

    /// A store of another encoding ended; `tiers` have the original now, under this plain text.
    mutating func endedTranscode(tiers: CacheTypes, as plain: String) {
        transcodes -= 1
        originals.ended(tiers, plain)
    }
}
