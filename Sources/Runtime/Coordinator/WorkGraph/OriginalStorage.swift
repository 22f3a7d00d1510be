import Model

/// Stores of a source's bytes in flight, and their watchers.
struct OriginalStores: Sendable {
    /// Store state by cache text.
    var originals = Originals()
    private(set) var jobs: [(job: JobID, plain: String)] = []
    /// The number of deliveries in progress of results that consist of these bytes and therefore
    /// store them.
    var deliveries = 0
    /// The number of serializations of these bytes in progress.
    var transcodes = 0
    /// The watchers of these stores.
    var watchers = WatcherList()

    /// Whether a store of the original is in flight.
    var isUnderWay: Bool { !jobs.isEmpty || deliveries > 0 || transcodes > 0 }

    mutating func began(_ job: JobID, _ plain: String) { jobs.append((job, plain)) }

    /// Records the end of a store after which `tiers` have the original. Returns its plain text.
    @discardableResult
    mutating func ended(_ job: JobID, tiers: CacheTypes) -> String? {
        guard let ended = jobs.firstIndex(where: { $0.job == job }) else { return nil }
        let plain = jobs.remove(at: ended).plain
        originals.ended(tiers, plain)
        return plain
    }
}

/// Store state of a source's bytes per cache text: one transfer may be stored in several caches and
/// under several keys, but nearly always there is one text.
///
/// The texts are plain, that is, without variants.
struct Originals: Sendable {
    private struct Original {
        let text: String
        /// Tiers in which subscribers want it, and whether any waits for the disk.
        var policy = StorePolicy(tiers: .none, waitsForDisk: false)
        /// Tiers that were queried and missed.
        var missing: CacheTypes = .none
        /// Tiers for which a store was started.
        var attempted: CacheTypes = .none
        /// Tiers that have stored it.
        var stored: CacheTypes = .none
    }

    private var entries: [Original] = []
    /// The indices of the second and later texts.
    private var places: [String: Int] = [:]
    /// Indices of texts whose policies may include tiers without a store, in order of the policies.
    private var wanting: [Int] = []

    /// All texts, in insertion order.
    var texts: [String] { entries.map(\.text) }

    /// The combined tags under all texts.
    var tags: [String] {
        entries.reduce(into: []) { CacheTag.unite(&$0, with: $1.policy.tags) }
    }

    private func place(of text: String) -> Int? {
        if let first = entries.first, first.text == text { return 0 }
        return entries.count > 1 ? places[text] : nil
    }

    private mutating func index(of text: String) -> Int {
        if let place = place(of: text) { return place }
        if !entries.isEmpty { places[text] = entries.count }
        entries.append(Original(text: text))
        return entries.count - 1
    }

    /// All texts, with the tiers for which a store is wanted or was started.
    var wanted: [(text: String, tiers: CacheTypes)] {
        entries.map { ($0.text, $0.policy.tiers.union($0.attempted)) }
    }

    /// Adds a text. Returns whether it is new.
    mutating func enter(_ text: String) -> Bool {
        let count = entries.count
        return index(of: text) == count
    }

    /// Tiers that were queried for it under this text and missed.
    func missing(_ text: String) -> CacheTypes {
        place(of: text).map { entries[$0].missing } ?? .none
    }

    /// Tiers that have stored it under this text.
    func stored(_ text: String) -> CacheTypes {
        place(of: text).map { entries[$0].stored } ?? .none
    }

    /// Records that these tiers were queried and missed.
    mutating func noteMissing(_ tiers: CacheTypes, _ text: String) {
        if !tiers.isEmpty { entries[index(of: text)].missing.formUnion(tiers) }
    }

    /// Adds a subscriber's store policy for this text.
    mutating func want(_ policy: StorePolicy, as text: String) {
        let index = index(of: text)
        entries[index].policy.unite(policy)
        guard !entries[index].policy.tiers.isSubset(of: entries[index].attempted),
            !wanting.contains(index)
        else { return }
        wanting.append(index)
    }

    /// Returns the next text with wanted tiers for which no store was started, and marks them as
    /// started.
    mutating func nextUnattempted() -> (text: String, policy: StorePolicy)? {
        while !wanting.isEmpty {
            let index = wanting.removeFirst()
            var policy = entries[index].policy
            policy.tiers.subtract(entries[index].attempted)
            if policy.tiers.isEmpty { continue }
            entries[index].attempted.formUnion(policy.tiers)
            return (entries[index].text, policy)
        }
        return nil
    }

    /// Records a store for those tiers that was started elsewhere.
    mutating func attempt(_ tiers: CacheTypes, _ text: String) {
        entries[index(of: text)].attempted.formUnion(tiers)
    }

    /// Records that those tiers have stored it.
    mutating func ended(_ tiers: CacheTypes, _ text: String) {
        entries[index(of: text)].stored.formUnion(tiers)
    }
}

