import Dispatching
import ImageModel
import Messages

/// A request that was admitted and has no terminal reply yet.
struct LiveRequest: Sendable {
    typealias ID = SlotTable<LiveRequest>.ID

    /// Where it waits.
    enum Standing: Sendable {
        /// Nowhere: on its way from one place to the next, within one event.
        case moving
        /// For a query of the result's key.
        case lookup(LookupNode.ID, WaiterList<LiveRequest.ID>.Seat)
        /// For what is laid over its picture.
        case overlays
        /// For a result that is being made.
        case result(ResultNode.ID, WaiterList<LiveRequest.ID>.Seat)
        /// With its image, for the store of the original (`waitStoreCache`).
        case original(SourceNode.ID, SeatList<LiveRequest.ID>.Seat)
        /// With its image, for what a serializer makes of it (`waitStoreCache`).
        case transcode(TranscodeNode.ID, SeatList<LiveRequest.ID>.Seat)
    }

    /// An image that is there, while its reply waits for a store.
    final class Pending: Sendable {
        let image: DeliveredImage
        let block: BlockHandle?
        /// Whose store is waited for, too.
        let source: SourceNode.ID?

        init(_ image: DeliveredImage, _ block: BlockHandle?, _ source: SourceNode.ID?) {
            self.image = image
            self.block = block
            self.source = source
        }
    }

    /// The session that is told; it may be over where the request is detached.
    var client: ClientID
    /// Whose share its work takes.
    var share: ShareOwner
    /// Whose token it is.
    let owner: Incarnation
    let isDetached: Bool
    let token: Token
    let group: GroupID?
    /// The slot of its client that it is for.
    let slot: String?
    /// The batch that it is a member of; nobody is answered then.
    let batch: PrefetchBatch.ID?
    private(set) var order: Order
    let wantsProgress: Bool
    let admittedAt: Instant
    let deadline: Instant

    /// Its class: what it asked for, or what its client asked for since.
    var priority: Priority
    /// Its places in the lists of its client, or in its batch.
    var seat: SeatList<LiveRequest.ID>.Seat = 0
    var groupSeat: SeatList<LiveRequest.ID>.Seat?

    /// The ways to the image that are left.
    var ways: JobPlan.Ways
    /// Tiers that were asked for the result and for the original, in vain.
    var missedTiers: CacheTypes = .none
    var missedOriginalTiers: CacheTypes = .none
    /// Bytes of the last progress that it was told.
    var received: UInt64 = 0
    /// Counts how often it had to begin again, since what was made for it was lost.
    var attempt = 1
    var standing = Standing.moving
    /// Of its own queries; shared work keeps its own.
    var timings = StageTimings()
    var pending: Pending?
    /// What is laid over its picture, once that is loaded or on its way.
    var gathering: Gathering?
    /// What it was answered with, while the origin is asked (`refreshCached`).
    var refreshing: Refreshing?
    /// What became of the image that was asked for, where this is about its fallback.
    private(set) var fallenBack: FallenBack?

    var image: ImageRequest { order.image }
    var names: RequestNames { order.names }
    var plan: JobPlan { order.plan }

    var urgency: Urgency {
        Urgency(priority: priority, deadline: deadline, flows: Flows(flow))
    }
    /// In whose name its work waits.
    var flow: FlowID { .client(FlowID.Session(client: client, owner: share)) }
    /// Points per pixel.
    var scaleFactor: Double { image.context.scaleFactor ?? names.scaleFactor }
    var waitsForStores: Bool { image.options.contains(.waitStoreCache) }
    /// The ways to an image for a request that begins, or begins again.
    var allWays: JobPlan.Ways { refreshing == nil ? plan.ways : plan.refreshWays }
    var mayFetch: Bool { plan.includes(.fetch) }

    /// Nothing is known of what it wants, but for what it has.
    mutating func beginAfresh() {
        ways = allWays
        missedTiers = .none
        missedOriginalTiers = .none
    }

    /// The image cannot be had: from now on this is about its fallback.
    mutating func fallBack(after failure: FallenBack) { fallenBack = failure }

    /// Begins with the fallback as it was admitted.
    mutating func begin(_ fallback: Order) {
        order = fallback
        attempt = 1
        beginAfresh()
    }

    /// What it wants of the store of its result, which replaces what is outdated.
    var storeWish: StoreWish {
        StoreWish(
            tiers: plan.storeTiers.union(refreshing?.tiers ?? .none),
            waitsForDisk: waitsForStores, serializer: order.serializer)
    }
}

/// What is wanted of a store; wishes of those who share a result are united.
struct StoreWish: Hashable, Sendable {
    var tiers: CacheTypes
    var waitsForDisk: Bool
    /// Of the first one that wants the disk: of who comes later it is not asked.
    var serializer = Serializer.asIs

    mutating func unite(_ other: StoreWish) {
        if !tiers.contains(.disk) { serializer = other.serializer }
        tiers.formUnion(other.tiers)
        waitsForDisk = waitsForDisk || other.waitsForDisk
    }

    /// How what goes to the disk is encoded; `nil` where it goes as it is, or not at all.
    var output: OutputOptions? { tiers.contains(.disk) ? serializer.output : nil }

    /// The tiers that take the bytes as they are.
    var plainTiers: CacheTypes { output == nil ? tiers : tiers.subtracting(.disk) }

    /// Whether a store with this wish does for the other one; whose serializer made it is not
    /// asked, as it would not be of an entry that is there.
    func covers(_ other: StoreWish) -> Bool {
        other.tiers.isSubset(of: tiers) && (waitsForDisk || !other.waitsForDisk)
    }
}
