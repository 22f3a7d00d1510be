import Model

/// One query for a result's key, shared by all subscribers that query the same tiers.
struct LookupNode: Node {
    typealias Provider = LookupNode
    static func table(of graph: WorkGraph) -> NodeTable<LookupNode> { graph.lookups }

    /// The query; equal queries are coalesced.
    let query: QueryWork
    var consumers = SubscriberList<Subscriber>()
    var job: JobID?
    /// Log context of the request that started the query.
    let logContext: LogContext
    var key: String { query.key }
    /// Whether the key was stored while the query was in flight, which makes a miss meaningless.
    var isOvertaken = false
    /// Whether that store replaced another result, so that a hit may be the old one.
    var isOutdated = false
}

// Cache lookups of results, from joining to the outcome.
extension WorkGraph {
    /// Joins the query in flight or starts one. Throws if none can be started.
    func lookUp(_ subscriber: Subscriber, _ urgency: Urgency) throws(ImageError)
        -> Place
    {
        let request = subscriber.request
        let query = QueryWork(
            key: request.names.result, tiers: request.plan.queryTiers, destination: .results,
            promotes: request.image.storeCacheTypes.contains(.memory))
        let known = lookups.first(under: query.key) { $0.query == query }
        if known == nil, let error = dispatcher.refusal(in: .query) { throw error }
        let node =
            known ?? lookups.insert(LookupNode(query: query, logContext: request.logContext))
        let seat = lookups[node].consumers.join(subscriber, urgency)
        if known == nil {
            ask(node)
        } else {
            shared.counters.coalesced.lookups += 1
            propagate(node)
        }
        return .lookup(Need(node: node, seat: seat))
    }

    /// Handles a hit: completes the lookup for all subscribers.
    func lookup(
        _ node: LookupNode.ID, found hit: CacheHit, _ job: Completion.Ended
    ) {
        guard let cache = job.worker else { preconditionFailure("the result was found in a cache") }
        emit(.noticed(hit.reference, cache))
        if lookups[node].isOutdated { return ask(node) }
        let subscribers = lookups[node].consumers.members
        retire(node)
        let block = BlockHandle(worker: cache, block: hit.reference.block)
        notify(subscribers, .found(hit, Self.timings(job)), block: block)
    }

    private static func timings(_ job: Completion.Ended) -> StageTimings {
        var timings = StageTimings()
        timings.add(job)
        return timings
    }

    /// Handles a miss or a failed query: all subscribers continue with the next stage, unless the
    /// key was stored in the meantime.
    func lookupMissed(_ node: LookupNode.ID, _ job: Completion.Ended) {
        guard !lookups[node].isOvertaken else { return ask(node) }
        let query = lookups[node].query
        let subscribers = lookups[node].consumers.members
        retire(node)
        notify(subscribers, .missed(query.key, query.tiers, Self.timings(job)))
    }

    private func ask(_ node: LookupNode.ID) {
        let job = submit(
            .query(lookups[node].query), for: .lookup(node), reading: nil,
            lookups[node].consumers.urgency)
        lookups[node].job = job
        (lookups[node].isOvertaken, lookups[node].isOutdated) = (false, false)
    }
}

/// One query to external caches for the freshness of an image that is stale here.
struct ValidityNode: Node {
    typealias Provider = ValidityNode
    static func table(of graph: WorkGraph) -> NodeTable<ValidityNode> { graph.validities }

    /// Identifies the image that the subscribers have.
    struct Key: Hashable, Sendable {
        /// The text of the result's key.
        let text: String
        /// Identifies the bytes of the original.
        let mark: BodyMark
    }

    let key: Key
    /// Texts not queried yet under which external caches may know the original.
    var texts: ArraySlice<String>
    /// The time of the locally known caching information, in milliseconds since 1970.
    let bornMilliseconds: Int64
    var consumers = SubscriberList<Subscriber>()
    var job: JobID?
    var timings = StageTimings()
    /// Log context of the request that started the query.
    let logContext: LogContext
    /// Whether an operator removed entries meanwhile, which makes an answer meaningless.
    var isOutdated = false

    /// Whether the answer concerns the same bytes and is newer than what is known.
    func isNews(_ validity: Validity) -> Bool {
        guard !isOutdated, BodyMark(validity).names(key.mark), let caching = validity.caching
        else { return false }
        return caching.age.bornMilliseconds > bornMilliseconds
    }
}

// Freshness information from external caches for an image that is stale here: another machine may
// have revalidated it since (SEMANTICS §6.7).
extension WorkGraph {
    /// Joins the query in flight or starts one; returns `nil` if the queue is full. `caching` is
    /// the locally known information.
    func askValidity(
        _ subscriber: Subscriber, of mark: BodyMark, _ caching: OriginCaching?, _ urgency: Urgency
    ) -> Place? {
        let request = subscriber.request
        let key = ValidityNode.Key(text: request.names.result, mark: mark)
        let known = validities.first(under: key)
        if known == nil, dispatcher.refusal(in: .query) != nil { return nil }
        let node =
            known
            ?? validities.insert(
                ValidityNode(
                    key: key, texts: sharedTexts(of: request.names)[...],
                    bornMilliseconds: caching?.age.bornMilliseconds ?? -1,
                    logContext: request.logContext))
        let seat = validities[node].consumers.join(subscriber, urgency)
        if known == nil { ask(node) } else { propagate(node) }
        return .validity(Need(node: node, seat: seat))
    }

    /// The texts under which external caches may keep the image or its original.
    func sharedTexts(of names: RequestNames) -> [String] {
        let texts =
            names.result == names.original ? [names.result] : [names.result, names.original]
        return texts.filter { layout.isShared($0) }
    }

    private func ask(_ node: ValidityNode.ID) {
        while let text = validities[node].texts.popFirst() {
            guard layout.isShared(text) else { continue }
            var work = EntryWork(action: .contains, key: text, tiers: .disk)
            work.wantsValidity = true
            let urgency = validities[node].consumers.urgency
            let job = submit(.entry(work), for: .validity(node), reading: nil, urgency)
            validities[node].job = job
            return
        }
        answer(node, nil)
    }

    /// Handles the answer of an external cache; `nil` means that it doesn't know the image or
    /// failed.
    func validityKnown(
        _ node: ValidityNode.ID, _ validity: Validity?, _ job: Completion.Ended
    ) {
        validities[node].timings.add(job)
        guard let validity, validities[node].isNews(validity) else { return ask(node) }
        answer(node, validity)
    }

    private func answer(_ node: ValidityNode.ID, _ news: Validity?) {
        let (subscribers, timings) = (validities[node].consumers.members, validities[node].timings)
        retire(node)
        notify(subscribers, .validity(news, timings))
    }
}
