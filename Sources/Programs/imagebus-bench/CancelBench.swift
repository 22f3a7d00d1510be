import Imagebus
import Linux
import Model
import Reporting

/// Starts loads and cancels them in each phase; the times are measured by the coordinator.
struct CancelBench: BenchKind {
    static let name = "cancel"
    static let summary = "time until a cancelled load frees its worker"
    static let concurrency = 1
    static let seconds = 10
    static let takesRequest = false
    static let workers = 1

    private let setting: BenchSetting
    private var options: BenchOptions { setting.options }

    /// The maximum number of loads per phase.
    private static let loadsMax = 200
    /// How long workers may take to finish canceled jobs.
    private static let settleMilliseconds = 5_000

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        if options.url == nil {
            setting.log("generating the images")
            try await makeImages()
        }
        let start = MonotonicClock.now()
        var tally = CancelTally()
        var stages: [CancelReport.Stage] = []
        var all = LatencyHistogram()
        for phase in options.url == nil ? CancelPhase.all : CancelPhase.external
        where !setting.hasStopped {
            setting.log("cancelling: \(phase.work)")
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

    /// Creates the source images by having the stack encode images drawn by this command.
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
        guard let window = try await window(phase) else {
            setting.log("not measured: the decoder was too busy to show a partial image")
            return CancelTally()
        }
        let deadline = MonotonicClock.now() + UInt64(options.seconds) * 1_000_000_000
        return await withTaskGroup(of: CancelTally.self) { group in
            for _ in 0..<options.concurrency {
                group.addTask { await self.cancel(phase, in: window, until: deadline) }
            }
            return await group.reduce(into: CancelTally()) { $0.add($1) }
        }
    }

    /// Returns when a load of the phase is in its stage, in milliseconds after its start; `nil` if
    /// the machine is too busy to tell.
    private func window(_ phase: CancelPhase) async throws(ImageError) -> ClosedRange<Double>? {
        // No need to measure: it is in its stage from the beginning.
        if phase.source == .stalled { return 2...50 }
        if phase.source == .arriving { return await windowOfArriving(phase) }
        // The first load also warms up the workers.
        _ = try await setting.client.load(phase.request(url: url(phase))).response
        let image = try await setting.client.load(phase.request(url: url(phase))).response
        return phase.window(image.timings)
    }

    /// Returns the window for a load that never ends and shows partial images. The first decode
    /// covers the first bytes; the last one covers all bytes that arrive and takes by far the
    /// longest. If the decoder is busy while they arrive, because of other load on the machine, no
    /// partial image is produced; then the load is repeated a few times.
    private func windowOfArriving(_ phase: CancelPhase) async -> ClosedRange<Double>? {
        for _ in 0..<Self.arrivingAttempts {
            if let shown = await timeUntilShown(phase) { return shown * 0.4...shown * 0.8 }
        }
        return nil
    }

    /// Returns the milliseconds until more than half of the bytes are shown; `nil` if they are not.
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
            // Otherwise the next loads would only wait for the replacement of a process.
            if phase.isHard { _ = try? await settled(phase) }
        }
        return tally
    }

    /// Whether all kinds of workers are present, including after hard cancels, and idle.
    private static func isAtRest(_ report: StatusReport) -> Bool {
        Set(report.processes.map(\.kind)).isSuperset(of: WorkerKind.workers)
            && report.processes.allSatisfy { $0.jobs == 0 }
    }

    /// Waits until no worker holds a job, and returns the cancellation metrics of the phase's
    /// stage.
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

/// A kind of work that is canceled while in progress.
struct CancelPhase: Hashable, Sendable {
    /// What is loaded.
    enum Source: Hashable, Sendable {
        /// A transfer that never ends.
        case stalled
        /// 18 megapixels, baseline JPEG.
        case jpeg
        /// 6 megapixels.
        case smallJPEG
        /// 6 megapixels.
        case png
        /// 18 megapixels, progressive JPEG, of which two thirds arrive and are decoded.
        case arriving
    }

    /// A description, and a name in JSON.
    let work: String
    /// The name in the coordinator's report.
    let stage: String
    let source: Source
    let steps: [TransformStep]
    let output: OutputOptions
    /// The target for the 99th percentile.
    let targetMilliseconds: Double
    /// Whether native code ignores cancellation here, so that every cancel ends the process and its
    /// replacement is waited for.
    let isHard: Bool

    private init(
        _ work: String, _ stage: String, _ source: Source, _ steps: [TransformStep] = [],
        _ format: ImageFormat = .jpeg, target: Double, isHard: Bool = false
    ) {
        (self.work, self.stage, self.source, self.steps) = (work, stage, source, steps)
        (output, targetMilliseconds, self.isHard) = (OutputOptions(format: format), target, isHard)
    }

    /// A flip requires all pixels and costs nothing else. The large box makes the transform long
    /// compared to the preceding decode.
    private static let flip = TransformStep.flip(horizontal: true, vertical: false)
    private static let enlarge = TransformStep.resize(
        PixelSize(width: 4_000, height: 4_000), .fill)

    /// All phases, with the command's own images.
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

    /// The phases for a user-specified image of any format.
    static let external = [
        CancelPhase("download", "fetch", .jpeg, target: 5),
        CancelPhase("decode", "decode", .jpeg, [flip], target: 20),
        CancelPhase("resize and JPEG", "transform", .jpeg, [flip, enlarge], target: 20),
        CancelPhase("encode PNG", "transform", .jpeg, [flip], .png, target: 80),
        CancelPhase("encode WebP", "transform", .jpeg, [flip], .webp, target: 600, isHard: true),
    ]

    /// Returns a request for this work that doesn't query or store in caches.
    func request(url: String) -> ImageRequest {
        var request = ImageRequest(url: url)
        request.steps = steps
        request.output = output
        if source == .arriving { request.options.insert(.progressiveLoad) }
        return request.unkept
    }

    /// Returns when a load is in the stage, in milliseconds after its start, based on the timings
    /// of a complete load. Counted backwards from the end, because the time between stages is only
    /// included in the total.
    func window(_ timings: StageTimings) -> ClosedRange<Double> {
        var end = timings.total - timings.store
        var length = timings.transform
        if stage != "transform" { (end, length) = (end - timings.transform, timings.decode) }
        if stage == "fetch" { (end, length) = (end - timings.decode, timings.fetch) }
        return max(0, end - length)...max(0, end)
    }
}

/// The results of loads to be canceled.
struct CancelTally: Hashable, Sendable {
    var requests = 0
    /// The number of loads that ended with an error other than `cancelled`.
    var errors = 0
    /// The bytes of loads that completed before being canceled.
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

/// The result of `bench cancel`; its JSON is an object (SEMANTICS §15.5).
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

    /// `all` contains the cancellations of all stages.
    init(
        _ tally: CancelTally, seconds: Double, all: LatencyHistogram, stages: [Stage]
    ) {
        (requests, errors, bytes, self.stages) = (tally.requests, tally.errors, tally.bytes, stages)
        rps = seconds > 0 ? Double(tally.requests) / seconds : 0
        p50 = (all.microseconds(at: 0.5) ?? 0) / 1_000
        p99 = (all.microseconds(at: 0.99) ?? 0) / 1_000
    }

    /// The report in human-readable form.
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
