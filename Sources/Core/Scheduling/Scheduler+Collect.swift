import ImageModel
import Messages

// collect: what came of it? (PROTOCOL §8.4)
extension Scheduler {
    /// The first outcome of the attempt that a worker holds counts; every other one only has its
    /// block released.
    mutating func collect(_ outcome: JobOutcome, from worker: WorkerID) {
        guard roster.contains(worker) else { return }
        guard let job = jobs[outcome.id], job.worker == worker, job.attempt == outcome.attempt
        else { return discard(outcome.result, from: worker) }
        let result: JobResult
        do throws(ImageError) {
            result = try check(outcome.result, of: job, from: worker)
        } catch {
            return expel(worker, error)
        }
        vacate(job)
        loads[Int(job.stage.rawValue)].finished(job.sheet.cost, at: now)
        if let stoppedAt = job.stoppedAt {
            cancellations.answered(job.stage, since: stoppedAt, at: now)
        }
        guard let purpose = job.purpose else {
            forget(job)
            return discard(result, from: worker)
        }
        log.worked(
            job.stage, microseconds: outcome.workMicroseconds,
            atMost: limits.jobMilliseconds.milliseconds(job.stage))
        if case .failed(let error) = result {
            return failed(job, purpose, error, at: worker)
        }
        // What a transformer made is only seen when the cache has read it.
        if let suspect = job.suspect, job.kind != .transform {
            quarantine.acquit(suspect, at: now)
        }
        // The block is taken before the job lets go of what it read.
        let block = take(result, from: worker)
        forget(job)
        let worked = Double(outcome.workMicroseconds) / 1_000
        conclude(purpose, job, result, block, worker, worked)
    }

    private mutating func conclude(
        _ purpose: ActiveJob.Purpose, _ job: ActiveJob, _ result: JobResult,
        _ block: BlockHandle?, _ worker: WorkerID, _ worked: Double
    ) {
        switch (purpose, result) {
        case (.lookup(let node), .hit(let hit)):
            lookup(node, found: hit, in: worker, job, worked)
        case (.lookup(let node), _): lookupMissed(node, job, worked)
        case (.source(let node), _):
            sources[node].timings.add(job.stage, waited: job.waited, worked: worked)
            sourceEnded(node, result, block)
        case (.weighing(let node), _):
            sources[node].timings.add(job.stage, waited: job.waited, worked: worked)
            weighed(node, result, block)
        case (.original(let node), .stored(let report)):
            originalStored(node, job.id, tiers: report.tiers)
        case (.transcode(let node), _): transcoded(node, result, block)
        case (.decode(let node), .decoded(let image)):
            decodes[node].timings.add(.decode, waited: job.waited, worked: worked)
            decoded(node, image, block)
        case (.transform(let node), .transformed(let image)):
            results[node].timings.add(.transform, waited: job.waited, worked: worked)
            if let block { transformed(node, image, block) }
        case (.probe(let id, let input, let accuser), .stored):
            acquitProducer(of: id, input, accuser)
        case (.entry(let client, let number), .entry(let tiers)):
            tell(client, number, job.id, .tiers(tiers))
        // What was read before the removal may have come from there.
        case (.removal(let text), .entry): outdateQueries(of: text)
        case (.delivery(let node), .stored(let report)):
            results[node].timings.add(.store, waited: job.waited, worked: worked)
            delivered(node, report, by: worker)
        default: preconditionFailure("outcomes were checked against their jobs")
        }
    }

    private mutating func sourceEnded(
        _ node: SourceNode.ID, _ result: JobResult, _ block: BlockHandle?
    ) {
        switch (result, block) {
        case (.fetched(let fetched), let block?):
            learnVariance(node, fetched)
            let body = SourceNode.Body(block, fetched: fetched)
            closeRefreshes(at: node)
            if isRefresh(node) { weigh(node, body) } else { obtained(node, body) }
        case (.hit(let hit), let block?):
            counters.originalHits += 1
            obtained(node, SourceNode.Body(block, hit: hit))
        default: sourceMissed(node)
        }
    }

    // MARK: - Failure

