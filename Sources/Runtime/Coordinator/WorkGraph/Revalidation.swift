import Model

// refreshCached: revalidation of cached entries with the origin (SEMANTICS §6.1).
//
//     requested ──304──► not modified
//         └──body──► compared ──the stored bytes──► not modified
//                       └──other bytes──► decoded, stored as a replacement, delivered
extension WorkGraph {
    /// Compares a received body with the stored one, because not every origin sends or respects
    /// validators.
    func compare(_ node: SourceNode.ID, _ body: SourceNode.Body) {
        let query = QueryWork(
            key: sources[node].text(of: sources[node].plainText), tiers: .all,
            destination: .staging, promotes: false)
        let job = submit(
            .query(query), for: .comparing(node), reading: nil, sources[node].consumers.urgency)
        sources[node].state = .comparing(job, body, against: nil)
    }

    /// Handles the stored original or the result of the comparison. If the cache fails, the body
    /// counts as new; at worst the same image is delivered twice.
    func compared(
        _ node: SourceNode.ID, _ result: JobResult, _ block: BlockHandle?
    ) {
        switch result {
        case .hit(let hit): compared(node, hit, block)
        case .stored(let report) where report.isSame: foundSame(node)
        default: foundChanged(node)
        }
    }

    private func compared(
        _ node: SourceNode.ID, _ hit: CacheHit, _ block: BlockHandle?
    ) {
        guard let body = sources[node].kept, let block else { Self.nothingToCompare() }
        // An outdated entry is replaced in every tier that has it.
        sources[node].storing.originals.want(
            StorePolicy(
                tiers: hit.tier, waitsForDisk: false, serializer: sources[node].serializer),
            as: sources[node].plainText)
        let mark = BodyMark(hit.metadata)
        let isMeant = sources[node].consumers.contains {
            guard let known = decodes[$0].name.origin.mark else { return false }
            return known.names(mark) || known == .none
        }
        // Only the built-in cache can compare, and only its own entries.
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
        sources[node].state = .comparing(
            job, body, against: SourceNode.Staged(block: block, mark: mark))
    }

    /// Handles a body equal to the stored one. Subscribers with an image made from it are done.
    /// Subscribers of the transfer, and those whose image has no mark, use the body.
    private func foundSame(_ node: SourceNode.ID) {
        guard let staged = sources[node].staged else { Self.nothingToCompare() }
        if sources[node].keeping == .nowhere {
            removeKept(of: node)
        } else if let caching = sources[node].kept?.provenance.caching {
            emit(Confirmation(caching: caching, isWhole: true), of: staged.mark, at: node)
        }
        guard sources.contains(node) else { return }
        confirm(node) { $0.names(staged.mark) }
        if sources.contains(node) { use(node) }
    }

    /// Handles a body that differs from the stored one.
    func foundChanged(_ node: SourceNode.ID) {
        sources[node].freshness.isChanged = true
        use(node)
    }

    /// Continues with the body like with any fetched one.
    private func use(_ node: SourceNode.ID) {
        guard let body = sources[node].kept else { Self.nothingToCompare() }
        let staged = sources[node].staged
        obtained(node, body)
        if let staged { dispatcher.drop(staged.block) }
    }

    /// Restarts comparisons after the loss of the cache that held the stored bytes.
    func compareAgain(after cache: WorkerID) {
        for node in sources.ids where sources[node].staged?.block.worker == cache {
            guard let body = sources[node].kept, let job = sources[node].job else { continue }
            abandon(job)
            compare(node, body)
        }
    }

    private static func nothingToCompare() -> Never {
        preconditionFailure("only a received body can be compared")
    }
}

// Which work belongs to refreshes, and how long it may be joined.
extension WorkGraph {
    /// Whether a subscriber of the source already has an image.
    func isRefresh(_ node: SourceNode.ID) -> Bool {
        sources[node].consumers.contains { decodes[$0].name.origin.isRevalidation }
    }

    /// Whether the source was started by or is shared with a refresh.
    func isRefreshed(_ node: SourceNode.ID) -> Bool {
        sources[node].origin.isRevalidation || sources[node].freshness.isChanged
            || isRefresh(node)
    }

    /// Closes refreshes after a body has arrived: refreshes that begin later must contact the
    /// origin again.
    func closeRefreshes(at node: SourceNode.ID) {
        for decode in sources[node].consumers.members
        where decodes[decode].name.origin.isRevalidation {
            decodes.close(decode)
            for result in decodes[decode].results { results.close(result) }
        }
    }
}

// Handling of unchanged content. The response may also change who may store it (RFC 9111 §4.3.4).
// If storage is no longer permitted, entries are removed as if other bytes had arrived; the reply
// is the same.
extension WorkGraph {
    /// Handles a 304 response.
    func notModified(_ node: SourceNode.ID, _ answer: ImageError) {
        let control = answer.confirmedControl
        let role = sources[node].origin.terms?.role
        if role?.mayKeep(control) == false {
            removeKept(of: node)
        } else {
            notifyConfirmed(node, answer)
        }
        if sources.contains(node) { confirm(node) { _ in true } }
    }

    /// Ends the refreshes of images with matching marks. Overlays must be loaded nevertheless.
    func confirm(_ node: SourceNode.ID, where isMeant: (BodyMark) -> Bool) {
        for decode in sources[node].consumers.members {
            let name = decodes[decode].name
            guard !name.key.isOverlay, let mark = name.origin.mark, isMeant(mark) else { continue }
            tearDown(decode, .unmodified)
        }
    }

    /// Removes the images of the source's subscribers from every tier and restarts all other work
    /// on these bytes. The node ends unless it has other consumers. An older refresh removes
    /// nothing.
    func removeKept(of node: SourceNode.ID) {
        guard !sources[node].freshness.isOutdated else { return }
        let texts = keptTexts(of: node)
        outdateOthers(of: node)
        for text in texts.sorted() { removeOutdated(text, exceptIn: .none) }
    }

    /// The texts under which the originals and results of the source's subscribers are stored.
    private func keptTexts(of node: SourceNode.ID) -> Set<String> {
        var texts = Set(sources[node].storing.originals.texts)
        for decode in sources[node].consumers.members {
            for result in decodes[decode].results {
                texts.insert(results[result].request.names.result)
                texts.insert(results[result].request.names.original)
            }
        }
        return texts
    }
}
