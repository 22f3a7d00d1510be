extension RealProcesses {
    /// Cancels that coincide with completions.
    @Suite struct CancelRaceTests {
        @Test func everyLoadHasOneTerminalHoweverItsCancelMeetsItsCompletion() async throws {
            let count = Effort.count("CANCELS", short: 10_000, long: 100_000)
            let random = Effort.generator("cancel race")
            try await withGallery { stack, _, gallery in
                try await warm(gallery, stack)
                let before = try await stack.awaitIdle()
                let race = try CancelRace(stack, gallery, random)
                let began = MonotonicClock.now()
                try race.run(count)
                let seconds = Double(MonotonicClock.now() - began) / 1e9
                let after = try await stack.awaitIdle()
                try race.expectSilence()
                let score = race.score
                print(
                    "cancel race: \(count) loads in \(seconds) s: \(score.right) right,"
                        + " \(score.cancelled) cancelled, \(score.stale) stale,"
                        + " \(score.wrong.count) wrong")
                #expect(score.wrong.isEmpty, "\(Set(score.wrong))")
                #expect(score.right + score.cancelled + score.stale == count)
                #expect(score.right > count / 20 && score.cancelled > count / 20)
                #expect(after.growth(of: "requests", since: before) == count)
                try await expectRightPixels(gallery, stack)
            }
        }

        @Test func everyTaskEndsOnceHoweverItsCancelMeetsItsCompletion() async throws {
            let count = Effort.count("CANCELLED_TASKS", short: 2_000, long: 20_000)
            var random = Effort.generator("cancelled tasks")
            try await withGallery { stack, _, gallery in
                try await warm(gallery, stack)
                let client = try stack.client()
                var ends: [ImageEnd: Int] = [:]
                try await withThrowingTaskGroup(of: [ImageEnd].self) { lanes in
                    for lane in 0..<16 {
                        let seed = random.next()
                        lanes.addTask {
                            var tasks = CancelledTasks(client, gallery, lane, seed)
                            return try await tasks.run(count / 16)
                        }
                    }
                    for try await lane in lanes {
                        for end in lane { ends[end, default: 0] += 1 }
                    }
                }
                print("cancelled tasks: \(ends)")
                #expect(ends.values.reduce(0, +) == count / 16 * 16)
                #expect(Set(ends.keys) == [.right, .failed(.cancelled)])
                try await stack.awaitIdle()
                try await expectRightPixels(gallery, stack)
            }
        }

        @Test func aCancelThatCrossesItsOutcomeCostsNoProcess() async throws {
            let random = Effort.generator("crossing cancels")
            try await withGallery { stack, _, gallery in
                try await warm(gallery, stack)
                // Longer than the grace period of a cancel, so that the first ones are over.
                let end = ContinuousClock.now.advanced(by: .seconds(1))
                let race = try CancelRace(stack, gallery, random)
                repeat { try race.run(race.sent + 1_000) } while ContinuousClock.now < end
                let report = try await stack.awaitIdle(processes: 7)
                // A cancel that wasn't obeyed didn't affect other work.
                #expect(report.restarts == report.hardCancels, "\(report.outline)")
            }
        }

        /// Loads the images that will be hits.
        private func warm(_ gallery: Gallery, _ stack: StackHarness) async throws {
            let client = try stack.client()
            for choice in Gallery.choices {
                for variant in ["hit", "stored"] {
                    var request = gallery.request(choice, variant)
                    request.options = .waitStoreCache
                    _ = try await client.load(request).response
                }
            }
        }

        private func expectRightPixels(_ gallery: Gallery, _ stack: StackHarness) async throws {
            let client = try stack.client()
            for choice in Gallery.choices {
                for variant in ["hit", "after"] {
                    let image = try await client.load(gallery.request(choice, variant)).response
                    #expect(gallery.isRight(image.bytes?.array, choice), "\(choice)")
                }
            }
        }
    }
}

/// Loads through the library, one after another, each canceled around its completion.
private struct CancelledTasks {
    private let client: ImagebusClient
    private let gallery: Gallery
    private let lane: Int
    private var random: SeededGenerator
    private var usual: [Bool: UInt64] = [true: 500_000, false: 20_000_000]

    init(_ client: ImagebusClient, _ gallery: Gallery, _ lane: Int, _ seed: UInt64) {
        (self.client, self.gallery, self.lane) = (client, gallery, lane)
        random = SeededGenerator(seed: seed)
    }

    mutating func run(_ count: Int) async throws -> [ImageEnd] {
        var ends: [ImageEnd] = []
        for number in 0..<count {
            let isHit = random.happens(60)
            guard let choice = Gallery.choices.randomElement(using: &random) else { continue }
            let request = gallery.request(choice, isHit ? "hit" : "lane\(lane)-\(number)")
            let group = GroupID(.random)
            let began = MonotonicClock.now()
            let task = client.load(request, group: group)
            let usual = usual[isHit] ?? 0
            let span = UInt64.random(in: 0...(usual + usual / 2), using: &random)
            let (byGroup, client) = (random.happens(30), client)
            // A random moment is intended here, so there is no event to wait for.
            let canceller = Task {
                try? await Task.sleep(for: .nanoseconds(span))
                if byGroup { client.cancel(group: group) } else { task.cancel() }
            }
            let end = await ImageEnd(of: task, expected: gallery.expected(choice))
            if end == .right {
                self.usual[isHit] = usual / 8 * 7 + (MonotonicClock.now() - began) / 8
            }
            await canceller.value
            ends.append(end)
        }
        return ends
    }
}
