import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Animations and their players in the client library (SEMANTICS §11.31).
    @Suite struct PlayerCases {
        private let origin = OriginServer()

        private func serve(_ name: String) throws -> AnimatedFile {
            let file = try AnimatedFile(generated: name)
            origin.route("/\(name)", .bytes(file.bytes))
            return file
        }

        private func open(
            _ name: String, as form: FrameForm = .pixels, from client: ImagebusClient? = nil
        ) async throws -> AnimatedImage {
            let client = try client ?? SharedStack.current.client()
            return try await AnimatedImage(
                ImageRequest(url: origin.url("/\(name)")), from: client, as: form)
        }

        private func expect(_ frame: AnimationFrame, of file: AnimatedFile) throws {
            let found = try #require(frame.pixels).rgba
            #expect(SeenPixels.areSame(found, file.frames[frame.index]), "frame \(frame.index)")
        }

        /// SDWebImage's A03 and A04.
        @Test func allFramesArePreloadedAndUnloaded() async throws {
            let file = try serve("mixed.apng")
            let image = try await open("mixed.apng")
            #expect(image.count == file.frames.count)
            #expect(!image.areAllFramesLoaded)
            try await image.preloadAllFrames()
            #expect(image.areAllFramesLoaded)
            let client = try SharedStack.current.operatorClient()
            let before = try await client.status().requests.count
            for index in 0..<image.count { try expect(try await image.frame(index), of: file) }
            #expect(try await client.status().requests.count == before)
            image.unloadFrames()
            #expect(!image.areAllFramesLoaded)
            #expect(image.memoryCost == 0)
            await #expect { try await image.preloadAllFrames(within: .bytes(9_000)) } throws: {
                ($0 as? ImageError)?.code == .limitExceeded
            }
            #expect(image.memoryCost == 0)
        }

        /// Bit 20.
        @Test func theOptionPreloadsAllFrames() async throws {
            let file = try serve("kept.gif")
            var request = ImageRequest(url: origin.url("/kept.gif"))
            request.options = .preloadAllFrames
            let client = try SharedStack.current.client()
            let image = try await AnimatedImage(request, from: client, as: .pixels)
            #expect(image.areAllFramesLoaded)
            for index in 0..<image.count { try expect(try await image.frame(index), of: file) }
        }

        /// Bit 21: from the origin, from the caches, for a frame and for a still image.
        @Test func case062_onlyAnAnimationWillDoUnderItsOption() async throws {
            _ = try serve("kept.gif")
            origin.route("/no-animation.png", .bytes(try Images.quadrants().png()))
            let client = try SharedStack.current.client()
            var animation = ImageRequest(url: origin.url("/kept.gif"))
            animation.options = .matchAnimatedImageClass
            for _ in 0..<2 {
                #expect(try await client.load(animation).response.info?.pages ?? 0 > 1)
            }
            animation.frame = 1
            animation.output.format = .png
            #expect(try await client.load(animation).response.info?.format == .png)
            var still = ImageRequest(url: origin.url("/no-animation.png"))
            _ = try await client.load(still).response
            still.options = .matchAnimatedImageClass
            for _ in 0..<2 {
                await #expect { try await client.load(still).response } throws: {
                    ($0 as? ImageError)?.code == .badImageData
                }
            }
            still.options = []
            #expect(try await client.load(still).response.cacheType == .memory, "it isn't an error")
        }

        @Test func aStillImageIsAnAnimationOfOneFrame() async throws {
            origin.route("/still.png", .bytes(try Images.quadrants().png()))
            let image = try await open("still.png", as: .encoded)
            #expect((image.count, image.loops, image.isAnimated) == (1, 0, false))
            let player = AnimationPlayer(image)
            player.play()
            #expect(try await player.frame(at: .zero).response?.info?.format == .png)
            _ = player.advance(by: .milliseconds(1))
            #expect(player.playbackState == .ended)
            await #expect { try await image.frame(1) } throws: {
                ($0 as? ImageError)?.code == .stepFailed
            }
        }

        @Test func case100_stopKeepsTheBufferUnlessTheOptionClearsIt() async throws {
            let file = try serve("kept.gif")
            let image = try await open("kept.gif")
            for clears in [false, true] {
                var settings = AnimationPlayer.Settings()
                settings.clearsBufferWhenStopped = clears
                let player = AnimationPlayer(image, settings)
                player.play()
                for index in 0..<file.frames.count {
                    player.seek(to: index)
                    try expect(try await player.frame(), of: file)
                }
                #expect(player.bufferedFrames.count == file.frames.count)
                player.stop()
                #expect(player.index == 0)
                #expect(player.bufferedFrames.count == (clears ? 0 : file.frames.count))
                #expect((player.bufferedBytes == 0) == clears)
            }
        }

        @Test func everyFrameCanBeSoughtInThePlayer() async throws {
            let file = try serve("mixed-interlaced.gif")
            var settings = AnimationPlayer.Settings()
            settings.budget = .least
            let player = AnimationPlayer(try await open("mixed-interlaced.gif"), settings)
            player.play()
            var chance = SeededGenerator(seed: 20_261_125)
            for index in file.frames.indices.shuffled(using: &chance) {
                player.seek(to: index)
                let frame = try await player.frame()
                #expect(frame.index == index)
                try expect(frame, of: file)
                #expect(player.bufferedFrames == [index])
            }
            player.seek(to: file.frames.count)
            #expect(player.index < file.frames.count)
        }

        @Test(arguments: [
            (PlaybackMode.normal, [0, 1, 2, 3, 4]), (.reverse, [-1, -2, -3, -4, -5]),
            (.bounce, [0, 1, 2, 3, 4]), (.reversedBounce, [-1, -2, -3, -4, -5]),
        ])
        func case102_aPlayerShowsFramesInTheOrderOfItsMode(
            mode: PlaybackMode, begin: [Int]
        ) async throws {
            let file = try serve("cleared.gif")
            let image = try await open("cleared.gif")
            let count = image.count
            var settings = AnimationPlayer.Settings()
            (settings.mode, settings.loops, settings.rate) = (mode, 2, 3)
            settings.budget = .bytes(4 * 4 * file.width * file.height)
            let player = AnimationPlayer(image, settings)
            player.play()
            var (seen, time) = ([Int](), Duration.zero)
            while seen.count < 100 {
                let frame = try await player.frame(at: time)
                guard player.playbackState == .playing else { break }
                seen.append(frame.index)
                try expect(frame, of: file)
                #expect(player.bufferedFrames.count <= 4)
                time += player.untilNextFrame ?? .zero
            }
            #expect(player.playbackState == .ended)
            #expect(Array(seen.prefix(5)) == begin.map { ($0 + count) % count })
            let shown = [
                PlaybackMode.normal: 2 * count, .reverse: 2 * count - 1,
                .bounce: 4 * count - 4, .reversedBounce: 3 * count - 3,
            ]
            #expect(seen.count == shown[mode])
        }

        @Test(
            .enabled(
                if: Fixtures.bytes("images/TestAnimatedImageMemory.webp") != nil,
                "needs IMAGEBUS_FIXTURES"))
        func case103_theCostOfFramesIsThatOfTheirPixels() async throws {
            let file = try #require(Fixtures.bytes("images/TestAnimatedImageMemory.webp"))
            origin.route("/memory.webp", .bytes(file))
            let image = try await open("memory.webp")
            try await image.preloadAllFrames()
            #expect(image.count == 16)
            #expect(image.memoryCost == 16 * 600 * 600 * 4)
        }

        /// Two players of one image share its loads, and players of two images share the work of
        /// the stack.
        @Test func playersShareTheFramesOfOneAnimation() async throws {
            let file = try serve("half.apng")
            let stack = try SharedStack.current
            let status = try stack.operatorClient()
            _ = try await status.clear(.all)
            // Work canceled by an earlier test has ended.
            let produced = try await stack.awaitIdle().works("transform")
            let one = try await open("half.apng")
            let players = [
                AnimationPlayer(one), AnimationPlayer(one),
                AnimationPlayer(try await open("half.apng")),
            ]
            for player in players { player.play() }
            for index in 0..<one.count {
                for player in players { player.seek(to: index) }
                for player in players { try expect(try await player.frame(), of: file) }
            }
            let report = try await stack.awaitIdle()
            #expect(report.works("transform") == produced + UInt64(one.count))
        }

        /// Each at its own pace, two loops, and each frame is decoded once.
        @Test func twoPlayersOfAHundredFramesDecodeEachOnce() async throws {
            let file = try serve("hundred.webp")
            try #require(file.frames.count == 100)
            let stack = try SharedStack.current
            let before = try await stack.awaitIdle()
            let images = [try await open("hundred.webp"), try await open("hundred.webp")]
            try await withThrowingTaskGroup(of: Int.self) { group in
                for (image, rate) in zip(images, [1, 1.7]) {
                    group.addTask { try await play(image, of: file, rate: rate) }
                }
                for try await shown in group { #expect(shown >= 199) }
            }
            let after = try await stack.awaitIdle()
            // Reading the properties of the two images takes one decode each.
            #expect(after.counter("decodes") == before.counter("decodes").map { $0 + 102 })
            #expect(after.works("transform") - before.works("transform") == 100)
        }

        /// Plays two loops, checks each frame, and returns the number of frames shown.
        private func play(
            _ image: AnimatedImage, of file: AnimatedFile, rate: Double
        ) async throws -> Int {
            var settings = AnimationPlayer.Settings()
            (settings.loops, settings.rate, settings.skipsLateFrames) = (2, rate, false)
            let budget = 10 * 4 * file.width * file.height
            settings.budget = .bytes(budget)
            let player = AnimationPlayer(image, settings)
            player.play()
            var (shown, time) = (0, Duration.zero)
            while shown < 1_000 {
                let frame = try await player.frame(at: time)
                guard player.playbackState == .playing else { break }
                shown += 1
                try expect(frame, of: file)
                #expect(player.bufferedBytes <= budget)
                time += player.untilNextFrame ?? .zero
            }
            return shown
        }

        @Test func playingGoesOnAfterADecoderWasKilled() async throws {
            let file = try serve("mixed.webp")
            try await withStack(decoders: 1) { stack in
                let image = try await open("mixed.webp", from: stack.client())
                let player = AnimationPlayer(image)
                player.play()
                for index in 0..<image.count {
                    if index % 7 == 3 {
                        let report = try await stack.awaitStatus("a decoder") {
                            $0.processes(.decode).contains { ["ready", "busy"].contains($0.state) }
                        }
                        let decoder = try #require(report.processes(.decode).first)
                        try stack.child(decoder).kill()
                    }
                    player.seek(to: index)
                    try expect(try await player.frame(), of: file)
                }
                // The last frames may have arrived before their decoder was killed.
                _ = try await stack.awaitStatus("an heir of the decoder") {
                    $0.isIdle && $0.processes(.decode).first?.restarts ?? 0 > 0
                }
            }
        }

        @Test func everyFrameIsWrittenAsAFile() throws {
            let file = try serve("mixed.webp")
            let folder = TestKit.TemporaryDirectory()
            let stack = try SharedStack.current
            let url = origin.url("/mixed.webp")
            let end = try stack.get([url, "--frames", folder.file("new"), "--json"])
            try #require(end.exitStatus == 0, "\(end)")
            let answer = try end.json()
            #expect(answer["count"]?.integer == file.frames.count)
            #expect(answer["loops"]?.integer == 5)
            let files = try #require(answer["files"]?.array).compactMap(\.text)
            #expect(files.count == file.frames.count)
            for (index, path) in files.enumerated() {
                #expect(path == folder.file("new/frame-\(index < 10 ? "000" : "00")\(index).png"))
                let pixels = try Pixels(decoding: #require(FileBytes.read(path)))
                #expect(pixels.size == "\(file.width)x\(file.height)")
            }
            let small = try stack.get([
                url, "--frames", folder.file("new"), "--resize", "10x10", "--format", "jpeg",
            ])
            #expect(small.exitStatus == 0, "\(small)")
            let last = folder.file("new/frame-0019.jpg")
            #expect(try Pixels(decoding: #require(FileBytes.read(last))).width == 10)
            let nowhere = try stack.get([url, "--frames", folder.file("a/b")])
            #expect(nowhere.exitStatus == 73, "\(nowhere)")
        }
    }
}

extension StatusReport {
    /// The number of finished jobs of a stage.
    fileprivate func works(_ stage: String) -> UInt64 {
        stages.first { $0.stage == stage }?.works.count ?? 0
    }
}
