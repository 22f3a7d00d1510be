import Imagebus
import Linux
import Model
import Reporting

/// Players of one animation that take its frames as fast as they arrive: first of an uncached
/// animation, then of one whose frames are cached.
struct PlayBench: BenchKind {
    static let name = "play"
    static let summary = "players fetching the frames of an animation"
    static let concurrency = 2
    static let seconds = 10

    private let setting: BenchSetting

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        guard setting.options.url != nil else {
            throw ImageError(
                .invalidRequest, "play requires the URL of an animation")
        }
        let before = try await decodes()
        let (first, shown) = try await fresh()
        let decodes = try await decodes() - before
        return PlayReport(
            first: first, again: try await again(), players: setting.options.concurrency,
            frames: shown.frames, animations: shown.animations, decodes: decodes)
    }

    /// The frames shown of uncached animations.
    private struct Shown {
        var animations = 0
        /// The frames of one of these animations.
        var frames = 0
    }

    /// Plays uncached animations: each has a new number, so every frame has to be decoded.
    private func fresh() async throws(ImageError) -> (LoadMetrics, Shown) {
        var (metrics, shown) = (LoadMetrics(), Shown())
        let time = PlayTime(seconds: Double(setting.options.seconds) / 2)
        repeat {
            let image = try await open(setting.next())
            shown.animations += 1
            shown.frames = image.count
            metrics.add(await play(image, time))
        } while !time.isOver && !setting.hasStopped
        metrics.seconds = time.elapsed
        return (metrics, shown)
    }

    /// Plays a cached animation. Players hold only the current frame, so the others come from the
    /// caches.
    private func again() async throws(ImageError) -> LoadMetrics {
        let image = try await open(setting.next())
        _ = await play(image, PlayTime(seconds: 0))
        let time = PlayTime(seconds: Double(setting.options.seconds) / 2)
        var metrics = LoadMetrics()
        repeat { metrics.add(await play(image, time)) } while !time.isOver && !setting.hasStopped
        metrics.seconds = time.elapsed
        return metrics
    }

    private func open(_ number: Int) async throws(ImageError) -> AnimatedImage {
        var request = setting.options.request
        request.url = BenchURL.numbered(request.url, number)
        return try await AnimatedImage(request, from: setting.client, as: .pixels)
    }

    /// Plays an animation once: each player takes every frame in order.
    private func play(_ image: AnimatedImage, _ time: PlayTime) async -> LoadMetrics {
        await withTaskGroup(of: LoadMetrics.self) { group in
            for _ in 0..<setting.options.concurrency {
                group.addTask { await play(every: image, time) }
            }
            return await group.reduce(into: LoadMetrics()) { $0.add($1) }
        }
    }

    private func play(every image: AnimatedImage, _ time: PlayTime) async -> LoadMetrics {
        var settings = AnimationPlayer.Settings()
        settings.budget = .bytes(4 * image.info.size.width * image.info.size.height * 4)
        let player = AnimationPlayer(image, settings)
        player.play()
        var metrics = LoadMetrics()
        for index in 0..<image.count where !setting.hasStopped {
            let begin = MonotonicClock.now()
            player.seek(to: index)
            let frame = try? await player.frame()
            metrics.count(
                nanoseconds: MonotonicClock.now() - begin, bytes: frame?.memoryCost,
                slice: time.slice)
        }
        return metrics
    }

    private func decodes() async throws(ImageError) -> Int {
        Int(clamping: try await setting.watcher.status().count("decodes"))
    }
}

/// Measures the elapsed time of a measurement.
private struct PlayTime: Sendable {
    private let begin = MonotonicClock.now()
    private let nanoseconds: UInt64

    init(seconds: Double) { nanoseconds = UInt64(seconds * 1e9) }

    var elapsed: Double { Double(MonotonicClock.now() - begin) / 1e9 }
    var isOver: Bool { MonotonicClock.now() - begin >= nanoseconds }

    /// The current time slice of the results.
    var slice: Int {
        guard nanoseconds > 0 else { return 0 }
        return Int((MonotonicClock.now() - begin) * UInt64(LoadMetrics.slices) / nanoseconds)
    }
}

/// The result of `bench play`; its JSON is an object (SEMANTICS §15.5). A load is a frame received
/// by one player.
struct PlayReport: BenchReport {
    /// The loads of uncached animations.
    private let first: LoadReport
    /// The loads of an animation with cached frames.
    private let again: LoadReport
    private let players: Int
    /// The frames of one animation.
    private let frames: Int
    /// The number of uncached animations.
    private let animations: Int
    /// The number of decode jobs for them.
    private let decodes: Int

    init(
        first: LoadMetrics, again: LoadMetrics, players: Int, frames: Int, animations: Int,
        decodes: Int
    ) {
        self.first = LoadReport(PlayBench.name, first, concurrency: players)
        self.again = LoadReport("play (again)", again, concurrency: players)
        (self.players, self.frames, self.animations) = (players, frames, animations)
        self.decodes = decodes
    }

    enum CodingKeys: String, CodingKey {
        case again, players, frames, animations, decodes
    }

    func encode(to encoder: any Encoder) throws {
        try first.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(again, forKey: .again)
        for (key, number) in [
            (CodingKeys.players, players), (.frames, frames), (.animations, animations),
            (.decodes, decodes),
        ] { try own.encode(number, forKey: key) }
    }

    var text: String {
        TextTable.text(LoadReport.header, [first.row, again.row])
            + "\n\(players) players of \(animations) animations of \(frames) frames: decoders "
            + "worked \(decodes) times for the first row\n"
    }
}
