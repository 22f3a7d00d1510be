import Model

/// The bytes of one source, shared by all of its decodes (SEMANTICS §3.5).
///
///     obtaining ──bytes──► holding ──unused and not being stored──► gone
///         └──miss, failure, no consumers──► gone
///
/// In between, a body that may equal the stored one is compared with it (`refreshCached`).
///
/// A fetched body is kept in the table until the store of its original has finished or is ruled
/// out. Requests that arrive meanwhile use it, so that no second GET is sent.
struct SourceNode: Node {
    typealias Provider = SourceNode
    static func table(of graph: WorkGraph) -> NodeTable<SourceNode> { graph.sources }

    enum State: Sendable {
        /// A fetch, or a query of the original.
        case obtaining(JobID)
        /// Bytes have arrived and are compared with the cached ones once these are staged.
        case comparing(JobID, Body, against: Staged?)
        /// The bytes are available.
        case holding(Body)
    }

    /// Source bytes with their metadata.
    final class Body: Sendable {
        let block: BlockHandle
        let reference: BlockReference
        /// The response of the origin if they were fetched.
        let fetched: FetchedBody?
        /// Whether they may be stored as an original: they were fetched, or put by an operator.
        let isOriginal: Bool
        /// What is known of them by themselves.
        let provenance: Provenance

        init(_ block: BlockHandle, fetched: FetchedBody, takesTags: Bool) {
            (self.block, reference, self.fetched) = (block, fetched.reference, fetched)
            isOriginal = true
            provenance = Provenance(
                mark: BodyMark(fetched), caching: fetched.caching,
                tags: takesTags ? fetched.tags : [], fetched: fetched.account)
        }

        init(_ block: BlockHandle, hit: CacheHit) {
            (self.block, reference, fetched) = (block, hit.reference, nil)
            isOriginal = false
            provenance = Provenance(
                tier: hit.tier, mark: BodyMark(hit.metadata), caching: hit.metadata.caching,
                tags: hit.metadata.tags, extendedData: hit.metadata.extendedData)
        }

        init(_ upload: Upload) {
            (block, reference, fetched) = (upload.block, upload.reference, nil)
            isOriginal = upload.key != nil
            provenance = Provenance(extendedData: upload.extendedData)
        }
    }

    /// The stored original, in the cache's own arena.
    struct Staged: Sendable {
        let block: BlockHandle
        let mark: BodyMark
    }

    let key: SourceKey
    private(set) var origin: ByteSource
    /// The job that obtains the bytes and may be repeated; `nil` for uploads.
    private(set) var spec: JobSpec?
    /// The text under which the source was first looked up, without a variant.
    let plainText: String
    /// Where the bytes may be stored.
    private(set) var keeping = Keeping.asNamed
    /// The header fields on which the bytes depend.
    private(set) var fields: [String]?
    /// Log context of the request that started it.
    let logContext: LogContext
    let serializer: Serializer
    /// The configured limits of the request that started it.
    let limits: LimitSettings
    var state: State
    /// Decodes that need the bytes.
    var consumers = SubscriberList<DecodeNode.ID>()
    var timings = StageTimings()
    /// Whether any subscriber has requested progress.
    var hasListeners = false
    /// Information gained before all bytes have arrived.
    var early = EarlyBytes()
    var freshness = Freshness()
    /// The image properties reported by a decoder; only bytes that decode are stored.
    var info: ImageInfo?
    var storing = OriginalStores()
    /// What the built-in cache may store of a hit of an external cache, once it has been decoded.
    var promotion: Promotion?

    /// Creates a source whose bytes a job obtains, or were uploaded.
    init(
        _ key: SourceKey, _ origin: ByteSource, _ request: AdmittedRequest, spec: JobSpec?,
        state: State
    ) {
        (self.key, self.origin) = (key, origin)
        (logContext, serializer) = (request.logContext, request.serializer)
        limits = request.terms.limits.ofPixels
        (self.spec, self.state) = (spec, state)
        plainText = request.names.plainOriginal
    }

