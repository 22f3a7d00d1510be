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
