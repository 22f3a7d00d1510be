import CommandLineInterface
import Imagebus
import Linux
import Model
import Reporting

/// A very large number of simultaneous loads: of one image, then of many images in several sizes
/// each.
struct StormBench: BenchKind {
    static let name = "storm"
    static let summary = "many simultaneous loads"
    static let concurrency = 10_000
    /// Ignored: it ends when all loads have been answered.
    static let seconds = 1

    private let setting: BenchSetting
    /// The number of loads per connection, which is limited to 4,096.
    private static let loadsPerClient = 2_500
    /// The sizes of each of many images: the longer side in pixels.
    private static let sides = (1...10).map { $0 * 32 }
    /// Enough for the slowest machine; the time is what is measured.
    private static let timeoutMilliseconds = 600_000

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        var clients: [ImagebusClient] = []
        for _ in stride(from: 0, to: setting.options.concurrency, by: Self.loadsPerClient) {
            clients.append(try setting.connect())
        }
        let one = try await runOne(clients)
        // A user-specified origin need not have many images.
        let many =
            setting.options.url == nil && !setting.hasStopped ? try await runMany(clients) : nil
        return StormReport(one, many: many)
    }

    /// Loads a single image.
    private func runOne(_ clients: [ImagebusClient]) async throws(ImageError) -> StormMetrics {
        var request = setting.options.request
        if setting.options.url == nil {
            try await setting.makeImage(
                "storm.jpg", width: 2_725, height: 2_225, OutputOptions(format: .jpeg, quality: 85))
            request.url = setting.origin.url("storm.jpg")
            if !setting.options.isRequestChosen { request.choosePreview() }
        } else {
            request.url = BenchURL.counted(request.url, setting.next())
        }
        request.timeoutMilliseconds = Self.timeoutMilliseconds
        let expected = try await expected(request)
        let loads = [StormLoad](
            repeating: StormLoad(request: request, expected: expected),
            count: setting.options.concurrency)
        return try await measure(loads, clients, urls: 1, sizes: 1, image: "storm.jpg")
    }

    /// Loads a tenth as many images, each in ten sizes.
    private func runMany(_ clients: [ImagebusClient]) async throws(ImageError) -> StormMetrics {
        try await setting.makeImage(
            "many.jpg", width: 640, height: 480, OutputOptions(format: .jpeg, quality: 85))
        var sizes: [StormLoad] = []
        for side in Self.sides {
            var request = ImageRequest(url: setting.origin.url("many.jpg"))
            request.steps = [.resize(PixelSize(width: side, height: side), .fit)]
            request.output = OutputOptions(format: .jpeg, quality: 80)
            // A stack without a disk doesn't keep originals by default, so a size requested after
            // all others would cause another transfer.
            request.originalQueryCacheTypes = .all
            request.originalStoreCacheTypes = .all
            request.timeoutMilliseconds = Self.timeoutMilliseconds
            sizes.append(StormLoad(request: request, expected: try await expected(request)))
        }
        let urls = max(1, setting.options.concurrency / sizes.count)
        let loads = (1...urls).flatMap { number in
            sizes.map { size in
                var load = size
                load.request.url = setting.origin.url("many.jpg", number)
                return load
            }
        }
        return try await measure(
            loads, clients, urls: urls, sizes: sizes.count, image: "many.jpg")
    }

    /// Performs the same load separately, and returns the expected bytes.
    private func expected(_ request: ImageRequest) async throws(ImageError) -> [UInt8] {
        try await setting.client.load(request.unkept).response.bytes?.array ?? []
    }

    private func measure(
        _ loads: [StormLoad], _ clients: [ImagebusClient], urls: Int, sizes: Int, image: String
    ) async throws(ImageError) -> StormMetrics {
        let before = try await setting.watcher.status()
        let requestsBefore = setting.origin.requestCount(image)
        StackMemory.resetPeaks(before)
        var metrics = await StormFlight.run(loads, clients)
        let after = try await setting.watcher.status()
        (metrics.urls, metrics.sizes) = (urls, sizes)
        metrics.count(before, after)
        if setting.options.url == nil {
            metrics.gets = setting.origin.requestCount(image) - requestsBefore
        }
        metrics.memory = StackMemory.read(after)
        return metrics
    }
}

