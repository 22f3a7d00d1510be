import Imagebus
import Linux
import Model
import Reporting

/// Measures the hits of one client: alone, and while another client has a very large number of
/// loads queued.
///
/// Both alternate, so that they run under the same conditions. The images of the flood are
/// uncached: each is fetched, decoded and transformed, so all processes are overloaded.
struct FloodBench: BenchKind {
    static let name = "flood"
    static let summary = "hits of one client while another client floods the stack"
    static let concurrency = 1
    static let seconds = 18
    static let takesRequest = false

    private let setting: BenchSetting
    /// Many short turns, because the speed of a shared machine changes within seconds.
    private static let turns = 9
    /// The duration of the warm-up before measuring, in seconds.
    private static let warmUpSeconds = 0.5

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        let images = try await WarmImages.loaded(setting)
        try await setting.makeImage(
            "flood.jpg", width: 1_362, height: 1_112, OutputOptions(format: .jpeg, quality: 85))
        let flood = try Flood(setting, url: setting.options.url ?? setting.origin.url("flood.jpg"))
        let seconds = Double(setting.options.seconds) / Double(2 * Self.turns)
        let flight = LoadFlight(setting, seconds: seconds)
        _ = try await images.hits(in: LoadFlight(setting, seconds: Self.warmUpSeconds))
        var turns: [FloodTurn] = []
        for _ in 0..<Self.turns where !setting.hasStopped {
            let alone = try await images.hits(in: flight)
            let flooded = try await flood.during { () throws(ImageError) in
                try await images.hits(in: flight)
            }
            turns.append(FloodTurn(alone: alone, flooded: flooded.value, queued: flooded.queued))
        }
        return FloodReport(turns, concurrency: flight.concurrency)
    }
}

/// Keeps a very large number of uncached loads queued during a measurement.
struct Flood: Sendable {
    /// The number of loads in flight at all times.
    static let loads = 10_000
    /// The number of loads per connection, which is limited to 4,096.
    private static let loadsPerClient = 2_500
    /// The timeout for this number of loads to be queued, and for the queue to drain, in
    /// milliseconds.
    private static let settleMilliseconds = 60_000

    private let setting: BenchSetting
    private let url: String
    private let clients: [ImagebusClient]

    init(_ setting: BenchSetting, url: String) throws(ImageError) {
        (self.setting, self.url) = (setting, url)
        var clients: [ImagebusClient] = []
        for _ in stride(from: 0, to: Self.loads, by: Self.loadsPerClient) {
            clients.append(try setting.connect())
        }
        self.clients = clients
    }

    /// Returns the result of `measure`, and the number of requests of the stack without an answer
    /// at its end.
    func during<Value: Sendable>(
        _ measure: () async throws(ImageError) -> Value
    ) async throws(ImageError) -> (value: Value, queued: Int) {
        let flooding = Task {
            await withDiscardingTaskGroup { group in
                for number in 0..<Self.loads {
                    group.addTask { await keepLoading(clients[number % clients.count]) }
                }
            }
        }
        let outcome: Result<(value: Value, queued: Int), ImageError>
        do throws(ImageError) {
            try await settle { $0 >= Self.loads * 95 / 100 }
            let value = try await measure()
            outcome = .success((value, try await liveRequests()))
        } catch {
            outcome = .failure(error)
        }
        flooding.cancel()
        await flooding.value
        let found = try outcome.get()
        try await settle { $0 == 0 }
        return found
    }

    /// Performs one load after the other; canceling the task cancels the load.
    private func keepLoading(_ client: ImagebusClient) async {
        while !Task.isCancelled, !setting.hasStopped {
            var request = ImageRequest(url: BenchURL.numbered(url, setting.next()))
            request.choosePreview()
            request.timeoutMilliseconds = RequestLimits.timeoutMillisecondsMax
            _ = try? await client.load(request.unkept).response
        }
    }

    private func settle(_ isThere: (Int) -> Bool) async throws(ImageError) {
        let deadline = MonotonicClock.now() + UInt64(Self.settleMilliseconds) * 1_000_000
        while !setting.hasStopped {
            let live = try await liveRequests()
            if isThere(live) { return }
            guard MonotonicClock.now() < deadline else {
                throw ImageError(.busy, "the stack is stuck with \(live) requests")
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private func liveRequests() async throws(ImageError) -> Int {
        Int(try await setting.watcher.status().count("liveRequests"))
    }
}

/// One measurement of hits without and with a flood.
struct FloodTurn: Sendable {
    let alone: LoadMetrics
    let flooded: LoadMetrics
    /// The number of requests without an answer when the hits had ended.
    let queued: Int

    /// The ratio of the 99th percentiles of the hits, with and without the flood.
    var ratio: Double {
        let p99 = alone.latencies.milliseconds(at: 0.99)
        return p99 > 0 ? flooded.latencies.milliseconds(at: 0.99) / p99 : 0
    }
}

/// The result of `bench flood`; its JSON is an object (SEMANTICS §15.5) with the hits under the
/// flood and those without.
struct FloodReport: BenchReport {
    /// The largest acceptable increase of another client's 99th percentile.
    static let ratioMax = 3.0

    private let flooded: LoadReport
    private let alone: LoadReport
    private let queued: Int
    /// The median of the turns.
    private let ratio: Double

    init(_ turns: [FloodTurn], concurrency: Int) {
        func report(_ name: String, _ metrics: (FloodTurn) -> LoadMetrics) -> LoadReport {
            let all = turns.reduce(into: LoadMetrics()) { $0.append(metrics($1)) }
            return LoadReport(name, all, concurrency: concurrency)
        }
        flooded = report(FloodBench.name, \.flooded)
        alone = report("alone", \.alone)
        queued = turns.map(\.queued).min() ?? 0
        let ratios = turns.map(\.ratio).sorted()
        ratio = ratios.isEmpty ? 0 : ratios[ratios.count / 2]
    }

    private var verdict: String {
        ratio == 0 ? "none" : ratio <= Self.ratioMax ? "met" : "missed"
    }

    enum CodingKeys: String, CodingKey {
        case alone, queued, verdict
        case ratio = "p99_ratio"
        case ratioMax = "p99_ratio_max"
    }

    func encode(to encoder: any Encoder) throws {
        try flooded.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(alone, forKey: .alone)
        try own.encode(queued, forKey: .queued)
        try own.encode(ratio, forKey: .ratio)
        try own.encode(Self.ratioMax, forKey: .ratioMax)
        try own.encode(verdict, forKey: .verdict)
    }

    var text: String {
        TextTable.text(LoadReport.header, [alone.row, flooded.row])
            + "\n\(queued) requests of another client waited; p99 is "
            + "\(TextTable.tenths(ratio)) times as long (median of the turns), "
            + "at most \(TextTable.tenths(Self.ratioMax)): \(verdict)\n"
    }
}
