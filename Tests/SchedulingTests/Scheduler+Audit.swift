import ImageModel
import Messages
import Tables

@testable import Dispatching
@testable import Scheduling

// What must hold between the tables after every event.
extension Scheduler {
    /// Everything that does not fit together; empty in a scheduler that is right.
    func audit() -> [String] {
        var faults: [String] = []
        func check(_ isRight: Bool, _ what: String) { if !isRight { faults.append(what) } }
        auditRequests(check)
        auditNodes(check)
        auditSources(check)
        auditTranscodes(check)
        auditPurposes(check)
        auditBlocks(check)
        auditBlacklist(check)
        auditPrefetches(check)
        auditSlots(check)
        auditFallbacks(check)
        auditOverlays(check)
        auditRefreshes(check)
        auditBulkWork(check)
        check(moving.count == 0, "everybody has arrived somewhere")
        return faults + dispatcher.audit(isBehind: hasOverdueAlarms)
    }

    private func auditRequests(_ check: (Bool, String) -> Void) {
        let members = requests.ids.count { requests[$0].batch != nil }
        check(tokens.count + members == requests.count, "each request has a token")
        let listed = clients.values.reduce(0) { $0 + $1.requests.count }
        let orphans = requests.ids.count { clients[requests[$0].client] == nil }
        check(
            listed + orphans + members == requests.count,
            "each request is in the list of its client")
        for id in requests.ids {
            let request = requests[id]
            if let batch = request.batch {
                check(
                    batches.contains(batch) && batches[batch].members[request.seat] == id,
                    "a batch knows its members")
            } else {
                check(tokens[request.token] == id, "a token names its request")
            }
            check(
                request.deadline > now || hasOverdueAlarms || request.standing.isMoving,
                "no deadline has passed")
            check(
                request.refreshing == nil || request.plan.refreshes,
                "who has an image and waits refreshes it")
            switch request.standing {
            case .moving: break
            case .lookup(let node, _):
                check(
                    lookups.contains(node) && lookups[node].waiters.waiters.contains(id),
                    "a lookup knows who waits")
            case .overlays:
                check(request.gathering != nil, "who waits for overlays gathers them")
            case .result(let node, _):
                check(
                    results.contains(node) && results[node].waiters.waiters.contains(id),
                    "a result knows who waits")
            case .original(let node, _):
                check(
                    sources.contains(node) && sources[node].watchers.members.contains(id),
                    "a source knows who watches")
            case .transcode(let node, _):
                check(
                    transcodes.contains(node) && transcodes[node].watchers.members.contains(id),
                    "a transcode knows who watches")
            }
        }
    }

    private func auditNodes(_ check: (Bool, String) -> Void) {
        check(lookupTable.count == lookups.count, "each lookup is in its table")
        let joinable = results.ids.count { !results[$0].isClosed }
        check(resultTable.count == joinable, "each result is in its table")
        let open = decodes.ids.count { !decodes[$0].isClosed }
        check(decodeTable.count == open, "each decode is in its table")
        for id in lookups.ids {
            let node = lookups[id]
            let same = lookupTable[node.query.key].filter { lookups[$0].query == node.query }
            check(same == [id], "a lookup is found by its query")
            check(!node.waiters.isEmpty, "a lookup is waited for")
            check(
                dispatcher.jobs[node.job]?.urgency == node.waiters.urgency, "a query is as urgent")
        }
        for id in results.ids {
            let node = results[id]
            check(
                (resultTable[node.name] == id) == !node.isClosed, "a result is found by its name")
            check(!node.waiters.isEmpty || node.exists, "a result is waited for")
            check(
                (node.decode != nil) == (!node.exists && node.canvas == nil),
                "a result needs pixels until it exists, unless it is painted")
            check(node.exists || node.canvas == nil || node.job != nil, "a canvas is painted")
            if let job = node.job, !node.waiters.isEmpty {
                check(
                    dispatcher.jobs[job]?.urgency.priority == node.waiters.urgency.priority,
                    "a transform or delivery has the class of its waiters")
            }
        }
        for id in decodes.ids {
            let node = decodes[id]
            check(
                (decodeTable[node.name] == id) == !node.isClosed, "a decode is found by its name")
            check(
                !node.isClosed || node.name.origin.isRevalidation
                    || (node.name.key.isOverlay && node.pixels != nil),
                "only refreshes and pixels of overlays are kept from newcomers")
            check(node.isNeeded, "a decode is needed")
            for result in node.results.waiters {
                check(results[result].decode == id, "a result knows its decode")
            }
            if node.name.key.isOverlay { continue }
            let urgencies = node.results.waiters.map { results[$0].waiters.urgency }
            check(node.results.urgency.priority == urgencies.map(\.priority).max(), "max class")
            check(node.results.urgency.deadline == urgencies.map(\.deadline).max(), "longest")
        }
    }

