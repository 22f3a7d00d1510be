import Model

@testable import Coordinator

// Checks the scheduler's actions against what is actually possible.
extension Stack {
    mutating func fault(_ what: String) {
        faults.append("\(what) (after \(actions.count) actions)")
    }

    mutating func observe(_ action: SchedulerAction) {
        switch action {
        case .assign(let worker, let job): assigned(job, to: worker)
        case .cancelJob(let worker, let job):
            guard let held = workers[worker]?.held[job] else {
                return fault("cancelled job \(job.value) which \(worker.value) does not hold")
            }
            if held.isCancelled { fault("cancelled job \(job.value) twice") }
            workers[worker]?.held[job]?.isCancelled = true
        case .adjust(let worker, let adjustment):
            guard workers[worker]?.held[adjustment.id] != nil else {
                return fault("adjusted job \(adjustment.id.value) which nobody holds")
            }
            workers[worker]?.held[adjustment.id]?.left = adjustment.millisecondsLeft
            workers[worker]?.held[adjustment.id]?.priority = adjustment.priority
            workers[worker]?.held[adjustment.id]?.wantsProgress = adjustment.wantsProgress
            workers[worker]?.held[adjustment.id]?.wantsArrived = adjustment.wantsArrived
        case .release(let worker, let blocks, _):
            for block in blocks {
                if worker == .coordinator {
                    releasedUpload(block)
                } else {
                    released(block, of: worker)
                }
            }
        case .touched(let worker, let blocks):
            if workers[worker]?.kind != .cache { fault("touched blocks of no cache") }
            touched += blocks
        case .expel(let worker, let error):
            workers[worker] = nil
            expelled.append((worker, error))
        case .granted(let ticket): granted.append(ticket)
        case .reply(let client, let reply): replied(reply, to: client)
        case .record(let record): recorded(record)
        case .progress(let client, let progress):
            if waiting[progress.token] != client { fault("progress of a request that ended") }
            if let last = self.progress[progress.token]?.last, last.received > progress.received {
                fault("progress went back")
            }
            self.progress[progress.token, default: []].append(progress)
        case .failureCache(_, let report): reports.append(report)
        case .cache(let client, let report):
            if case .progress(let page) = report.outcome {
                if questions[report.number] != client { fault("progress of an answered question") }
                removals[report.number, default: []].append(page)
                break
            }
            if questions.removeValue(forKey: report.number) != client {
                fault("question \(report.number) was answered twice, or to another")
            }
            answers[report.number] = report.outcome
        case .prefetched(let client, let report): prefetched(report, of: client)
        case .refused(let client, let error, let batch): refused(batch, of: client, error)
        case .drained:
            if wasDrained { fault("drained twice") }
            wasDrained = true
        }
    }

    /// Each terminal reply is recorded once, immediately after it.
    private mutating func recorded(_ record: RequestRecord) {
        recordCount += 1
        if replies[record.reply.token]?.last != record.reply || recordCount != replyCount {
            fault("a record is not that of the last reply")
        }
        records[record.reply.token] = record
    }

    private mutating func assigned(_ job: Job, to worker: WorkerID) {
        guard let record = workers[worker] else {
            return fault("assigned job \(job.id.value) to nobody")
        }
        if record.kind != job.work.kind { fault("assigned job \(job.id.value) to another kind") }
        if record.held.count >= record.window {
            fault("worker \(worker.value) has more jobs than credit")
        }
        if workers.values.contains(where: { $0.held[job.id] != nil }) {
            fault("job \(job.id.value) is in two places")
        }
        if job.attempt <= attempts[job.id, default: 0] {
            fault("attempt \(job.attempt) of job \(job.id.value) is not new")
        }
        if job.millisecondsLeft == 0 { fault("job \(job.id.value) has no time") }
        attempts[job.id] = job.attempt
        if let fault = composites?.fault(of: job.work) { self.fault(fault) }
        if !job.work.inputs.allSatisfy(isReadable) {
            fault("job \(job.id.value) reads a block that is not there")
        }
        if case .store(let work) = job.work, let other = work.comparedWith,
            record.live.contains(other) == false
        {
            fault("job \(job.id.value) compares a block that is not there")
        }
        if case .fetch(let work) = job.work {
            gets[work.url, default: 0] += 1
            let same = held(.fetch).filter {
                $0.job.work == job.work && fetchTerms(of: $0.job.id) == fetchTerms(of: job.id)
                    && !isClosed($0.job.id) && !isClosed(job.id)
            }
            if !same.isEmpty { fault("\(work.url) is fetched twice at once") }
            checkShare(of: job)
        }
        workers[worker]?.held[job.id] = Held(
            worker: worker, job: job, left: job.millisecondsLeft, priority: job.priority,
            wantsProgress: job.wantsProgress, wantsArrived: job.wantsArrived)
        countShares(of: job, record.pool)
    }

