import Model
import TestKit

@testable import Coordinator

/// A random walk: clients, workers, crashes, lies and time, all drawn from one seed.
struct Walk {
    /// The kinds of steps, with relative weights.
    enum Step: CaseIterable {
        case load, finish, finishMore, pass, cancel, cancelGroup, resend, foreignToken, connect
        case disconnect, hire, kill, drainWorker, credit, progress, publish, evict, release
        case duplicate, stale, forge, mistake, waitLong, crash, cancelAny, forgive, upload
        case reprioritize, ask, put
        case prefetch, prefetchMore, cancelBatch, cancelBatchOfAny, endBatch

        var weight: Int {
            switch self {
            case .load, .finishMore: 300
            case .finish: 400
            case .pass: 120
            case .cancel, .reprioritize: 60
            case .hire, .publish, .evict, .release: 40
            case .kill: 24
            case .prefetch: 16
            case .prefetchMore: 8
            case .cancelBatch: 6
            case .cancelBatchOfAny, .endBatch: 3
            case .cancelGroup, .connect, .progress, .credit, .upload: 20
            case .resend, .disconnect, .duplicate, .stale: 12
            case .foreignToken, .drainWorker, .forge, .mistake, .waitLong, .crash: 5
            case .cancelAny, .put: 5
            case .forgive, .ask: 3
            }
        }
    }

