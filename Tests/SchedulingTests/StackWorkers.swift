import Model
import Testing

@testable import Coordinator

// Workers that act correctly, or as a test specifies.
extension Stack {
    /// A block that the worker hands over with its next outcome.
    mutating func block(
        of worker: WorkerID, in arena: ArenaName = .stage, length: UInt64 = 1_000
    ) -> BlockReference {
        workers[worker]?.lastBlock += 1
        let id = BlockID(workers[worker]?.lastBlock ?? 0)
        if arena == .stage {
            workers[worker]?.live.insert(id)
        } else if length >= 1 << 20 {
            workers[worker]?.large[id] = false
        }
        return BlockReference(
            arena: arena, segment: 0, offset: id.value * 64, length: length, block: id)
    }

    /// The worker completes a job that it holds.
    mutating func finish(_ held: Held, _ result: JobResult, microseconds: UInt64 = 1_000) {
        workers[held.worker]?.held[held.job.id] = nil
        send(
            .outcome(
                held.worker,
                JobOutcome(
                    id: held.job.id, attempt: held.job.attempt, result: result,
                    workMicroseconds: microseconds)))
    }

    /// The worker completes the job successfully; the cache misses.
    mutating func finish(_ held: Held) { finish(held, success(held)) }

    /// Completes the only job of a stage.
    mutating func finish(_ stage: JobStage, _ result: JobResult? = nil) {
        let jobs = held(stage)
        guard jobs.count == 1 else {
            return fault("\(jobs.count) \(stage.name) jobs are held where one is expected")
        }
        finish(jobs[0], result ?? success(jobs[0]))
    }

    /// Completes the only job of each of these stages in turn.
    mutating func run(_ stages: JobStage...) {
        for stage in stages { finish(stage) }
    }

    mutating func fail(_ stage: JobStage, _ code: ErrorCode) {
        finish(stage, .failed(ImageError(code, "as told")))
    }

    mutating func fail(_ held: Held, _ code: ErrorCode) {
        finish(held, .failed(ImageError(code, "as told")))
    }

    /// Completes the first job of each stage, in the order of the stages.
    mutating func finishFirst(_ stages: JobStage...) {
        for stage in stages { finish(held(stage)[0]) }
    }

    /// Completes the jobs that a stage has now.
    mutating func finishEach(_ stage: JobStage) {
        for held in held(stage) { finish(held) }
    }

    /// Completes the oldest transform with that many bytes.
    mutating func transform(length: UInt64) {
        let held = held(.transform)[0]
        finish(held, success(held, length: length))
    }

    /// Completes the oldest fetch successfully, with a body that a test changes.
    mutating func fetch(_ change: (inout FetchedBody) -> Void) {
        let held = held(.fetch)[0]
        guard case .fetched(var body) = success(held) else { return }
        change(&body)
        finish(held, .fetched(body))
    }

    /// Completes the oldest decode successfully, with an image that a test changes.
    mutating func decode(_ change: (inout DecodedImage) -> Void) {
        let held = held(.decode)[0]
        guard case .decoded(var image) = success(held) else { return }
        change(&image)
        finish(held, .decoded(image))
    }

    /// Completes the oldest query with a hit.
    mutating func find(
        tier: CacheTypes = .disk, length: UInt64 = 1_000, etag: String? = nil,
        caching: OriginCaching? = nil
    ) {
        let held = held(.query)[0]
        finish(held, hit(held, tier: tier, length: length, etag: etag, caching: caching))
    }

    /// Completes everything until no worker has a job.
    mutating func finishAll() {
        repeat {
            while let held = allHeld.first {
                if held.isCancelled { fail(held, .cancelled) } else { finish(held) }
            }
            goOn()
        } while !allHeld.isEmpty
    }

    /// Completes everything, after which nothing may be left. These requests have their images, from
    /// that tier if one is given; there were that many fetches.
    mutating func end(
        _ tokens: Token..., from tier: CacheTypes? = nil, fetches: UInt64? = nil,
        at place: SourceLocation = #_sourceLocation
    ) {
        end(tokens, from: tier, fetches: fetches, at: place)
    }

