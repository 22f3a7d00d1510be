import Dispatching
import ImageModel
import Messages
import Tables

/// The bytes of one source, for all decodes of them (SEMANTICS §3.5).
///
///     obtaining ──bytes──► holding ──nobody uses them, nothing stores them──► gone
///         └──miss, failure, nobody waits──► gone
///
/// Between the two, a body that may be the stored one is compared with that (`refreshCached`).
///
/// A fetched body is held, and stays in the table, until its original was stored or is known not to
/// be stored. Requests that come until then use it, so that no second GET can go out in between.
struct SourceNode: Node {
    typealias Provider = SourceNode
    static var table: WritableKeyPath<Deriver, NodeTable<SourceNode>> { \.sources }

    enum State: Sendable {
        /// A fetch, or a query of the original.
        case obtaining(JobID)
        /// Bytes came. They are compared with those of the cache, once these are staged.
        case comparing(JobID, Body, against: Staged?)
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
        /// What their origin says of caching, as far as that is known.
        let caching: OriginCaching?
        /// Whether they may be stored as an original: they were fetched, or an operator puts them.
        let isOriginal: Bool
        /// By which entries of them are found, besides the tags of who asks.
        let tags: [String]
        /// What an operator put beside them.
        let extendedData: ExtendedData?

        init(_ block: BlockHandle, fetched: FetchedBody, takesTags: Bool) {
            caching = fetched.caching
            (tags, extendedData) = (takesTags ? fetched.tags : [], nil)
            self.block = block
            reference = fetched.reference
            tier = .none
            self.fetched = fetched
            mark = BodyMark(fetched)
            isOriginal = true
        }

        init(_ block: BlockHandle, hit: CacheHit) {
            self.block = block
            reference = hit.reference
            tier = hit.tier
            fetched = nil
            mark = BodyMark(hit.metadata)
            caching = hit.metadata.caching
            (tags, extendedData) = (hit.metadata.tags, hit.metadata.extendedData)
            isOriginal = false
        }

        init(_ upload: Upload) {
            block = upload.block
            reference = upload.reference
            tier = .none
            fetched = nil
            mark = .none
            caching = nil
            isOriginal = upload.key != nil
            (tags, extendedData) = ([], upload.extendedData)
        }
    }

    /// The stored original, in the cache's own arena.
    struct Staged: Sendable {
        let block: BlockHandle
        let mark: BodyMark
    }

    private(set) var name: Sourced<SourceKey>
    var key: SourceKey { name.key }
    /// What obtains the bytes, again if need be; nothing does where they came along.
    private(set) var spec: JobSpec?
    /// The text under which it was looked for first; the same whatever its bytes depend on.
    let plainText: String
    /// Where they may be kept.
    private(set) var keeping = Keeping.asNamed
    /// On which header fields they depend.
    private(set) var fields: [String]?
    /// Of the request that began it.
    let logContext: LogContext
    let serializer: Serializer
    /// The limits that the configuration sets for the request that began it.
    let limits: LimitSettings
    private(set) var state: State
    /// Decodes that need the bytes.
    var consumers = WaiterList<DecodeNode.ID>()
    var timings = StageTimings()
    /// Whether anybody ever wanted to see progress.
    var hasListeners = false
    /// What is known of the bytes before all of them have come.
    var early = EarlyBytes()
    var freshness = Freshness()
    /// What a decoder said of the bytes; only bytes that decode are stored.
    var info: ImageInfo?
    var storing = OriginalStores()
    /// What our own cache may keep of a hit of an external one, once it has decoded.
    var promotion: Promotion?

    init(name: Sourced<SourceKey>, spec: JobSpec, order: Order, job: JobID) {
        self.name = name
        (logContext, serializer) = (order.logContext, order.serializer)
        limits = order.terms.limits.ofPixels
        self.spec = spec
        plainText = order.names.plainOriginal
        state = .obtaining(job)
    }