    /// A failure ends those who wait, with five exceptions: a job that found no space waits for
    /// some; one that its worker gave up unasked is done by another; what the cache cannot say
    /// or does not have is looked for elsewhere; what is missing or no image, as the cache says, is
    /// made again; and an origin may be asked again.
    private mutating func failed(
        _ job: ActiveJob, _ purpose: ActiveJob.Purpose, _ error: ImageError, at worker: WorkerID
    ) {
        switch error.code {
        case .arenaFull:
            if purpose.mayWaitForSpace, park(job.id) { return }
            return ended(job, purpose, .busy("there is no space for the payload"))
        case .cancelled where job.isStopped, .shuttingDown where job.isStopped:
            return ended(
                job, purpose,
                ImageError(.deadlineExceeded, "the \(job.stage.name) stage took too long"))
        case .cancelled, .shuttingDown: return lost(job.id)
        case .stale where job.input != nil: return inputLost(job, purpose, at: worker)
        case .badImageData where job.kind == .cache: return inputForged(job, purpose)
        default: if delay(job, after: error) { return }
        }
        ended(job, purpose, Self.counting(job.retries + 1, in: error))
    }

    /// The worker that held the job is gone, or gave it up: another one tries.
    mutating func lost(_ id: JobID) {
        guard let job = jobs[id], let purpose = job.purpose else { return }
        guard job.losses + 1 < limits.attemptsMax else {
            return ended(job, purpose, Self.workerLost)
        }
        jobs[id]?.losses += 1
        requeue(id)
    }

    /// The job is over without a result.
    mutating func ended(
        _ job: ActiveJob, _ purpose: ActiveJob.Purpose, _ error: ImageError
    ) {
        forget(job)
        switch purpose {
        case .lookup(let node): lookupMissed(node, job, 0)
        case .source(let node):
            guard sources[node].name.origin.isFetched else { return sourceMissed(node) }
            if error.code == .cacheNotModified { notModified(node, error) }
            guard sources.contains(node) else { return }
            enterBlacklist(node, for: error)
            dissolve(node, .fail(error))
        case .weighing(let node): foundChanged(node)
        case .original(let node): originalStored(node, job.id, tiers: .none)
        case .transcode(let node): ended(node, storing: .none)
        case .decode(let node):
            // A cached original that is no image is as good as none (SEMANTICS §5.2).
            if error.code == .badImageData, case .cache = decodes[node].name.origin {
                return dissolve(node, .onward(decodes[node].timings, missed: nil))
            }
            // What is too large to be laid over others may be a picture for others.
            let isOurs = decodes[node].name.key.isOverlay && error.code == .limitExceeded
            if let source = decodes[node].source, sources[source].body?.fetched != nil, !isOurs {
                enterBlacklist(source, for: error)
            }
            dissolve(node, .fail(error))
        case .transform(let node), .delivery(let node): dissolve(node, .fail(error))
        case .entry(let client, let number): tell(client, number, job.id, .failure(error))
        case .probe(let id, _, _): lost(id)
        case .removal(let text): removeAgain(job, text)
        }
    }

    /// A cache that could not remove what is outdated is asked once more. Where it cannot then
    /// either, it knows the key, and answers nobody from it.
    private mutating func removeAgain(_ job: ActiveJob, _ text: String) {
        guard job.retries == 0 else { return }
        let again = submit(job.sheet, for: .removal(text), reading: nil, job.urgency)
        jobs[again]?.retries = 1
    }

    // MARK: - Progress

    /// How far a transfer is, for those who wanted to know and wait for it.
    mutating func progressed(_ progress: JobProgress, at worker: WorkerID) {
        guard let job = jobs[progress.id], job.worker == worker,
            job.attempt == progress.attempt, case .source(let node) = job.purpose,
            sources[node].hasListeners, !isTelling(node)
        else { return }
        let results = sources[node].decodes.waiters.flatMap { decodes[$0].results.waiters }
        let listeners = results.flatMap { self.results[$0].waiters.waiters }
            .filter { requests[$0].wantsProgress }
        guard !listeners.isEmpty else { return }
        bulk.append(BulkWork(.progress(node, progress), listeners))
    }

    /// Whether some are still to be told of earlier progress: the next one is as good.
    private func isTelling(_ source: SourceNode.ID) -> Bool {
        bulk.contains { if case .progress(source, _) = $0.step { true } else { false } }
    }

    /// A transfer that begins again does not go back for who has seen it.
    mutating func tell(_ id: LiveRequest.ID, _ progress: JobProgress, of source: SourceNode.ID) {
        guard case .result(let node, _) = requests[id].standing, results[node].source == source,
            requests[id].received <= progress.received, !isForsaken(id)
        else { return }
        requests[id].received = progress.received
        let told = RequestProgress(
            token: requests[id].token, received: progress.received, expected: progress.expected)
        actions.append(.progress(requests[id].client, told))
    }
}
