import ImageModel
import Imagebus
import Linux
import Messages

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