    /// The number of commands sent.
    private var asked: UInt64 = 0
    var stack: Stack
    var random: SeededGenerator
    /// For features added later, so that a seed keeps its original steps.
    var side: SeededGenerator
    var published: [BlockID] = []
    /// The latest answers sent with a voucher.
    var vouched: [HitTicket] = []
    var lastOutcomes: [(WorkerID, JobOutcome)] = []
    /// Few failures and no short timeouts, so that requests progress far.
    private let isCalm: Bool
    let hasSerializers: Bool
    private let deck = Step.allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        side = SeededGenerator(seed: ~seed)
        let isTight = random.oneIn(3)
        isCalm = random.oneIn(2)
        hasSerializers = random.oneIn(2)
        let hostMax = random.oneIn(3) ? 0 : Int.random(in: 1...3, using: &random)
        let order: DispatchLimits.FetchOrder = random.oneIn(2) ? .lifo : .fifo
        stack = Stack { limits in
            if seed.isMultiple(of: 3) { limits.workGraph.framesMax = 3 }
            if seed % 4 == 2 { limits.dispatch.pools = .withSteps }
            if Self.hasExternalCaches(seed) { limits.dispatch.pools = .withTeam }
            limits.dispatch.fetchesPerHostMax = hostMax
            limits.dispatch.fetchOrder = order
            guard isTight else { return }
            limits.dispatch.queuedCostMax.decode = 3_000
            limits.dispatch.queuedCostMax.transform = 6_000
            limits.dispatch.queuedCostMax.store = 1_500
            limits.liveRequestsMax = 24
            limits.requestsPerClientMax = 12
            limits.dispatch.queuedJobsMax = 6
            limits.hitsMax = 3
            limits.variancesMax = 4
            limits.workGraph.transcodesMax = 3
            limits.dispatch.attemptsMax = 3
            limits.dispatch.outputBytesMax.download = 3 << 20
            limits.dispatch.outputBytesMax.decode = 1_000
            limits.workGraph.overlayBytesMax = 8_000
            limits.dispatch.outputBytesMax.transform = 3 << 20
            limits.unreleasedBytesPerClientMax = 3 << 20
            limits.dispatch.quarantineMax = 2
            limits.failureCacheMax = 2
            limits.failureCacheMilliseconds = 500
            limits.batchesPerClientMax = 2
            limits.prefetchesPerClientMax = 12
            limits.prefetchesBegunMax = 2
            (limits.batchStepsMax, limits.batchTransitionsMax) = (2, 3)
        }
        stack.vary = pick([nil, nil, "Accept", "DPR, Accept", "*"]) ?? nil
        stack.cacheControl =
            pick([
                nil, nil, nil, "private", "no-store, max-age=0",
                "max-age=1, stale-while-revalidate=1, stale-if-error=2",
            ]) ?? nil
        stack.age = pick([nil, 0, 500, 2_000]) ?? nil
        for _ in 0..<3 { _ = stack.connect() }
        for kind in WorkerKind.workers {
            stack.hire(kind, credit: Int.random(in: 1...3, using: &random))
        }
        drawComposites(seed: seed)
        drawExternalCaches(seed: seed)
    }

    mutating func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.randomElement(using: &random)
    }

    mutating func step() {
        stepAside()
        guard let step = pick(deck) else { return }
        // Time passes even without an event.
        if random.oneIn(4) { stack.now = stack.now.adding(milliseconds: draw(0...5)) }
        switch step {
        case .load where isCalm && stack.waiting.count > 10: finish()
        case .load: load()
        case .finish, .finishMore: finish()
        case .pass: stack.pass(milliseconds: draw(0...40))
        case .waitLong: stack.pass(milliseconds: draw(100...4_000))
        case .cancel:
            guard let token = pick(stack.replies.keys.isEmpty ? tokens : tokens + ended) else {
                return
            }
            guard let client = pick(stack.clients.sorted()) else { return }
            stack.send(.cancel(stack.waiting[token] ?? client, token))
        case .cancelGroup:
            guard let client = pick(stack.clients.sorted()) else { return }
            stack.send(.cancelGroup(client, group(draw(0...2))))
        case .resend: resend()
        case .foreignToken: loadExternalToken()
        case .connect: connect()
        case .disconnect:
            if let client = pick(stack.clients.sorted()) { stack.disconnect(client) }
        case .hire: hire()
        case .kill: if let worker = pick(stack.workers.keys.sorted()) { stack.kill(worker) }
        case .drainWorker:
            if let worker = pick(stack.workers.keys.sorted()) {
                stack.send(.workerDraining(worker))
            }
        case .credit:
            guard let worker = pick(stack.workers.keys.sorted()) else { return }
            stack.workers[worker]?.window += 1
            stack.send(.credit(worker, 1))
        case .progress: progress()
        case .publish: publish()
        case .evict: evict()
        case .release: release()
        case .duplicate, .stale: repeatOutcome(isOld: step == .stale)
        case .crash: if let held = pick(stack.allHeld) { stack.crash(held) }
        case .cancelAny: if let token = pick(tokens) { stack.send(.cancelAny(token)) }
        case .forgive:
            guard let client = pick(stack.clients.sorted()) else { return }
            let url = ImageRequest.image(pick(["a", "b", "c"]) ?? "a").url
            let commands: [FailureCacheCommand] = [.clear, .list(after: 0), .remove(url: url)]
            stack.send(.failureCache(client, pick(commands) ?? .clear))
        case .ask: ask()
        case .forge: forge()
        case .upload: upload()
        case .put: put()
        case .prefetch, .prefetchMore, .cancelBatch, .cancelBatchOfAny, .endBatch:
            prefetchStep(step)
        case .mistake: mistake()
        case .reprioritize: reprioritize()
        }
    }

    /// An operator queries or removes an entry.
    private mutating func ask() {
        guard let client = pick(stack.clients.sorted()) else { return }
        asked += 1
        stack.questions[asked] = client
        var command = CacheCommand(
            number: asked, action: pick(EntryAction.allCases) ?? .contains, key: "",
            tiers: tiers())
        if !random.oneIn(9), [.contains, .remove].contains(command.action) {
            command.key = "http://example.org/a.jpg"
        }
        if random.oneIn(2) { command.selection.url = "http://example.org/a.jpg" }
        if random.oneIn(4) { command.selection.prefix = "http://example.org/" }
        if random.oneIn(4) { command.selection.olderThanSeconds = UInt64(draw(0...1)) }
        command.wantsProgress = command.number % 2 == 0
        mean(&command)
        stack.send(.cache(client, command))
    }

    var tokens: [Token] { stack.waiting.keys.sorted { $0.value.low < $1.value.low } }
    var ended: [Token] {
        Array(stack.replies.keys.sorted { $0.value.low < $1.value.low }.suffix(5))
    }

    func group(_ number: Int) -> GroupID {
        GroupID(Identifier128(high: 3, low: UInt64(number)))
    }

    // MARK: - Clients

    private mutating func load() {
        guard let client = pick(stack.clients.sorted()) else { return }
        let image = request()
        stack.load(
            image, by: client, group: random.oneIn(3) ? group(draw(0...2)) : nil,
            wantsProgress: random.oneIn(3), wantsInfo: random.oneIn(4),
            staleRetries: random.oneIn(12) ? 1 : 0, detach: random.oneIn(8), slot: slot(),
            terms: terms(of: image),
            httpClient: random.oneIn(3) ? UInt64.random(in: 1...3, using: &random) : 0,
            isRepeatable: stack.lastToken % 2 == 0)
    }

    private mutating func slot() -> String? { random.oneIn(4) ? pick(["s", "t"]) : nil }

    /// Usually for a load of the client, sometimes for an unknown one.
    private mutating func reprioritize() {
        guard let client = pick(stack.clients.sorted()), let priority = pick(Priority.allCases)
        else { return }
        if random.oneIn(3) {
            return stack.send(.reprioritizeGroup(client, group(draw(0...2)), priority))
        }
        if random.oneIn(6), let batch = pick(batches) {
            return stack.send(.reprioritize(stack.prefetching[batch] ?? client, batch, priority))
        }
        guard let token = pick(tokens) else { return }
        let owner = random.oneIn(4) ? client : stack.waiting[token] ?? client
        stack.send(.reprioritize(owner, token, priority))
    }

    private mutating func upload() {
        guard let client = pick(stack.clients.sorted()) else { return }
        let pattern = request()
        let token = random.oneIn(8) ? pick(tokens.filter { stack.waiting[$0] == client }) : nil
        stack.upload(
            pick(["x", "y"]) ?? "x", by: client, token: token,
            group: random.oneIn(3) ? group(draw(0...2)) : nil
        ) { image in
            let name = image.url
            image = pattern
            image.url = name
            image.headers = []
        }
    }

    private mutating func resend() {
        guard let token = pick(tokens), let owner = stack.waiting[token] else { return }
        let sessions = stack.clients.sorted().filter {
            stack.incarnations[$0] == stack.incarnations[owner]
        }
        guard let client = stack.clients.contains(owner) ? owner : pick(sessions) else { return }
        stack.load(request(), by: client, token: token)
    }

    private mutating func loadExternalToken() {
        guard let token = pick(tokens), let client = pick(stack.clients.sorted()),
            let owner = stack.waiting[token], client != owner,
            stack.clients.contains(owner)
                || stack.incarnations[client] != stack.incarnations[owner]
        else { return }
        stack.load(request(), by: client, token: token)
    }

    mutating func request() -> ImageRequest {
        var request = ImageRequest.image(
            pick(["a", "b", "c"]) ?? "a", size: random.oneIn(4) ? nil : draw(1...3))
        if random.oneIn(4) { request.output.format = .webp }
        if random.oneIn(4) { request.headers = [HTTPHeader(name: "Accept", value: "image/*")] }
        if random.oneIn(12) { request = ImageRequest.image().with { $0.infoOnly = true } }
        if random.oneIn(3) {
            let host = pick(["Other.example:80", "other.example", "[::1]:8080"]) ?? ""
            request.url = "http://\(host)/\(pick(["a", "b"]) ?? "a").jpg"
        }
        if random.oneIn(30) { request.url = "nonsense" }
        request.options =
            pick(
                [
                    [], [], [], .highPriority, .lowPriority, .fromCacheOnly, .fromLoaderOnly,
                    .waitStoreCache, [.waitStoreCache, .fromLoaderOnly], .retryFailed,
                    [.retryFailed, .fromLoaderOnly], .retryFailed,
                    .avoidAutoCancelImage, .continueInBackground,
                    [.fromCacheOnly, .fromLoaderOnly],
                    .refreshCached, .refreshCached, [.refreshCached, .retryFailed],
                    [.refreshCached, .waitStoreCache], [.refreshCached, .fromCacheOnly],
                    .respectCacheControl, .respectCacheControl,
                    [.respectCacheControl, .waitStoreCache],
                ] as [RequestOptions]) ?? []
        if random.oneIn(4) { request.options.insert(.progressiveLoad) }
        if random.oneIn(3) {
            request.queryCacheTypes = tiers()
            request.storeCacheTypes = tiers()
            request.originalQueryCacheTypes = tiers()
            request.originalStoreCacheTypes = tiers()
        }
        if hasSerializers, random.oneIn(4) {
            request.context.serializer =
                random.oneIn(3) ? .asIs : .transcode(pick([.webp, .png]) ?? .png, quality: nil)
        }
        request.context.fallback = fallback()
        addOverlays(to: &request)
        addCustomSteps(to: &request)
        let timeouts = isCalm ? [30_000, 3_000] : [30_000, 30_000, 3_000, 300, 40, 1]
        request.timeoutMilliseconds = pick(timeouts) ?? 1
        return request
    }

    private mutating func tiers() -> CacheTypes { CacheTypes(rawValue: UInt8(draw(0...3))) }

    private mutating func release() {
        let readers = stack.reading.keys.sorted().filter { stack.reading[$0]?.isEmpty == false }
        guard let client = pick(readers), let count = stack.reading[client]?.count else { return }
        stack.release(draw(0...(count - 1)), by: client)
    }

    // MARK: - Workers

    private mutating func hire() {
        let kind = pick(WorkerKind.workers) ?? .decode
        let count = stack.workers.values.count { $0.kind == kind && !$0.isExternal }
        guard count < (kind == .cache ? 1 : 3) else { return }
        stack.hire(kind, credit: draw(1...3))
        if kind == .cache { published = [] }
        hireExternalCache()
    }

    private mutating func finish() {
        guard let held = pick(stack.allHeld), !liesAboutFrames(held) else { return }
        let result = result(held)
        lastOutcomes.append(
            (
                held.worker,
                JobOutcome(
                    id: held.job.id, attempt: held.job.attempt, result: result,
                    workMicroseconds: 10)
            ))
        if lastOutcomes.count > 8 { lastOutcomes.removeFirst() }
        stack.finish(held, result)
    }

    private mutating func result(_ held: Stack.Held) -> JobResult {
        func failed(_ code: ErrorCode) -> JobResult { .failed(ImageError(code, "drawn")) }
        if held.isCancelled, !random.oneIn(4) { return failed(.cancelled) }
        switch draw(0...(isCalm ? 199 : 29)) {
        case 0: return failed(.arenaFull)
        case 1: return failed(.badImageData)
        case 2, 5, 6: return failedFetch(held)
        case 3: return failed(.cancelled)
        case 4: return failed(.stale)
        default: break
        }
        let length: UInt64 = random.oneIn(4) ? 2 << 20 : 900
        if let answer = refreshed(held, length: length) { return answer }
        if case .decode(let work) = held.job.work, work.isPartial, random.oneIn(3) {
            return .decoded(stack.decoded(.header, by: held.worker))
        }
        if case .query = held.job.work, random.oneIn(3) {
            return stack.hit(
                held, tier: random.oneIn(2) ? .memory : .disk, length: length,
                etag: random.oneIn(4) ? nil : "\"1\"", caching: caching())
        }
        return externalAnswer(held) ?? frames(held) ?? stack.success(held, length: length)
    }

    /// Caching data of a cached entry: fresh, stale or very old.
    private mutating func caching() -> OriginCaching? {
        guard let age = pick([nil, 0, 500, 1_500, 9_000] as [Int64?]) ?? nil else { return nil }
        return OriginCaching(
            CacheControl("max-age=1, stale-while-revalidate=2, stale-if-error=5"),
            ResponseAge(bornMilliseconds: max(0, stack.scheduler.calendarNow - age)))
    }

    /// The origin fails, temporarily or permanently.
    private mutating func failedFetch(_ held: Stack.Held) -> JobResult {
        guard held.job.work.stage == .fetch else {
            return .failed(ImageError(.connectionFailed, "drawn"))
        }
        let codes: [ErrorCode] = [
            .connectionFailed, .timedOut, .shortBody, .nameNotResolved, .tlsFailed,
            .invalidDownloadStatusCode, .invalidDownloadStatusCode, .tooManyRedirects,
        ]
        var error = ImageError(pick(codes) ?? .timedOut, "drawn")
        if error.code == .invalidDownloadStatusCode {
            error.details["httpStatus"] = pick(["404", "500", "503", "429"])
            error.details["retryAfter"] = pick(["1", "2", "60", "x", nil, nil] as [String?]) ?? nil
        }
        return .failed(error)
    }

    /// Random answers of origins and caches about bytes that may be unchanged.
    private mutating func refreshed(_ held: Stack.Held, length: UInt64) -> JobResult? {
        switch held.job.work {
        case .fetch(let work) where work.validators != nil && random.oneIn(3):
            return .failed(stack.notModified(stack.cacheControl))
        case .store(let work) where work.comparedWith != nil:
            return .stored(StoreReport(delivered: nil, tiers: .none, isSame: random.oneIn(2)))
        case .query(let work)
        where work.destination == .staging && work.tiers == .all && random.oneIn(2):
            return stack.hit(held, length: length, etag: "\"1\"")
        default: return nil
        }
    }

    private mutating func progress() {
        guard let held = pick(stack.held(.fetch)) else { return }
        var progress = JobProgress(
            id: held.job.id, attempt: held.job.attempt,
            received: max(1, 2_000 * UInt64(draw(0...9))), expected: 18_000)
        // Sometimes partial data is no longer wanted.
        if held.wantsArrived || random.oneIn(8) {
            progress.arrived = stack.block(of: held.worker, length: progress.received)
            progress.format = pick([.jpeg, .png, .avif, nil] as [ImageFormat?]) ?? nil
        }
        let isLie = progress.arrived != nil && random.oneIn(40)
        if isLie { progress.received -= 1 }
        stack.send(.progress(held.worker, progress))
        if isLie, stack.workers[held.worker] != nil { stack.fault("bytes to come were believed") }
    }

    private mutating func publish() {
        guard ownCache != nil else { return }
        let name = pick(["a", "b", "c"]) ?? "a"
        let request = ImageRequest.image(name, size: random.oneIn(2) ? nil : draw(1...3))
        guard let url = try? SourceURL(request.url) else { return }
        let (cache, asked) = publishedCache()
        let reference = stack.publish(
            CacheKey.moved(CacheKey.result(request, url: url, terms: LoadTerms()), to: cache),
            length: random.oneIn(3) ? 2 << 20 : 800,
            expiresInMilliseconds: random.oneIn(2) ? UInt64(draw(0...300)) : nil)
        published.append(reference.block)
        ask(asked, for: request)
    }

    private mutating func evict() {
        guard let cache = ownCache else { return }
        let blocks = cache.large.filter { !$0.value }.keys.sorted { $0.value < $1.value }
        if let block = pick(published + blocks) { stack.evict(block) }
    }

    // MARK: - Lies

    /// Repeats an outcome, or sends one of an ended attempt with a block of its own.
    private mutating func repeatOutcome(isOld: Bool) {
        guard let (worker, outcome) = pick(lastOutcomes), stack.workers[worker] != nil else {
            return
        }
        guard isOld else {
            for reference in outcome.result.references {
                stack.namedTwice.insert(BlockHandle(worker: worker, block: reference.block))
            }
            return stack.send(.outcome(worker, outcome))
        }
        if handsOverLate(outcome, worker) { return }
        guard stack.workers[worker]?.kind == .transform else { return }
        let image = EncodedImage(
            reference: stack.block(of: worker),
            info: ImageInfo(format: .png, size: PixelSize(width: 1, height: 1)))
        stack.send(.transformed(image), of: outcome.id, attempt: outcome.attempt, from: worker)
    }

    /// Completes a job with bytes that the worker doesn't have: its session ends.
    private mutating func forge() {
        let makers = stack.allHeld.filter {
            $0.job.work.stage == .fetch || $0.job.work.stage == .transform
        }
        guard let held = pick(makers) else { return }
        let live = stack.scheduler.liveBlock(of: held.worker)
        var reference = stack.block(of: held.worker)
        switch draw(0...(live == nil ? 4 : 5)) {
        case 0: reference.segment = 9
        case 1: reference.offset = 1 << 30
        case 2: reference.offset = .max
        case 3: reference.block = BlockID(0)
        case 4: reference.arena = .results
        default:
            reference.block = live ?? BlockID(0)
        }
        let body = FetchedBody(reference: reference, httpStatus: 200, effectiveURL: "")
        let info = ImageInfo(format: .png, size: PixelSize(width: 1, height: 1))
        let result: JobResult =
            held.job.work.stage == .fetch
            ? .fetched(body) : .transformed(EncodedImage(reference: reference, info: info))
        stack.finish(held, result)
        if stack.workers[held.worker] != nil { stack.fault("a forged reference was believed") }
    }

    /// Completes a job with a result that wasn't requested: its session ends.
    private mutating func mistake() {
        guard let held = pick(stack.allHeld.filter { $0.job.work.stage != .query }) else { return }
        stack.finish(held, .miss)
        if stack.workers[held.worker] != nil { stack.fault("a wrong answer was believed") }
    }

    // MARK: - Decoders that return several frames, in walks in which they are requested

    /// As many frames as the job requests, or fewer; `nil` if it requests at most one.
    mutating func frames(_ held: Stack.Held) -> JobResult? {
        guard let most = framesAskedFor(held) else { return nil }
        return .decoded(stack.decoded(by: held.worker, frames: draw(1...most)))
    }

    private func framesAskedFor(_ held: Stack.Held) -> Int? {
        guard case .decode(let work) = held.job.work, work.framesMax > 1, work.need != .header
        else { return nil }
        return work.framesMax
    }

    /// Occasionally, a decoder names a block twice, bytes that it doesn't have, or more frames than
    /// requested: its session ends.
    mutating func liesAboutFrames(_ held: Stack.Held) -> Bool {
        guard let most = framesAskedFor(held), random.oneIn(30) else { return false }
        var image = stack.decoded(by: held.worker, frames: most)
        let place = draw(1...(most - 1))
        switch draw(0...2) {
        case 0: image.frames[place].reference.block = image.frames[0].reference.block
        case 1: image.frames[place].reference.offset = 1 << 30
        default: image.frames += stack.decoded(by: held.worker).frames
        }
        stack.finish(held, .decoded(image))
        if stack.workers[held.worker] != nil { stack.fault("a lie about frames was believed") }
        return true
    }

    /// Sometimes an outcome of an ended attempt has frames of its own.
    mutating func handsOverLate(_ outcome: JobOutcome, _ worker: WorkerID) -> Bool {
        let most = stack.scheduler.limits.workGraph.framesMax
        guard stack.workers[worker]?.kind == .decode, most > 1 else { return false }
        let image = stack.decoded(by: worker, frames: draw(1...most))
        stack.send(.decoded(image), of: outcome.id, attempt: outcome.attempt, from: worker)
        return true
    }

    /// Without further requests and lies, everything must complete.
    mutating func comeToRest() {
        for kind in WorkerKind.workers {
            let draining = stack.scheduler.drainingWorkers.filter {
                stack.workers[$0]?.kind == kind
            }
            for worker in draining.sorted() { stack.kill(worker) }
        }
        completeBatches()
        for _ in 0..<5_000 {
            // A worker that earlier claimed missing bytes may still be found to have lied.
            let pools = stack.scheduler.limits.dispatch.pools
            for pool in pools.workers
            where !stack.workers.values.contains(where: { $0.pool == pool }) {
                stack.hire(pools.kind(of: pool), pool: pool)
            }
            if stack.scheduler.isIdle { break }
            if stack.allHeld.isEmpty {
                guard let moment = stack.scheduler.nextDeadline else {
                    return stack.fault("nobody would ever wake it")
                }
                stack.pass(milliseconds: moment.milliseconds(since: stack.now))
            }
            stack.finishAll()
        }
        if !stack.scheduler.isIdle { stack.fault("something is left in a table") }
        if !stack.prefetching.isEmpty { stack.fault("batches did not end") }
        if !stack.waiting.isEmpty { stack.fault("\(stack.waiting.count) requests got no reply") }
        for worker in stack.workers.values where !worker.live.isEmpty {
            stack.fault("\(worker.live.count) blocks of a \(worker.kind.name) were not released")
        }
        for client in stack.clients.sorted() { stack.disconnect(client) }
        let large = stack.workers.values.flatMap { $0.large.filter { !$0.value }.keys }
        for block in large.sorted(by: { $0.value < $1.value }) { stack.evict(block) }
        if stack.workers.values.contains(where: { !$0.large.isEmpty }) {
            stack.fault("large blocks were not released")
        }
        if stack.scheduler.hits.blocks.hasDeliveries { stack.fault("deliveries are left") }
    }
}

extension SeededGenerator {
    /// True with a probability of 1/`count`.
    mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

extension Scheduler {
    /// A block of the worker that is in use.
    func liveBlock(of worker: WorkerID) -> BlockID? {
        let blocks =
            workGraph.sources.ids.compactMap { workGraph.sources[$0].kept?.block }
            + workGraph.results.ids.compactMap { workGraph.results[$0].product?.block }
        return blocks.first { $0.worker == worker && workGraph.dispatcher.ledger.isLive($0) }?.block
    }
}
