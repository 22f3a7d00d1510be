import Model

// Teardown of work and notification of its subscribers.
extension WorkGraph {
    func tearDown(_ node: SourceNode.ID, _ outcome: WorkGraphEvent.Outcome) {
        for decode in sources[node].consumers.members where decodes.contains(decode) {
            tearDown(decode, outcome)
        }
    }

    func tearDown(_ node: DecodeNode.ID, _ outcome: WorkGraphEvent.Outcome) {
        for consumer in decodes[node].consumers.members {
            switch consumer {
            case .result(let result): tearDown(result, outcome)
            case .overlaid(let result):
                if results.contains(result) { tearDown(result, outcome) }
            case .subscriber(let id, let index): resolve(outcome, index, of: id, at: node)
            }
        }
    }

    /// Ends the node. A decode ends with its last result, and a source with its last decode.
    func tearDown(_ node: ResultNode.ID, _ outcome: WorkGraphEvent.Outcome) {
        let subscribers = results[node].consumers.members
        retire(node)
        notify(subscribers, outcome)
    }

    // MARK: - Overlays

    /// Handles overlay pixels that won't arrive or are lost.
    private func resolve(
        _ outcome: WorkGraphEvent.Outcome, _ index: Int, of id: Subscriber.ID,
        at node: DecodeNode.ID
    ) {
        guard let gathering = gatherings[id], gathering.layers[index].decode?.node == node else {
            return
        }
        // A subscriber past this stage waits for a result, which is itself among the consumers.
        guard gathering.isAwaited else { return leaveOverlays(id) }
        let layer = gathering.layers[index]
        if case .onward(let timings, _) = outcome {
            emit(.tried(timings, id))
            gatherings[id]?.layers[index].decode = nil
            gatherings[id]?.layers[index].hasAskedCache = true
            gatherings[id]?.layers[index].missed = layer.request.image.originalQueryCacheTypes
            if let need = layer.decode { leaveOverlay(need) }
            obtainOverlay(index, of: id)
            return goOnIfGathered(id)
        }
        leaveOverlays(id)
        let ofSubscriber: WorkGraphEvent.Outcome =
            switch outcome {
            case .fail(let error): .fail(ImageError.overlay(error, url: layer.request.image.url))
            case .afresh: .afresh
            default: .again
            }
        emit(.ended(ofSubscriber, nil, [id]))
    }
}

// Concurrent refreshes of one image. The response of the transfer that started last is kept,
// regardless of which one finishes first. An older refresh answers its subscribers but stores,
// removes and invalidates nothing.
extension WorkGraph {
    /// Removes the entries that older refreshes would have replaced, except those that the newest
    /// refresh replaces itself.
    func outdateOlderRefreshes(than newest: SourceNode.ID, of key: SourceKey) {
        guard let began = sources[newest].freshness.began else { return }
        let older = olderRefreshes(of: key, before: began)
        let outdated = results.ids.filter {
            isOutdated(results[$0], of: key, at: older, before: began)
        }
        let encodings = transcodes.ids.filter {
            transcodes[$0].key == key && transcodes[$0].began.isBefore(began)
        }
        removeOutdated(by: newest, outdated, at: older, encodings)
        for node in older {
            closeRefreshes(at: node)
            sources[node].freshness.outdate()
            endStores(of: node)
        }
        for node in decodes.ids
        where decodes[node].name.key.source == key
            && decodes[node].provenance.began.isBefore(began)
        {
            decodes[node].provenance.isOutdated = true
        }
        // The entries that serializations of older bytes would replace have been removed.
        for id in encodings where transcodes.contains(id) {
            transcodes[id].replaces = false
            endTranscode(id)
        }
        for node in outdated where results.contains(node) { outdate(node) }
        for node in older { tidy(node) }
    }

    private func olderRefreshes(of key: SourceKey, before began: TransferSerial)
        -> [SourceNode.ID]
    {
        sources.all(under: key).filter { node in
            sources[node].freshness.began.isBefore(began) && !sources[node].freshness.isOutdated
                && isRefreshed(node)
        }
    }

