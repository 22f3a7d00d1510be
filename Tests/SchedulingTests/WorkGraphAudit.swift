import Model

@testable import Coordinator

// Invariants of nodes, jobs and blocks that hold after every event.
extension WorkGraph {
    /// All violated invariants; empty for a correct work graph. `uploads`: blocks held by requests.
    /// `isBehind`: whether more work is pending than one event processes.
    func audit(uploads: [BlockHandle], isBehind: Bool) -> [String] {
        var faults: [String] = []
        func check(_ isRight: Bool, _ what: String) { if !isRight { faults.append(what) } }
        auditNodes(check)
        auditValidities(check)
        auditSources(check)
        auditTranscodes(check)
        auditPartials(check)
        auditPurposes(check)
        auditCompositeJobs(check)
        auditBlocks(uploads: uploads, check)
        auditOverlays(check)
        auditRefreshes(check)
        check(isSilent, "everybody was told")
        return faults + dispatcher.audit(isBehind: isBehind)
    }

    /// Whether the subscriber waits there.
    func knows(_ id: Subscriber.ID, at place: Place) -> Bool {
        switch place {
        case .lookup(let need):
            lookups.contains(need.node) && lookups[need.node].consumers.contains { $0.id == id }
        case .validity(let need):
            validities.contains(need.node)
                && validities[need.node].consumers.contains { $0.id == id }
        case .overlays(let subscriber): subscriber == id && gatherings[id]?.isAwaited == true
        case .result(let need):
            results.contains(need.node) && results[need.node].consumers.contains { $0.id == id }
        case .original(let node, _):
            sources.contains(node) && sources[node].storing.watchers.contains { $0.id == id }
        case .transcode(let node, _):
            transcodes.contains(node) && transcodes[node].watchers.contains { $0.id == id }
        }
    }

    func auditNodes(_ check: (Bool, String) -> Void) {
        check(lookups.listed == lookups.count, "each lookup is in its table")
        let joinable = results.ids.count { !results[$0].isClosed }
        check(results.listed == joinable, "each result is in its table")
        let open = decodes.ids.count { !decodes[$0].isClosed }
        check(decodes.listed == open, "each decode is in its table")
        for id in lookups.ids {
            let node = lookups[id]
            let same = lookups.all(under: node.query.key).filter { lookups[$0].query == node.query }
            check(same == [id], "a lookup is found by its query")
            check(!node.consumers.isEmpty, "a lookup is waited for")
            check(
                node.job.flatMap(urgency) == node.consumers.urgency,
                "a query is as urgent")
        }
        for id in results.ids {
            let node = results[id]
            check(
                (results.all(under: node.name) == [id]) == !node.isClosed,
                "a result is found by its name")
            check(!node.consumers.isEmpty || node.exists, "a result is waited for")
            check(
                (node.decode != nil)
                    == (!node.exists && node.canvas == nil && node.chain?.carried == nil),
                "a result needs pixels until others have them or it exists, unless it is painted")
            check(!node.exists || node.chain == nil, "a chain ends with its result")
            check(node.exists || node.canvas == nil || node.job != nil, "a canvas is painted")
            if let job = node.job, !node.consumers.isEmpty {
                check(
                    urgency(of: job)?.priority == node.consumers.urgency.priority,
                    "a transform or delivery has the class of its waiters")
            }
        }
        for id in decodes.ids {
            let node = decodes[id]
            check(
                (decodes.all(under: node.name) == [id]) == !node.isClosed,
                "a decode is found by its name")
            check(
                !node.isClosed || node.name.origin.isRevalidation
                    || (node.name.key.isOverlay && node.pixels != nil),
                "only refreshes and pixels of overlays are kept from newcomers")
            check(node.isInUse, "a decode is needed")
            for result in node.results {
                check(results[result].decode == id, "a result knows its decode")
            }
            if node.name.key.isOverlay { continue }
            let urgencies = node.results.map { results[$0].consumers.urgency }
            check(node.consumers.urgency.priority == urgencies.map(\.priority).max(), "max class")
            check(node.consumers.urgency.deadline == urgencies.map(\.deadline).max(), "longest")
        }
    }

