import Imagebus
import Linux
import Model
import Reporting
import Synchronization

/// A typical workload: mostly hits, some uncached images, other sizes of known images, and canceled
/// loads.
struct MixedBench: BenchKind {
    static let name = "mixed"
    static let summary = "a mix of hits, other sizes, new images and cancels"
    static var concurrency: Int { 4 * CurrentProcess.processorCount }
    static let seconds = 10
    static let takesRequest = false
    static let takesRequestsMax = true

    private let setting: BenchSetting
    /// The number of images that are requested repeatedly.
    static let known = 16

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        if setting.options.url == nil {
            try await setting.makeImage(
                "mixed.jpg", width: 1_362, height: 1_112, OutputOptions(format: .jpeg, quality: 85))
        }
        let loads = MixedLoads(setting, url: setting.options.url ?? setting.origin.url("mixed.jpg"))
        for number in 0..<Self.known {
            _ = try await setting.client.load(loads.knownRequest(number)).response
        }
        let processors = ProcessorsByKind(try await setting.watcher.status())
        let metrics = await LoadFlight(setting).run(loads.load)
        return MixedReport(
            metrics, concurrency: setting.options.concurrency, shares: loads.shares,
            processors: processors.microseconds(each: metrics.requests))
    }
}

/// Loads of the mix, one after the other, with the results by kind.
final class MixedLoads: Sendable {
    private let setting: BenchSetting
    private let url: String
    private let begun = Atomic(0)
    private let counted = Mutex([MixedWork: MixedShare]())

    init(_ setting: BenchSetting, url: String) {
        (self.setting, self.url) = (setting, url)
    }

    var shares: [MixedWork: MixedShare] { counted.withLock { $0 } }

    /// Performs one load; returns its size in bytes, 0 if it was canceled, or `nil` on failure.
    var load: LoadFlight.Load {
        { [self] in
            let number = begun.add(1, ordering: .relaxed).newValue
            if number >= setting.options.requestsMax { setting.stop() }
            let choice = MixedChoice(number: number)
            let start = MonotonicClock.now()
            let bytes = bytes(await result(choice), choice.work)
            let took = MonotonicClock.now() - start
            counted.withLock { $0[choice.work, default: MixedShare()].count(took, bytes) }
            return bytes
        }
    }

    private func result(_ choice: MixedChoice) async -> Result<ImageResponse, ImageError> {
        switch choice.work {
        case .hit: await setting.client.load(knownRequest(choice.image)).end()
        case .size: await setting.client.load(request(choice.image, side: choice.side)).end()
        case .cold: await setting.client.load(newRequest()).end()
        case .cancel:
            await setting.client.load(newRequest())
                .end(cancelledAfter: .milliseconds(choice.cancelMilliseconds))
        }
    }

    private func bytes(_ result: Result<ImageResponse, ImageError>, _ work: MixedWork) -> Int? {
        switch result {
        case .success(let image): image.bytes?.count ?? 0
        case .failure(let error): work == .cancel && error.code == .cancelled ? 0 : nil
        }
    }

    // MARK: - Requests

    /// Returns the request for a hit.
    func knownRequest(_ source: Int) -> ImageRequest { request(source, side: 512) }

    private func newRequest() -> ImageRequest {
        request(MixedBench.known + setting.next(), side: 512).unkept
    }

    private func request(_ number: Int, side: Int) -> ImageRequest {
        var request = ImageRequest(url: BenchURL.numbered(url, number))
        request.steps = [.resize(PixelSize(width: side, height: side), .fit)]
        request.output = OutputOptions(format: .jpeg, quality: 80)
        return request
    }
}

/// Determines load number n of the mix: the same in every run, independent of which task performs
/// it.
struct MixedChoice: Hashable {
    let work: MixedWork
    /// The index of a known image.
    let image: Int
    /// The longer side in pixels, for a size of its own.
    let side: Int
    /// The delay after which the load is canceled, in milliseconds.
    let cancelMilliseconds: Int

    init(number: Int) {
        var numbers = SeededNumbers(number)
        let hundredth = Int(numbers.next() % 100)
        var sum = 0
        work =
            MixedWork.allCases.first {
                sum += $0.percent
                return hundredth < sum
            } ?? .hit
        image = Int(numbers.next() % UInt64(MixedBench.known))
        side = Int(64 + numbers.next() % 448)
        cancelMilliseconds = Int(1 + numbers.next() % 20)
    }
}

/// A kind of load in the mix.
enum MixedWork: String, CaseIterable, Encodable, Sendable {
    /// A known image in the common size.
    case hit
    /// A known image in a size of its own.
    case size
    /// An uncached image.
    case cold
    /// An uncached image whose load is canceled.
    case cancel

    /// The percentage of loads.
    var percent: Int {
        switch self {
        case .hit: 65
        case .size: 15
        case .cold: 15
        case .cancel: 5
        }
    }
}

/// The results of one kind of load in the mix.
struct MixedShare: Sendable {
    private(set) var requests = 0
    private(set) var errors = 0
    private(set) var latencies = LatencyCounts()

    mutating func count(_ nanoseconds: UInt64, _ bytes: Int?) {
        requests += 1
        if bytes == nil { errors += 1 }
        latencies.record(nanoseconds: nanoseconds)
    }
}

/// The result of `bench mixed`; its JSON is an object (SEMANTICS §15.5).
struct MixedReport: BenchReport {
    private struct Share: Encodable {
        let work: MixedWork
        let requests: Int
        let errors: Int
        let percent: Double
        let p50: Double
        let p99: Double

        enum CodingKeys: String, CodingKey {
            case work, requests, errors, percent
            case p50 = "p50_ms"
            case p99 = "p99_ms"
        }
    }

    private let loads: LoadReport
    private let shares: [Share]
    private let processors: [String: Double]

    init(
        _ metrics: LoadMetrics, concurrency: Int, shares: [MixedWork: MixedShare],
        processors: [String: Double]
    ) {
        loads = LoadReport(MixedBench.name, metrics, concurrency: concurrency)
        self.processors = processors
        self.shares = MixedWork.allCases.map { work in
            let share = shares[work] ?? MixedShare()
            return Share(
                work: work, requests: share.requests, errors: share.errors,
                percent: Double(share.requests * 100) / Double(max(1, metrics.requests)),
                p50: share.latencies.milliseconds(at: 0.5),
                p99: share.latencies.milliseconds(at: 0.99))
        }
    }

    enum CodingKeys: String, CodingKey {
        case shares
        case processors = "cpu_us"
    }

    func encode(to encoder: any Encoder) throws {
        try loads.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(shares, forKey: .shares)
        try own.encode(processors, forKey: .processors)
    }

    var text: String {
        TextTable.text(LoadReport.header, [loads.row]) + "\n"
            + TextTable.text(
                ["WORK", "LOADS", "ERRORS", "PERCENT", "P50 MS", "P99 MS"],
                shares.map {
                    [
                        $0.work.rawValue, "\($0.requests)", "\($0.errors)",
                        TextTable.tenths($0.percent), LoadReport.thousandths($0.p50),
                        LoadReport.thousandths($0.p99),
                    ]
                })
    }
}
