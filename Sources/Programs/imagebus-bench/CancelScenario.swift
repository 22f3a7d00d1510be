import Imagebus
import Linux
import Model
import Reporting
import Synchronization

extension Bench {
    /// Cancels loads in each phase; the times are measured by the coordinator.
    func measureCancels() async throws(ImageError) -> BenchReport {
        let isOwn = options.url == nil
        if isOwn { try await makeCancelImages() }
        let start = MonotonicClock.now()
        var (loads, all) = (LoadMetrics(), LatencyHistogram())
        var stages: [BenchReport] = []
        for phase in isOwn ? CancelPhase.all : CancelPhase.external where !hasStopped {
            log("cancelling: \(phase.work)")
            let before = try await settledCancels(phase)
            loads.append(try await cancelLoads(in: phase))
            var cancels = try await settledCancels(phase)
            cancels.hard -= min(before.hard, cancels.hard)
            cancels.durations = cancels.durations.since(before.durations)
            stages.append(phase.report(cancels))
            all.add(cancels.durations)
        }
        loads.seconds = Double(MonotonicClock.now() - start) / 1e9
        return Self.cancelReport(loads, all, stages)
    }

    /// Reports loads, and the times until their workers were free, in all stages and in each.
    static func cancelReport(
        _ loads: LoadMetrics, _ all: LatencyHistogram, _ stages: [BenchReport]
    ) -> BenchReport {
        var report = BenchReport("cancel", loads)
        report["rps"] = loads.seconds > 0 ? Double(loads.requests) / loads.seconds : 0
        report["p50_ms"] = all.milliseconds(at: 0.5)
        report["p99_ms"] = all.milliseconds(at: 0.99)
        report["stages"] = stages
        return report
    }

    /// Creates the images of `CancelPhase.Source`.
    private func makeCancelImages() async throws(ImageError) {
        log("generating the images")
        var jpeg = OutputOptions(format: .jpeg, quality: 90)
        try await makeImage("18.jpg", width: 4_899, height: 3_674, jpeg)
        jpeg.isProgressive = true
        try await encode("arriving.jpg", jpeg)
        let bytes = origin.bytes("arriving.jpg")
        origin.add("arriving.jpg", bytes, stallingAfter: bytes.count * 2 / 3)
        let white = [UInt8](repeating: 0xFF, count: 1 << 20)
        origin.add("stalled.jpg", white, stallingAfter: 1 << 16)
        jpeg.isProgressive = false
        try await makeImage("6.jpg", width: 2_828, height: 2_121, jpeg)
        try await encode("6.png", OutputOptions(format: .png, quality: 90))
    }

    private func request(_ phase: CancelPhase) -> ImageRequest {
        phase.request(url: options.url ?? origin.url(phase.source.rawValue)).numbered(next())
    }

    /// The maximum number of loads per phase.
    private static let cancelsMax = 200

    private func cancelLoads(in phase: CancelPhase) async throws(ImageError) -> LoadMetrics {
        guard let window = try await window(of: phase) else {
            log("not measured: the decoder was too busy to show a partial image")
            return LoadMetrics()
        }
        let begun = Atomic(0)
        let flight = LoadFlight(self) { begun.load(ordering: .relaxed) >= Bench.cancelsMax }
        return await flight.run { [self] in
            begun.add(1, ordering: .relaxed)
            let delay = Duration.microseconds(Int(Double.random(in: window) * 1_000))
            let bytes = await client.load(request(phase)).end(cancelledAfter: delay)
                .byteCount(permitsCancel: true)
            // Otherwise the next loads would only wait for the replacement of a process.
            if phase.isHard { _ = try? await settledCancels(phase) }
            return bytes
        }
    }

    /// Returns when a load of the phase is in its stage, in milliseconds after its start; `nil` if
    /// the machine is too busy to tell.
    private func window(of phase: CancelPhase) async throws(ImageError) -> ClosedRange<Double>? {
        switch phase.source {
        // It is in its stage from the beginning.
        case .stalled: return 2...50
        case .arriving: return await windowOfArriving(phase)
        case .jpeg, .smallJPEG, .png:
            // The first load also warms up the workers.
            _ = try await client.load(request(phase)).response
            return phase.window(try await client.load(request(phase)).response.timings)
        }
    }

    /// The number of attempts to see a partial image, and the timeout of each in milliseconds.
    private static let (arrivingAttempts, arrivingMilliseconds) = (10, 5_000)

