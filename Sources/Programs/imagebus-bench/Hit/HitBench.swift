import ImageModel
import Linux
import Messages

/// Asks for images that are in the memory tier: what a hit costs.
///
/// Several at a time through callbacks on the client's own thread, one at a time through the
/// blocking call; in turns with both, the same through tasks on the client's executor, and through
/// tasks that run anywhere.
struct HitBench: BenchKind {
    static let name = "hit"
    static let summary = "images that the memory tier has"
    static let concurrency = 64
    static let seconds = 10

    private let setting: BenchSetting
    /// Before it counts.
    private static let warmUpSeconds = 0.5
    /// How often all take turns, so that all see the same machine.
    private static let turns = 5

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        if let threads = setting.options.threads { return try await onThreads(threads) }
        let images = try await WarmImages.loaded(setting)
        let coordinator = try await setting.coordinator().flatMap(VisibleProcess.id)
        _ = await LoadFlight(setting, seconds: Self.warmUpSeconds).run(images.load)
        let seconds = Double(setting.options.seconds) / Double(3 * Self.turns)
        let flight = LoadFlight(setting, seconds: seconds)
        var (best, onExecutor, tasks) = (LoadFigures(), LoadFigures(), LoadFigures())
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

    /// Blocking calls of one client on several threads, and nothing beside them.
    private func onThreads(_ count: Int) async throws(ImageError) -> any BenchReport {
        let images = try await WarmImages.loaded(setting)
        let coordinator = try await setting.coordinator().flatMap(VisibleProcess.id)
        let flight = LoadFlight(setting, concurrency: count)
        let meter = ProcessorMeter([coordinator, CurrentProcess.processID])
        var cost = ProcessorSum()
        let figures = try await flight.runBlocking(onThreads: count, images.loadAndWait)
        cost.add(meter, of: figures.requests)
        return HitReport(
            figures, onExecutor: nil, tasks: nil, concurrency: count,
            coordinatorMicroseconds: cost.each(0), clientMicroseconds: cost.each(1))
    }
}
