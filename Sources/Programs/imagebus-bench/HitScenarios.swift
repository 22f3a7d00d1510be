import Imagebus
import Model
import Reporting

// MARK: - Hits

extension Bench {
    /// The duration of the warm-up before measuring hits, in seconds.
    private static let warmUpSeconds = 0.5
    /// The number of rounds in which the ways to wait for a load alternate, so that they are
    /// measured under the same conditions.
    private static let hitTurns = 5

    /// Loads images from the memory tier, to measure the cost of a hit.
    ///
    /// Measures the cheapest call for this concurrency, alternating with tasks on the client's
    /// executor and with tasks on the default executor; or only blocking calls on threads.
    func measureHits() async throws(ImageError) -> BenchReport {
        let images = try await warmImages()
        var meter = ProcessorMeter(try await watcher.status())
        if let threads = options.threads {
            meter.start()
            let hits = await LoadFlight(self, concurrency: threads).runBlocking(images.loadAndWait)
            meter.stop(after: hits.requests)
            return Self.hitReport(hits, concurrency: threads, meter.microseconds)
        }
        _ = await LoadFlight(self, seconds: Self.warmUpSeconds).run(images.load)
        let seconds = Double(options.seconds) / Double(3 * Self.hitTurns)
        let flight = LoadFlight(self, seconds: seconds)
        var (hits, onExecutor, tasks) = (LoadMetrics(), LoadMetrics(), LoadMetrics())
        for _ in 0..<Self.hitTurns where !hasStopped {
            meter.start()
            let turn = await images.hits(in: flight)
            meter.stop(after: turn.requests)
            hits.append(turn)
            onExecutor.append(await flight.run(on: client.executor, images.load))
            tasks.append(await flight.run(images.load))
        }
        return Self.hitReport(
            hits, [("executor", onExecutor), ("async", tasks)], concurrency: flight.concurrency,
            meter.microseconds)
    }

    /// Reports hits, the other ways to wait for them by name, and the processor time of a hit,
    /// which excludes those.
    static func hitReport(
        _ hits: LoadMetrics, _ others: [(name: String, hits: LoadMetrics)] = [], concurrency: Int,
        _ microseconds: [String: Double]
    ) -> BenchReport {
        var report = BenchReport("hit", hits, concurrency: concurrency)
        for kind in ["coordinator", VisibleProcess.client] {
            report["\(kind)_us"] = microseconds[kind]
        }
        for (name, hits) in others {
            report[name] = BenchReport("hit (\(name))", hits, concurrency: concurrency)
        }
        return report
    }

    /// The maximum number of attempts until the memory tier has an image.
    private static let warmAttempts = 100
    /// The number of images loaded concurrently until the memory tier has them.
    private static let warmAtATime = 64

    /// Loads the images of a measurement until the memory tier has them.
    private func warmImages() async throws(ImageError) -> WarmImages {
        let requests = try await warmRequests()
        if requests.count > Self.warmAtATime { log("loading \(requests.count) images") }
        var sizes: [Int] = []
        for start in stride(from: 0, to: requests.count, by: Self.warmAtATime) {
            let part = requests[start..<min(start + Self.warmAtATime, requests.count)]
            let loads = part.map { request in Task { await warm(request) } }
            for load in loads { sizes.append(try await load.value.get()) }
        }
        return WarmImages(client, requests, sizes)
    }

    private func warmRequests() async throws(ImageError) -> [ImageRequest] {
        var request = options.request
        request.url = try await url(orImage: "hit.jpg", width: 1_362, height: 1_112, quality: 90)
        guard options.url != nil else {
            // About 37 KB.
            if request.wantsOriginal, !options.wantsSource { request.choosePreview(quality: 91) }
            return (0..<(options.hot ?? 1)).map { _ in request.numbered(next()) }
        }
        guard request.url.contains(BenchURL.place) else { return [request] }
        return (1...(options.hot ?? options.concurrency)).map { request.numbered($0) }
    }

    /// Loads an image until it comes from the memory tier; returns its size in bytes.
    private func warm(_ request: ImageRequest) async -> Result<Int, ImageError> {
        for _ in 0..<Self.warmAttempts {
            switch await client.load(request).end() {
            case .success(let image) where image.isMemoryHit:
                return .success(image.bytes?.count ?? 0)
            case .success: continue
            case .failure(let error): return .failure(error)
            }
        }
        return .failure(
            ImageError(.invalidRequest, "the memory tier does not keep this image or is disabled"))
    }
}

// MARK: - Flood

extension Bench {
    /// Many short turns, because the speed of a shared machine changes within seconds.
    private static let floodTurns = 9
    /// The number of loads that are in flight at all times.
    private static let floodLoads = 10_000
    /// The timeout for these loads to be queued, and for the queue to drain.
    private static let floodSeconds = 60
    /// The largest acceptable increase of another client's 99th percentile.
    private static let floodRatioMax = 3.0

    /// Measures the hits of one client: alone, and while another client has a very large number of
    /// loads queued. They are uncached, so all processes are overloaded.
    func measureFlood() async throws(ImageError) -> BenchReport {
        let images = try await warmImages()
        var request = ImageRequest(
            url: try await url(orImage: "flood.jpg", width: 1_362, height: 1_112)
        ).unkept
        request.choosePreview()
        request.timeoutMilliseconds = RequestLimits.timeoutMillisecondsMax
        let each = request
        let clients = try clients(for: Self.floodLoads)
        let seconds = Double(options.seconds) / Double(2 * Self.floodTurns)
        let flight = LoadFlight(self, seconds: seconds)
        _ = await images.hits(in: LoadFlight(self, seconds: Self.warmUpSeconds))
        var (alone, flooded, queued) = (LoadMetrics(), LoadMetrics(), Self.floodLoads)
        var ratios: [Double] = []
        for _ in 0..<Self.floodTurns where !hasStopped {
            let before = await images.hits(in: flight)
            let flood = Task { await keepLoading(each, clients) }
            try await status(within: Self.floodSeconds) {
                hasStopped || $0.count("liveRequests") >= Self.floodLoads * 95 / 100
            }
            let beside = await images.hits(in: flight)
            queued = min(queued, Int(try await watcher.status().count("liveRequests")))
            flood.cancel()
            await flood.value
            try await status(within: Self.floodSeconds) { $0.count("liveRequests") == 0 }
            alone.append(before)
            flooded.append(beside)
            if before.p99 > 0 { ratios.append(beside.p99 / before.p99) }
        }
        // Of the median turn.
        let ratio = ratios.isEmpty ? 0 : ratios.sorted()[ratios.count / 2]
        var report = BenchReport("flood", flooded, concurrency: flight.concurrency)
        report["queued"] = queued
        report["p99_ratio"] = ratio
        report["p99_ratio_max"] = Self.floodRatioMax
        report["verdict"] = ratio == 0 ? "none" : ratio <= Self.floodRatioMax ? "met" : "missed"
        report["alone"] = BenchReport("alone", alone, concurrency: flight.concurrency)
        return report
    }

    /// Keeps loads of new images in flight until the task is canceled.
    private func keepLoading(_ request: ImageRequest, _ clients: [ImagebusClient]) async {
        _ = await LoadFlight.runAtOnce(Self.floodLoads) { [self] number in
            while !Task.isCancelled, !hasStopped {
                _ = await clients[number % clients.count].load(request.numbered(next())).end()
            }
            return 0
        }
    }
}