    var body: Body? {
        if case .holding(let body) = state { return body }
        return nil
    }

    /// The bytes that have arrived, even if they can't be used yet.
    var kept: Body? {
        switch state {
        case .obtaining: nil
        case .comparing(_, let body, _), .holding(let body): body
        }
    }

    /// The stored bytes with which the body is compared.
    var staged: Staged? {
        if case .comparing(_, _, let staged) = state { return staged }
        return nil
    }

    /// The running job that obtains or compares the bytes.
    var job: JobID? {
        switch state {
        case .obtaining(let job), .comparing(let job, _, _): job
        case .holding: nil
        }
    }

    /// Whether the bytes replace others: a refresh found them changed, and they are an image. Any
    /// request may use them.
    var isReplacing: Bool {
        freshness.isChanged && !freshness.isOutdated && body != nil && info != nil
    }

    /// The text that is queried in the cache.
    var queriedText: String? {
        if case .cache(let query) = origin { return query.key }
        return nil
    }

    /// Whether the bytes depend on the request's headers, so that other headers give other bytes.
    var isVaried: Bool {
        switch keeping {
        case .asNamed: queriedText.map { $0 != plainText } ?? false
        case .variant(let digest): digest != nil
        case .nowhere: true
        }
    }

    /// The tags of entries stored from the bytes; `nil` while the response may add more.
    var knownTags: [String]? {
        let asked = storing.originals.tags
        if let kept { return CacheTag.union(asked, kept.provenance.tags) }
        if case .network(let terms) = origin, !terms.takesTags { return asked }
        return nil
    }

    /// Whether the node must be kept.
    var isInUse: Bool { !consumers.isEmpty || storing.isUnderWay }

    /// Changes the origin of the bytes; another job obtains them.
    mutating func rename(_ origin: ByteSource, _ spec: JobSpec) {
        (self.origin, self.spec) = (origin, spec)
        timings = StageTimings()
    }

    /// Sets where the bytes may be stored, depending on the variance of the response.
    mutating func keep(_ keeping: Keeping, fields: [String]? = nil) {
        (self.keeping, self.fields) = (keeping, fields)
    }

    /// Returns the text under which the cache stores the entry of a plain text.
    func text(of plain: String) -> String {
        guard case .variant(let variant) = keeping else { return plain }
        return CacheKey.varied(plain, by: variant)
    }

    /// Returns the metadata to store with the original; `tags` are those of the request.
    func metadata(_ info: ImageInfo, tags: [String]) -> StoredMetadata {
        let provenance = body?.provenance ?? Provenance()
        return provenance.metadata(info, tags: tags, of: body?.fetched)
    }

    func releaseResources(in graph: WorkGraph) {
        graph.notifyStored(storing)
        if let kept { graph.dispatcher.drop(kept.block) }
        if let staged { graph.dispatcher.drop(staged.block) }
    }
}

/// Information about a source before all of its bytes have arrived.
struct EarlyBytes: Sendable {
    /// Whether any subscriber wants partial data to be examined.
    var isWanted = false
    /// Whether processing partial data crashed or hung a worker; nothing more is tried before the
    /// transfer is complete.
    var isGivenUp = false
    /// Decides when to examine the data again.
    var pace = PartialPace()
    /// The image header; its number of frames counts those received so far and never decreases.
    private(set) var info: ImageInfo?

    /// Records a header that a decoder has read. Returns whether it is new; headers with fewer
    /// frames, from a restarted transfer, are ignored.
    mutating func learn(_ new: ImageInfo) -> Bool {
        guard info != new, new.pages >= info?.pages ?? 0 else { return false }
        info = new
        return true
    }
}

