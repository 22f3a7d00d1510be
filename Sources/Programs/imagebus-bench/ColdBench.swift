import Imagebus
import Linux
import Model
import Reporting
import Synchronization

/// Loads uncached images from their origin, through all stages, without storing them.
struct ColdBench: BenchKind {
    static let name = "cold"
    static let summary = "uncached images from their origin"
    /// Enough to keep every worker busy; more would only wait.
    static var concurrency: Int { 4 * CurrentProcess.processorCount }
    static let seconds = 10

    private let setting: BenchSetting
    /// The duration of the warm-up before measuring, in seconds.
    private static let warmUpSeconds = 0.5

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        let request = try await self.request()
        // A single failing load reports its error; failures of many would only be counted.
        let each = try await setting.client.load(numbered(request)).response.bytes?.count ?? 0
        _ = await LoadFlight(setting, seconds: Self.warmUpSeconds)
            .run(ColdLoads(setting.client) { numbered(request) }.load)
        let loads = ColdLoads(setting.client) { numbered(request) }
        let processors = ProcessorsByKind(try await setting.watcher.status())
        let metrics = await LoadFlight(setting).run(loads.load)
        return ColdReport(
            metrics, concurrency: setting.options.concurrency, bytesEach: each,
            processors: processors.microseconds(each: metrics.requests), stages: loads.stages)
    }

    @Sendable private func numbered(_ request: ImageRequest) -> ImageRequest {
        var request = request
        request.url = BenchURL.numbered(request.url, setting.next())
        return request
    }

    private func request() async throws(ImageError) -> ImageRequest {
        var request = setting.options.request.unkept
        if setting.options.url == nil {
            try await setting.makeImage(
                "cold.jpg", width: 2_725, height: 2_225, OutputOptions(format: .jpeg, quality: 85))
            request.url = setting.origin.url("cold.jpg")
            if !setting.options.isRequestChosen { request.choosePreview() }
        }
        return request
    }
}

extension ImageRequest {
    /// Sets the default: at most 512 pixels per side, JPEG.
    mutating func choosePreview() {
        steps = [.resize(PixelSize(width: 512, height: 512), .fit)]
        output = OutputOptions(format: .jpeg, quality: 80)
    }
}

/// Loads of distinct images, with the time spent in each stage.
final class ColdLoads: Sendable {
    private let client: ImagebusClient
    private let nextRequest: @Sendable () -> ImageRequest
    private let recorded = Mutex(StageMetrics())

    init(_ client: ImagebusClient, _ nextRequest: @escaping @Sendable () -> ImageRequest) {
        (self.client, self.nextRequest) = (client, nextRequest)
    }

    /// Performs one load; returns its size in bytes, or `nil` if it failed or came from a cache.
    var load: LoadFlight.Load {
        { [self] in
            guard let image = try? await client.load(nextRequest()).response,
                image.cacheType == .none, let count = image.bytes?.count
            else { return nil }
            recorded.withLock { $0.record(image.timings) }
            return count
        }
    }

    var stages: StageMetrics { recorded.withLock { $0 } }
}

/// The result of `bench cold`; its JSON is an object (SEMANTICS §15.5).
struct ColdReport: BenchReport {
    private let loads: LoadReport
    private let bytesEach: Int
    private let processors: [String: Double]
    private let stages: StageMetrics

    init(
        _ metrics: LoadMetrics, concurrency: Int, bytesEach: Int, processors: [String: Double],
        stages: StageMetrics
    ) {
        loads = LoadReport(ColdBench.name, metrics, concurrency: concurrency)
        (self.bytesEach, self.processors, self.stages) = (bytesEach, processors, stages)
    }

    enum CodingKeys: String, CodingKey {
        case bytesEach = "bytes_each"
        case processors = "cpu_us"
        case timings = "timings_ms"
    }

    func encode(to encoder: any Encoder) throws {
        try loads.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(bytesEach, forKey: .bytesEach)
        try own.encode(processors, forKey: .processors)
        try own.encode(stages.medians, forKey: .timings)
    }

    var text: String {
        let costs = processors.sorted { $0.value > $1.value }.map {
            "\($0.key) \(TextTable.tenths($0.value))"
        }
        return TextTable.text(LoadReport.header, [loads.row])
            + "\nprocessor time for each load, us: \(costs.joined(separator: ", "))\n"
            + "stages, median ms: \(stages.text)\n"
    }
}
