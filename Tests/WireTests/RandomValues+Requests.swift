import ImageModel
import Messages

extension RandomValues {
    mutating func headers() -> [HTTPHeader] {
        list(0...RequestLimits.headersMax) { HTTPHeader(name: $0.text(32), value: $0.text(200)) }
    }

    mutating func step() -> TransformStep {
        switch number(0...5) {
        case 0: .resize(size(), word())
        case 1: .crop(PixelRect(x: number(), y: number(), size: size()))
        case 2: .rotate(Rotation(radians: finite(), fitsSize: bool()))
        case 3:
            .overlay(
                Overlay(
                    url: text(300), x: number(), y: number(),
                    opacity: Double(number(0...1_000)) / 1_000))
        case 4: .custom(customStep())
        default: .flip(horizontal: bool(), vertical: bool())
        }
    }

    /// Parameters are any texts on the wire; the name is that of a custom step.
    private mutating func customStep() -> CustomStep {
        let count = number(0...RequestLimits.parametersMax)
        let pairs = (0..<count).map { index in
            (
                "\(index)" + text(RequestLimits.nameBytesMax - 2),
                text(RequestLimits.parameterBytesMax)
            )
        }
        return CustomStep(
            "vendor.step-\(number(0...999))",
            parameters: Dictionary(pairs) { first, _ in first })
    }

    mutating func output() -> OutputOptions {
        OutputOptions(
            format: maybe { $0.word() }, quality: maybe { $0.number() }, lossless: bool(),
            compression: maybe { $0.number() })
    }

    mutating func request() -> ImageRequest {
        // A byte beyond ASCII takes three once it is percent-encoded.
        var request = ImageRequest(url: text(RequestLimits.urlBytesMax / 3))
        request.headers = headers()
        request.thumbnail = maybe { Thumbnail(box: $0.size(), preservesAspectRatio: $0.bool()) }
        request.steps = list(0...RequestLimits.stepsMax) { $0.step() }
        request.output = output()
        request.infoOnly = bool()
        request.options = RequestOptions(rawValue: number())
        request.queryCacheTypes = tiers()
        request.storeCacheTypes = tiers()
        request.originalQueryCacheTypes = tiers()
        request.originalStoreCacheTypes = tiers()
        request.timeoutMilliseconds = number()
        request.context = context()
        return request
    }

    mutating func piece() -> Piece {
        let bytes: [UInt8] = (0..<number(1...MessageLimits.pieceBytesMax)).map { _ in number() }
        let offset: UInt64 = number(0...(UInt64.max - UInt64(bytes.count)))
        return Piece(
            token: token(), offset: offset,
            total: number((offset + UInt64(bytes.count))...UInt64.max), bytes: bytes)
    }

    /// One of each kind of message, in the order of the cases.
    mutating func clientMessages() -> [ClientMessage] {
        [
            .hello(
                ClientHello(
                    incarnation: Incarnation(identifier()), pid: number(), version: text(),
                    wantsPieces: bool(), secret: bool() ? secret() : nil)),
            .load(
                LoadRequest(
                    token: token(), group: maybe { GroupID($0.identifier()) }, image: request(),
                    wantsProgress: bool(), staleRetries: number(), detach: bool(),
                    wantsPieces: bool(), uploadBytes: number(), slot: maybe { $0.name() },
                    trace: trace())),
            .reprioritise(token(), word()), .reprioritiseGroup(GroupID(identifier()), word()),
            .prefetch(
                PrefetchRequest(
                    batch: token(), image: request(), urls: list(0...50) { $0.text(100) },
                    isLast: bool(), concurrency: number(), trace: trace())),
            .cancel(token()), .cancelGroup(GroupID(identifier())), .release(blocks()), .status,
            .blacklist(.list(after: number())), .blacklist(.remove(url: text(8_192))),
            .blacklist(.clear),
            .cache(
                CacheCommand(
                    number: number(), action: word(), cache: maybe { $0.name() },
                    key: text(MessageLimits.keyBytesMax), tiers: tiers())),
            .piece(piece()), .taken(number(1...UInt64.max)), .drain(word()),
            .goodbye,
        ]
    }