    /// Of bytes that are there.
    init(name: Sourced<SourceKey>, order: Order, upload: Upload) {
        self.name = name
        (logContext, serializer) = (order.logContext, order.serializer)
        limits = order.terms.limits.ofPixels
        spec = nil
        plainText = order.names.plainOriginal
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
        case .comparing(_, let body, _), .holding(let body): body
        }
    }

    /// The stored bytes that the body is compared with.
    var staged: Staged? {
        if case .comparing(_, _, let staged) = state { return staged }
        return nil
    }

    /// The job that obtains or compares the bytes, while it runs.
    var job: JobID? {
        switch state {
        case .obtaining(let job), .comparing(let job, _, _): job
        case .holding: nil
        }
    }

    /// Whether its bytes replace others: a refresh found them changed, and they are an image.
    /// Everybody may use them.
    var isReplacing: Bool {
        freshness.isChanged && !freshness.isOutdated && body != nil && info != nil
    }

    /// The text that the cache is asked for.
    var queriedText: String? {
        if case .cache(let query) = name.origin { return query.key }
        return nil
    }

    /// Whether the bytes depend on the request's headers: other headers bring other bytes.
    var isVaried: Bool {
        switch keeping {
        case .asNamed: queriedText.map { $0 != plainText } ?? false
        case .variant(let digest): digest != nil
        case .nowhere: true
        }
    }

    /// The tags of what is stored of its bytes; `nil` while the bytes may bring others.
    var knownTags: [String]? {
        let asked = storing.originals.tags
        if let kept { return CacheTag.union(asked, kept.tags) }
        if case .network(let terms) = name.origin, !terms.takesTags { return asked }
        return nil
    }

    /// Whether the node has a reason to stay.
    var isInUse: Bool { !consumers.isEmpty || storing.isUnderWay }

    /// Another job is to obtain them, from somewhere else.
    mutating func rename(_ origin: ByteSource, _ spec: JobSpec) {
        name = Sourced(key: name.key, origin: origin)
        self.spec = spec
        timings = StageTimings()
    }

    /// It is begun, or begun again.
    mutating func askAgain(_ job: JobID) {
        state = .obtaining(job)
        freshness.isOvertaken = false
        promotion = nil
    }

    /// What the origin says that its answer depends on.
    mutating func keep(_ keeping: Keeping, fields: [String]? = nil) {
        (self.keeping, self.fields) = (keeping, fields)
    }

    /// Bytes came that may be the stored ones.
    mutating func compares(_ body: Body, _ job: JobID, against staged: Staged?) {
        state = .comparing(job, body, against: staged)
    }

    mutating func obtained(_ body: Body) { state = .holding(body) }

    /// The text under which the cache has, or will have, what a plain text names.
    func text(of plain: String) -> String {
        guard case .variant(let variant) = keeping else { return plain }
        return CacheKey.varied(plain, by: variant)
    }

    /// What the cache keeps beside the original; `tags` are those of who asks for it.
    func metadata(_ info: ImageInfo, tags: [String]) -> StoredMetadata {
        let fetched = body?.fetched
        var metadata = StoredMetadata(
            info: info, contentType: fetched?.contentType, etag: body?.mark.etag,
            lastModified: body?.mark.lastModified, vary: fetched?.vary, caching: body?.caching)
        metadata.tags = CacheTag.union(tags, body?.tags ?? [])
        metadata.extendedData = body?.extendedData
        return metadata
    }

    var remains: Remains {
        .source(
            body: kept?.block, staged: staged?.block,
            storing: storing.watchers.isEmpty ? nil : storing)
    }
}

/// What is known of a source before all of its bytes have come.
struct EarlyBytes: Sendable {
    /// Whether anybody wants to look at what has arrived.
    var isWanted = false
    /// Whether work on what has arrived crashed or hung a worker: nothing more is tried before the
    /// whole is here.
    var isGivenUp = false
    /// When it is looked at again.
    var pace = PartialPace()
    /// What the header says; the number of frames is that of those which have come. It never
    /// becomes less.
    private(set) var info: ImageInfo?

