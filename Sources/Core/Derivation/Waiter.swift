package import Dispatching
package import ImageModel
package import Messages
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

/// Where a waiter waits. It holds until an event names the waiter.
package struct Place: Sendable {
    enum Node: Sendable {
        /// For a query of the result's key.
        case lookup(Need<LookupNode>)
        /// With a stale image, for what external caches know of it.
        case validity(Need<ValidityNode>)
        /// For what is laid over its image.
        case overlays(Waiter.ID)
        /// For a result that is being made.
        case result(Need<ResultNode>)
        /// With its image, for the store of the original (`waitStoreCache`).
        case original(SourceNode.ID, WatcherList.Seat)
        /// With its image, for what a serializer makes of it (`waitStoreCache`).
        case transcode(TranscodeNode.ID, WatcherList.Seat)
    }

    let node: Node

    init(_ node: Node) { self.node = node }
}

/// Names a transfer whose progress was told.
package struct Transfer: Hashable, Sendable {
    let source: SourceNode.ID
}

/// An image that was made for waiters, or its facts.
package struct Made: Sendable {
    package let image: DeliveredImage
    package let timings: StageTimings
    /// What tells the bytes that it was made of from others.
    package let mark: BodyMark
    /// What their origin says of caching, as far as that is known.
    package let caching: OriginCaching?
    /// What an operator put beside these.
    package let extendedData: ExtendedData?
    /// Whether these came from the cache.
    package let isOfCachedOriginal: Bool
    /// Whether these were fetched for the waiters.
    package let isFetched: Bool
    /// How these came, what was decoded for it, and how it was made of that.
    package let fetched: FetchAccount?
    package let decoded: DecodeAccount?
    package let transformed: TransformAccount?

    init(_ image: DeliveredImage, _ result: borrowing ResultNode) {
        self.image = image
        timings = result.timings
        mark = result.provenance.mark
        caching = result.provenance.caching
        extendedData = result.provenance.extendedData
        isOfCachedOriginal = result.provenance.tier != .none
        isFetched = result.name.origin.isFetched
        fetched = result.provenance.fetched
        (decoded, transformed) = (result.decoded, result.transformed)
    }
}

/// What becomes of waiters whose work was torn down.
package enum Disposition: Sendable {
    /// They fail.
    case fail(ImageError)
    /// They go their next way, after work that took so long; the cache was asked for that text in
    /// vain, if it was asked.
    case onward(StageTimings, missed: String?)
    /// They begin again.
    case again
    /// They begin again through no fault of anybody.
    case afresh
    /// They have the right image already.
    case unmodified

    /// The text that the cache was asked for in vain.
    package var missedText: String? {
        if case .onward(_, let text) = self { text } else { nil }
    }
}

// A waiter leaves its place, or wants its image more or less urgently than before.
extension Deriver {
    /// A waiter leaves. Work that nobody else wants leaves the tables in the same step in which its
    /// worker is told, so that a newcomer gets new work.
    package mutating func leave(_ place: Place) {
        switch place.node {
        case .lookup(let need): detach(from: need)
        case .validity(let need): detach(from: need)
        case .overlays(let id): leaveOverlays(id)
        case .result(let need):
            detach(from: need)
            // Once the result exists, a cancel changes the reply and no longer the store.
            if results.contains(need.node), results[need.node].consumers.isEmpty {
                waitsForSpace(need.node, false)
            }
        case .original(let node, let seat): sources[node].storing.watchers.leave(seat)
        case .transcode(let node, let seat): transcodes[node].watchers.leave(seat)
        }
    }

    /// Work that is shared with others runs in the highest class among them.
    package mutating func reprioritise(_ place: Place, _ urgency: Urgency) {
        switch place.node {
        case .lookup(let need): update(need, urgency)
        case .validity(let need): update(need, urgency)
        case .overlays(let id): reprioritiseOverlays(of: id, urgency)
        case .result(let need): update(need, urgency)
        // A store goes on in the class that it was begun in; it holds up only this reply.
        case .original, .transcode: break
        }
    }

    /// Whether no worker has the job that has to end before a waiter gets on from there.
    package func waitsForWorker(_ place: Place) -> Bool {
        awaitedJob(at: place).map { dispatcher.isWaiting(awaited($0)) } ?? false
    }

    /// The pool that has to do that job, where no worker of it is connected.
    package func missingWorkers(at place: Place) -> MissingWorkers? {
        awaitedJob(at: place).flatMap { dispatcher.missingWorkers(for: awaited($0)) }
    }

    /// Whether that job is a transfer which does not begin since transfers are suspended.
    package func waitsForResumption(_ place: Place) -> Bool {
        dispatcher.transfers.isSuspended
            && awaitedJob(at: place).map { dispatcher.isWaitingTransfer($0) } ?? false
    }

    private func awaitedJob(at place: Place) -> JobID? {
        switch place.node {
        case .original, .transcode: return nil
        case .lookup(let need): return lookups[need.node].job
        case .validity(let need): return validities[need.node].job
        case .overlays(let id): return awaitedOverlayJob(of: id)
        case .result(let need):
            return results[need.node].job
                ?? results[need.node].decode.flatMap { awaitedJob(of: $0) }
        }
    }

    /// The job that the first missing overlay waits for.
    private func awaitedOverlayJob(of id: Waiter.ID) -> JobID? {
        let nodes = (gatherings[id]?.layers ?? []).compactMap { $0.decode?.node }
        guard let node = nodes.first(where: { decodes[$0].pixels == nil }) else { return nil }
        return awaitedJob(of: node)
    }

    /// The job that has to end before there are pixels.
    private func awaitedJob(of decode: DecodeNode.ID) -> JobID? {
        decodes[decode].job ?? decodes[decode].source.flatMap { sources[$0].job }
    }

    /// Whether somebody waits there for what the transfer brings.
    package func isFed(_ place: Place, by transfer: Transfer) -> Bool {
        guard case .result(let need) = place.node else { return false }
        return results[need.node].source == transfer.source
    }

    /// The same, where the result does not exist yet.
    package func isFedOnly(_ place: Place, by transfer: Transfer) -> Bool {
        guard isFed(place, by: transfer), case .result(let need) = place.node else { return false }
        return !results[need.node].exists
    }
}
