import Model

/// An admitted request without a terminal reply.
struct LiveRequest: SlotMapElement {
    typealias Named = Subscriber
    typealias ID = Subscriber.ID

    /// An available image whose reply waits for a store.
    final class Pending {
        var image: DeliveredImage
        let block: BlockHandle?
        /// The same block if it is held for this reply.
        let held: BlockHandle?
        /// Its cache state, if it was cached or made from a cached original.
        let cached: CachedImage?

        init(
            _ image: DeliveredImage, _ block: BlockHandle?, held: BlockHandle?,
            cached: CachedImage? = nil
        ) {
            (self.image, self.block, self.held, self.cached) = (image, block, held, cached)
        }
    }

    /// The state of a cached image that is relevant for revalidation.
    struct CachedImage: Sendable {
        /// The mark of the bytes from which it was made.
        let mark: BodyMark
        /// Tiers that have it under the key of the request.
        let tiers: CacheTypes
        /// The origin's caching information at the time of the store.
        let caching: OriginCaching?
    }

    // Fixed at admission.

    /// The process that owns the token.
    let owner: Incarnation
    let isDetached: Bool
    let token: Token
    let group: GroupID?
    /// The client's slot, if any.
    let slot: String?
    /// The client's user on whose behalf it is loaded.
    let httpClient: UInt64
    /// The batch of which it is a member. Members get no reply.
    let batch: PrefetchBatch?
    /// Whether it is a background revalidation of a stale image, which gets no reply.
    var isSilent = false
    /// Notifications wanted before the image is complete.
    var wantedNotifications: Subscriber.Interests = []
    let admittedAt: Instant
    let deadline: Instant

    /// The session that receives the reply; may have ended if the request is detached.
    var client: ClientID
    /// The owner of the share that its work uses.
    var share: ShareOwner
    private(set) var admitted: AdmittedRequest

    /// The requested class, or the one that the client has set since.
    var priority: Priority
    /// Its seats in the lists of its client, or in its batch.
    var seat: StableArray<LiveRequest.ID>.Seat = 0
    var groupSeat: StableArray<LiveRequest.ID>.Seat?

    var remainingStages: LoadPlan.RemainingStages
    /// Tiers that were queried for the result and the original and missed.
    var missed = MissedTiers()
    /// The received bytes of the last progress and of the last partial image sent.
    var received: UInt64 = 0
    var shown: UInt64 = 0
    /// The number of attempts; a new one starts after a product was lost.
    var attempt = 1
    /// Where it waits for work, or for a store after its image is available; `nil` while it is in
    /// transition between two stages within one event.
    var place: Place?
    /// Times of its own queries; shared work records its own times.
    var timings = StageTimings()
    var pending: Pending?
    /// The image that the request has while the origin is revalidating it.
    var refreshing: Refreshing?
    /// The failure of the original image, if the request continues with its fallback.
    var fallbackContext: FallbackContext?

    /// Whether a client gets its reply.
    var isAnswered: Bool { batch == nil && !isSilent }

    var image: ImageRequest { admitted.image }
    var names: RequestNames { admitted.names }
    var plan: LoadPlan { admitted.plan }

    var urgency: Urgency {
        Urgency(priority: priority, deadline: deadline, flows: Flows(flow))
    }
    /// The flow in which its work is queued.
    var flow: FlowID {
        .client(FlowID.Session(client: client, owner: share, httpClient: httpClient))
    }
    /// Pixels per point.
    var scaleFactor: Double { image.context.scaleFactor ?? names.scaleFactor }
    var waitsForStores: Bool { admitted.waitsForStores }
    /// All source stages of a new or restarted request.
    var allStages: LoadPlan.RemainingStages {
        refreshing == nil ? plan.remainingStages : plan.refreshStages
    }
    var mayFetch: Bool { plan.includes(.fetch) }

    /// Restarts from the first stage, forgetting the missed tiers.
    mutating func beginAfresh() {
        remainingStages = allStages
        missed = MissedTiers()
    }

    /// Whether it continues with a fallback after this error. It doesn't if its deadline has
    /// passed, if this was already the fallback, or if a cached image was delivered.
    func mayFallBack(after error: ImageError, at now: Instant) -> Bool {
        fallbackContext == nil && (refreshing == nil || refreshing?.pending != nil) && isAnswered
            && now < deadline
            && admitted.terms.fallback(after: error, infoOnly: image.infoOnly) != nil
    }

    /// Starts the admitted fallback.
    mutating func begin(_ fallback: AdmittedRequest) {
        admitted = fallback
        attempt = 1
        beginAfresh()
    }

    /// The part of the request that its work depends on.
    func subscriber(_ id: ID) -> Subscriber {
        Subscriber(
            id: id, request: admitted, replaced: refreshing?.tiers ?? .none, missed: missed,
            interests: interests)
    }

    /// A request with a cached image receives no partial images or header.
    private var interests: Subscriber.Interests {
        refreshing == nil ? wantedNotifications : wantedNotifications.intersection(.progress)
    }
}

/// A connected client, and its requests without a terminal reply.
final class LiveClient {
    /// The incarnation of the process, which owns its tokens.
    let incarnation: Incarnation
    /// The owner of the share that it uses.
    let share: ShareOwner
    private(set) var requests = StableArray<LiveRequest.ID>()
    /// Pending cache commands and their numbers.
    var inquiries: [JobID: UInt64] = [:]
    /// Pending cache commands with progress reports.
    var wantsProgress: Set<JobID> = []
    private var groups: [GroupID: Group] = [:]
    /// The newest live request of each slot in use.
    private(set) var slots: [String: LiveRequest.ID] = [:]

    private struct Group: Sendable {
        var seats = StableArray<LiveRequest.ID>()
        /// The class last given to all members together; `nil` if a member joined or was changed
        /// since.
        var priority: Priority?
    }

    init(_ incarnation: Incarnation, _ share: ShareOwner) {
        self.incarnation = incarnation
        self.share = share
    }

    /// The requests of a group in order of their seats.
    func members(of group: GroupID) -> [LiveRequest.ID] { groups[group]?.seats.members ?? [] }

    /// The requests of a group if their class must change to this one; `nil` if all have it
    /// already.
    func members(of group: GroupID, toBecome priority: Priority) -> [LiveRequest.ID]? {
        guard let known = groups[group], known.priority != priority else { return nil }
        groups[group]?.priority = priority
        return known.seats.members
    }

    /// Records that a member has its own class.
    func differs(in group: GroupID) { groups[group]?.priority = nil }

    /// Adds a request; the returned seats are needed for `leave`.
    func join(_ request: LiveRequest.ID, group: GroupID?) -> (seat: Int, groupSeat: Int?) {
        guard let group else { return (requests.join(request), nil) }
        groups[group, default: Group()].priority = nil
        return (requests.join(request), groups[group]?.seats.join(request))
    }

    /// Assigns a slot to a request; an older request gets it only if it is free.
    func assign(_ slot: String, for request: LiveRequest.ID, isOlder: Bool = false) {
        if !isOlder || slots[slot] == nil { slots[slot] = request }
    }

    /// Removes a request that got its terminal reply.
    func leave(_ id: LiveRequest.ID, _ request: LiveRequest) {
        requests.leave(request.seat)
        if let slot = request.slot, slots[slot] == id { slots[slot] = nil }
        guard let group = request.group, let groupSeat = request.groupSeat else { return }
        groups[group]?.seats.leave(groupSeat)
        if groups[group]?.seats.isEmpty == true { groups[group] = nil }
    }
}