    /// Neither a host nor class low exceeds its share of a pool, including canceled jobs;
    /// expendable jobs are counted separately.
    private mutating func countShares(of job: Job, _ pool: PoolID?) {
        if let host = HostName(job.work), scheduler.limits.dispatch.fetchesPerHostMax > 0 {
            let held = allHeld.count { HostName($0.job.work) == host }
            if held > scheduler.limits.dispatch.fetchesPerHostMax {
                fault("\(held) transfers of \(host.text) at once")
            }
        }
        guard job.priority == .low else { return }
        let taking = Set(scheduler.dispatcher.roster.ids).subtracting(scheduler.drainingWorkers)
        let workers = workers.filter { taking.contains($0.key) && $0.value.pool == pool }.values
        let credit = workers.reduce(0) { $0 + $1.window }
        let low = workers.flatMap(\.held.values).filter { $0.priority == .low }
        let expendable = low.count { isExpendable($0.job.id) }
        let share = max(1, credit / 4)
        if isExpendable(job.id), pool != PoolID(.cache) {
            if expendable > share { fault("\(expendable) of \(credit) are expendable") }
        } else if low.count - expendable > share {
            fault("class low has \(low.count - expendable) of \(credit)")
        }
    }

    private func isExpendable(_ job: JobID) -> Bool {
        scheduler.workGraph.dispatcher.jobs[job]?.isExpendable == true
    }

    /// A process that holds three transfers for each free slot gets no more, neither in total nor
    /// of one host.
    private mutating func checkShare(of job: Job) {
        let owner = scheduler.workGraph.dispatcher.jobs[job.id]?.holder.owner
        let held = held(kind: .download)
        let taking = Set(scheduler.dispatcher.roster.ids).subtracting(scheduler.drainingWorkers)
        let free = workers.filter { $0.value.kind == .download && taking.contains($0.key) }
            .reduce(0) { $0 + max(0, $1.value.window - $1.value.held.count) }
        let jobs = scheduler.workGraph.dispatcher.jobs
        let own = held.filter { jobs[$0.job.id]?.holder.owner == owner }
        if own.count >= 3 * free {
            fault("one process has \(own.count) transfers, \(free) are free")
        }
        let hostMax = scheduler.limits.dispatch.fetchesPerHostMax
        guard hostMax > 0, let host = HostName(job.work) else { return }
        let here = held.filter { HostName($0.job.work) == host }
        let ownHere = own.count { HostName($0.job.work) == host }
        if ownHere >= 3 * (hostMax - here.count) {
            fault("one process has \(ownHere) of \(here.count) transfers of a host")
        }
    }

    /// The terms of the origin request; `nil` if no node waits for it any longer.
    private func fetchTerms(of job: JobID) -> FetchTerms? {
        guard case .source(let node) = scheduler.workGraph.purposes[job] else { return nil }
        return scheduler.workGraph.sources[node].origin.terms
    }

    /// Whether the transfer can't be joined, since one that started later replaced the original.
    private func isClosed(_ job: JobID) -> Bool {
        guard case .source(let node) = scheduler.workGraph.purposes[job] else { return false }
        return scheduler.workGraph.sources[node].freshness.isClosed
    }

