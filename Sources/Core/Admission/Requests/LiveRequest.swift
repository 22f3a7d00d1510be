import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

/// A request that was admitted and has no terminal reply yet.
struct LiveRequest: Tabled {
    typealias Named = Waiter
    typealias ID = Waiter.ID

    /// Where it waits.
    enum Standing: Sendable {
        /// Nowhere: on its way from one place to the next, within one event.
        case moving
        /// For work, or with its image for a store.
        case waiting(Place)
    }

    /// An image that is there, while its reply waits for a store.
    struct Pending: Sendable {
        var image: DeliveredImage
        let block: BlockHandle?
        /// What it is of, where it was cached or made of a cached original.
        var cached: CachedImage?
    }

    /// A cached image, as far as its origin knows it.
    struct CachedImage: Sendable {
        /// The mark of the bytes that it was made of.
        let mark: BodyMark
        /// Tiers that have it under the key of the request.
        let tiers: CacheTypes
        /// What its origin says of caching, as it was stored.
        let caching: OriginCaching?
    }

    /// What was fixed when it was admitted, whatever becomes of it.
    struct Facts: Sendable {
        /// The process that the token belongs to.
        let owner: Incarnation
        let isDetached: Bool
        let token: Token
        let group: GroupID?
        /// The slot of its client that it is for.
        let slot: String?
        /// Whom its client loads it for.
        var visitor: UInt64 = 0
        /// The batch that it is a member of. A member is not answered.
        let batch: PrefetchBatch.ID?
        /// Whether it is our own: it asks the origin about an image that was delivered stale, and
        /// nobody is answered.
        var isSilent = false
        /// What its client is told before the image is whole.
        var wishes: Waiter.Wishes = []
        let admittedAt: Instant
        let deadline: Instant
    }

    /// Its places in the lists of its client, or in its batch.
    struct Seats: Sendable {
        var seat: SeatList<LiveRequest.ID>.Seat = 0
        var groupSeat: SeatList<LiveRequest.ID>.Seat?
    }

    let facts: Facts
    /// The session that is told; it may be over where the request is detached.
    var client: ClientID
    /// The owner of the share that its work takes.
    var share: ShareOwner
    private(set) var order: Order

    /// Its class: what it asked for, or what its client asked for since.
    var priority: Priority
    var seats = Seats()

    /// The ways to the image that are left.
    var ways: JobPlan.Ways
    /// Tiers that were asked for the result and for the original, in vain.
    var missed = MissedTiers()
    /// Bytes of the last progress that it was told, and of the last partial image.
    var received: UInt64 = 0
    var shown: UInt64 = 0
    /// Counts how often it had to begin again, since what was made for it was lost.
    var attempt = 1
    var standing = Standing.moving
    /// Times of its own queries. Shared work keeps its own times.
    var timings = StageTimings()
    var pending: Pending? {
        get { rarePending.value }
        set { rarePending = Rare(newValue) }
    }
    /// What it was answered with, while the origin is asked (`refreshCached`).
    var refreshing: Refreshing? {
        get { rareRefreshing.value }
        set { rareRefreshing = Rare(newValue) }
    }
    var rarePending = Rare<Pending>.absent
    var rareRefreshing = Rare<Refreshing>.absent
    /// What became of the image that was asked for, where this is about its fallback.
    private(set) var fallenBack: FallenBack?

    var owner: Incarnation { facts.owner }
    var isDetached: Bool { facts.isDetached }
    var token: Token { facts.token }
    var group: GroupID? { facts.group }
    var slot: String? { facts.slot }
    var batch: PrefetchBatch.ID? { facts.batch }
    var isSilent: Bool { facts.isSilent }
    /// Whether a client gets its reply.
    var isAnswered: Bool { facts.batch == nil && !facts.isSilent }
    var deadline: Instant { facts.deadline }

    var image: ImageRequest { order.image }
    var names: RequestNames { order.names }
    var plan: JobPlan { order.plan }

    var urgency: Urgency {
        Urgency(priority: priority, deadline: deadline, flows: Flows(flow))
    }
    /// The flow that its work waits in.
    var flow: FlowID {
        .client(FlowID.Session(client: client, owner: share, visitor: facts.visitor))
    }
    /// Points per pixel.
    var scaleFactor: Double { image.context.scaleFactor ?? names.scaleFactor }
    var waitsForStores: Bool { order.waitsForStores }
    /// The ways to an image for a request that begins, or begins again.
    var allWays: JobPlan.Ways { refreshing == nil ? plan.ways : plan.refreshWays }
    var mayFetch: Bool { plan.includes(.fetch) }

