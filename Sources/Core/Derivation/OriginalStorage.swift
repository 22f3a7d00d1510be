import Dispatching
import ImageModel
import Messages
import Tables

/// The stores of a source's bytes that are under way, and the watchers that wait for them.
struct OriginalStores: Sendable {
    /// By text of the cache.
    var originals = Originals()
    private(set) var jobs: [(job: JobID, plain: String)] = []
    /// Results that are these very bytes and are being delivered, which stores them as well.
    private(set) var deliveries = 0
    /// Stores of another encoding of these bytes.
    private(set) var transcodes = 0
    /// The watchers that wait for these stores.
    var watchers = WatcherList()

    /// Whether a store of the original is under way.
    var isUnderWay: Bool { !jobs.isEmpty || deliveries > 0 || transcodes > 0 }

    mutating func began(_ job: JobID, _ plain: String) { jobs.append((job, plain)) }

    /// A store ended; `tiers` have the original now, under the plain text that comes back.
    @discardableResult
    mutating func ended(_ job: JobID, tiers: CacheTypes) -> String? {
        guard let ended = jobs.firstIndex(where: { $0.job == job }) else { return nil }
        let plain = jobs.remove(at: ended).plain
        originals.ended(tiers, plain)
        return plain
    }

    /// A result under this plain text that is these very bytes is delivered, and stores them.
    mutating func beganDelivery(storing tiers: CacheTypes, as plain: String) {
        deliveries += 1
        originals.attempt(tiers, plain)
    }

    mutating func endedDelivery() { deliveries -= 1 }

    mutating func beganTranscode() { transcodes += 1 }

    /// A store of another encoding ended; `tiers` have the original now, under this plain text.
    mutating func endedTranscode(tiers: CacheTypes, as plain: String) {
        transcodes -= 1
        originals.ended(tiers, plain)
    }
}

/// What is wanted and known of a source's bytes under each text of the cache: one transfer may be
/// kept in several caches and under several keys. Nearly always it is one text.
///
/// Texts are plain ones, the same whatever the origin's answer depends on.
struct Originals: Sendable {
    private struct Original {
        let text: String
        /// Tiers that somebody wants it in, and whether somebody waits for the disk.
        var policy = StorePolicy(tiers: .none, waitsForDisk: false)
        /// Tiers that were asked for it, in vain.
        var missing: CacheTypes = .none
        /// Tiers for which any store was begun.
        var attempted: CacheTypes = .none
        /// Tiers that stored it.
        var stored: CacheTypes = .none
    }

    private var entries: [Original] = []
    /// Where the second text and those after it are.
    private var places: [String: Int] = [:]
    /// Texts with policies that may not have been attempted, in the order of the policies.
    private var wanting: [Int] = []

    /// All texts, the first one first.
    var texts: [String] { entries.map(\.text) }

    /// The tags that somebody wants it to have, under whichever text.
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

    /// All texts, with the tiers for which a store is wanted or was begun.
    var wanted: [(text: String, tiers: CacheTypes)] {
        entries.map { ($0.text, $0.policy.tiers.union($0.attempted)) }
    }

    /// Somebody looks for it under this text; whether nobody did before.
    mutating func enter(_ text: String) -> Bool {
        let count = entries.count
        return index(of: text) == count
    }

    /// Tiers that were asked for it under this text, in vain.
    func missing(_ text: String) -> CacheTypes {
        place(of: text).map { entries[$0].missing } ?? .none
    }

    /// Tiers that stored it under this text.
    func stored(_ text: String) -> CacheTypes {
        place(of: text).map { entries[$0].stored } ?? .none
    }

    /// Those tiers were asked for it, in vain.
    mutating func noteMissing(_ tiers: CacheTypes, _ text: String) {
        if !tiers.isEmpty { entries[index(of: text)].missing.formUnion(tiers) }
    }

    /// Somebody wants it kept under this text.
    mutating func want(_ policy: StorePolicy, as text: String) {
        let index = index(of: text)
        entries[index].policy.unite(policy)
        guard !entries[index].policy.tiers.isSubset(of: entries[index].attempted),
            !wanting.contains(index)
        else { return }
        wanting.append(index)
    }

    /// The next text with tiers that are wanted and that no store was begun for; from now on one
    /// has.
    mutating func takeUnattempted() -> (text: String, policy: StorePolicy)? {
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

    /// A store for those tiers was begun elsewhere.
    mutating func attempt(_ tiers: CacheTypes, _ text: String) {
        entries[index(of: text)].attempted.formUnion(tiers)
    }

    /// Those tiers have it now.
    mutating func ended(_ tiers: CacheTypes, _ text: String) {
        entries[index(of: text)].stored.formUnion(tiers)
    }
}

// What waiters want of a source's bytes beside pixels: that they are stored, and that progress is
// told.
extension Deriver {
    /// What a waiter that joined a result wants of its source.
    mutating func tellSource(of node: ResultNode.ID, about waiter: Waiter, _ missed: MissedTiers) {
        guard let source = results[node].source, sources.contains(source) else { return }
        if !waiter.wishes.isEmpty { listen(to: source) }
        if !waiter.wishes.isDisjoint(with: .early) { look(at: source) }
        want(
            of: source, by: waiter.order, waitsForDisk: waiter.order.waitsForStores,
            storing: waiter.originalTiers, missed: missed.original(of: waiter.order))
    }