    /// A decoder has read the header; whether that is news. What a transfer that began anew has
    /// fewer frames of is none.
    mutating func learn(_ new: ImageInfo) -> Bool {
        guard info != new, new.pages >= info?.pages ?? 0 else { return false }
        info = new
        return true
    }
}

/// Whether a source's bytes are the newest of their URL, as far as is known.
struct Freshness: Sendable {
    /// When the transfer that brings the bytes began.
    private(set) var began: TransferSerial?
    /// Whether a refresh brought other bytes than there were.
    var isChanged = false
    /// The key was stored while a query was under way: a miss means nothing then.
    var isOvertaken = false
    /// Whether a transfer that began later replaced the original. Waiters get these bytes, which
    /// are stored nowhere and replace nothing.
    private(set) var isOutdated = false
    /// Whether nobody joins it any more.
    private(set) var isClosed = false

    /// A worker has begun the transfer. One that begins again is newer than what replaced it
    /// meanwhile.
    mutating func began(_ serial: TransferSerial) {
        began = serial
        isOutdated = false
    }

    /// Bytes of a transfer that began later replaced the original.
    mutating func outdate() {
        isOutdated = true
        isClosed = true
    }
}

// The bytes of a source, from the first decode that needs them until they are there.
extension Deriver {
    /// A decode needs bytes: those of the source that is there, or of a new one.
    mutating func obtainBytes(of node: DecodeNode.ID, _ order: Order) {
        let name = Sourced(key: decodes[node].name.key.source, origin: decodes[node].name.origin)
        let known = sources.serving(name)
        if known != nil { figures.joinedSources += 1 }
        let source = known ?? beginSource(name, order, decodes[node].consumers.urgency)
        decodes[node].source = source
        link(node, to: source, as: node)
        if sources[source].body != nil {
            beginDecode(node)
        } else if known != nil {
            propagate(source)
        }
    }

    /// Begins to obtain bytes: from the URL, or from the cache, unless they came along.
    private mutating func beginSource(
        _ name: Sourced<SourceKey>, _ order: Order, _ urgency: Urgency
    ) -> SourceNode.ID {
        if let upload = order.upload { return hold(upload, as: name, order) }
        let work: JobWork =
            switch name.origin {
            case .cache(let query): .query(query)
            case .network: .fetch(fetchWork(order))
            case .revalidation(let mark, _): .fetch(fetchWork(order, mark.validators))
            case .canvas: preconditionFailure("a canvas is painted and needs no bytes")
            }
        // The job follows at once; it needs to know the node.
        let spec = JobSpec(
            layout.expanded(work), host: name.origin.isFetched ? order.names.host : nil)
        let node = sources.insert(
            SourceNode(name: name, spec: spec, order: order, job: JobID(0)))
        obtain(node, urgency)
        return node
    }

    /// The source of bytes that came along has nothing to wait for.
    private mutating func hold(
        _ upload: Upload, as name: Sourced<SourceKey>, _ order: Order
    ) -> SourceNode.ID {
        dispatcher.hold(upload.block)
        return sources.insert(SourceNode(name: name, order: order, upload: upload))
    }

    /// Gives its work out.
    mutating func obtain(_ node: SourceNode.ID, _ urgency: Urgency) {
        guard let spec = sources[node].spec else {
            preconditionFailure("bytes that came along are there")
        }
        let name = sources[node].name
        let job = submit(
            spec, for: .source(node), reading: nil, urgency,
            suspect: name.origin.isFetched ? .fetch(name.key) : nil)
        sources[node].askAgain(job)
    }

    /// Headers are for origins that clients and rules choose, and for whoever an operator asks in
    /// their place; what else is asked gets none of them.
    func fetchWork(_ order: Order, _ validators: Validators? = nil) -> FetchWork {
        FetchWork(
            url: order.terms.askedURL ?? order.image.url,
            headers: order.terms.loader.takesHeaders ? order.image.headers : [],
            bodyBytesMax: order.terms.limits[.body].map { min(limits.bodyBytesMax, UInt64($0)) }
                ?? limits.bodyBytesMax, validators: validators,
            sources: order.terms.sources, loader: order.terms.loader,
            terms: order.terms.transferOfItsOwn)
    }

