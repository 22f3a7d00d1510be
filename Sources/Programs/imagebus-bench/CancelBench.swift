import ImageModel
import Imagebus
import Linux
import Messages
import Reporting

/// Begins loads and cancels them, phase by phase; the figures are the coordinator's.
struct CancelBench: BenchKind {
    static let name = "cancel"
    static let summary = "how soon a cancelled load frees its worker"
    static let concurrency = 1
    static let seconds = 10
    static let takesRequest = false
    static let workers = 1

    private let setting: BenchSetting
    private var options: BenchOptions { setting.options }

    /// Loads of one phase at most.
    private static let loadsMax = 200
    /// Until the workers have let go of what was cancelled.
    private static let settleMilliseconds = 5_000

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        if options.url == nil {
            setting.say("making the images")
            try await makeImages()
        }
        let start = MonotonicClock.now()
        var tally = CancelTally()
        var stages: [CancelReport.Stage] = []
        var all = LatencyHistogram()
        for phase in options.url == nil ? CancelPhase.all : CancelPhase.foreign
        where !setting.hasStopped {
            setting.say("cancelling: \(phase.work)")
            let before = try await settled(phase)
            tally.add(try await cancel(phase))
            let after = try await settled(phase)
            let row = StatusReport.Cancellations(
                stage: phase.stage, hard: after.hard - min(before.hard, after.hard),
                durations: after.durations.since(before.durations))
            stages.append(CancelReport.Stage(phase, row))
            all.add(row.durations)
        }
        return CancelReport(
            tally, seconds: Double(MonotonicClock.now() - start) / 1e9,
            all: all, stages: stages)
    }

    // MARK: - Images

    /// The stack encodes what the command draws.
    private func makeImages() async throws(ImageError) {
        let jpeg = OutputOptions(format: .jpeg, quality: 90)
        try await setting.makeImage("18.jpg", width: 4_899, height: 3_674, jpeg)
        var scans = jpeg
        scans.isProgressive = true
        try await setting.encode("scans.jpg", scans)
        if let bytes = setting.origin.bytes("scans.jpg") {
            setting.origin.add("arriving.jpg", bytes, holdingAfter: bytes.count * 2 / 3)
        }
        try await setting.makeImage("6.jpg", width: 2_828, height: 2_121, jpeg)
        try await setting.encode("6.png", OutputOptions(format: .png, quality: 90))
    }

    private func url(_ phase: CancelPhase) -> String {
        let number = setting.next()
        if let url = options.url { return BenchURL.numbered(url, number) }
        switch phase.source {
        case .stalled: return setting.origin.url(BenchOrigin.stalled, number)
        case .jpeg: return setting.origin.url("18.jpg", number)
        case .smallJPEG: return setting.origin.url("6.jpg", number)
        case .png: return setting.origin.url("6.png", number)
        case .arriving: return setting.origin.url("arriving.jpg", number)
        }
    }

    // MARK: - Loads

    private func cancel(_ phase: CancelPhase) async throws(ImageError) -> CancelTally {
        let window = try await window(phase)
        let deadline = MonotonicClock.now() + UInt64(options.seconds) * 1_000_000_000
        return await withTaskGroup(of: CancelTally.self) { group in
            for _ in 0..<options.concurrency {
                group.addTask { await self.cancel(phase, in: window, until: deadline) }
            }
            return await group.reduce(into: CancelTally()) { $0.add($1) }
        }
    }

    /// When a load of the phase is in its stage.
    private func window(_ phase: CancelPhase) async throws(ImageError) -> ClosedRange<Double> {
        // Nothing to measure: it is in its stage from the first moment on.
        if phase.source == .stalled { return 2...50 }
        if phase.source == .arriving { return try await windowOfArriving(phase) }
        // The first one also warms the workers up.
        _ = try await setting.client.load(phase.request(url: url(phase))).response
        let image = try await setting.client.load(phase.request(url: url(phase))).response
        return phase.window(image.timings)
    }

    /// The same of a load that comes to no end: it shows what has arrived. The first look is at the
    /// first bytes, the last one at all that come, and the longest by far. Nobody looks again where
    /// the decoder is busy as they come, on a machine with other work: then it is loaded once more.
    private func windowOfArriving(
        _ phase: CancelPhase
    ) async throws(ImageError) -> ClosedRange<Double> {
        for _ in 0..<Self.arrivingAttempts {
            if let shown = await timeUntilShown(phase) { return shown * 0.4...shown * 0.8 }
        }
        throw ImageError(.internalError, "nothing was shown of what has arrived")
    }

    /// Milliseconds until more than half of what comes is shown; nil where it is not.
    private func timeUntilShown(_ phase: CancelPhase) async -> Double? {
        let came = setting.origin.bytes("arriving.jpg")?.count ?? 0
        let began = MonotonicClock.now()
        var request = phase.request(url: url(phase))
        request.timeoutMilliseconds = Self.arrivingMilliseconds
        let task = setting.client.load(request)
        defer { task.cancel() }
        for await image in task.partials where Int(image.arrivedBytes ?? 0) >= came / 2 {
            return Double(MonotonicClock.now() - began) / 1e6
        }
        return nil
    }

    private static let arrivingAttempts = 10
    private static let arrivingMilliseconds = 5_000

    private func cancel(
        _ phase: CancelPhase, in window: ClosedRange<Double>, until deadline: UInt64
    ) async -> CancelTally {
        var tally = CancelTally()
        while MonotonicClock.now() < deadline, !setting.hasStopped,
            tally.requests < Self.loadsMax / options.concurrency
        {
            let delay = Duration.microseconds(Int(Double.random(in: window) * 1_000))
            let request = phase.request(url: url(phase))
            tally.count(await setting.client.load(request).end(cancelledAfter: delay))
            // Else the next loads would only wait for the successor of a process.
            if phase.isHard { _ = try? await settled(phase) }
        }
        return tally
    }

    /// Every kind is there, also after hard cancels, and nobody has anything to do.
    private static func isAtRest(_ report: StatusReport) -> Bool {
        Set(report.processes.map(\.kind)).isSuperset(of: WorkerKind.workers)
            && report.processes.allSatisfy { $0.jobs == 0 }
    }

    /// The figures of the phase's stage once no worker holds a job any more.
    private func settled(_ phase: CancelPhase) async throws(ImageError)
        -> StatusReport.Cancellations
    {
        let deadline = MonotonicClock.now() + UInt64(Self.settleMilliseconds) * 1_000_000
        while true {
            let report = try await setting.watcher.status()
            if Self.isAtRest(report) || MonotonicClock.now() > deadline {
                return report.cancellations.first { $0.stage == phase.stage }
                    ?? .init(stage: phase.stage, hard: 0, durations: LatencyHistogram())
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }
}

/// One kind of work that is cancelled in its middle.
struct CancelPhase: Hashable, Sendable {
    /// What is loaded.
    enum Source: Hashable, Sendable {
        /// A transfer that never ends.
        case stalled
        /// 18 megapixels, baseline.
        case jpeg
        /// 6 megapixels.
        case smallJPEG
        /// 6 megapixels.
        case png
        /// 18 megapixels, progressive, of which two thirds arrive: what is here first is decoded.
        case arriving
    }

    /// For people, and a name in JSON.
    let work: String
    /// As the coordinator's report names it.
    let stage: String
    let source: Source
    let steps: [TransformStep]
    let output: OutputOptions
    /// What p99 is held against.
    let targetMilliseconds: Double
    /// Native code does not heed a cancel here: after each, a new process is waited for.
    let isHard: Bool

    private init(
        _ work: String, _ stage: String, _ source: Source, _ steps: [TransformStep] = [],
        _ format: ImageFormat = .jpeg, target: Double, isHard: Bool = false
    ) {
        (self.work, self.stage, self.source, self.steps) = (work, stage, source, steps)
        (output, targetMilliseconds, self.isHard) = (OutputOptions(format: format), target, isHard)
    }

    /// A flip needs all pixels and costs nothing else. The large box makes the transform long
    /// beside the decode before it.
    private static let flip = TransformStep.flip(horizontal: true, vertical: false)
    private static let enlarge = TransformStep.resize(
        PixelSize(width: 4_000, height: 4_000), .fill)

    /// All of them, with the command's own images.
    static let all = [
        CancelPhase("download", "fetch", .stalled, target: 5),
        CancelPhase("decode JPEG", "decode", .jpeg, [flip], target: 20),
        CancelPhase("decode PNG", "decode", .png, [flip], target: 20),
        CancelPhase("decode what has arrived", "decode", .arriving, [flip], target: 20),
        CancelPhase("resize and JPEG", "transform", .smallJPEG, [flip, enlarge], target: 20),
        CancelPhase("encode PNG", "transform", .smallJPEG, [flip], .png, target: 80),
        CancelPhase(
            "encode WebP", "transform", .smallJPEG, [flip], .webp, target: 600, isHard: true),
    ]

    /// Those for an image of somebody else, whatever its format is.
    static let foreign = [
        CancelPhase("download", "fetch", .jpeg, target: 5),
        CancelPhase("decode", "decode", .jpeg, [flip], target: 20),
        CancelPhase("resize and JPEG", "transform", .jpeg, [flip, enlarge], target: 20),
        CancelPhase("encode PNG", "transform", .jpeg, [flip], .png, target: 80),
        CancelPhase("encode WebP", "transform", .jpeg, [flip], .webp, target: 600, isHard: true),
    ]

    /// A load of this work that asks no cache and is kept in none.
    func request(url: String) -> ImageRequest {
        var request = ImageRequest(url: url)
        request.steps = steps
        request.output = output
        if source == .arriving { request.options.insert(.progressiveLoad) }
        return request.unkept
    }

    /// From when to when after its beginning a load is in the stage, in milliseconds, by the
    /// timings of one that came to its end: counted from there, since what lies between stages is
    /// in the total alone.
    func window(_ timings: StageTimings) -> ClosedRange<Double> {
        var end = timings.total - timings.store
        var length = timings.transform
        if stage != "transform" { (end, length) = (end - timings.transform, timings.decode) }
        if stage == "fetch" { (end, length) = (end - timings.decode, timings.fetch) }
        return max(0, end - length)...max(0, end)
    }
}

/// What became of loads that were to be cancelled.
struct CancelTally: Hashable, Sendable {
    var requests = 0
    /// Loads that ended with another error than `cancelled`.
    var errors = 0
    /// Of loads that came to their end before.
    var bytes = 0

    mutating func count(_ result: Result<ImageResponse, ImageError>) {
        requests += 1
        switch result {
        case .success(let image): bytes += image.bytes?.count ?? 0
        case .failure(let error): if error.code != .cancelled { errors += 1 }
        }
    }

    mutating func add(_ other: CancelTally) {
        requests += other.requests
        errors += other.errors
        bytes += other.bytes
    }
}

/// What `bench cancel` found; its JSON is one object (SEMANTICS §15.5).
struct CancelReport: BenchReport {
    /// One kind of work.
    struct Stage: Encodable, Sendable {
        let stage: String
        let work: String
        let cancels: UInt64
        let p50: Double
        let p99: Double
        let hardCancels: UInt64
        let target: Double
        let verdict: String

        enum CodingKeys: String, CodingKey {
            case stage, work, cancels, verdict
            case p50 = "p50_ms"
            case p99 = "p99_ms"
            case hardCancels = "hard_cancels"
            case target = "target_ms"
        }

        init(_ phase: CancelPhase, _ cancelled: StatusReport.Cancellations) {
            (stage, work, target) = (phase.stage, phase.work, phase.targetMilliseconds)
            (cancels, hardCancels) = (cancelled.durations.count, cancelled.hard)
            p50 = (cancelled.durations.microseconds(at: 0.5) ?? 0) / 1_000
            p99 = (cancelled.durations.microseconds(at: 0.99) ?? 0) / 1_000
            verdict = cancels == 0 ? "none" : p99 <= target ? "met" : "missed"
        }
    }

    let name = CancelBench.name
    let requests: Int
    let errors: Int
    let rps: Double
    let p50: Double
    let p99: Double
    let bytes: Int
    let stages: [Stage]

    enum CodingKeys: String, CodingKey {
        case name, requests, errors, rps, bytes, stages
        case p50 = "p50_ms"
        case p99 = "p99_ms"
    }

    /// `all` are the cancels of all stages together.
    init(
        _ tally: CancelTally, seconds: Double, all: LatencyHistogram, stages: [Stage]
    ) {
        (requests, errors, bytes, self.stages) = (tally.requests, tally.errors, tally.bytes, stages)
        rps = seconds > 0 ? Double(tally.requests) / seconds : 0
        p50 = (all.microseconds(at: 0.5) ?? 0) / 1_000
        p99 = (all.microseconds(at: 0.99) ?? 0) / 1_000
    }

    /// For people.
    var text: String {
        TextTable.text(
            ["WORK", "STAGE", "CANCELS", "P50 MS", "P99 MS", "HARD", "TARGET MS", "VERDICT"],
            stages.map {
                [
                    $0.work, $0.stage, "\($0.cancels)", TextTable.tenths($0.p50),
                    TextTable.tenths($0.p99), "\($0.hardCancels)", TextTable.tenths($0.target),
                    $0.verdict,
                ]
            }) + "\n\(requests) loads, \(errors) errors\n"
    }
}
