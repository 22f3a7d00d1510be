import Model

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

    /// Completes everything until no worker has a job.
    mutating func finishAll() {
        repeat {
            while let held = allHeld.first {
                finish(
                    held,
                    held.isCancelled ? .failed(ImageError(.cancelled, "stopped")) : success(held))
            }
            goOn()
        } while !allHeld.isEmpty
    }

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
        while let next = held(.query).first(where: { $0.job.work.renewal != nil }) {
            if let work = next.job.work.renewal { works.append(work) }
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

    func with(_ change: (inout ImageRequest) -> Void) -> ImageRequest {
        var request = self
        change(&request)
        return request
    }
}

extension JobWork {
    /// The work, if it renews an entry confirmed by its origin.
    fileprivate var renewal: EntryWork? {
        if case .entry(let work) = self, work.action == .renew { work } else { nil }
    }
}
