import Dispatching
import ImageModel
import Messages
import Tables

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