    private func held(kind: WorkerKind) -> [Held] {
        workers.values.filter { $0.kind == kind }.flatMap(\.held.values)
    }

    private func isReadable(_ reference: BlockReference) -> Bool {
        (workers.values + [producer]).contains {
            $0.incarnation == reference.producer?.incarnation
                && $0.kind == reference.producer?.kind && $0.live.contains(reference.block)
        }
    }

    private mutating func releasedUpload(_ block: BlockID) {
        let isRead = allHeld.contains {
            $0.job.work.input?.block == block
                && $0.job.work.input?.producer?.kind == .coordinator
        }
        if isRead { fault("released upload \(block.value) while it is read") }
        if producer.live.remove(block) == nil {
            fault("released upload \(block.value) twice or too early")
        }
    }

    private mutating func released(_ block: BlockID, of worker: WorkerID) {
        guard let record = workers[worker] else { return fault("released to nobody") }
        if let isEvicted = record.large[block] {
            let isRead = reading.values.joined().contains {
                $0.block == block && $0.producer?.incarnation == record.incarnation
            }
            if !isEvicted || isRead { fault("released large block \(block.value) too early") }
            workers[worker]?.large[block] = nil
            return
        }
        let handle = BlockHandle(worker: worker, block: block)
        if !record.live.contains(block), namedTwice.contains(handle) { return }
        guard record.live.contains(block) else {
            return fault("released block \(block.value) of \(worker.value) twice or too early")
        }
        let readers = allHeld.filter {
            if case .store(let work) = $0.job.work, work.comparedWith == block, $0.worker == worker
            {
                return !$0.isCancelled
            }
            return $0.job.work.inputs.contains {
                $0.block == block && $0.producer?.incarnation == record.incarnation
            }
        }
        if !readers.isEmpty { fault("released block \(block.value) while it is read") }
        workers[worker]?.live.remove(block)
    }

    private mutating func replied(_ reply: Reply, to client: ClientID) {
        if reply.isTerminal { replyCount += 1 }
        if !clients.contains(client), !detached.contains(reply.token) {
            fault("replied to a client that left")
        }
        if case .failure(let error) = reply.outcome, error.code == .tokenInUse {
            replies[reply.token, default: []].append(reply)
            return
        }
        checkRefusal(reply)
        if waiting[reply.token] != client { fault("replied twice, or to another client") }
        replies[reply.token, default: []].append(reply)
        let request = wanted[reply.token]
        if reply.isRefreshing {
            beganRefresh(reply, request)
        } else if reply.arrivedBytes != nil {
            wasShown(reply, request)
        } else {
            if case .notModified = reply.outcome, !refreshing.contains(reply.token) {
                fault("nothing was there that could be unmodified")
            }
            (waiting[reply.token], wanted[reply.token]) = (nil, nil)
            refreshing.remove(reply.token)
        }
        if case .image(let image) = reply.outcome, let request, reply.arrivedBytes == nil {
            check(image, request, by: reply.token)
        }
        if case .image(let image) = reply.outcome, let reference = image.reference {
            if reference.arena != .results { fault("a client was sent to a stage's arena") }
            let isThere = workers.values.contains {
                $0.kind == .cache && $0.incarnation == reference.producer?.incarnation
            }
            if !isThere { fault("a client was sent to a cache that is gone") }
            guard reference.length >= 1 << 20, !image.mustCopy else { return }
            if clients.contains(client) { reading[client, default: []].append(reference) }
        }
    }

    /// Loads with `retryFailed` bypass the failure cache, and all others are refused immediately.
    private mutating func checkRefusal(_ reply: Reply) {
        guard case .failure(let error) = reply.outcome, error.code == .blacklisted else { return }
        if wanted[reply.token]?.options.contains(.retryFailed) == true {
            fault("the failure cache refused a load with retryFailed")
        }
        if reply.timings != StageTimings(), error.details["fallback"] == nil {
            fault("work was refused after it was admitted")
        }
    }

