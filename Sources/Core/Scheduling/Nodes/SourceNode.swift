import ImageModel
import Messages

/// The bytes of one source, for all who decode them (DESIGN §3, keys and coalescing).
///
///     obtaining ──bytes──► holding ──nobody uses them, nothing stores them──► gone
///         └──miss, failure, nobody waits──► gone
///
/// Between the two a body is weighed that may be the stored one (`refreshCached`).
///
/// A fetched body is held, and stays in the table, until its original was stored or is known not
/// to be stored: who comes until then uses it, so that no second GET can go out in between.
struct SourceNode: Sendable {
    typealias ID = SlotTable<SourceNode>.ID

    enum State: Sendable {
        /// A fetch, or a query of the original.
        case obtaining(JobID)
        /// Bytes came, and are held against those that the cache has, once these are staged.
        case weighing(JobID, Body, against: Staged?)
        /// The bytes are there.
        case holding(Body)
    }

    /// Source bytes and what is known of them.
    final class Body: Sendable {
        let block: BlockHandle
        let reference: BlockReference
        /// Which tier had them; none where they were fetched.
        let tier: CacheTypes
        /// What the origin said, where they were fetched.
        let fetched: FetchedBody?
        /// By what they are known again.
        let mark: BodyMark

        init(_ block: BlockHandle, fetched: FetchedBody) {
            self.block = block
            reference = fetched.reference
            tier = .none
            self.fetched = fetched
            mark = BodyMark(fetched)
        }

        init(_ block: BlockHandle, hit: CacheHit) {
            self.block = block
            reference = hit.reference
            tier = hit.tier
            fetched = nil
            mark = BodyMark(hit.metadata)
        }

        init(_ upload: Upload) {
            block = upload.block
            reference = upload.reference
            tier = .none
            fetched = nil
            mark = .none
        }
    }

    /// The stored original, in the cache's own arena.
    struct Staged: Sendable {
        let block: BlockHandle
        let mark: BodyMark
    }

    let name: Sourced<SourceKey>
    /// What obtains the bytes, again if need be; nothing does where they came along.
    let sheet: JobSheet?
    /// The text under which they are cached, and the same whatever they depend on.
    private(set) var text: String
    let plainText: String
    /// Where they may be kept.
    private(set) var keeping = Keeping.asNamed
    /// Of the request that began it.
    let trace: TraceContext?
    private(set) var state: State
    /// Decodes that need the bytes.
    var decodes = WaiterList<DecodeNode.ID>()
    var timings = StageTimings()
    /// Whether anybody ever wanted to see progress.
    var hasListeners = false
    /// Tiers that were asked for the original, in vain.
    var knownMissing: CacheTypes = .none
    /// Whether a refresh brought other bytes than there were.
    var isChanged = false
    /// The key was stored while a query was under way: a miss means nothing then.
    var isOvertaken = false

    // The store of the original.

    /// Tiers that somebody wants the original in, and whether somebody waits for the disk.
    var wish = StoreWish(tiers: .none, waitsForDisk: false)
    /// What a decoder said of the bytes; only bytes that decode are stored.
    var info: ImageInfo?
    /// Tiers for which a store was begun, by whomever.
    private(set) var attempted: CacheTypes = .none
    /// Tiers that stored it.
    private(set) var stored: CacheTypes = .none
    private(set) var stores: [JobID] = []
    /// Results that are these very bytes and are being delivered, which stores them as well.
    private(set) var deliveries = 0
    /// Requests that have their image and wait for the store.
    var watchers = SeatList<LiveRequest.ID>()

    init(name: Sourced<SourceKey>, sheet: JobSheet, order: Order, job: JobID) {
        self.name = name
        trace = order.trace
        self.sheet = sheet
        (text, plainText) = (order.names.original, order.names.plainOriginal)
        state = .obtaining(job)
    }

    /// Of bytes that are there.
    init(name: Sourced<SourceKey>, order: Order, upload: Upload) {
        self.name = name
        trace = order.trace
        sheet = nil
        (text, plainText) = (order.names.original, order.names.plainOriginal)
        state = .holding(Body(upload))
    }

    var body: Body? {
        if case .holding(let body) = state { return body }
        return nil
    }

    /// Bytes that are there, whether or not they may be used already.
    var kept: Body? {
        switch state {
        case .obtaining: nil
        case .weighing(_, let body, _), .holding(let body): body
        }
    }

    /// The stored bytes that others are held against.
    var staged: Staged? {
        if case .weighing(_, _, let staged) = state { return staged }
        return nil
    }

    /// The job that obtains or weighs the bytes, while it runs.
    var job: JobID? {
        switch state {
        case .obtaining(let job), .weighing(let job, _, _): job
        case .holding: nil
        }
    }

    /// Whether its bytes replace others: a refresh found them changed, and they are an image.
    /// Everybody may use them.
    var isReplacing: Bool { isChanged && body != nil && info != nil }

    /// Whether a store of the original is under way.
    var isStoring: Bool { !stores.isEmpty || deliveries > 0 }

    /// Whether the node has a reason to stay.
    var isInUse: Bool { !decodes.isEmpty || isStoring }

    /// The query is made again.
    mutating func askAgain(_ job: JobID) {
        state = .obtaining(job)
        isOvertaken = false
    }

    /// What the origin says that its answer depends on.
    mutating func keep(_ keeping: Keeping) {
        self.keeping = keeping
        if case .variant(let variant) = keeping {
            text = CacheKey.varied(plainText, by: variant)
        }
    }

    /// Bytes came that may be the stored ones.
    mutating func weighs(_ body: Body, _ job: JobID, against staged: Staged?) {
        state = .weighing(job, body, against: staged)
    }

    mutating func obtained(_ body: Body) { state = .holding(body) }

    /// The tiers that are wanted and that no store was begun for; from now on one has.
    mutating func takeUnattempted() -> CacheTypes {
        let tiers = wish.tiers.subtracting(attempted)
        attempted.formUnion(tiers)
        return tiers
    }

    mutating func beganStore(_ job: JobID) { stores.append(job) }

    /// A store ended; `tiers` have the original now.
    mutating func endedStore(_ job: JobID, tiers: CacheTypes) {
        stores.removeAll { $0 == job }
        stored.formUnion(tiers)
    }

    mutating func beganDelivery(storing tiers: CacheTypes) {
        deliveries += 1
        attempted.formUnion(tiers)
    }

    mutating func endedDelivery() { deliveries -= 1 }

    /// What the cache keeps beside the original.
    func metadata(_ info: ImageInfo) -> StoredMetadata {
        let fetched = body?.fetched
        return StoredMetadata(
            info: info, contentType: fetched?.contentType, etag: body?.mark.etag,
            lastModified: body?.mark.lastModified, cacheControl: fetched?.cacheControl,
            vary: fetched?.vary)
    }
}
