import Imagebus
import Linux
import Model
import Reporting

/// Measures the cost of a hit by loading images from the memory tier.
///
/// Several concurrent loads use callbacks on the client's own thread; a single one uses the
/// blocking call. Alternating with that, measures the same with tasks on the client's executor and
/// with tasks on the default executor.
struct HitBench: BenchKind {
    static let name = "hit"
    static let summary = "hits in the memory tier"
    static let concurrency = 64
    static let seconds = 10

    private let setting: BenchSetting
    /// The duration of the warm-up before measuring, in seconds.
    private static let warmUpSeconds = 0.5
    /// The number of rounds in which the variants alternate, so that they run under the same
    /// conditions.
    private static let turns = 5

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        if let threads = setting.options.threads { return try await onThreads(threads) }
        let images = try await WarmImages.loaded(setting)
        let coordinator = try await setting.coordinator().flatMap(VisibleProcess.id)
        _ = await LoadFlight(setting, seconds: Self.warmUpSeconds).run(images.load)
        let seconds = Double(setting.options.seconds) / Double(3 * Self.turns)
        let flight = LoadFlight(setting, seconds: seconds)
        var (best, onExecutor, tasks) = (LoadMetrics(), LoadMetrics(), LoadMetrics())
        var cost = ProcessorSum()
        for _ in 0..<Self.turns where !setting.hasStopped {
            let meter = ProcessorMeter([coordinator, CurrentProcess.processID])
            let turn = try await images.hits(in: flight)
            cost.add(meter, of: turn.requests)
            best.append(turn)
            onExecutor.append(await images.hitsOnExecutor(in: flight))
            tasks.append(await flight.run(images.load))
        }
        return HitReport(
            best, onExecutor: onExecutor, tasks: tasks, concurrency: flight.concurrency,
            coordinatorMicroseconds: cost.each(0), clientMicroseconds: cost.each(1))
    }

    /// Measures blocking calls of one client on several threads, and nothing else.
    private func onThreads(_ count: Int) async throws(ImageError) -> any BenchReport {
        let images = try await WarmImages.loaded(setting)
        let coordinator = try await setting.coordinator().flatMap(VisibleProcess.id)
        let flight = LoadFlight(setting, concurrency: count)
        let meter = ProcessorMeter([coordinator, CurrentProcess.processID])
        var cost = ProcessorSum()
        let metrics = try await flight.runBlocking(onThreads: count, images.loadAndWait)
        cost.add(meter, of: metrics.requests)
        return HitReport(
            metrics, onExecutor: nil, tasks: nil, concurrency: count,
            coordinatorMicroseconds: cost.each(0), clientMicroseconds: cost.each(1))
    }
}

extension WarmImages {
    /// The maximum number of attempts until the memory tier has an image.
    private static let attempts = 100

    /// Loads the images of a measurement until the memory tier has them.
    static func loaded(_ setting: BenchSetting) async throws(ImageError) -> WarmImages {
        let requests = try await self.requests(setting)
        if requests.count > atATime { setting.log("loading \(requests.count) images") }
        var sizes: [Int] = []
        for start in stride(from: 0, to: requests.count, by: atATime) {
            let end = min(start + atATime, requests.count)
            sizes += try await warm(Array(requests[start..<end]), setting.client)
        }
        return WarmImages(setting.client, requests, sizes)
    }

    /// The number of images loaded concurrently.
    private static let atATime = 64