    func auditValidities(_ check: (Bool, String) -> Void) {
        check(validities.listed == validities.count, "each question of freshness is in its table")
        for id in validities.ids {
            let node = validities[id]
            check(validities.all(under: node.key) == [id], "a question is found by its image")
            check(!node.consumers.isEmpty, "a question of freshness is waited for")
            check(
                node.job.flatMap(urgency) == node.consumers.urgency,
                "a question of freshness is as urgent")
        }
    }

    func auditSources(_ check: (Bool, String) -> Void) {
        check(sources.listed == sources.count, "each source is in its table")
        for id in sources.ids {
            let node = sources[id]
            let same = sources.all(under: node.key).filter { sources[$0].origin == node.origin }
            let joinable = same.filter {
                !sources[$0].freshness.isClosed
                    && (!node.origin.isRevalidation || sources[$0].kept == nil)
            }
            check(same.contains(id) && joinable.count <= 1, "a source is found by its name")
            check(node.isInUse, "a source is used or stored")
            check(
                node.storing.watchers.isEmpty || node.storing.isUnderWay,
                "watchers wait for a store")
            for decode in node.consumers.members {
                check(decodes[decode].source == id, "a decode knows its source")
            }
            if let job = node.job {
                let (known, wanted) = (urgency(of: job), node.consumers.urgency)
                check(known?.priority == wanted.priority, "a fetch has the class of its waiters")
                check(
                    known?.deadline == wanted.deadline || dispatcher.jobs[job]?.stage == .store,
                    "a fetch is as urgent")
                check(
                    dispatcher.jobs[job]?.stage != .fetch
                        || dispatcher.jobs[job]?.wantsProgress == true
                        || !subscribers(of: id).contains { $0.interests.contains(.progress) },
                    "a fetch reports to those who listen")
                check(
                    dispatcher.jobs[job]?.stage != .fetch
                        || dispatcher.jobs[job]?.wantsArrived == true
                        || subscribers(of: id).allSatisfy { $0.interests.isDisjoint(with: .early) },
                    "a fetch hands out to those who look")
            }
            let deliveries = results.ids.filter {
                results[$0].isOriginal && results[$0].exists && results[$0].source == id
            }
            check(node.storing.deliveries == deliveries.count, "deliveries of a source are counted")
            let transcodes = transcodes.ids.map { self.transcodes[$0] }
            let kept = transcodes.count { $0.keepsSource && $0.source == id }
            check(node.storing.transcodes == kept, "transcodes of a source are counted")
        }
    }

    func auditPurposes(_ check: (Bool, String) -> Void) {
        let wanted = dispatcher.jobs.values.filter {
            $0.isWanted && $0.probe == nil && compositeJobs.owners[$0.id] == nil
        }
        let several = compositeJobs.all.filter { !$0.isTail }.map(\.id)
        check(
            Set(wanted.map(\.id) + several) == Set(purposes.keys),
            "a job that is wanted is for something")
        for (job, purpose) in purposes {
            check(isWanted(job, for: purpose), "a job is the one that its node waits for")
        }
    }

    private func urgency(of job: JobID) -> Urgency? {
        compositeJobs.jobs[job]?.urgency ?? dispatcher.jobs[job]?.urgency
    }

    /// Composite jobs have the jobs that they wait for, and are woken.
    func auditCompositeJobs(_ check: (Bool, String) -> Void) {
        var jobs: [JobID] = []
        for compositeJob in compositeJobs.all {
            check(compositeJob.isUnderWay, "an errand waits for something")
            check(
                compositeJob.promotion == nil || compositeJob.copying != nil || compositeJob.isTail,
                "a hit is promoted by the copy that is made of it")
            let external =
                compositeJob.running.values.contains { $0.isExternal } || compositeJob.held != nil
            check(!external || compositeJob.alarm != nil, "nobody waits for others for ever")
            jobs += Array(compositeJob.running.keys)
        }
        for job in jobs {
            check(dispatcher.jobs[job]?.isWanted == true, "an errand waits for jobs that are there")
        }
        let owned = dispatcher.jobs.values.filter { compositeJobs.owners[$0.id] != nil }
        check(Set(jobs) == Set(owned.map(\.id)), "each job of an errand is known")
    }