    /// Whether the bytes are here already, or are being fetched since the cache does not have them.
    package func isFetching(_ order: Order) -> Bool {
        let name = Sourced(key: order.key.decode.source, origin: order.network)
        guard let node = sources.serving(name) else { return false }
        return sources[node].body != nil
            || order.plan.originalQueryTiers.isSubset(
                of: sources[node].storing.originals.missing(order.names.plainOriginal))
    }

    /// The bytes are there: every decode begins.
    mutating func obtained(_ node: SourceNode.ID, _ body: SourceNode.Body) {
        sources[node].obtained(body)
        endPartials(of: node)
        for decode in sources[node].consumers.members { beginDecode(decode) }
    }

    /// The bytes are there.
    private mutating func beginDecode(_ node: DecodeNode.ID) {
        guard let source = decodes[node].source, let body = sources[source].body else {
            preconditionFailure("a decode begins when its source has arrived")
        }
        decodes[node].provenance = Provenance(
            tier: body.tier, mark: body.mark, caching: body.caching, tags: body.tags,
            extendedData: body.extendedData, keeping: sources[source].keeping,
            began: sources[source].freshness.began,
            isOutdated: sources[source].freshness.isOutdated, fetched: body.fetched?.account)
        decodes[node].isVaried = sources[source].isVaried
        decodes[node].timings += sources[source].timings
        let key = decodes[node].name.key
        var work = DecodeWork(
            source: body.reference, frame: key.frame, need: key.need, keeps: key.keeps,
            facts: key.facts,
            limits: (key.isOverlay ? limits.overlay : limits.image).narrowed(by: key.limits),
            framesMax: key.isOverlay ? 1 : limits.framesMax)
        work.wantsAllFrames = key.wantsAllFrames
        work.passing = key.passing
        work.showsDamaged = key.showsDamaged
        let job = submit(
            .decode(work), for: .decode(node), reading: body.block,
            decodes[node].consumers.urgency,
            suspect: suspect(source, key.need, in: body.block))
        decodes[node].began(job)
    }
}

// What whoever keeps a deny list of sources has to know.
extension Deriver {
    /// What was to be fetched failed, or is no image.
    mutating func tellFailed(_ node: SourceNode.ID, _ error: ImageError) {
        let orders = sources[node].consumers.members.flatMap { self.orders(of: $0) }
        if !orders.isEmpty { tell(.failedSource(sources[node].name.key, .header, error, orders)) }
    }

    /// What was fetched could not be decoded: that counts for all who wait for the source where it
    /// is no image.
    mutating func tellFailed(_ node: DecodeNode.ID, of source: SourceNode.ID, _ error: ImageError) {
        let operation = error.prevented(of: decodes[node].name.key.operation)
        guard operation != .header else { return tellFailed(source, error) }
        let orders = orders(of: node)
        if !orders.isEmpty {
            tell(.failedSource(sources[source].name.key, operation, error, orders))
        }
    }

    /// What was fetched is an image after all: that counts where somebody asked for another try.
    mutating func tellProven(_ node: DecodeNode.ID, _ source: SourceNode.ID) {
        guard sources[source].body?.fetched != nil else { return }
        let retries = orders(of: node).filter(\.image.mayFollowAFailure)
        guard !retries.isEmpty else { return }
        let operation = decodes[node].name.key.operation
        tell(.provenSource(sources[source].name.key, operation, retries))
    }

    /// The orders of all waiters of a decode, the loads of overlays included.
    private func orders(of node: DecodeNode.ID) -> [Order] {
        let orders = waiters(of: node).map(\.order)
        let overlays = decodes[node].overlays
        if overlays.isEmpty { return orders }
        return orders
            + overlays.compactMap { consumer in
                guard case .waiter(let id, let index) = consumer else { return nil }
                return gatherings[id]?.layers[index].order
            }
    }
}
