import ImageModel
import Messages

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
        auditJobs(check)
        auditBlocks(check)
        auditDelays(check)
        auditBlacklist(check)
        auditPrefetches(check)
        auditSlots(check)
        auditFallbacks(check)
        auditOverlays(check)
        auditRefreshes(check)
        auditBulkWork(check)
        for worker in roster.ids {
            guard let known = roster[worker] else { continue }
            check(
                known.window <= limits.creditMax.jobs(known.kind),
                "no worker takes more than its kind")
        }
        check(moving.count == 0, "everybody has arrived somewhere")
        return faults
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
            check(jobs[node.job]?.urgency == node.waiters.urgency, "a query is as urgent")
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
                    jobs[job]?.urgency.priority == node.waiters.urgency.priority,
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
                let (known, wanted) = (jobs[job]?.urgency, node.decodes.urgency)
                check(known?.priority == wanted.priority, "a fetch has the class of its waiters")
                check(
                    known?.deadline == wanted.deadline || jobs[job]?.stage == .store,
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

    private func auditJobs(_ check: (Bool, String) -> Void) {
        for kind in WorkerKind.workers {
            let waiting = jobs.values.filter { $0.kind == kind && $0.place == .queued }
            let queue = queues[Int(kind.rawValue)]
            check(queue.count == waiting.count, "\(kind.name) queue counts")
            let free = roster.members(of: kind).contains { (roster[$0]?.free ?? 0) > 0 }
            let withLow = hasLowShare(roster.credit(of: kind))
            let mayGo = waiting.contains {
                !queue.isHeldUp($0) && ($0.ticket.priority != .low || withLow)
            }
            check(
                !mayGo || !free || !hasBudget(kind) || hasOverdueAlarms,
                "nothing waits while a \(kind.name) is free")
            for job in waiting {
                check(job.ticket.suits(job.urgency), "a job stands where it is wanted")
            }
        }
        auditQueues(check)
        for worker in roster.ids {
            let held = jobs.values.count { $0.worker == worker }
            check(roster[worker]?.jobs == held, "the jobs of a worker are counted")
            let low = jobs.values.count { $0.worker == worker && $0.told.priority == .low }
            check(roster[worker]?.lowJobs == low, "jobs of class low are counted")
        }
        for job in jobs.values {
            if let worker = job.worker {
                check(roster.contains(worker), "a held job has a worker")
            } else {
                check(job.purpose != nil, "what nobody wants does not wait")
            }
            if job.place == .parked {
                check(parked.contains(job.id) && parkedSince != nil, "a parked job is listed")
            }
            check(isWanted(job), "a job is the one that its node waits for")
        }
    }

    private func auditQueues(_ check: (Bool, String) -> Void) {
        for stage in JobStage.allCases {
            let waiting = jobs.values.filter { $0.stage == stage && $0.isWaiting }
            let load = loads[Int(stage.rawValue)]
            check(load.jobs == waiting.count, "\(stage.name) counts what waits")
            check(
                load.backlog == waiting.reduce(0) { $0 + $1.sheet.cost },
                "\(stage.name) counts what waiting work costs")
        }
        auditShares(check)
        let gates = queues[Int(WorkerKind.download.rawValue)].gates
        guard gates.heldMax > 0 else { return check(gates.hosts.isEmpty, "no host is counted") }
        var hosts: [HostName: Int] = [:]
        for job in jobs.values where !job.isWaiting {
            if let host = job.sheet.host { hosts[host, default: 0] += 1 }
        }
        check(Set(hosts.keys) == Set(gates.hosts), "each host with a transfer is counted")
        for (host, held) in hosts {
            check(gates.count(host) == held, "transfers of a host are counted")
            check(held <= gates.heldMax, "a host has no more transfers than it may")
        }
        for queue in queues {
            check(queue.size <= 16 * queue.count + 600, "a queue keeps nothing that is of no use")
        }
    }

    /// That no share is overdrawn is looked at whenever a job is given out (`Stack`).
    private func auditShares(_ check: (Bool, String) -> Void) {
        for kind in WorkerKind.workers {
            let queue = queues[Int(kind.rawValue)]
            check((queue.share != nil) == (kind == .download), "only transfers are shared out")
            guard let gate = queue.share else { continue }
            let held = jobs.values.filter { $0.kind == kind && $0.worker != nil }
            check(gate.share.count == held.count, "what a kind of worker holds is counted")
            for (holder, jobs) in Dictionary(grouping: held, by: \.holder) {
                check(gate.share.count(of: holder) == jobs.count, "and for each holder")
                check(!holder.isReturned, "who holds is a client")
            }
            for (owner, jobs) in Dictionary(grouping: held, by: \.holder.owner) {
                check(gate.share.count(of: owner) == jobs.count, "and for each process")
            }
        }
    }

    private func auditDelays(_ check: (Bool, String) -> Void) {
        for job in jobs.values {
            guard case .delayed(let delay) = job.place else { continue }
            check(job.stage == .fetch, "only transfers are tried again")
            check((1...limits.fetchRetriesMax).contains(job.retries), "retries are counted")
            check(job.ticket == .none && !job.isStopped, "a delayed job waits in no queue")
            if hasOverdueAlarms { continue }
            check(delay.until < job.urgency.deadline, "somebody waits for another attempt")
            check(job.alarm == delay.until && delay.until > now, "a delayed job will be woken")
        }
    }

    private func auditBlacklist(_ check: (Bool, String) -> Void) {
        check(blacklist.count <= limits.blacklistMax, "the blacklist has a limit")
        let numbers =
            blacklist.live(at: now).map(\.entry.number)
            + quarantine.entries(at: now).map(\.number)
        check(Set(numbers).count == numbers.count, "entries have numbers of their own")
        check((numbers.max() ?? 0) <= lastShunned, "numbers grow")
    }

    private func isWanted(_ job: ActiveJob) -> Bool {
        switch job.purpose {
        case nil: true
        case .lookup(let node): lookups.contains(node) && lookups[node].job == job.id
        case .source(let node): sources.contains(node) && sources[node].job == job.id
        case .weighing(let node): sources.contains(node) && sources[node].job == job.id
        case .original(let node):
            sources.contains(node) && sources[node].stores.contains { $0.job == job.id }
        case .transcode(let node): transcodes.contains(node) && transcodes[node].job == job.id
        case .decode(let node): decodes.contains(node) && decodes[node].job == job.id
        case .transform(let node): results.contains(node) && results[node].job == job.id
        case .delivery(let node): results.contains(node) && results[node].job == job.id
        case .entry(let client, _): clients[client]?.entryJobs.contains(job.id) == true
        case .probe, .removal: true
        }
    }

    private func auditBlocks(_ check: (Bool, String) -> Void) {
        var holds: [BlockHandle: Int] = [:]
        for job in jobs.values {
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
        for (handle, count) in holds where roster.contains(handle.worker) {
            check(ledger.holds(of: handle) == count, "holds of a block are counted")
        }
        let there = holds.keys.count { roster.contains($0.worker) }
        check(ledger.liveBlocks == there, "no block is held by nobody")
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
