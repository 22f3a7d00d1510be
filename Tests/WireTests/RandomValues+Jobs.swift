import ImageModel
import Messages

extension RandomValues {
    mutating func metadata() -> StoredMetadata {
        let limit = MessageLimits.originHeaderBytesMax
        return StoredMetadata(
            info: info(), contentType: maybe { $0.text(limit) }, etag: maybe { $0.text(limit) },
            lastModified: maybe { $0.text(limit) }, cacheControl: maybe { $0.text(limit) },
            vary: maybe { $0.text(limit) })
    }

    mutating func validators() -> Validators? {
        let limit = MessageLimits.originHeaderBytesMax
        return Validators(
            etag: maybe { $0.text(limit) }, lastModified: maybe { $0.text(limit) })
    }

    mutating func limits() -> ImageLimits {
        ImageLimits(
            sideMax: number(0...Int.max), pixelsMax: number(0...Int.max),
            pixelBytesMax: number(0...Int.max), pagesMax: number(0...Int.max))
    }

    mutating func need() -> DecodeNeed {
        switch number(0...2) {
        case 0: .header
        case 1: .full
        default: .cover(size(), word())
        }
    }

    mutating func work() -> [JobWork] {
        let layout = layout()
        let bytes = UInt64(layout.byteCount ?? 0)
        return [
            .fetch(
                FetchWork(
                    url: text(RequestLimits.urlBytesMax), headers: headers(),
                    bodyBytesMax: number(),
                    validators: validators(), sources: list(0...3) { $0.text(1_000) })),
            .query(
                QueryWork(
                    key: text(MessageLimits.keyBytesMax), tiers: tiers(),
                    destination: bool() ? .results : .staging, promotes: bool())),
            .store(
                StoreWork(
                    key: maybe { $0.text(MessageLimits.keyBytesMax) }, source: reference(),
                    tiers: tiers(), delivers: bool(), waitsForDisk: bool(),
                    metadata: metadata())),
            .entry(
                EntryWork(
                    action: word(), key: text(MessageLimits.keyBytesMax), tiers: tiers())),
            .decode(DecodeWork(source: reference(), need: need(), limits: limits())),
            .transform(
                TransformWork(
                    source: reference(length: bytes), layout: layout, sourceInfo: info(),
                    steps: list(0...RequestLimits.stepsMax + 1) { $0.step() }, output: output(),
                    limits: limits(),
                    overlays: list(0...RequestLimits.overlaysMax) { $0.overlayInput() })),
            .paint(
                PaintWork(
                    colour: Colour(argb: number()),
                    size: PixelSize(width: number(1...40_000), height: number(1...40_000)),
                    output: output(), limits: limits())),
        ]
    }

    private mutating func overlayInput() -> OverlayInput {
        let layout = layout()
        return OverlayInput(
            source: reference(length: UInt64(layout.byteCount ?? 0)), layout: layout, info: info())
    }

    /// One of each kind of message, jobs with each work.
    mutating func workerCommands() -> [WorkerCommand] {
        let jobs = work().map { work in
            WorkerCommand.job(
                Job(
                    id: job(), attempt: number(1...UInt32.max), work: work,
                    millisecondsLeft: number(), priority: word(),
                    trace: trace()))
        }
        return jobs + [
            .welcome(WorkerWelcome(epoch: Epoch(identifier()))), .helloRequired,
            .adjust(JobAdjustment(id: job(), millisecondsLeft: number(), priority: word())),
            .cancelJob(job()), .release(blocks()), .touched(blocks()), .drain, .refused(error()),
        ]
    }

    mutating func results() -> [JobResult] {
        let limit = MessageLimits.originHeaderBytesMax
        let layout = layout()
        let bytes = UInt64(layout.byteCount ?? 0)
        return [
            .fetched(
                FetchedBody(
                    reference: reference(), httpStatus: number(),
                    contentType: maybe { $0.text(limit) }, etag: maybe { $0.text(limit) },
                    lastModified: maybe { $0.text(limit) },
                    cacheControl: maybe { $0.text(limit) }, vary: maybe { $0.text(limit) },
                    effectiveURL: text(RequestLimits.urlBytesMax), format: maybe { $0.word() })),
            .hit(CacheHit(reference: reference(), tier: tiers(), metadata: metadata())),
            .miss, .entry(tiers()),
            .stored(
                StoreReport(
                    delivered: maybe { $0.reference() }, tiers: tiers(),
                    skipped: maybe { $0.text(MessageLimits.textBytesMax) })),
            .decoded(
                DecodedImage(
                    info: info(),
                    pixels: maybe { .init(reference: $0.reference(length: bytes), layout: layout) }
                )),
            .transformed(EncodedImage(reference: reference(), info: info())),
            .failed(error()),
        ]
    }

    mutating func segments() -> [SegmentAnnouncement] {
        list(0...MessageLimits.segmentsMax) {
            SegmentAnnouncement(arena: $0.word(), number: $0.number(), size: $0.number())
        }
    }

    /// One of each kind of message, outcomes with each result.
    mutating func workerMessages() -> [WorkerMessage] {
        let outcomes = results().map { result in
            WorkerMessage.outcome(
                JobOutcome(
                    id: job(), attempt: number(1...UInt32.max), result: result,
                    workMicroseconds: number()))
        }
        return outcomes + [
            .hello(
                WorkerHello(
                    incarnation: Incarnation(identifier()), pid: number(), restarts: number(),
                    version: text(), credit: number(),
                    sandbox: SandboxLayers(rawValue: number()),
                    secret: bool() ? secret() : nil, capabilities: capabilities())),
            .credit(number()), .segmentsOpened(segments()), .segmentsClosed(segments()),
            .progress(
                JobProgress(
                    id: job(), attempt: number(1...UInt32.max), received: number(),
                    expected: number())),
            .stored(
                StoredNotice(
                    key: text(MessageLimits.keyBytesMax), reference: reference(), info: info(),
                    expiresInMilliseconds: maybe { $0.number() })),
            .evicted(blocks()), .goodbye(word()), .cacheStatus(cacheStatus()),
        ]
    }

    mutating func cacheStatus() -> CacheStatus {
        var status = CacheStatus()
        status.memoryEntries = number()
        status.memoryBytes = number()
        status.disk = word()
        status.diskReason = text()
        status.diskEntries = number()
        status.diskBytes = number()
        status.diskOverheadBytes = number()
        status.diskBytesMax = number()
        status.entriesLost = number()
        status.indexesSetAside = number()
        status.storesSkipped = number()
        return status
    }
}