    /// Nothing is known of what it wants, but for what it has.
    mutating func beginAfresh() {
        ways = allWays
        missed = MissedTiers()
    }

    /// Whether it goes on with a fallback where its image cannot be had. It does not where no time
    /// is left, where this was the fallback, or where a cached image was delivered already.
    func mayFallBack(after error: ImageError, at now: Instant) -> Bool {
        fallenBack == nil && (refreshing == nil || refreshing?.held != nil) && isAnswered
            && now < deadline
            && order.terms.fallback(after: error, infoOnly: image.infoOnly) != nil
    }

    /// The image cannot be had: from now on this is about its fallback.
    mutating func fallBack(after failure: FallenBack) { fallenBack = failure }

    /// Begins with the fallback as it was admitted.
    mutating func begin(_ fallback: Order) {
        order = fallback
        refreshing = nil
        attempt = 1
        beginAfresh()
    }

    /// The part of the request that its work depends on.
    func waiter(_ id: ID) -> Waiter {
        Waiter(id, order, replacing: refreshing?.tiers ?? .none, wishes: wishes)
    }

    /// Who has a cached image already is shown nothing less.
    private var wishes: Waiter.Wishes {
        refreshing == nil ? facts.wishes : facts.wishes.intersection(.progress)
    }
}

/// A client that is connected, and its requests without a terminal reply.
struct LiveClient: Sendable {
    /// This life of the process; its tokens belong to it.
    let incarnation: Incarnation
    /// The owner of the share that it takes.
    let share: ShareOwner
    private(set) var requests = SeatList<LiveRequest.ID>()
    /// Open questions about entries of the cache, and their numbers.
    var inquiries: [JobID: UInt64] = [:]
    /// Those that are told how far they are.
    var wantsProgress: Set<JobID> = []
    private var groups: [GroupID: Group] = [:]
    /// The newest live request of each slot that has one.
    private(set) var slots: [String: LiveRequest.ID] = [:]

    private struct Group: Sendable {
        var seats = SeatList<LiveRequest.ID>()
        /// The class that all members were last given together; `nil` where a member has come
        /// since, or was given another class.
        var priority: Priority?
    }

    init(_ incarnation: Incarnation, _ share: ShareOwner) {
        self.incarnation = incarnation
        self.share = share
    }

    /// Requests of a group in the order of their seats.
    func members(of group: GroupID) -> [LiveRequest.ID] { groups[group]?.seats.members ?? [] }

    /// Requests of a group that are to have this class; `nil` where all have it already.
    mutating func members(of group: GroupID, toBecome priority: Priority) -> [LiveRequest.ID]? {
        guard let known = groups[group], known.priority != priority else { return nil }
        groups[group]?.priority = priority
        return known.seats.members
    }

    /// A member of a group has a class of its own.
    mutating func differs(in group: GroupID) { groups[group]?.priority = nil }

    /// Takes a request in; its seats are for `leave`.
    mutating func join(_ request: LiveRequest.ID, group: GroupID?) -> LiveRequest.Seats {
        guard let group else { return LiveRequest.Seats(seat: requests.join(request)) }
        groups[group, default: Group()].priority = nil
        return LiveRequest.Seats(
            seat: requests.join(request), groupSeat: groups[group]?.seats.join(request))
    }

    /// A request takes a slot over; an `older` one only where it is free.
    mutating func take(_ slot: String, for request: LiveRequest.ID, isOlder: Bool = false) {
        if !isOlder || slots[slot] == nil { slots[slot] = request }
    }

    /// A request got its terminal reply.
    mutating func leave(_ id: LiveRequest.ID, _ request: LiveRequest) {
        requests.leave(request.seats.seat)
        if let slot = request.slot, slots[slot] == id { slots[slot] = nil }
        guard let group = request.group, let groupSeat = request.seats.groupSeat else { return }
        groups[group]?.seats.leave(groupSeat)
        if groups[group]?.seats.isEmpty == true { groups[group] = nil }
    }
}