    /// Somebody wants to know how far its transfer is.
    private mutating func listen(to source: SourceNode.ID) {
        guard !sources[source].hasListeners else { return }
        sources[source].hasListeners = true
        if let job = sources[source].job { dispatcher.listen(to: job) }
    }

    /// Somebody wants to look at what has arrived of its bytes.
    private mutating func look(at source: SourceNode.ID) {
        guard !sources[source].early.isWanted else { return }
        sources[source].early.isWanted = true
        if let job = sources[source].job { dispatcher.look(at: job) }
    }

    /// What an overlay wants of its source: its original is kept like that of an image.
    mutating func tellSource(of node: DecodeNode.ID, about layer: Gathering.Layer) {
        guard let source = decodes[node].source, sources.contains(source) else { return }
        want(
            of: source, by: layer.order, waitsForDisk: false,
            storing: layer.order.image.originalStoreCacheTypes, missed: layer.missed)
    }

    private mutating func want(
        of source: SourceNode.ID, by order: Order, waitsForDisk: Bool, storing tiers: CacheTypes,
        missed: CacheTypes
    ) {
        let plain = order.names.plainOriginal
        let isNew = sources[source].storing.originals.enter(plain)
        if isNew { teachVariance(of: source, plain) }
        sources[source].storing.originals.noteMissing(missed, plain)
        if !tiers.isEmpty {
            sources[source].storing.originals.want(
                StorePolicy(
                    tiers: tiers, waitsForDisk: waitsForDisk, serializer: order.serializer,
                    tags: order.terms.tags),
                as: plain)
            storeOriginal(source)
        }
        if isNew, sources[source].isReplacing {
            removeUnreplacedOriginals(of: source, under: plain)
        }
    }

    // MARK: - Stores

    /// Stores a fetched source that decodes, in the tiers that are wanted and were not tried yet.
    /// With the cache's queue full it is not stored, which costs a miss at worst. Bytes that
    /// replace others are always stored.
    mutating func storeOriginal(_ node: SourceNode.ID) {
        guard sources.contains(node), let body = sources[node].body, body.isOriginal,
            sources[node].keeping != .nowhere, !sources[node].freshness.isOutdated,
            let info = sources[node].info,
            dispatcher.hasRoom(.cache) || sources[node].isReplacing
        else { return }
        let urgency = sources[node].consumers.urgency.unbounded
        while let wanted = sources[node].storing.originals.takeUnattempted() {
            // Where a serializer encodes the original anew, no tier takes the bytes as they are.
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

    /// The original is not kept, although nothing is wrong with it.
    mutating func endStores(of node: SourceNode.ID) {
        for job in sources[node].storing.jobs.map(\.job) {
            abandon(job)
            sources[node].storing.ended(job, tiers: .none)
        }
    }
}

// Stores of originals and of what serializers make.
extension Deriver {
    /// A store ended, well or not: `tiers` have the original now.
    mutating func originalStored(_ node: SourceNode.ID, _ job: JobID, tiers: CacheTypes) {
        let plain = sources[node].storing.ended(job, tiers: tiers)
        if let plain, !tiers.isEmpty {
            overtakeQueries(of: sources[node].text(of: plain), sources[node].name.key)
            if sources[node].isReplacing { outdateOthers(of: node) }
        }
        tidy(node)
    }

    /// One of the jobs of a serializer is done; the block that came of it is held for the next one.
    mutating func transcoded(
        _ id: TranscodeNode.ID, _ result: JobResult, _ blocks: ShortList<BlockHandle>
    ) {
        switch (result, blocks.first) {
        case (.decoded(let image), let block?):
            encode(id, image.frames[0], image.info, reading: block)
        case (.transformed(let image), let block?): store(id, image, reading: block)
        case (.stored(let report), _): transcodeStored(id, in: report.tiers)
        default: preconditionFailure("outcomes were checked against their jobs")
        }
        dispatcher.drop(blocks)
    }

    /// What a serializer made is in those tiers.
    private mutating func transcodeStored(_ id: TranscodeNode.ID, in tiers: CacheTypes) {
        guard let source = endTranscode(id, storing: tiers) else { return }
        if !tiers.isEmpty, sources[source].isReplacing { outdateOthers(of: source) }
        tidy(source)
    }
}
