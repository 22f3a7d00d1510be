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
    /// What it is told before its image is whole.
    let wishes: Wishes

    /// What a waiter is told while bytes arrive.
    package struct Wishes: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// How far its transfer is.
        package static let progress = Wishes(rawValue: 1 << 0)
        /// What the header says, as soon as it is there.
        package static let info = Wishes(rawValue: 1 << 1)
        /// Images made of the bytes that have come so far.
        package static let partials = Wishes(rawValue: 1 << 2)
        /// For what the bytes are looked at that have come so far.
        static let early: Wishes = [.info, .partials]
    }

    package init(_ id: ID, _ order: Order, replacing tiers: CacheTypes, wishes: Wishes) {
        self.id = id
        self.order = order
        replaced = tiers
        self.wishes = wishes
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