/// A load of a storm and its expected result.
struct StormLoad: Sendable {
    var request: ImageRequest
    let expected: [UInt8]
}

/// Begins all loads at once and waits for all of them.
enum StormFlight {
    static func run(_ loads: [StormLoad], _ clients: [ImagebusClient]) async -> StormMetrics {
        let start = MonotonicClock.now()
        var metrics = await withTaskGroup(of: Reply.self) { group in
            for (number, load) in loads.enumerated() {
                let client = clients[number % clients.count]
                group.addTask { await reply(to: load, client, since: start) }
            }
            return await group.reduce(into: StormMetrics()) { $0.count($1) }
        }
        metrics.seconds = Double(MonotonicClock.now() - start) / 1e9
        return metrics
    }

    /// The result of a load.
    struct Reply: Sendable {
        let nanoseconds: UInt64
        /// `nil` on failure.
        let bytes: Int?
        let isRight: Bool
    }

    private static func reply(
        to load: StormLoad, _ client: ImagebusClient, since start: UInt64
    ) async -> Reply {
        let image = try? await client.load(load.request).response
        let took = MonotonicClock.now() - start
        guard let image else {
            return Reply(nanoseconds: took, bytes: nil, isRight: false)
        }
        let isRight = image.withBytes { bytes in
            load.expected.withUnsafeBytes { areEqual($0, bytes) }
        }
        return Reply(nanoseconds: took, bytes: image.bytes?.count ?? 0, isRight: isRight)
    }

    /// Compares eight bytes at a time, because replies are checked while others are in flight.
    static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        let whole = a.count & ~7
        for offset in stride(from: 0, to: whole, by: 8)
        where a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            != b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        { return false }
        return a[whole...].elementsEqual(b[whole...])
    }
}

/// The results of a storm.
struct StormMetrics: Encodable, Sendable {
    var urls = 0
    var sizes = 0
    private(set) var requests = 0
    private(set) var errors = 0
    /// The number of replies with the same bytes as a separate load.
    private(set) var right = 0
    private(set) var bytes = 0
    var seconds = 0.0
    /// The number of requests to the origin; for a user-specified origin, the stack's fetches.
    var gets = 0
    private(set) var decodes = 0
    private(set) var transforms = 0
    /// The number of loads that waited for another load's job.
    private(set) var coalesced = 0
    /// The numbers of retried transfers and of all requeued jobs; either may cause another GET.
    private(set) var retries = 0
    private(set) var requeued = 0
    var memory: [StackMemory] = []
    private var latencies = LatencyCounts()

    mutating func count(_ reply: StormFlight.Reply) {
        requests += 1
        latencies.record(nanoseconds: reply.nanoseconds)
        if reply.isRight { right += 1 }
        if let count = reply.bytes { bytes += count } else { errors += 1 }
    }

    /// Adds what the coordinator counted in the meantime.
    mutating func count(_ before: StatusReport, _ after: StatusReport) {
        func growth(_ name: String) -> Int { Int(after.count(name)) - Int(before.count(name)) }
        (gets, decodes) = (growth("fetches"), growth("decodes"))
        (transforms, coalesced) = (growth("transforms"), growth("coalesced"))
        (retries, requeued) = (growth("retries"), growth("requeued"))
    }

