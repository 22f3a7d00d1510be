import ImageModel
import Imagebus
import Linux
import Messages
import Reporting
import StackAccess

/// Very many loads at once: for one image, then for many images in several sizes each.
struct StormBench: BenchKind {
    static let name = "storm"
    static let summary = "very many loads at once"
    static let concurrency = 10_000
    /// It ends when all have their answer.
    static let seconds = 1

    private let setting: BenchSetting
    /// Of one connection: it may have 4,096 at a time.
    private static let loadsPerClient = 2_500
    /// Sizes of each of many images, in pixels of the longer side.
    private static let sides = (1...10).map { $0 * 32 }
    /// Enough for the slowest machine: what is measured is how long it takes.
    private static let timeoutMilliseconds = 600_000

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        var clients: [ImagebusClient] = []
        for _ in stride(from: 0, to: setting.options.concurrency, by: Self.loadsPerClient) {
            clients.append(try setting.connect())
        }
        let one = try await runOne(clients)
        // The origin of somebody else need not have very many images.
        let many =
            setting.options.url == nil && !setting.hasStopped ? try await runMany(clients) : nil
        return StormReport(one, many: many)
    }

    /// All for one image.
    private func runOne(_ clients: [ImagebusClient]) async throws(ImageError) -> StormFigures {
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

    /// A tenth as many images, each in ten sizes.
    private func runMany(_ clients: [ImagebusClient]) async throws(ImageError) -> StormFigures {
        try await setting.makeImage(
            "many.jpg", width: 640, height: 480, OutputOptions(format: .jpeg, quality: 85))
        var sizes: [StormLoad] = []
        for side in Self.sides {
            var request = ImageRequest(url: setting.origin.url("many.jpg"))
            request.steps = [.resize(PixelSize(width: side, height: side), .fit)]
            request.output = OutputOptions(format: .jpeg, quality: 80)
            // A stack without a disk keeps no original by default: a size that is asked for when
            // all others are done would be a transfer of its own.
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

    /// The same load alone.
    private func expected(_ request: ImageRequest) async throws(ImageError) -> [UInt8] {
        try await setting.client.load(request.unkept).response.bytes?.array ?? []
    }

    private func measure(
        _ loads: [StormLoad], _ clients: [ImagebusClient], urls: Int, sizes: Int, image: String
    ) async throws(ImageError) -> StormFigures {
        let before = try await setting.watcher.status()
        let requestsBefore = setting.origin.requestCount(image)
        StackMemory.resetPeaks(before)
        var figures = await StormFlight.run(loads, clients)
        let after = try await setting.watcher.status()
        (figures.urls, figures.sizes) = (urls, sizes)
        figures.count(before, after)
        if setting.options.url == nil {
            figures.gets = setting.origin.requestCount(image) - requestsBefore
        }
        figures.memory = StackMemory.read(after)
        return figures
    }
}

/// One load of a storm, and what has to come.
struct StormLoad: Sendable {
    var request: ImageRequest
    let expected: [UInt8]
}

/// Begins all loads at once and waits for all of them.
enum StormFlight {
    static func run(_ loads: [StormLoad], _ clients: [ImagebusClient]) async -> StormFigures {
        let start = MonotonicClock.now()
        var figures = await withTaskGroup(of: Reply.self) { group in
            for (number, load) in loads.enumerated() {
                let client = clients[number % clients.count]
                group.addTask { await reply(to: load, client, since: start) }
            }
            return await group.reduce(into: StormFigures()) { $0.count($1) }
        }
        figures.seconds = Double(MonotonicClock.now() - start) / 1e9
        return figures
    }

    /// How a load ended.
    struct Reply: Sendable {
        let nanoseconds: UInt64
        /// nil where it failed.
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

    /// Eight bytes at a time: all replies are looked at while others are on their way.
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

/// What became of one storm.
struct StormFigures: Encodable, Sendable {
    var urls = 0
    var sizes = 0
    private(set) var requests = 0
    private(set) var errors = 0
    /// Replies with the bytes that the same load has when it is alone.
    private(set) var right = 0
    private(set) var bytes = 0
    var seconds = 0.0
    /// What the origin was asked for; where it is somebody else's: what the stack fetched.
    var gets = 0
    private(set) var decodes = 0
    private(set) var transforms = 0
    /// Loads that waited for another one's job.
    private(set) var coalesced = 0
    /// Transfers that were tried again, and all jobs that began again: either may be a further GET.
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

    /// Takes over what the coordinator counted meanwhile.
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

/// What one process of a stack has in memory, in bytes.
struct StackMemory: Encodable, Sendable {
    let kind: String
    let pid: Int32
    /// The most that it had, what it shares with others included.
    let peak: UInt64
    /// Its share now, segments of the arena left out.
    let own: UInt64

    enum CodingKeys: String, CodingKey {
        case kind, pid
        case peak = "peak_bytes"
        case own = "own_bytes"
    }

    /// Every process of the stack, and this one; those that may not be looked at are left out.
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

    /// Where the kernel does not permit it, peaks are those since the processes started.
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

/// What `bench storm` found; its JSON is one object (SEMANTICS §15.5).
struct StormReport: BenchReport {
    private let one: StormFigures
    private let many: StormFigures?

    init(_ one: StormFigures, many: StormFigures?) {
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
        return TextTable.text(StormFigures.header, storms.map(\.row))
            + storms.map { "\n" + Self.memory($0) }.joined()
    }

    private static func memory(_ figures: StormFigures) -> String {
        TextTable.text(
            ["PROCESS", "PID", "PEAK", "ITS OWN THEN"],
            figures.memory.map {
                [$0.kind, "\($0.pid)", ByteText.text($0.peak), ByteText.text($0.own)]
            })
    }
}
