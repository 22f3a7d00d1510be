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
                check(request.refreshing != nil && request.refreshing?.held == nil, "and has none")
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
}