    /// Whether a result is or will be made from the response of an older refresh.
    private func isOutdated(
        _ result: ResultNode, of key: SourceKey, at older: [SourceNode.ID],
        before began: TransferSerial
    ) -> Bool {
        guard result.name.key.decode.source == key, result.name.origin.isRevalidation,
            !result.provenance.isOutdated
        else { return false }
        return result.provenance.began.isBefore(began)
            || result.source.map { older.contains($0) } ?? false
    }

    /// Marks a result as outdated. A delivery that also stores is restarted without the store; a
    /// result without subscribers is dropped.
    func outdate(_ node: ResultNode.ID) {
        guard results[node].provenance.began != nil else { return }
        results[node].provenance.isOutdated = true
        guard let product = results[node].product, let job = results[node].job else { return }
        if results[node].consumers.isEmpty { return retire(node) }
        abandon(job)
        deliver(node, product)
    }

    /// Removes outdated entries. Results of the newest bytes are kept, including those being
    /// stored.
    private func removeOutdated(
        by newest: SourceNode.ID, _ outdated: [ResultNode.ID], at older: [SourceNode.ID],
        _ encodings: [TranscodeNode.ID]
    ) {
        let mark = sources[newest].body?.provenance.mark
        var done = Set(sources[newest].storing.originals.texts.map(sources[newest].text(of:)))
        for node in results.ids where results[node].source == newest && results[node].exists {
            done.insert(results[node].text)
        }
        let obsolete = outdated.filter { node in
            mark.flatMap { results[node].name.origin.mark?.names($0) } != true
        }
        let texts =
            obsolete.map { results[$0].text }
            + encodings.filter { transcodes[$0].replaces }.map { transcodes[$0].text }
            + older.flatMap { node in
                sources[node].storing.originals.texts.map(sources[node].text(of:))
            }
        for text in texts where done.insert(text).inserted { removeOutdated(text, exceptIn: .none) }
    }
}

// A refresh supersedes all older work.
extension WorkGraph {
    /// Handles that the new bytes have proven to be an image or that the cache has stored them. All
    /// work on older bytes, under every text, starts again so that it isn't stored after its
    /// replacement. Older refreshes continue: if they were restarted, refreshes of an image that
    /// changes with every response would restart each other forever.
    func outdateOthers(of node: SourceNode.ID) {
        let key = sources[node].key
        outdateOlderRefreshes(than: node, of: key)
        for other in sources.all(under: key) where other != node && !isRefreshed(other) {
            endStores(of: other)
            tidy(other)
        }
        endTranscodes { transcode in
            transcode.key == key && transcode.source != node
                && !transcode.isRevalidation
        }
        restartOverlays {
            $0.name.key.source == key && $0.source != node && !$0.name.origin.isRevalidation
        }
        for other in results.ids where results.contains(other) {
            let result = results[other]
            guard result.name.key.decode.source == key, result.source != node,
                !result.name.origin.isRevalidation
            else { continue }
            tearDown(other, .afresh)
        }
    }

    /// Restarts matching overlays that are still loading; otherwise the older bytes would be stored
    /// when they arrive. Consumers that already have pixels keep them, because no key identifies
    /// their version.
    private func restartOverlays(where isMeant: (DecodeNode) -> Bool) {
        for node in decodes.ids where decodes.contains(node) {
            guard decodes[node].name.key.isOverlay, isMeant(decodes[node]) else { continue }
            if decodes[node].pixels == nil { tearDown(node, .afresh) } else { decodes.close(node) }
        }
    }
}

// Removal of entries by an operator. Work in flight on their bytes starts again after the removal,
// so that the old bytes aren't stored after it (SEMANTICS §5.7).
extension WorkGraph {
    /// Restarts affected work. Must be called once the removal is queued, so that subsequent
    /// queries run after it.
    func beginAfresh(after work: EntryWork) {
        let encodings = transcodes.ids.filter { concerns(work, transcodes[$0]) }
        for id in encodings where transcodes.contains(id) { endTranscode(id) }
        // If disk entries are kept, the bytes are not being rejected.
        guard work.tiers.contains(.disk) else { return }
        endTails { removes(work, $0, tags: $1) }
        let concerned = Set(sources.ids.filter { concerns(work, $0) })
        restartOverlays { $0.source.map(concerned.contains) ?? false }
        for node in results.ids where results.contains(node) {
            let isDerived = results[node].source.map { concerned.contains($0) } ?? false
            guard isDerived || concerns(work, results[node]) else { continue }
            // Subscribers that already have an image keep waiting for the origin; its response is
            // delivered but not stored.
            if results[node].name.origin.isRevalidation {
                outdate(node)
            } else {
                tearDown(node, .afresh)
            }
        }
        for node in concerned where sources.contains(node) { giveUp(node) }
        for node in lookups.ids where removes(work, lookups[node].query.key, tags: nil) {
            lookups[node].isOutdated = true
        }
        for node in validities.ids where removes(work, validities[node].key.text, tags: nil) {
            validities[node].isOutdated = true
        }
    }