    private func auditSources(_ check: (Bool, String) -> Void) {
        check(sourceTable.count == sources.count, "each source is in its table")
        for id in sources.ids {
            let node = sources[id]
            let same = sourceTable[node.name.key].filter { sources[$0].name == node.name }
            let joinable = same.filter {
                !sources[$0].isClosed
                    && (!node.name.origin.isRevalidation || sources[$0].kept == nil)
            }
            check(same.contains(id) && joinable.count <= 1, "a source is found by its name")
            check(node.isInUse, "a source is used or stored")
            check(node.watchers.isEmpty || node.isStoring, "watchers wait for a store")
            for decode in node.decodes.waiters {
                check(decodes[decode].source == id, "a decode knows its source")
            }
            if let job = node.job {
                let (known, wanted) = (dispatcher.jobs[job]?.urgency, node.decodes.urgency)
                check(known?.priority == wanted.priority, "a fetch has the class of its waiters")
                check(
                    known?.deadline == wanted.deadline || dispatcher.jobs[job]?.stage == .store,
                    "a fetch is as urgent")
            }
            let deliveries = results.ids.filter {
                results[$0].isOriginal && results[$0].exists && results[$0].source == id
            }
            check(node.deliveries == deliveries.count, "deliveries of a source are counted")
            let transcodes = transcodes.ids.map { self.transcodes[$0] }
            let kept = transcodes.count { $0.keepsSource && $0.source == id }
            check(node.transcodes == kept, "transcodes of a source are counted")
        }
    }

    private func auditBlacklist(_ check: (Bool, String) -> Void) {
        check(blacklist.count <= limits.blacklistMax, "the blacklist has a limit")
        let numbers =
            blacklist.live(at: now).map(\.entry.number)
            + dispatcher.quarantined.map(\.number)
        check(Set(numbers).count == numbers.count, "entries have numbers of their own")
        check((numbers.max() ?? 0) <= dispatcher.lastDenial, "numbers grow")
    }

    private func auditPurposes(_ check: (Bool, String) -> Void) {
        let wanted = dispatcher.jobs.values.filter { $0.isWanted && $0.probe == nil }
        check(
            Set(wanted.map(\.id)) == Set(purposes.keys), "a job that is wanted is for something")
        for (job, purpose) in purposes {
            check(isWanted(job, for: purpose), "a job is the one that its node waits for")
        }
    }

    private func isWanted(_ job: JobID, for purpose: JobPurpose) -> Bool {
        switch purpose {
        case .lookup(let node): lookups.contains(node) && lookups[node].job == job
        case .source(let node): sources.contains(node) && sources[node].job == job
        case .weighing(let node): sources.contains(node) && sources[node].job == job
        case .original(let node):
            sources.contains(node) && sources[node].stores.contains { $0.job == job }
        case .transcode(let node): transcodes.contains(node) && transcodes[node].job == job
        case .decode(let node): decodes.contains(node) && decodes[node].job == job
        case .transform(let node): results.contains(node) && results[node].job == job
        case .delivery(let node): results.contains(node) && results[node].job == job
        case .entry(let client, _): clients[client]?.entryJobs.contains(job) == true
        case .removal: true
        }
    }

    private func auditBlocks(_ check: (Bool, String) -> Void) {
        var holds: [BlockHandle: Int] = [:]
        for job in dispatcher.jobs.values {
            for input in job.inputs { holds[input, default: 0] += 1 }
        }
        for id in requests.ids {
            if let upload = requests[id].order.upload { holds[upload.block, default: 0] += 1 }
        }
        for id in sources.ids {
            if let body = sources[id].kept { holds[body.block, default: 0] += 1 }
            if let staged = sources[id].staged { holds[staged.block, default: 0] += 1 }
        }
        for id in decodes.ids {
            if let pixels = decodes[id].pixels { holds[pixels.block, default: 0] += 1 }
        }
        for id in results.ids where !results[id].isOriginal {
            if let product = results[id].product { holds[product.block, default: 0] += 1 }
        }
        for (handle, count) in holds where dispatcher.contains(handle.worker) {
            check(dispatcher.ledger.holds(of: handle) == count, "holds of a block are counted")
        }
        let there = holds.keys.count { dispatcher.contains($0.worker) }
        check(dispatcher.liveBlocks == there, "no block is held by nobody")
    }
}

extension Scheduler {
    /// Whether the blacklist keeps the request out at that moment.
    func refuses(_ image: ImageRequest, _ terms: LoadTerms, at moment: Instant) -> Bool {
        let source = ScopedSource(SourceKey(image), terms)
        return !image.options.contains(.retryFailed)
            && blacklist.entry(source, at: max(now, moment)) != nil
    }
}