    mutating func end(
        _ tokens: [Token], from tier: CacheTypes? = nil, fetches: UInt64? = nil,
        at place: SourceLocation = #_sourceLocation
    ) {
        finishAll()
        expectRest(tokens, from: tier, fetches: fetches, at: place)
    }

    /// As `end`, and of batches.
    mutating func endBatches(_ tokens: Token..., at place: SourceLocation = #_sourceLocation) {
        finishEverything()
        expectRest(tokens, at: place)
    }

    /// Nothing is left. The requests are checked as by `end`.
    func expectRest(
        _ tokens: [Token] = [], from tier: CacheTypes? = nil, fetches: UInt64? = nil,
        at place: SourceLocation = #_sourceLocation
    ) {
        for token in tokens {
            let cacheType = image(token)?.cacheType
            #expect(cacheType != nil, "an image", sourceLocation: place)
            if let tier { #expect(cacheType == tier, sourceLocation: place) }
        }
        if let fetches { #expect(counters.fetches == fetches, sourceLocation: place) }
        #expect(isAtRest, "\(self)", sourceLocation: place)
    }

    /// Completes jobs, the oldest first, until no worker has one: with `result`, or successfully if
    /// that is `nil`. Returns the work of all of them, in their order.
    @discardableResult
    mutating func finishJobs(
        _ result: (inout Stack, Held) -> JobResult? = { _, _ in nil }
    ) -> [JobWork] {
        var works: [JobWork] = []
        while let held = allHeld.first {
            works.append(held.job.work)
            let result = result(&self, held) ?? success(held)
            finish(held, result)
        }
        return works
    }

    // MARK: - Work

    /// Jobs of external caches, and of our own cache, that are not canceled.
    var theirs: [Held] { cacheJobs(isExternal: true) }
    var ours: [Held] { cacheJobs(isExternal: false) }

    private func cacheJobs(isExternal: Bool) -> [Held] {
        allHeld.filter {
            $0.work.kind == .cache && !$0.isCancelled
                && workers[$0.worker]?.isExternal == isExternal
        }
    }

    /// The work of the jobs that a stage has and that are not canceled, the oldest first.
    private func works(_ stage: JobStage) -> [JobWork] { held(stage).map(\.job.work) }
    var queries: [QueryWork] { works(.query).compactMap(\.query) }
    var entries: [EntryWork] { works(.query).compactMap(\.entry) }
    var fetches: [FetchWork] { works(.fetch).compactMap(\.fetch) }
    var decodes: [DecodeWork] { works(.decode).compactMap(\.decode) }
    var transforms: [TransformWork] { works(.transform).compactMap(\.transform) }
    var stores: [StoreWork] { works(.store).compactMap(\.store) }

    /// Lets the scheduler process work left by earlier events.
    mutating func goOn() {
        while scheduler.isUnfinished { send(.tick) }
    }

    /// The outcome of a correct worker.
    mutating func success(_ held: Held, length: UInt64 = 1_000) -> JobResult {
        let worker = held.worker
        switch held.job.work {
        case .query: return .miss
        case .fetch(let work):
            var body = FetchedBody(
                reference: block(of: worker, length: length), httpStatus: 200,
                contentType: "image/jpeg", etag: "\"1\"", cacheControl: cacheControl,
                vary: vary, effectiveURL: work.url)
            body.age = responseAge
            return .fetched(body)
        case .entry(let work):
            return work.action.affectsSeveral ? .entries(EntryPage()) : .entry(work.tiers)
        case .decode(let work):
            var image = decoded(work.need, by: worker)
            if !work.properties.kinds.isEmpty { image.properties = ImageProperties() }
            return .decoded(image)
        case .transform(let work):
            guard let size = work.resultSize else {
                return .failed(ImageError(.stepFailed, "a step makes nothing of the image"))
            }
            return .transformed(
                encoded(work.resultFormat(hasAlpha: false), size, length, by: worker))
        case .paint(let work):
            return .transformed(encoded(work.resultFormat, work.size, length, by: worker))
        case .store(let work):
            let delivered =
                work.delivers
                ? block(of: worker, in: .results, length: work.source.length) : nil
            return .stored(StoreReport(delivered: delivered, tiers: work.tiers))
        }
    }

    /// Raw pixels have a fixed number of bytes.
    private mutating func encoded(
        _ format: ImageFormat, _ size: PixelSize, _ length: UInt64, by worker: WorkerID
    ) -> EncodedImage {
        let pixels = UInt64(PixelMapHeader.byteCount + 3 * size.width * size.height)
        return EncodedImage(
            reference: block(of: worker, length: format == .pam ? pixels : length),
            info: ImageInfo(format: format, size: size))
    }

    /// The error of a correct worker for a 304 with this `Cache-Control`.
    func notModified(_ control: String?) -> ImageError {
        guard let age = responseAge else {
            return ImageError(
                .cacheNotModified, "not modified",
                details: control.map { ["cacheControl": $0] } ?? [:])
        }
        return .notModified(OriginCaching(CacheControl(control), age))
    }

    /// Completes the cache's renewals of entries confirmed by origins. Returns them.
    @discardableResult
    mutating func finishRenewals() -> [EntryWork] {
        var works: [EntryWork] = []
        // One after another if the cache has credit for one.
        while let next = held(.query).first(where: { $0.job.work.entry?.action == .renew }) {
            works += next.job.work.entry.map { [$0] } ?? []
            finish(next)
        }
        return works
    }

    /// The age of a response that arrives now.
    private var responseAge: ResponseAge? {
        age.map { ResponseAge(bornMilliseconds: scheduler.calendarNow - $0) }
    }

    /// The outcome of a correct decoder: that many frames, if pixels are needed.
    mutating func decoded(_ need: DecodeNeed = .full, by worker: WorkerID, frames: Int = 1)
        -> DecodedImage
    {
        let info = ImageInfo(format: .jpeg, size: PixelSize(width: 40, height: 30))
        guard need != .header else { return DecodedImage(info: info, frames: []) }
        let layout = PixelLayout(bands: .rgb, size: info.size, stride: 120)
        return DecodedImage(
            info: info,
            frames: (0..<frames).map { _ in
                DecodedImage.Frame(reference: block(of: worker, length: 3_600), layout: layout)
            })
    }

    /// A cache hit.
    mutating func hit(
        _ held: Held, tier: CacheTypes = .disk, length: UInt64 = 1_000, etag: String? = nil,
        caching: OriginCaching? = nil
    ) -> JobResult {
        guard case .query(let work) = held.job.work else {
            preconditionFailure("only a query can be a hit")
        }
        let arena: ArenaName = work.destination == .results ? .results : .stage
        let info = ImageInfo(format: .png, size: PixelSize(width: 20, height: 20))
        return .hit(
            CacheHit(
                reference: block(of: held.worker, in: arena, length: length), tier: tier,
                metadata: StoredMetadata(info: info, etag: etag, caching: caching)))
    }

    /// The cache publishes an entry of its memory tier.
    @discardableResult
    mutating func publish(
        _ key: String, length: UInt64 = 1_000, expiresInMilliseconds: UInt64? = nil,
        validity: Validity? = nil
    ) -> BlockReference {
        let cache = worker(.cache)
        let reference = block(of: cache, in: .results, length: length)
        publishedTexts[reference.block] = key
        send(
            .stored(
                cache,
                StoredNotice(
                    key: key, reference: reference,
                    info: ImageInfo(format: .png, size: PixelSize(width: 20, height: 20)),
                    expiresInMilliseconds: expiresInMilliseconds, validity: validity)))
        return reference
    }

    mutating func evict(_ block: BlockID) {
        let cache = worker(.cache)
        if workers[cache]?.large[block] != nil { workers[cache]?.large[block] = true }
        send(.evicted(cache, [block]))
    }

    /// What the transfers of workers load, without scheme, usual host and extension.
    var fetchNames: [String] {
        fetches.map { work in
            let name = work.url.dropFirst("http://".count).dropLast(".jpg".count)
            return String(name.hasPrefix("example.org/") ? name.dropFirst(12) : name)
        }
    }

    /// Fails the transfers of the only download worker, which has one at a time. Returns their
    /// names, in the order in which it got them. After all of them, nothing is left to do.
    mutating func fetchOrder(atMost count: Int = .max) -> [String] {
        var order: [String] = []
        while order.count < count, let next = held(.fetch).first {
            order += fetchNames
            fail(next, .invalidDownloadContentType)
        }
        #expect(faults == [] && (isAtRest || count != .max), "\(self)")
        return order
    }

    // MARK: - Progress

    /// That many bytes of the oldest transfer have arrived. Returns the block with them.
    @discardableResult
    mutating func arrive(
        _ bytes: UInt64, of expected: UInt64 = 100_000, as format: ImageFormat = .jpeg,
        received: UInt64? = nil
    ) -> BlockID {
        let held = held(.fetch)[0]
        let block = block(of: held.worker, length: bytes)
        progress(held, received ?? bytes, of: expected, block, format)
        return block.block
    }

    /// The worker reports the progress of a job, with a block of what arrived if one is given.
    mutating func progress(
        _ held: Held, attempt: UInt32? = nil, _ received: UInt64, of expected: UInt64 = 0,
        _ arrived: BlockReference? = nil, _ format: ImageFormat? = nil
    ) {
        send(
            .progress(
                held.worker,
                JobProgress(
                    id: held.job.id, attempt: attempt ?? held.job.attempt, received: received,
                    expected: expected, arrived: arrived, format: format)))
    }

    /// Sends the result of a job that the worker need not have.
    mutating func send(
        _ result: JobResult, of job: JobID, attempt: UInt32, from worker: WorkerID
    ) {
        send(
            .outcome(
                worker,
                JobOutcome(id: job, attempt: attempt, result: result, workMicroseconds: 1)))
    }
}

extension ImageRequest {
    /// A load of an image; `size` makes it a thumbnail.
    static func image(
        _ name: String = "a", size: Int? = nil, _ options: RequestOptions = []
    ) -> ImageRequest {
        var request = ImageRequest(url: "http://example.org/\(name).jpg")
        if let size {
            request.steps = [.resize(PixelSize(width: size, height: size), .fit)]
        }
        request.options = options
        return request
    }

    /// A load of an image that queries no cache.
    static func loader(
        _ name: String = "a", size: Int? = nil, _ options: RequestOptions = []
    ) -> ImageRequest {
        image(name, size: size, options.union(.fromLoaderOnly))
    }

    /// The same load, which doesn't store the original.
    var discardingOriginal: ImageRequest { with { $0.originalStoreCacheTypes = .none } }

    /// The same load with a timeout.
    func within(milliseconds: Int) -> ImageRequest {
        with { $0.timeoutMilliseconds = milliseconds }
    }

    func with(_ change: (inout ImageRequest) -> Void) -> ImageRequest {
        var request = self
        change(&request)
        return request
    }
}

extension Stack.Held {
    var work: JobWork { job.work }
}

extension JobWork {
    var query: QueryWork? { if case .query(let work) = self { work } else { nil } }
    var entry: EntryWork? { if case .entry(let work) = self { work } else { nil } }
    var fetch: FetchWork? { if case .fetch(let work) = self { work } else { nil } }
    var decode: DecodeWork? { if case .decode(let work) = self { work } else { nil } }
    var transform: TransformWork? { if case .transform(let work) = self { work } else { nil } }
    var paint: PaintWork? { if case .paint(let work) = self { work } else { nil } }
    var store: StoreWork? { if case .store(let work) = self { work } else { nil } }

    /// The key under which the work stores bytes, if any.
    var storedKey: String? { store?.key }

    /// The key that the work removes from all tiers, if any.
    var removedKey: String? {
        entry.flatMap { $0.action == .remove && $0.tiers == .all ? $0.key : nil }
    }
}

extension ImageError {
    /// The error of a source whose header is valid and whose pixels are not.
    static var damagedPixels: ImageError {
        var error = ImageError(.badImageData, "cut off")
        error.damagesPixelsOnly = true
        return error
    }
}