/// Whether a source's bytes are the newest of their URL, as far as is known.
struct Freshness: Sendable {
    /// When the transfer of the bytes began.
    private(set) var began: TransferSerial?
    /// Whether a refresh returned bytes that differ from the stored ones.
    var isChanged = false
    /// Whether the key was stored while a query was in flight, which makes a miss meaningless.
    var isOvertaken = false
    /// Whether a later transfer has replaced the original. Subscribers receive these bytes, but
    /// they are not stored and replace nothing.
    private(set) var isOutdated = false
    /// Whether no further consumer may join.
    private(set) var isClosed = false

    /// Records the start of the transfer. A restarted transfer is newer than any replacement so
    /// far.
    mutating func began(_ serial: TransferSerial) {
        began = serial
        isOutdated = false
    }

    /// Records that a later transfer has replaced the original.
    mutating func outdate() {
        isOutdated = true
        isClosed = true
    }
}

// Obtaining the bytes of a source for decodes.
extension WorkGraph {
    /// Joins the source of the bytes that a decode needs, or starts one.
    func obtainBytes(of node: DecodeNode.ID, _ request: AdmittedRequest) {
        let name = decodes[node].name
        let known = sources.serving(name.key.source, name.origin)
        if known != nil { shared.counters.coalesced.sources += 1 }
        let source =
            known
            ?? beginSource(
                name.key.source, name.origin, request, decodes[node].consumers.urgency)
        decodes[node].source = source
        link(node, to: source, as: node)
        if sources[source].body != nil {
            beginDecode(node)
        } else if known != nil {
            propagate(source)
        }
    }

    /// Starts a source from the URL, the cache or an upload.
    private func beginSource(
        _ key: SourceKey, _ origin: ByteSource, _ request: AdmittedRequest, _ urgency: Urgency
    ) -> SourceNode.ID {
        if let upload = request.upload {
            dispatcher.hold(upload.block)
            return sources.insert(
                SourceNode(key, origin, request, spec: nil, state: .holding(.init(upload))))
        }
        let work: JobWork =
            switch origin {
            case .cache(let query): .query(query)
            case .network: .fetch(fetchWork(request))
            case .revalidation(let mark, _): .fetch(fetchWork(request, mark.validators))
            case .canvas: preconditionFailure("a canvas is drawn and needs no bytes")
            }
        // The job must refer to the node and is therefore submitted after the insertion.
        let spec = JobSpec(
            layout.expanded(work), host: origin.isFetched ? request.names.host : nil)
        let node = sources.insert(
            SourceNode(key, origin, request, spec: spec, state: .obtaining(JobID(0))))
        obtain(node, urgency)
        return node
    }

    /// Submits the job that obtains the bytes.
    func obtain(_ node: SourceNode.ID, _ urgency: Urgency) {
        guard let spec = sources[node].spec else {
            preconditionFailure("uploaded bytes must be available")
        }
        let job = submit(
            spec.work, spec, for: .source(node), reading: nil, urgency,
            suspect: sources[node].origin.isFetched ? .fetch(sources[node].key) : nil)
        sources[node].state = .obtaining(job)
        sources[node].freshness.isOvertaken = false
        sources[node].promotion = nil
    }

    /// Headers are sent only to origins chosen by clients and rules, or to a loader that an
    /// operator substitutes for them; other loaders receive none.
    func fetchWork(_ request: AdmittedRequest, _ validators: Validators? = nil) -> FetchWork {
        FetchWork(
            url: request.terms.urlToFetch ?? request.image.url,
            headers: request.terms.loader.takesHeaders ? request.image.headers : [],
            bodyBytesMax: request.terms.limits[.body].map { min(limits.bodyBytesMax, UInt64($0)) }
                ?? limits.bodyBytesMax, validators: validators,
            sources: request.terms.sources, loader: request.terms.loader,
            terms: request.terms.downloadWorkerTransfer)
    }