    /// Prevents further consumers from joining the source, and its original from being stored.
    private func giveUp(_ node: SourceNode.ID) {
        sources[node].freshness.outdate()
        closeRefreshes(at: node)
        for decode in sources[node].consumers.members {
            decodes[decode].provenance.isOutdated = true
        }
        endStores(of: node)
        tidy(node)
    }

    /// Whether a source may have the bytes of a removed entry. A source from the cache may be of
    /// any age.
    private func concerns(_ work: EntryWork, _ node: SourceNode.ID) -> Bool {
        let source = sources[node]
        let tags = source.knownTags
        if let queried = source.queriedText {
            return removes(work, queried, tags: tags, ofAnyAge: true)
        }
        return removes(work, source.text(of: source.plainText), tags: tags)
            || source.storing.originals.texts.contains {
                removes(work, source.text(of: $0), tags: tags)
            }
    }

    /// Whether a result is removed or made from a removed entry. Its source may be gone by now.
    private func concerns(_ work: EntryWork, _ result: ResultNode) -> Bool {
        var isOfAnyAge = false
        if case .cache = result.name.origin { isOfAnyAge = true }
        let names = result.request.names
        let tags = CacheTag.union(result.policy.tags, result.provenance.tags)
        return [result.text, names.original, names.plainOriginal].contains {
            removes(work, $0, tags: tags, ofAnyAge: isOfAnyAge)
        }
    }

    private func concerns(_ work: EntryWork, _ transcode: TranscodeNode) -> Bool {
        guard !transcode.tiers.isDisjoint(with: work.tiers) else { return false }
        let tags = transcode.metadata.tags
        if removes(work, transcode.text, tags: tags, ofAnyAge: true) { return true }
        return transcode.source.map { sources.contains($0) && concerns(work, $0) } ?? false
    }

    /// Whether the entry with this text is removed in any of its caches.
    private func removes(
        _ work: EntryWork, _ text: String, tags: [String]?, ofAnyAge: Bool = false
    ) -> Bool {
        guard !layout.isEmpty else { return work.removes(text, tags: tags, ofAnyAge: ofAnyAge) }
        return layout.texts(ofStored: text).contains {
            work.removes($0, tags: tags, ofAnyAge: ofAnyAge)
        }
    }
}

extension EntryWork {
    /// Whether the entry with this text is removed. An entry being stored is not old unless it is
    /// made from an older entry. Unknown tags are assumed to match.
    func removes(_ text: String, tags: [String]?, ofAnyAge: Bool = false) -> Bool {
        switch action {
        case .remove: text == key || !caches.isEmpty && keys.contains(text)
        case .clear: true
        case .removeSelected:
            (ofAnyAge || selection.olderThanSeconds ?? 0 == 0)
                && selection.matches(text, tags: tags)
        case .contains, .list, .count, .trim, .renew: false
        }
    }
}

// Operators' queries and changes of cache entries.
extension WorkGraph {
    /// Submits a cache job in class high because an operator is waiting. Work in flight toward
    /// removed entries is restarted. The answer arrives as an event.
    func inquire(_ work: EntryWork) throws(ImageError) -> JobID {
        guard dispatcher.hasRoom(.cache) else { throw .busy("the cache is busy") }
        let work = layout.expanded(work)
        let job = submit(.entry(work), for: .inquiry(work), reading: nil, .unbounded(.high))
        if work.action.removes { beginAfresh(after: work) }
        return job
    }
}
