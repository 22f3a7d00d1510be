import Model

@testable import Coordinator

// Invariants between the tables that hold after every event.
extension Scheduler {
    /// All violated invariants; empty for a correct scheduler.
    func audit() -> [String] {
        var faults: [String] = []
        func check(_ isRight: Bool, _ what: String) { if !isRight { faults.append(what) } }
        auditRequests(check)
        auditInquiries(check)
        auditBlacklist(check)
        auditPrefetches(check)
        auditSlots(check)
        auditFallbacks(check)
        auditGatherings(check)
        auditBatchOperations(check)
        check(pendingTransitions.moving.count == 0, "everybody has arrived somewhere")
        let uploads = requests.ids.compactMap { requests[$0].admitted.upload?.block }
        return faults + workGraph.audit(uploads: uploads, isBehind: hasOverdueAlarms)
    }

    private func auditRequests(_ check: (Bool, String) -> Void) {
        let members = requests.ids.count { !requests[$0].isAnswered }
        check(tokens.count + members == requests.count, "each request has a token")
        let listed = clients.values.reduce(0) { $0 + $1.requests.count }
        let orphans = requests.ids.count {
            requests[$0].isAnswered && clients[requests[$0].client] == nil
        }
        check(
            listed + orphans + members == requests.count,
            "each request is in the list of its client")
        let silentRequests = requests.ids.count { requests[$0].isSilent }
        check(silent.count == silentRequests, "one asks in silence for each result")
        for id in requests.ids {
            let request = requests[id]
            if let batch = request.batch {
                check(
                    prefetching.batches[batch.token] === batch
                        && batch.members[request.seat] == id,
                    "a batch knows its members")
            } else if request.isSilent {
                check(silent.contains(request.names.result), "what asks in silence is known")
                let refreshing = request.refreshing
                check(refreshing != nil && refreshing?.pending == nil, "and has none")
            } else {
                check(tokens[request.token] == id, "a token names its request")
            }
            check(
                request.deadline > now || hasOverdueAlarms || request.place == nil,
                "no deadline has passed")
            check(
                request.refreshing == nil || request.plan.refreshes
                    || request.plan.respectsCacheControl,
                "a waiting request that has an image refreshes it")
            guard let place = request.place else { continue }
            check(workGraph.knows(id, at: place), "a waiting request is known where it waits")
            check(
                !place.isOfWatcher || request.pending != nil,
                "a request that waits for a store has its image")
        }
    }

    private func auditInquiries(_ check: (Bool, String) -> Void) {
        let asked = workGraph.purposes.filter {
            if case .inquiry = $0.value { true } else { false }
        }
        let known = clients.values.flatMap(\.inquiries.keys)
        check(known.count == asked.count, "an inquiry has somebody who asked")
        check(Set(known) == Set(asked.keys), "an operator knows its inquiries")
    }

    private func auditGatherings(_ check: (Bool, String) -> Void) {
        for (id, gathering) in workGraph.gatherings {
            check(requests.contains(id), "a request that gathers exists")
            check(
                gathering.layers.count == requests[id].admitted.terms.overlays.count,
                "a request gathers all its overlays")
            if let place = requests[id].place, case .overlays = place {
                check(gathering.isAwaited, "a request that waits for overlays gathers them")
            } else {
                check(!gathering.isAwaited, "nobody else waits for overlays")
            }
        }
    }

    private func auditBlacklist(_ check: (Bool, String) -> Void) {
        check(hits.failureCache.count <= limits.failureCacheMax, "the blacklist has a limit")
        let numbers =
            hits.failureCache.live(at: now).map(\.entry.number)
            + workGraph.dispatcher.quarantined.map(\.number)
        check(Set(numbers).count == numbers.count, "entries have numbers of their own")
        check((numbers.max() ?? 0) <= dispatcher.lastDenial, "numbers grow")
    }
}

extension Place {
    /// Whether its subscriber already has its image.
    var isOfWatcher: Bool {
        switch self {
        case .original, .transcode: true
        case .lookup, .validity, .overlays, .result: false
        }
    }
}

extension Scheduler {
    /// Whether the failure cache refuses the request at that time.
    func refuses(_ image: ImageRequest, _ terms: LoadTerms, at moment: Instant) -> Bool {
        let source = ScopedSource(SourceKey(image), terms)
        return !image.options.contains(.retryFailed)
            && hits.refusal(
                of: source, for: image.operation, at: max(now, moment)) != nil
    }

    // MARK: - Batches and slots