    /// Whether the bytes are available, or are being fetched because the cache doesn't have them.
    func isFetching(_ request: AdmittedRequest) -> Bool {
        guard let node = sources.serving(request.key.decode.source, request.network) else {
            return false
        }
        return sources[node].body != nil
            || request.plan.originalQueryTiers.isSubset(
                of: sources[node].storing.originals.missing(request.names.plainOriginal))
    }

    /// Records the bytes and starts all decodes.
    func obtained(_ node: SourceNode.ID, _ body: SourceNode.Body) {
        sources[node].state = .holding(body)
        endPartials(of: node)
        for decode in sources[node].consumers.members { beginDecode(decode) }
    }

    /// Starts a decode of the bytes.
    private func beginDecode(_ node: DecodeNode.ID) {
        guard let source = decodes[node].source, let body = sources[source].body else {
            preconditionFailure("a decode must start after its source has arrived")
        }
        var provenance = body.provenance
        provenance.keeping = sources[source].keeping
        provenance.began = sources[source].freshness.began
        provenance.isOutdated = sources[source].freshness.isOutdated
        decodes[node].provenance = provenance
        decodes[node].isVaried = sources[source].isVaried
        decodes[node].timings += sources[source].timings
        let key = decodes[node].name.key
        var work = DecodeWork(
            source: body.reference, frame: key.frame, need: key.need, keeps: key.keeps,
            properties: key.properties,
            limits: (key.isOverlay ? limits.overlay : limits.image).narrowed(by: key.limits),
            framesMax: key.isOverlay ? 1 : limits.framesMax)
        work.wantsAllFrames = key.wantsAllFrames
        work.passThrough = key.passThrough
        work.showsDamaged = key.showsDamaged
        let job = submit(
            .decode(work), for: .decode(node), reading: body.block,
            decodes[node].consumers.urgency,
            suspect: suspect(source, key.need, in: body.block))
        decodes[node].state = .decoding(job)
    }
}

// Reports for the owner of the failure cache.
extension WorkGraph {
    /// Reports that a transfer failed or its body isn't an image.
    func notifyFailed(_ node: SourceNode.ID, _ error: ImageError) {
        let requests = sources[node].consumers.members.flatMap { self.requests(of: $0) }
        if !requests.isEmpty {
            emit(.failedSource(sources[node].key, .header, error, requests))
        }
    }

    /// Reports a failed decode of a fetched source. If the source isn't an image, this affects all
    /// of its subscribers.
    func notifyFailed(_ node: DecodeNode.ID, of source: SourceNode.ID, _ error: ImageError) {
        let operation = error.prevented(of: decodes[node].name.key.operation)
        guard operation != .header else { return notifyFailed(source, error) }
        let requests = requests(of: node)
        if !requests.isEmpty {
            emit(.failedSource(sources[source].key, operation, error, requests))
        }
    }

    /// Reports that a fetched source is an image after all, if any request asked for a retry.
    func notifyProven(_ node: DecodeNode.ID, _ source: SourceNode.ID) {
        guard sources[source].body?.fetched != nil,
            decodes[node].consumers.contains(where: mayFollowAFailure)
        else { return }
        let retries = requests(of: node).filter(\.image.mayFollowAFailure)
        let operation = decodes[node].name.key.operation
        emit(.provenSource(sources[source].key, operation, retries))
    }

    private func mayFollowAFailure(_ consumer: PixelConsumer) -> Bool {
        switch consumer {
        case .result(let id): results[id].consumers.contains { $0.request.image.mayFollowAFailure }
        case .subscriber(let id, let index):
            gatherings[id]?.layers[index].request.image.mayFollowAFailure == true
        case .overlaid: false
        }
    }

    /// The requests of all subscribers of a decode, including overlay loads.
    private func requests(of node: DecodeNode.ID) -> [AdmittedRequest] {
        subscribers(of: node).map(\.request)
            + decodes[node].consumers.members.compactMap { consumer in
                guard case .subscriber(let id, let index) = consumer else { return nil }
                return gatherings[id]?.layers[index].request
            }
    }
}