// Subscribers' requests to a source other than pixels: stores and progress.
extension WorkGraph {
    /// Registers the requests of a subscriber that joined a result.
    func notifySource(of node: ResultNode.ID, about subscriber: Subscriber) {
        guard let source = results[node].source, sources.contains(source) else { return }
        let (request, interests) = (subscriber.request, subscriber.interests)
        if !interests.isEmpty, !sources[source].hasListeners {
            sources[source].hasListeners = true
            if let job = sources[source].job { dispatcher.request(\.wantsProgress, of: job) }
        }
        if !interests.isDisjoint(with: .early), !sources[source].early.isWanted {
            sources[source].early.isWanted = true
            if let job = sources[source].job { dispatcher.request(\.wantsArrived, of: job) }
        }
        want(
            of: source, by: request, waitsForDisk: request.waitsForStores,
            storing: request.plan.includes(.storeOriginal)
                ? request.plan.originalStoreTiers : .none,
            missed: subscriber.missed.original(of: request))
    }

    /// Registers the requests of an overlay, whose original is stored like that of an image.
    func notifySource(of node: DecodeNode.ID, about layer: Gathering.Layer) {
        guard let source = decodes[node].source, sources.contains(source) else { return }
        want(
            of: source, by: layer.request, waitsForDisk: false,
            storing: layer.request.image.originalStoreCacheTypes, missed: layer.missed)
    }

    private func want(
        of source: SourceNode.ID, by request: AdmittedRequest, waitsForDisk: Bool,
        storing tiers: CacheTypes,
        missed: CacheTypes
    ) {
        let plain = request.names.plainOriginal
        let isNew = sources[source].storing.originals.enter(plain)
        if isNew { teachVariance(of: source, plain) }
        sources[source].storing.originals.noteMissing(missed, plain)
        if !tiers.isEmpty {
            sources[source].storing.originals.want(
                StorePolicy(
                    tiers: tiers, waitsForDisk: waitsForDisk, serializer: request.serializer,
                    tags: request.terms.tags),
                as: plain)
            storeOriginal(source)
        }
        if isNew, sources[source].isReplacing {
            removeUnreplacedOriginals(of: source, under: plain)
        }
    }

    // MARK: - Stores

    /// Stores a fetched and decoded source in the wanted tiers without a store. If the cache's
    /// queue is full, it isn't stored, which at worst causes a miss later. Bytes that replace
    /// others are always stored.
    func storeOriginal(_ node: SourceNode.ID) {
        guard sources.contains(node), let body = sources[node].body, body.isOriginal,
            sources[node].keeping != .nowhere, !sources[node].freshness.isOutdated,
            let info = sources[node].info,
            dispatcher.hasRoom(.cache) || sources[node].isReplacing
        else { return }
        let urgency = sources[node].consumers.urgency.unbounded
        while let wanted = sources[node].storing.originals.nextUnattempted() {
            // If a serializer encodes the original, no tier stores the bytes as they are.
            let isOthers = isTranscoding(node, as: wanted.text)
            let tiers = isOthers ? .none : wanted.policy.plainTiers
            if transcodeOriginal(node, wanted.policy, as: wanted.text) || tiers.isEmpty { continue }
            let work = StoreWork(
                key: sources[node].text(of: wanted.text), source: body.reference, tiers: tiers,
                delivers: false, waitsForDisk: wanted.policy.waitsForDisk && tiers.contains(.disk),
                metadata: sources[node].metadata(info, tags: wanted.policy.tags))
            sources[node].storing.began(
                submit(.store(work), for: .original(node), reading: body.block, urgency),
                wanted.text)
        }
    }

    /// Abandons the stores of an original that is no longer to be stored.
    func endStores(of node: SourceNode.ID) {
        for job in sources[node].storing.jobs.map(\.job) {
            abandon(job)
            sources[node].storing.ended(job, tiers: .none)
        }
    }
}

// Completion of stores of originals and serializations.
extension WorkGraph {
    /// Handles the end of a store, successful or not, after which `tiers` have the original.
    func originalStored(_ node: SourceNode.ID, _ job: JobID, tiers: CacheTypes) {
        let plain = sources[node].storing.ended(job, tiers: tiers)
        if let plain, !tiers.isEmpty {
            overtakeQueries(of: sources[node].text(of: plain), sources[node].key)
            if sources[node].isReplacing { outdateOthers(of: node) }
        }
        tidy(node)
    }

    /// Handles a finished job of a serialization; the next job holds the resulting block.
    func transcoded(
        _ id: TranscodeNode.ID, _ result: JobResult, _ blocks: ShortList<BlockHandle>
    ) {
        switch (result, blocks.first) {
        case (.decoded(let image), let block?):
            encode(id, image.frames[0], image.info, reading: block)
        case (.transformed(let image), let block?): store(id, image, reading: block)
        case (.stored(let report), _): transcodeStored(id, in: report.tiers)
        default: preconditionFailure("outcomes must match their jobs")
        }
        dispatcher.drop(blocks)
    }

    /// Handles the end of a serialization's store.
    private func transcodeStored(_ id: TranscodeNode.ID, in tiers: CacheTypes) {
        guard let source = endTranscode(id, storing: tiers) else { return }
        if !tiers.isEmpty, sources[source].isReplacing { outdateOthers(of: source) }
        tidy(source)
    }
}