    func auditPrefetches(_ check: (Bool, String) -> Void) {
        check(prefetching.owing.isEmpty, "reports go out at the end of an event")
        for (token, batch) in prefetching.batches {
            check(batch.token == token, "a token names its batch")
            check(tokens[batch.token] == nil, "a token names one thing")
            check(clients[batch.client] != nil, "a batch has a client")
            check(
                prefetching.clients[batch.client]?.batches.contains { $0 === batch } == true,
                "a batch has its turn")
            check(!batch.hasEnded, "what has ended is not there")
            check(
                batch.progress.total - batch.progress.finished
                    == UInt64(batch.waiting.count + batch.members.count),
                "every URL waits, runs or has ended")
            check(batch.members.count <= batch.concurrency, "as many at a time as are wanted")
        }
        for prefetcher in prefetching.clients.values {
            check(!prefetcher.isEmpty, "a client that prefetches nothing is forgotten")
            let own = prefetcher.batches
            let most = own.map(\.concurrency).max() ?? 0
            let running = own.reduce(0) { $0 + $1.members.count }
            // The batch with the higher limit may have ended since.
            check(running <= RequestLimits.prefetchConcurrencyMax, "as many as one may want")
            let mayBegin = running < most && own.contains(where: \.mayBegin)
            check(!mayBegin || prefetcher.isAwake, "a prefetcher that may begin a load is awake")
        }
        let awakened = prefetching.clients.values.count(where: \.isAwake)
        check(awakened == prefetching.awake.count, "awake prefetchers are in the queue")
        check(
            !wantsToPrefetch || nextDeadline.map { $0 <= now } == true,
            "what could be begun is begun soon")
    }

    func auditSlots(_ check: (Bool, String) -> Void) {
        for (client, record) in clients {
            for (slot, id) in record.slots {
                check(
                    requests.contains(id) && requests[id].client == client
                        && requests[id].slot == slot, "a slot has a live request of its own")
            }
        }
    }
}

extension BatchOperation {
    /// Whether its members are waiting only for their turn.
    var isMove: Bool {
        switch step {
        case .group, .departed, .progress, .partial: false
        case .outcome, .pending: true
        }
    }
}

extension Scheduler {
    /// A subscriber that waits nowhere has exactly one pending turn, and one without a client ends
    /// with its session.
    func auditBatchOperations(_ check: (Bool, String) -> Void) {
        var (moving, departing): ([LiveRequest.ID], Set<LiveRequest.ID>) = ([], [])
        for work in works {
            check(!work.isDone, "work that is done is over")
            let left = work.left.filter { requests.contains($0) }
            if work.isMove { moving += left }
            if case .departed(let client) = work.step {
                check(clients[client] == nil, "a session has ended")
                departing.formUnion(left)
            }
            if let block = work.block, left.isEmpty == false,
                workGraph.dispatcher.contains(block.worker)
            {
                check(hits.isPinned(block), "what is about to be told stays where it is")
            }
        }
        check(Set(moving).count == moving.count, "nobody has two turns")
        check(
            moving.allSatisfy { requests[$0].place == nil },
            "a request that has a turn waits nowhere")
        let standing = requests.ids.filter { requests[$0].place == nil }
        check(Set(standing) == Set(moving), "a request that waits nowhere has a turn")
        for id in requests.ids where hasLostSession(id) {
            check(departing.contains(id), "a request without a client leaves with its session")
        }
        check(!isUnfinished || nextDeadline.map { $0 <= now } == true, "it goes on at once")
    }

    /// Pending operations, the first one first.
    var works: [BatchOperation] {
        var (copy, all) = (pendingTransitions.batchOperations, [BatchOperation]())
        while let work = copy.popFirst() { all.append(work) }
        return all
    }
}

extension Hits {
    /// Whether a block may not be reused yet; small ones are not tracked.
    func isPinned(_ handle: BlockHandle) -> Bool {
        blocks.readers(of: handle).map { $0 > 0 } ?? true
    }
}

extension Scheduler {
    /// A fallback inherits nothing that its caller addressed to another origin, and has no fallback
    /// of its own.
    func auditFallbacks(_ check: (Bool, String) -> Void) {
        for id in requests.ids {
            let request = requests[id]
            guard let failure = request.fallbackContext else {
                check(request.admitted.canvas == nil, "only a fallback is painted")
                continue
            }
            check(failure.error.code.admitsFallback, "that error has no fallback")
            check(request.image.headers.isEmpty, "a fallback has no headers")
            check(request.admitted.upload == nil, "a fallback holds no upload")
            check(request.admitted.terms.fallback == .none, "a fallback has no fallback")
            check(
                request.refreshing == nil && !request.plan.refreshes,
                "a fallback is not refreshed")
            check(request.batch == nil, "what is prefetched has no fallback")
        }
    }
}