    /// Returns the window for a load that never ends and shows partial images. The first decode
    /// covers the first bytes; the last one covers all bytes that arrive and takes by far the
    /// longest. If the decoder is busy while they arrive, because of other load on the machine, no
    /// partial image is produced; then the load is repeated a few times.
    private func windowOfArriving(_ phase: CancelPhase) async -> ClosedRange<Double>? {
        let count = origin.bytes(phase.source.rawValue).count
        for _ in 0..<Self.arrivingAttempts {
            let began = MonotonicClock.now()
            var load = request(phase)
            load.timeoutMilliseconds = Self.arrivingMilliseconds
            let task = client.load(load)
            defer { task.cancel() }
            for await image in task.partials where Int(image.arrivedBytes ?? 0) >= count / 2 {
                let shown = Double(MonotonicClock.now() - began) / 1e6
                return shown * 0.4...shown * 0.8
            }
        }
        return nil
    }

    /// How long workers may take to finish canceled jobs, in seconds.
    private static let settleSeconds = 5

    /// Waits until all kinds of workers are present, including after hard cancels, and idle.
    /// Returns the cancellation metrics of the phase's stage.
    private func settledCancels(
        _ phase: CancelPhase
    ) async throws(ImageError) -> StatusReport.Cancellations {
        _ = try? await status(within: Self.settleSeconds) { report in
            Set(report.processes.map(\.kind)).isSuperset(of: WorkerKind.workers)
                && report.processes.allSatisfy { $0.jobs == 0 }
        }
        return try await watcher.status().cancellations.first { $0.stage == phase.stage }
            ?? .init(stage: phase.stage, hard: 0, durations: LatencyHistogram())
    }
}

extension LatencyHistogram {
    /// Returns the quantile `share` (0 to 1) in milliseconds; 0 if nothing was recorded.
    fileprivate func milliseconds(at share: Double) -> Double {
        (microseconds(at: share) ?? 0) / 1_000
    }
}

/// A kind of work that is canceled while in progress.
struct CancelPhase: Hashable, Sendable {
    /// What is loaded: an image of the origin, by its name.
    enum Source: String, Sendable {
        /// A transfer that never ends.
        case stalled = "stalled.jpg"
        /// 18 megapixels, baseline JPEG.
        case jpeg = "18.jpg"
        /// 6 megapixels.
        case smallJPEG = "6.jpg"
        /// 6 megapixels.
        case png = "6.png"
        /// 18 megapixels, progressive JPEG, of which two thirds arrive and are decoded.
        case arriving = "arriving.jpg"
    }

    /// A description, and a name in JSON.
    var work: String
    /// The name in the coordinator's report.
    let stage: String
    var source: Source
    var steps: [TransformStep] = [flip]
    var format = ImageFormat.jpeg
    /// The target for the 99th percentile in milliseconds.
    let target: Double
    /// Whether native code ignores cancellation here, so that every cancel ends the process and its
    /// replacement is waited for.
    var isHard = false

    /// A flip requires all pixels and costs nothing else. The large box makes the transform long
    /// compared to the preceding decode.
    private static let flip = TransformStep.flip(horizontal: true, vertical: false)
    private static let enlarge = TransformStep.resize(
        PixelSize(width: 4_000, height: 4_000), .fill)

    /// All phases, with the command's own images.
    static let all = [
        CancelPhase(work: "download", stage: "fetch", source: .stalled, steps: [], target: 5),
        CancelPhase(work: "decode JPEG", stage: "decode", source: .jpeg, target: 20),
        CancelPhase(work: "decode PNG", stage: "decode", source: .png, target: 20),
        CancelPhase(
            work: "decode what has arrived", stage: "decode", source: .arriving, target: 20),
        CancelPhase(
            work: "resize and JPEG", stage: "transform", source: .smallJPEG,
            steps: [flip, enlarge], target: 20),
        CancelPhase(
            work: "encode PNG", stage: "transform", source: .smallJPEG, format: .png, target: 80),
        CancelPhase(
            work: "encode WebP", stage: "transform", source: .smallJPEG, format: .webp,
            target: 600, isHard: true),
    ]

    /// The phases for a user-specified image of any format.
    static let external = all.compactMap { phase -> CancelPhase? in
        guard ![.png, .arriving].contains(phase.source) else { return nil }
        var phase = phase
        phase.source = .jpeg
        if phase.stage == "decode" { phase.work = "decode" }
        return phase
    }

    /// Returns a request for this work that doesn't query or store in caches.
    func request(url: String) -> ImageRequest {
        var request = ImageRequest(url: url)
        request.steps = steps
        request.output = OutputOptions(format: format)
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

    /// Reports the cancels of this phase.
    func report(_ cancels: StatusReport.Cancellations) -> BenchReport {
        let p99 = cancels.durations.milliseconds(at: 0.99)
        let verdict = p99 <= target ? "met" : "missed"
        return [
            "work": work, "stage": stage, "cancels": Int(clamping: cancels.durations.count),
            "p50_ms": cancels.durations.milliseconds(at: 0.5), "p99_ms": p99,
            "hard_cancels": Int(clamping: cancels.hard), "target_ms": target,
            "verdict": cancels.durations.count == 0 ? "none" : verdict,
        ]
    }
}