    private static func warm(
        _ requests: [ImageRequest], _ client: ImagebusClient
    ) async throws(ImageError) -> [Int] {
        let results = await withTaskGroup(of: Warmed.self) { group in
            for (place, request) in requests.enumerated() {
                group.addTask { await Warmed(place: place, size: size(request, client)) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var sizes = Array(repeating: 0, count: requests.count)
        for warmed in results { sizes[warmed.place] = try warmed.size.get() }
        return sizes
    }

    private struct Warmed: Sendable {
        let place: Int
        let size: Result<Int, ImageError>
    }

    private static func size(
        _ request: ImageRequest, _ client: ImagebusClient
    ) async -> Result<Int, ImageError> {
        do throws(ImageError) {
            return .success(try await warm(request, client))
        } catch {
            return .failure(error)
        }
    }

    private static func requests(
        _ setting: BenchSetting
    ) async throws(ImageError) -> [ImageRequest] {
        var request = setting.options.request
        guard let url = setting.options.url else {
            try await setting.makeImage(
                "hit.jpg", width: 1_362, height: 1_112, OutputOptions(format: .jpeg, quality: 90))
            request.url = setting.origin.url("hit.jpg", setting.next())
            if request.wantsOriginal, !setting.options.wantsSource { request.chooseThumbnail() }
            return numbered(request, setting)
        }
        let count =
            url.contains(BenchURL.place)
            ? setting.options.hot ?? setting.options.concurrency : 1
        return (1...count).map { number in
            request.url = BenchURL.counted(url, number)
            return request
        }
    }

    /// Returns requests for the same image under the required number of URLs.
    private static func numbered(
        _ request: ImageRequest, _ setting: BenchSetting
    ) -> [ImageRequest] {
        (0..<(setting.options.hot ?? 1)).map { _ in
            var request = request
            request.url = setting.origin.url("hit.jpg", setting.next())
            return request
        }
    }

    /// Loads an image until it comes from the memory tier; returns its size in bytes.
    private static func warm(
        _ request: ImageRequest, _ client: ImagebusClient
    ) async throws(ImageError) -> Int {
        for _ in 0..<attempts {
            let image = try await client.load(request).response
            if image.isMemoryHit { return image.bytes?.count ?? 0 }
        }
        throw ImageError(
            .invalidRequest, "the memory tier does not keep this image or is disabled")
    }
}

extension ImageRequest {
    /// Sets the default: 512 pixels, about 37 KB.
    fileprivate mutating func chooseThumbnail() {
        steps = [.resize(PixelSize(width: 512, height: 512), .fit)]
        output = OutputOptions(format: .jpeg, quality: 91)
    }
}

/// The result of `bench hit`; its JSON is an object (SEMANTICS §15.5).
struct HitReport: BenchReport {
    let loads: LoadReport
    /// With tasks on the client's executor; `nil` if not measured.
    let onExecutor: LoadReport?
    /// With tasks on the default executor.
    let tasks: LoadReport?
    /// The processor time of all threads per hit, excluding the variants with tasks.
    let coordinatorMicroseconds: Double?
    let clientMicroseconds: Double?

    init(
        _ metrics: LoadMetrics, onExecutor: LoadMetrics?, tasks: LoadMetrics?, concurrency: Int,
        coordinatorMicroseconds: Double?, clientMicroseconds: Double?
    ) {
        loads = LoadReport(HitBench.name, metrics, concurrency: concurrency)
        self.onExecutor = onExecutor.map {
            LoadReport("hit (executor)", $0, concurrency: concurrency)
        }
        self.tasks = tasks.map { LoadReport("hit (async)", $0, concurrency: concurrency) }
        self.coordinatorMicroseconds = coordinatorMicroseconds
        self.clientMicroseconds = clientMicroseconds
    }

    enum CodingKeys: String, CodingKey {
        case onExecutor = "executor"
        case tasks = "async"
        case coordinatorMicroseconds = "coordinator_us"
        case clientMicroseconds = "client_us"
    }

    func encode(to encoder: any Encoder) throws {
        try loads.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encodeIfPresent(onExecutor, forKey: .onExecutor)
        try own.encodeIfPresent(tasks, forKey: .tasks)
        try own.encodeIfPresent(coordinatorMicroseconds, forKey: .coordinatorMicroseconds)
        try own.encodeIfPresent(clientMicroseconds, forKey: .clientMicroseconds)
    }

    var text: String {
        TextTable.text(
            LoadReport.header, [loads, onExecutor, tasks].compactMap { $0?.row })
            + "\nprocessor time for each hit: coordinator \(Self.text(coordinatorMicroseconds)), "
            + "client \(Self.text(clientMicroseconds))\n"
    }

    private static func text(_ microseconds: Double?) -> String {
        microseconds.map { TextTable.tenths($0) + " us" } ?? "unknown"
    }
}