    mutating func timings() -> StageTimings {
        var timings = StageTimings()
        timings.queue = finite()
        timings.query = finite()
        timings.fetch = finite()
        timings.decode = finite()
        timings.transform = finite()
        timings.store = finite()
        timings.total = finite()
        return timings
    }

    mutating func delivery() -> DeliveredImage {
        DeliveredImage(
            reference: maybe { $0.reference() }, info: info(), cacheType: tiers(),
            key: text(MessageLimits.keyBytesMax), storedTiers: maybe { $0.tiers() },
            mustCopy: bool(), pieceBytes: maybe { $0.number() }, scaleFactor: finite(),
            fallbackFor: maybe { $0.error() })
    }

    mutating func report() -> StatusReport {
        var report = StatusReport()
        report.processes = list(0...40) {
            .init(
                kind: $0.word(), pid: $0.number(), state: $0.text(), restarts: $0.number(),
                jobs: $0.number(), sandbox: SandboxLayers(rawValue: $0.number()),
                credit: $0.number(), pool: $0.maybe { $0.poolName() })
        }
        report.pools = list(0...20) {
            .init(
                name: $0.poolName(), kind: $0.word(), isForeign: $0.bool(), workers: $0.number(),
                jobs: $0.number(), credit: $0.number(), queued: $0.number(),
                outputBytes: $0.number())
        }
        report.sockets = list(0...8) {
            .init(
                name: $0.text(), messagesReceived: $0.number(), messagesSent: $0.number(),
                bytesReceived: $0.number(), bytesSent: $0.number(), largestMessage: $0.number())
        }
        report.counters = list(0...100) { .init(name: $0.text(), value: $0.number()) }
        report.uptimeMilliseconds = number()
        report.cancellations = list(0...5) {
            .init(stage: $0.text(), hard: $0.number(), durations: $0.histogram())
        }
        report.stages = list(0...5) {
            .init(
                stage: $0.text(), queued: $0.number(), queuedCost: $0.number(),
                running: $0.number(), waits: $0.histogram(), works: $0.histogram())
        }
        report.requests = histogram()
        report.caches = list(0...2) { $0.cacheStatus() }
        return report
    }

    mutating func histogram() -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for _ in 0..<20 { histogram.record(microseconds: number()) }
        return histogram
    }

    mutating func blacklist() -> BlacklistReport {
        BlacklistReport(
            entries: list(0...40) {
                .init(
                    number: $0.number() | 1, url: $0.text(1_024), operation: $0.text(),
                    reason: .poisoned, expiresInMilliseconds: $0.number())
            },
            hasMore: bool(), removed: number())
    }

    /// One of each kind of message, replies with each outcome.
    mutating func serverMessages() -> [ServerMessage] {
        [
            .welcome(
                ClientWelcome(
                    epoch: Epoch(identifier()), window: number(), pieceWindow: number())),
            .helloRequired,
            .progress(RequestProgress(token: token(), received: number(), expected: number())),
            .reply(Reply(token: token(), outcome: .image(delivery()), timings: timings())),
            .reply(Reply(token: token(), outcome: .miss(key: text(MessageLimits.keyBytesMax)))),
            .reply(
                Reply(
                    token: token(), outcome: .failure(error()), timings: timings(),
                    isRefreshing: bool())),
            .reply(Reply(token: token(), outcome: .notModified, timings: timings())),
            .prefetched(
                PrefetchReport(
                    batch: token(), total: number(), finished: number(), skipped: number(),
                    cancelled: number(), isFinal: bool(),
                    failures: list(0...PrefetchFailure.countMax) {
                        PrefetchFailure(
                            url: $0.text(PrefetchFailure.urlBytesMax), error: $0.error())
                    })),
            .cache(CacheReport(number: number(), outcome: .tiers(tiers()))),
            .cache(CacheReport(number: number(), outcome: .failure(error()))),
            .piece(piece()), .taken(number(1...UInt64.max)), .draining(number()),
            .status(report()), .refused(error(), maybe { $0.token() }), .blacklist(blacklist()),
        ]
    }
}
