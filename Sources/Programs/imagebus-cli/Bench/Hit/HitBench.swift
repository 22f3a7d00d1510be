import ImageModel
import Linux
import Messages

/// Asks for pictures that are in the memory tier: what a hit costs.
///
/// Several at a time through tasks on the client's own executor, one at a time through the blocking
/// call; in turns with both, the same through tasks that run anywhere.
struct HitBench: BenchKind {
    static let name = "hit"
    static let summary = "pictures that the memory tier has"
    static let concurrency = 64
    static let seconds = 10

    private let setting: BenchSetting
    /// Before it counts.
    private static let warmUpSeconds = 0.5
    /// How often both take turns, so that both see the same machine.
    private static let turns = 5
    /// Until the memory tier has a picture.
    private static let attempts = 100

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        let pictures = try await warmPictures()
        let coordinator = try await setting.coordinator().flatMap(VisibleProcess.id)
        _ = await LoadFlight(setting, seconds: Self.warmUpSeconds).run(pictures.load)
        let seconds = Double(setting.options.seconds) / Double(2 * Self.turns)
        let flight = LoadFlight(setting, seconds: seconds)
        var (best, tasks) = (LoadFigures(), LoadFigures())
        var cost = ProcessorSum()
        for _ in 0..<Self.turns where !setting.hasStopped {
            let meter = ProcessorMeter([coordinator, CurrentProcess.processID])
            let turn =
                flight.concurrency == 1
                ? try await flight.runBlocking(pictures.loadAndWait)
                : await flight.run(on: setting.client.executor, pictures.load)
            cost.add(meter, of: turn.requests)
            best.append(turn)
            tasks.append(await flight.run(pictures.load))
        }
        return HitReport(
            best, tasks: tasks, concurrency: flight.concurrency,
            coordinatorMicroseconds: cost.each(0), clientMicroseconds: cost.each(1))
    }

    // MARK: - Pictures

    /// Loads the pictures until the memory tier has them.
    private func warmPictures() async throws(ImageError) -> WarmPictures {
        var requests: [ImageRequest] = []
        var sizes: [Int] = []
        for request in try await self.requests() {
            requests.append(request)
            sizes.append(try await warm(request))
        }
        return WarmPictures(setting.client, requests, sizes)
    }

    private func requests() async throws(ImageError) -> [ImageRequest] {
        var request = setting.options.request
        guard let url = setting.options.url else {
            try await setting.makePicture(
                "hit.jpg", width: 1_362, height: 1_112, OutputOptions(format: .jpeg, quality: 90))
            request.url = setting.origin.url("hit.jpg", setting.next())
            if request.wantsOriginal, !setting.options.wantsSource { request.chooseThumbnail() }
            return [request]
        }
        let count = url.contains(BenchURL.place) ? setting.options.concurrency : 1
        return (1...count).map { number in
            request.url = BenchURL.counted(url, number)
            return request
        }
    }

    /// Its bytes, once it comes from the memory tier.
    private func warm(_ request: ImageRequest) async throws(ImageError) -> Int {
        for _ in 0..<Self.attempts {
            let image = try await setting.client.load(request, cancelledAfter: nil).get()
            if image.isMemoryHit { return image.byteCount ?? 0 }
        }
        throw ImageError(
            .invalidRequest, "the memory tier does not keep this picture, or may not be asked")
    }
}

extension ImageRequest {
    /// What is measured where nothing is said: 512 pixels, about 37 KB.
    fileprivate mutating func chooseThumbnail() {
        steps = [.resize(PixelSize(width: 512, height: 512), .fit)]
        output = OutputOptions(format: .jpeg, quality: 91)
    }
}
