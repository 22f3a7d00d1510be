import Imagebus
import Model
import Reporting

extension Bench {
    /// Players of one animation take its frames as fast as they arrive: first of an uncached
    /// animation, then of one whose frames are cached.
    func measurePlayers() async throws(ImageError) -> BenchReport {
        guard options.url != nil else {
            throw ImageError(.invalidRequest, "play requires the URL of an animation")
        }
        var (animations, frames) = (0, 0)
        // Each animation has a new number, so every frame has to be decoded.
        var report = try await report("play", concurrency: options.concurrency) {
            () throws(ImageError) in
            try await playRepeatedly { () throws(ImageError) in
                let image = try await nextAnimation()
                (animations, frames) = (animations + 1, image.count)
                return image
            }
        }
        report["players"] = options.concurrency
        report["animations"] = animations
        report["frames"] = frames
        // Players hold only the current frame, so the others come from the caches.
        let image = try await nextAnimation()
        _ = await play(image, playTime)
        let again = try await playRepeatedly { image }
        report["again"] = BenchReport("play (again)", again, concurrency: options.concurrency)
        return report
    }

    private var playTime: Lane {
        Lane(seconds: Double(options.seconds) / 2) { [self] in hasStopped }
    }

    private func nextAnimation() async throws(ImageError) -> AnimatedImage {
        try await AnimatedImage(options.request.numbered(next()), from: client, as: .pixels)
    }

    /// Plays one animation after the other until the time is up.
    private func playRepeatedly(
        _ next: () async throws(ImageError) -> AnimatedImage
    ) async throws(ImageError) -> LoadMetrics {
        let time = playTime
        var frames = LoadMetrics()
        repeat {
            let image = try await next()
            frames.add(await play(image, time))
        } while time.fresh.mayBegin
        return frames
    }

    /// Plays an animation once: each player takes every frame in order.
    private func play(_ image: AnimatedImage, _ time: Lane) async -> LoadMetrics {
        var settings = AnimationPlayer.Settings()
        settings.budget = .bytes(4 * image.info.size.width * image.info.size.height * 4)
        let each = settings
        return await withTaskGroup(of: LoadMetrics.self) { group in
            for _ in 0..<options.concurrency {
                group.addTask { [self] in
                    let player = AnimationPlayer(image, each)
                    player.play()
                    var lane = time.fresh
                    for index in 0..<image.count where !hasStopped {
                        player.seek(to: index)
                        let frame = try? await player.frame()
                        lane.count(frame?.memoryCost)
                    }
                    return lane.metrics
                }
            }
            return await group.reduce(into: LoadMetrics()) { $0.add($1) }
        }
    }
}
