extension RealProcesses {
    /// Many players of many animations at once stay within their budgets, and so does the stack.
    @Suite struct ManyPlayersTests {
        private static let count = 50
        /// The budget of one player.
        private static let framesHeld = 6
        private static let memoryLimit: UInt64 = 1 << 20

        @Test func fiftyPlayersOfFiftyAnimationsStayWithinTheirBudgets() async throws {
            let file = try AnimatedFile(generated: "mixed.webp")
            let origin = OriginServer("/a.webp", .bytes(file.bytes))
            let arguments = [
                "--allow-private-networks", "--memory-limit", "\(Self.memoryLimit >> 20)M",
            ]
            try await withClient(arguments) { stack, client in
                let shown = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<Self.count {
                        let request = ImageRequest(url: origin.url("/a.webp?\(number)"))
                        group.addTask {
                            try await Self.play(
                                AnimatedImage(request, from: client, as: .pixels), file)
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(shown == Self.count * 2 * file.frames.count)
                // A cache reports its metrics periodically and writes asynchronously.
                let report = try await stack.awaitStatus("an idle stack that has all sources") {
                    $0.isIdle && $0.processes.count == 7
                        && $0.caches.first?.diskEntries ?? 0 >= UInt64(Self.count)
                }
                let cache = try #require(report.caches.first)
                print("players: \(Self.count), the memory tier has \(cache.memoryBytes) bytes")
                #expect(cache.memoryBytesMax == Self.memoryLimit)
                #expect(cache.memoryBytes <= Self.memoryLimit)
                #expect(cache.memoryEvictions > 0, "more frames than fit were played")
                #expect(cache.diskEntries == UInt64(Self.count), "sources only, no frames")
                #expect(report.counter("liveBlocks") == 0)
                // The prefetches of a player that has ended are canceled.
                #expect(report.restarts == report.hardCancels, "\(report.outline)")
            }
        }

        /// Plays two loops on its own clock and returns the number of frames shown.
        private static func play(
            _ image: AnimatedImage, _ file: AnimatedFile
        ) async throws -> Int {
            let budget = framesHeld * 4 * file.width * file.height
            var settings = AnimationPlayer.Settings()
            (settings.loops, settings.skipsLateFrames) = (2, false)
            (settings.budget, settings.framesAhead) = (.bytes(budget), 4)
            let player = AnimationPlayer(image, settings)
            player.play()
            var (shown, time) = (0, Duration.zero)
            while shown < 1_000 {
                let frame = try await player.frame(at: time)
                guard player.playbackState == .playing else { break }
                shown += 1
                let pixels = try #require(frame.pixels).rgba
                #expect(SeenPixels.areSame(pixels, file.frames[frame.index]))
                #expect(player.bufferedBytes <= budget)
                time += player.untilNextFrame ?? .zero
            }
            return shown
        }
    }
}