    private func isWanted(_ job: JobID, for purpose: JobPurpose) -> Bool {
        switch purpose {
        case .lookup(let node): lookups.contains(node) && lookups[node].job == job
        case .validity(let node): validities.contains(node) && validities[node].job == job
        case .source(let node): sources.contains(node) && sources[node].job == job
        case .comparing(let node): sources.contains(node) && sources[node].job == job
        case .original(let node):
            sources.contains(node) && sources[node].storing.jobs.contains { $0.job == job }
        case .transcode(let node): transcodes.contains(node) && transcodes[node].job == job
        case .decode(let node): decodes.contains(node) && decodes[node].job == job
        case .transform(let node): results.contains(node) && results[node].job == job
        case .delivery(let node): results.contains(node) && results[node].job == job
        case .partial(let node): partials.contains(node) && partials[node].job == job
        case .inquiry, .removal, .renewal: true
        }
    }

    func auditPartials(_ check: (Bool, String) -> Void) {
        for id in partials.ids {
            let node = partials[id]
            check(results.contains(node.result), "a partial image is of a result")
            guard results.contains(node.result) else { continue }
            let result = results[node.result]
            check(result.partial == id && !result.exists, "a result has one, until it exists")
            check(result.source == node.source, "it is of the bytes of that result")
            check(
                sources.contains(node.source) && sources[node.source].body == nil,
                "it is made while bytes come")
            let job = node.job.flatMap { dispatcher.jobs[$0] }
            check(job?.isExpendable == true, "a worker does it, or could")
        }
        let known = results.ids.count { results[$0].partial != nil }
        check(known == partials.count, "each partial image is known")
    }