    enum CodingKeys: String, CodingKey {
        case urls, sizes, requests, errors, right, bytes, seconds, gets, decodes, transforms
        case coalesced, retries, requeued, memory, rps
        case p50 = "p50_ms"
        case p99 = "p99_ms"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        for (key, value) in [
            (.urls, urls), (.sizes, sizes), (.requests, requests), (.errors, errors),
            (.right, right), (.bytes, bytes), (.gets, gets), (.decodes, decodes),
            (.transforms, transforms), (.coalesced, coalesced), (.retries, retries),
            (.requeued, requeued),
        ] as [(CodingKeys, Int)] { try values.encode(value, forKey: key) }
        try values.encode(seconds, forKey: .seconds)
        try values.encode(rate, forKey: .rps)
        try values.encode(latencies.milliseconds(at: 0.5), forKey: .p50)
        try values.encode(latencies.milliseconds(at: 0.99), forKey: .p99)
        try values.encode(memory, forKey: .memory)
    }

    private var rate: Double { seconds > 0 ? Double(requests - errors) / seconds : 0 }

    static let header = [
        "URLS", "SIZES", "LOADS", "ERRORS", "RIGHT", "GETS", "DECODES", "TRANSFORMS", "SECONDS",
        "A SECOND", "P50 MS", "P99 MS",
    ]

    var row: [String] {
        [urls, sizes, requests, errors, right, gets, decodes, transforms].map { "\($0)" } + [
            LoadReport.thousandths(seconds), TextTable.tenths(rate),
            TextTable.tenths(latencies.milliseconds(at: 0.5)),
            TextTable.tenths(latencies.milliseconds(at: 0.99)),
        ]
    }
}

/// The memory of one process of a stack, in bytes.
struct StackMemory: Encodable, Sendable {
    let kind: String
    let pid: Int32
    /// The peak, including shared memory.
    let peak: UInt64
    /// The current share, excluding segments of the arena.
    let own: UInt64

    enum CodingKeys: String, CodingKey {
        case kind, pid
        case peak = "peak_bytes"
        case own = "own_bytes"
    }

    /// Reads the memory of every process of the stack and of this one; inaccessible processes are
    /// omitted.
    static func read(
        _ report: StatusReport, find: VisibleProcess.Finder = VisibleProcess.id
    ) -> [StackMemory] {
        processes(report, find).compactMap { kind, process in
            guard let peak = try? ProcessMemory.peakBytes(of: process),
                let shares = try? ProcessMemory.proportional(of: process)
            else { return nil }
            return StackMemory(
                kind: kind, pid: process, peak: peak, own: shares.total - shares.shared)
        }
    }

    /// Resets the peaks. If the kernel doesn't permit it, they count from the start of the
    /// processes.
    static func resetPeaks(_ report: StatusReport) {
        for (_, process) in processes(report, VisibleProcess.id) {
            try? ProcessMemory.resetPeak(of: process)
        }
    }

    private static func processes(
        _ report: StatusReport, _ find: VisibleProcess.Finder
    ) -> [(String, ProcessID)] {
        report.processes.compactMap { status in
            find(status).map { (status.kind.name, $0) }
        }
            + [(ProcessorsByKind.client, CurrentProcess.processID)]
    }
}

/// The result of `bench storm`; its JSON is an object (SEMANTICS §15.5).
struct StormReport: BenchReport {
    private let one: StormMetrics
    private let many: StormMetrics?

    init(_ one: StormMetrics, many: StormMetrics?) {
        (self.one, self.many) = (one, many)
    }

    enum CodingKeys: String, CodingKey {
        case name, many
    }

    func encode(to encoder: any Encoder) throws {
        try one.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(StormBench.name, forKey: .name)
        try own.encodeIfPresent(many, forKey: .many)
    }

    var text: String {
        let storms = [one] + (many.map { [$0] } ?? [])
        return TextTable.text(StormMetrics.header, storms.map(\.row))
            + storms.map { "\n" + Self.memory($0) }.joined()
    }

    private static func memory(_ metrics: StormMetrics) -> String {
        TextTable.text(
            ["PROCESS", "PID", "PEAK", "ITS OWN THEN"],
            metrics.memory.map {
                [$0.kind, "\($0.pid)", ByteText.text($0.peak), ByteText.text($0.own)]
            })
    }
}