    /// A partial image: only for a load that requested it, each with more bytes than the previous
    /// one.
    private mutating func wasShown(_ reply: Reply, _ request: ImageRequest?) {
        partialCount += 1
        if request?.options.contains(.progressiveLoad) != true || request?.infoOnly != false {
            fault("nobody asked for partial images")
        }
        guard case .image(let image) = reply.outcome, image.reference != nil else {
            return fault("what is shown is an image")
        }
        let bytes = reply.arrivedBytes ?? 0
        if bytes <= shown[reply.token] ?? 0 { fault("a partial image of no more bytes") }
        if refreshing.contains(reply.token) { fault("less was shown than was there") }
        shown[reply.token] = bytes
    }

    /// The first of two replies: a cached image, once, for a load that requested a refresh.
    private mutating func beganRefresh(_ reply: Reply, _ request: ImageRequest?) {
        if !refreshing.insert(reply.token).inserted { fault("a cached image came twice") }
        guard case .image(let image) = reply.outcome, !image.cacheType.isEmpty else {
            return fault("what is refreshed was cached")
        }
        if request?.options.contains(.refreshCached) != true
            || request?.options.contains(.fromCacheOnly) == true
        {
            fault("nobody asked for a refresh")
        }
    }

    /// Checks an image against its request. The simulated cache stores everything it is asked to.
    private mutating func check(
        _ image: DeliveredImage, _ request: ImageRequest, by token: Token
    ) {
        let waits = request.options.contains(.waitStoreCache)
        if waits != (image.storedTiers != nil) {
            fault("a reply names its tiers if the load waits for stores")
        }
        if request.infoOnly != (image.reference == nil) { fault("facts come without bytes") }
        let isFallback = image.fallbackFor != nil
        if isFallback { check(fallback: image, request) }
        if isPainted(image) { return }
        if !isFallback { check(cacheOf: image, by: token) }
        // The result of an older refresh is delivered, but not stored (PROTOCOL §8.6).
        let isOvertaken =
            !request.options.isDisjoint(with: [.refreshCached, .respectCacheControl])
            && image.storedTiers == CacheTypes.none
        if image.cacheType == .none, waits, !request.infoOnly, vary == nil, cacheControl == nil,
            !transcodes, !isOvertaken, !scheduler.workGraph.layout.hasExternal,
            !request.storeCacheTypes.isSubset(of: image.storedTiers ?? .none)
        {
            fault("a reply came before its stores")
        }
        if image.cacheType == .memory, request.options.contains(.fromLoaderOnly), !isFallback {
            fault("a cache answered a load that queries no cache")
        }
        if image.cacheType == .none, request.options.contains(.fromCacheOnly) {
            fault("a load that may not fetch was answered by a fetch")
        }
    }

    /// Memory answers with an entry of one of the caches that the policy selects.
    private mutating func check(cacheOf image: DeliveredImage, by token: Token) {
        guard let composites, let block = image.reference?.block, image.cacheType == .memory,
            let text = publishedTexts[block], let asked = asked[token]
        else { return }
        let cache = CacheKey.cache(inStored: text)
        if !composites.mayAnswer(asked, from: cache) {
            fault("a load that queries cache '\(asked)' was answered from '\(cache)'")
        }
    }

    /// A fallback is delivered only if the request has one, and only if the image itself failed.
    private mutating func check(fallback image: DeliveredImage, _ request: ImageRequest) {
        guard let error = image.fallbackFor else { return }
        switch request.context.fallback {
        case nil, .some(.none): fault("nobody asked for a fallback")
        case .color: if !isPainted(image) { fault("the fallback is a colour") }
        case .url: if isPainted(image) { fault("the fallback is at a URL") }
        }
        if !error.code.admitsFallback { fault("\(error) has no fallback") }
    }

    private func isPainted(_ image: DeliveredImage) -> Bool { image.key.hasPrefix("colour:") }
}

extension HostName {
    /// The host of a job's transfer, parsed from its URL; `nil` for other work.
    init?(_ work: JobWork) {
        guard case .fetch(let fetch) = work, let url = try? SourceURL(fetch.url) else { return nil }
        self.init(url)
    }
}