    func auditBlocks(uploads: [BlockHandle], _ check: (Bool, String) -> Void) {
        var holds: [BlockHandle: Int] = [:]
        for job in dispatcher.jobs.values {
            for input in job.inputs { holds[input, default: 0] += 1 }
        }
        for job in compositeJobs.all {
            if let input = job.submission.input { holds[input, default: 0] += 1 }
        }
        for upload in uploads { holds[upload, default: 0] += 1 }
        for id in sources.ids {
            if let body = sources[id].kept { holds[body.block, default: 0] += 1 }
            if let staged = sources[id].staged { holds[staged.block, default: 0] += 1 }
        }
        for id in decodes.ids {
            for block in decodes[id].pixels?.blocks ?? ShortList() {
                holds[block, default: 0] += 1
            }
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

    /// Which images use which overlays, and what that keeps in use.
    func auditOverlays(_ check: (Bool, String) -> Void) {
        var seats = 0
        for (id, gathering) in gatherings {
            seats += gathering.layers.count
            let taken = gathering.layers.enumerated().allSatisfy { index, layer in
                guard let node = layer.decode?.node, decodes.contains(node) else { return false }
                return decodes[node].overlays.contains(.subscriber(id, index))
            }
            check(taken, "the decode of an overlay knows its consumers")
            check(
                hasGathered(id) != gathering.isAwaited,
                "a request waits for overlays until it has all of them")
        }
        for id in results.ids {
            let node = results[id]
            seats += node.overlays.count
            let isProduced = node.exists || node.canvas != nil
            check(
                node.overlays.count == (isProduced ? 0 : node.name.key.overlays.count),
                "a result has its overlays until it is made")
            check(overlays(of: id).count == node.overlays.count, "they are there")
        }
        auditOverlayDecodes(seats, check)
    }

    private func auditOverlayDecodes(_ seats: Int, _ check: (Bool, String) -> Void) {
        let nodes = decodes.ids.map { decodes[$0] }
        for node in nodes {
            check(
                node.name.key.isOverlay ? node.results.isEmpty : node.overlays.isEmpty,
                "pixels are laid over others, or others over them")
        }
        check(
            nodes.reduce(0) { $0 + $1.overlays.count } == seats,
            "nobody else keeps overlays in use")
        let bytes = nodes.filter(\.name.key.isOverlay)
            .reduce(0) { $0 + ($1.pixels?.byteCount ?? 0) }
        check(overlayBytes.count == bytes, "bytes of overlays are counted")
        let kept = nodes.filter { $0.holder != nil }
        for (_, nodes) in Dictionary(grouping: kept, by: \.holder?.owner) {
            let bytes = nodes.reduce(0) { $0 + ($1.pixels?.byteCount ?? 0) }
            let holder = nodes[0].holder
            check(
                holder.map { overlayBytes.count(of: $0.owner) } == bytes,
                "and for whom they are kept")
        }
        check(overlayBytes.count <= limits.overlayBytesMax, "overlays have a budget")
        for job in dispatcher.jobs.values {
            guard case .transform(let work) = job.work else { continue }
            let laid = work.steps.compactMap(\.overlay)
            check(laid.count == work.overlays.count, "a job has what its steps lay over it")
            check(laid.allSatisfy(\.url.isEmpty), "no transformer is told a URL")
            check(job.inputs.count == 1 + laid.count, "a job holds all that it reads")
        }
    }

    // MARK: - Invariants between refreshes of one image

    func auditRefreshes(_ check: (Bool, String) -> Void) {
        for id in sources.ids {
            let source = sources[id]
            auditOrder(of: id, source, check)
            // Uploaded bytes have no origin to query.
            guard source.kept != nil, source.spec != nil else { continue }
            for decode in source.consumers.members
            where decodes[decode].name.origin.isRevalidation {
                check(decodes[decode].isClosed, "no refresh joins an answer that is there")
                let open = decodes[decode].results.filter { !results[$0].isClosed }
                check(open.isEmpty, "nor a result of it")
            }
        }
        for id in results.ids where results[id].provenance.isOutdated {
            check(results[id].isClosed, "nobody joins an outdated result")
            check(results[id].transcode == nil, "an outdated result is not encoded again")
            guard results[id].exists, let job = results[id].job,
                case .store(let work) = dispatcher.jobs[job]?.work
            else { continue }
            check(work.tiers.isEmpty && work.key == nil, "an outdated result is stored nowhere")
        }
    }

    /// If several transfers replace the original of a key, only the last one to start may be stored.
    private func auditOrder(
        of id: SourceNode.ID, _ source: SourceNode, _ check: (Bool, String) -> Void
    ) {
        if source.freshness.isOutdated {
            check(source.freshness.isClosed, "nobody joins an outdated source")
            check(source.storing.jobs.isEmpty && source.storing.transcodes == 0, "nor is it stored")
        }
        guard source.isReplacing else { return }
        for other in sources.all(under: source.key) where other != id {
            check(!sources[other].isReplacing, "one source replaces the original")
        }
    }

    /// Invariants of serializers applied to results.
    func auditTranscodes(_ check: (Bool, String) -> Void) {
        check(transcodes.count <= limits.transcodesMax, "transcodes have a limit")
        for id in transcodes.ids {
            let node = transcodes[id]
            check(
                (compositeJobs.jobs[node.job]?.submission ?? dispatcher.jobs[node.job]?.submission)?
                    .input
                    == node.input,
                "a transcode has a job that reads")
            check(node.tiers.contains(.disk), "only what goes to the disk is encoded again")
            check(dispatcher.jobs[node.job]?.place != .parked, "a transcode waits for no space")
            if let result = node.result, results.contains(result) {
                check(results[result].transcode == id, "a result knows its transcode")
            }
            if node.keepsSource {
                let isThere = node.source.map { sources.contains($0) } ?? false
                check(isThere, "a source stays until it is stored")
            }
        }
    }
}
