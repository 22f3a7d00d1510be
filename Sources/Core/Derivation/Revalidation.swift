import Dispatching
import ImageModel
import Messages
import Tables

// refreshCached: the origin is asked whether what is cached is still the same
// (SEMANTICS §6.1).
//
//     asked ──304──► not modified
//       └──body──► compared ──the stored bytes──► not modified
//                     └──other bytes──► decoded, stored in their place, delivered
extension Deriver {
    /// The origin sent a body. It may be the stored one all the same: not every origin gives
    /// validators or heeds them.
    mutating func compare(_ node: SourceNode.ID, _ body: SourceNode.Body) {
        let query = QueryWork(
            key: sources[node].text(of: sources[node].plainText), tiers: .all,
            destination: .staging, promotes: false)
        let job = submit(
            .query(query), for: .comparing(node), reading: nil, sources[node].consumers.urgency)
        sources[node].compares(body, job, against: nil)
    }

    /// The cache found the stored original, or compared the body with it. Where it cannot say, the
    /// body counts as a new one: at worst the same image is delivered twice.
    mutating func compared(
        _ node: SourceNode.ID, _ result: JobResult, _ block: BlockHandle?
    ) {
        switch result {
        case .hit(let hit): compared(node, hit, block)
        case .stored(let report) where report.isSame: foundSame(node)
        default: foundChanged(node)
        }
    }

    private mutating func compared(
        _ node: SourceNode.ID, _ hit: CacheHit, _ block: BlockHandle?
    ) {
        guard let body = sources[node].kept, let block else { Self.nothingToCompare() }
        // What is outdated is replaced wherever it is.
        sources[node].storing.originals.want(
            StorePolicy(
                tiers: hit.tier, waitsForDisk: false, serializer: sources[node].serializer),
            as: sources[node].plainText)
        let mark = BodyMark(hit.metadata)
        let isMeant = sources[node].consumers.contains {
            guard let known = decodes[$0].name.origin.mark else { return false }
            return known.names(mark) || known == .none
        }
        // Only our own cache compares, and only what it has itself.
        let isOurs = block.worker == dispatcher.cache
        guard isMeant, isOurs, hit.reference.length == body.reference.length else {
            dispatcher.drop(block)
            return foundChanged(node)
        }
        let work = StoreWork(
            key: nil, source: body.reference, tiers: .none, delivers: false, waitsForDisk: false,
            metadata: StoredMetadata.none, comparedWith: hit.reference.block)
        let job = submit(
            .store(work), for: .comparing(node), reading: body.block,
            sources[node].consumers.urgency)
        sources[node].compares(body, job, against: SourceNode.Staged(block: block, mark: mark))
    }

    /// The body is the stored one. Waiters that have an image of it are done. The body also serves
    /// waiters for a transfer, and those with no mark that says what their image was made of.
    private mutating func foundSame(_ node: SourceNode.ID) {
        guard let staged = sources[node].staged else { Self.nothingToCompare() }
        if sources[node].keeping == .nowhere {
            removeKept(of: node)
        } else {
            tellSame(node, as: staged.mark)
        }
        guard sources.contains(node) else { return }
        confirm(node) { $0.names(staged.mark) }
        if sources.contains(node) { use(node) }
    }

    /// Other bytes.
    mutating func foundChanged(_ node: SourceNode.ID) {
        sources[node].freshness.isChanged = true
        use(node)
    }

    /// The body goes on as every fetched one.
    private mutating func use(_ node: SourceNode.ID) {
        guard let body = sources[node].kept else { Self.nothingToCompare() }
        let staged = sources[node].staged
        obtained(node, body)
        if let staged { dispatcher.drop(staged.block) }
    }

    /// The cache is gone, with the bytes that a body was to be compared with. It is asked again.
    mutating func compareAgain(after cache: WorkerID) {
        for node in sources.ids where sources[node].staged?.block.worker == cache {
            guard let body = sources[node].kept, let job = sources[node].job else { continue }
            abandon(job)
            compare(node, body)
        }
    }

    private static func nothingToCompare() -> Never {
        preconditionFailure("only a body that came is compared")
    }
}

// Which work belongs to refreshes, and until when it may be joined.
extension Deriver {
    /// Whether a waiter of the source has an image already.
    func isRefresh(_ node: SourceNode.ID) -> Bool {
        sources[node].consumers.contains { decodes[$0].name.origin.isRevalidation }
    }

    /// Whether a refresh has a part in the source, or had.
    func isRefreshed(_ node: SourceNode.ID) -> Bool {
        sources[node].name.origin.isRevalidation || sources[node].freshness.isChanged
            || isRefresh(node)
    }

    /// A body came. A refresh that begins from now on asks the origin anew.
    mutating func closeRefreshes(at node: SourceNode.ID) {
        for decode in sources[node].consumers.members
        where decodes[decode].name.origin.isRevalidation {
            decodes.close(decode)
            for result in decodes[decode].results { results.close(result) }
        }
    }
}

// The origin says that the stored bytes are still the newest. Its answer may also say anew who may
// keep them (RFC 9111 §4.3.4). Where nobody may any more, they are removed as if other bytes had
// come. The reply is the same.
extension Deriver {
    /// The origin says that nothing changed, and sent no body.
    mutating func notModified(_ node: SourceNode.ID, _ answer: ImageError) {
        let control = answer.confirmedControl
        let role = sources[node].name.origin.terms?.role
        if role?.mayKeep(control) == false {
            removeKept(of: node)
        } else {
            tellConfirmed(node, answer)
        }
        if sources.contains(node) { confirm(node) { _ in true } }
    }

    /// Nothing changed: ends the refreshes of images with such marks. An overlay has to be loaded
    /// all the same.
    mutating func confirm(_ node: SourceNode.ID, where isMeant: (BodyMark) -> Bool) {
        for decode in sources[node].consumers.members {
            let name = decodes[decode].name
            guard !name.key.isOverlay, let mark = name.origin.mark, isMeant(mark) else { continue }
            tearDown(decode, .unmodified)
        }
    }

    /// Removes the images of the source's waiters from every tier, and begins again all other work
    /// on these bytes. The node is gone afterwards, unless others wait for it. An older refresh
    /// removes nothing.
    mutating func removeKept(of node: SourceNode.ID) {
        guard !sources[node].freshness.isOutdated else { return }
        let texts = keptTexts(of: node)
        outdateOthers(of: node)
        for text in texts.sorted() { removeOutdated(text, exceptIn: .none) }
    }

    /// The texts under which the originals and results of the source's waiters are stored.
    private func keptTexts(of node: SourceNode.ID) -> Set<String> {
        var texts = Set(sources[node].storing.originals.texts)
        for decode in sources[node].consumers.members {
            for result in decodes[decode].results {
                texts.insert(results[result].order.names.result)
                texts.insert(results[result].order.names.original)
            }
        }
        return texts
    }
}
