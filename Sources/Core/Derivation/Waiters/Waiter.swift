package import ImageModel
import Messages
package import Tables

/// A request that waits for an image: as much of it as the work depends on. It does not change
/// while it waits.
package struct Waiter: Sendable {
    package typealias ID = SlotID<Waiter>

    package let id: ID
    package let order: Order
    /// Tiers with an image under the key of the result, which the result is to replace.
    let replaced: CacheTypes
    /// Whether it is told how far its transfer is.
    let wantsProgress: Bool

    package init(_ id: ID, _ order: Order, replacing tiers: CacheTypes, wantsProgress: Bool) {
        self.id = id
        self.order = order
        replaced = tiers
        self.wantsProgress = wantsProgress
    }

    /// What it wants of the store of its result, which replaces what is outdated.
    var storePolicy: StorePolicy {
        StorePolicy(
            tiers: order.plan.storeTiers.union(replaced), waitsForDisk: order.waitsForStores,
            serializer: order.serializer, tags: order.terms.tags)
    }

    /// What it wants of the store of its original.
    var originalTiers: CacheTypes {
        order.plan.includes(.storeOriginal) ? order.plan.originalStoreTiers : .none
    }
}

/// Tiers that were asked in vain for what somebody wants.
package struct MissedTiers: Sendable {
    /// For the result.
    package var result = CacheTypes.none
    /// For the original.
    package var original = CacheTypes.none

    package init() {}

    /// What is known of the original under the texts of an order.
    func original(of order: Order) -> CacheTypes {
        order.names.plainOriginal == order.names.plainResult ? result : original
    }
}
