extension RealProcesses {
    /// Requests to origins with temporary failures are retried; permanent failures aren't
    /// (SEMANTICS §7.2, §7.3).
    @Suite struct FailingOriginTests {
        private static let png = Result { try Images.quadrants().png() }
        private let origin = OriginServer()
        private let times = Recorder<ContinuousClock.Instant>()
        private let png: [UInt8]

        init() throws { png = try Self.png.get() }

        /// Routes a path to these answers, one after another; the last one repeats.
        private func route(_ path: String, _ answers: OriginBehavior...) -> String {
            origin.route(
                path,
                .sequence(answers).observed { [times] _ in times.append(.now) })
            return origin.url(path)
        }

        @Test func aRetryAfterOfASecondIsTwoGetsASecondApart() async throws {
            let url = route("/a.png", .status(503).with(header: "Retry-After", "1"), .bytes(png))
            try await withStack { stack in
                try stack.get([url, "--json"]).expect(0)
                let times = times.values
                #expect(times.count == 2)
                let pause = times[0].duration(to: times[1])
                #expect(pause >= .milliseconds(990) && pause < .seconds(5), "\(pause)")
                let report = try await stack.awaitIdle()
                #expect(report.counter("retries") == 1)
                #expect(report.counter("fetches") == 2)
                #expect(report.counter("blacklisted") == 0)
            }
        }

        @Test func whoComesBetweenTwoAttemptsShares() async throws {
            let url = route("/a.png", .status(503).with(header: "Retry-After", "2"), .bytes(png))
            try await withStack { stack in
                let (first, second) = (try stack.client(), try stack.client())
                let tasks = [first.load(ImageRequest(url, fit: 40))]
                _ = try await stack.awaitStatus("a transfer that waits") {
                    $0.counter("fetches") == 1 && $0.counter("queued.fetch") == 1
                }
                let late = [second.load(ImageRequest(url, fit: 40)), second.load(.init(url: url))]
                for task in tasks + late { #expect(await task.errorCode == nil) }
                #expect(times.values.count == 2)
            }
        }

        @Test func aBrokenAnswerIsFollowedByAWholeOne() async throws {
            let url = route("/a.png", .closing, .closing(after: 99, of: png), .bytes(png))
            try await withStack { stack in
                try stack.get([url, "--json"]).expect(0)
                #expect(times.values.count == 3)
            }
        }

        @Test func aRetryBeyondTheDeadlineIsNotWaitedFor() async throws {
            let url = route("/a.png", .status(429).with(header: "Retry-After", "60"))
            try await withStack { stack in
                let began = ContinuousClock.now
                let run = try stack.get([url, "--json", "--timeout", "20s"])
                #expect(began.duration(to: .now) < .seconds(10))
                #expect(run.exitStatus == 75, "\(run)")
                let details = try run.json()["error"]?["details"]
                #expect(details?["retryAfter"]?.text == "60", "\(run)")
                #expect(times.values.count == 1)
            }
        }

        @Test func withoutRetriesAnOriginIsAskedOnce() async throws {
            let url = route("/a.png", .status(500), .bytes(png))
            try await withStack(environment: ["IMAGEBUS_FETCH_RETRIES": "0"]) { stack in
                try stack.get([url]).expect(75)
                #expect(times.values.count == 1)
            }
        }

        @Test func aTextThatIsNoImageIsRefusedUntilItIsTakenOffTheList() async throws {
            let text = OriginBehavior.bytes(Array("no image".utf8), contentType: "image/png")
            let url = route("/a.png", text, text, text, .bytes(png))
            try await withStack { stack in
                #expect(try stack.get([url]).exitStatus == 65)
                try expectRefused(stack, url)
                #expect(times.values.count == 1)

                let listed = try stack.run(["failure-cache", "list"]).outputText
                #expect(listed.contains(url) && listed.contains("fetch"))
                #expect(listed.contains("badImageData"))
                let removed = try stack.run(["failure-cache", "remove", url]).outputText
                #expect(removed == "removed 1\n")
                #expect(try stack.get([url]).exitStatus == 65)
                #expect(times.values.count == 2)

                try expectRefused(stack, url)
                #expect(try stack.run(["failure-cache", "clear"]).outputText == "removed 1\n")
                #expect(try stack.get([url]).exitStatus == 65)
                #expect(times.values.count == 3)

                try expectRefused(stack, url)
                try stack.get([url, "--option", "retry-failed"]).expect(0)
                #expect(try stack.get([url]).exitStatus == 0)
                let report = try await stack.awaitIdle()
                #expect(report.counter("blacklistRefusals") == 3)
                #expect(report.counter("blacklisted") == 0)
                #expect(times.values.count == 4)
            }
        }

        private func expectRefused(_ stack: StackHarness, _ url: String) throws {
            let run = try stack.get([url, "--json"]).expect(66)
            #expect(try run.json()["error"]?["code"]?.integer == 1003, "\(run)")
        }

        /// The coordinator's fast path checks the failure cache as well.
        @Test func aRepeatedHitEndsWhenItsURLIsBlacklisted() async throws {
            let text = OriginBehavior.bytes(Array("no image".utf8))
            let url = route("/a.png", .bytes(png), text)
            try await withClient { _, client in
                for _ in 0..<5 {
                    #expect(await client.load(ImageRequest(url: url)).errorCode == nil)
                }
                let fresh = ImageRequest(url, fit: 30, options: .fromLoaderOnly)
                #expect(await client.load(fresh).errorCode == .badImageData)
                #expect(await client.load(ImageRequest(url: url)).errorCode == .blacklisted)
                #expect(times.values.count == 2)
            }
        }

        @Test func theListForgetsAfterTheSecondsThatServeWasTold() async throws {
            let url = route("/a.png", .bytes(Array("no image".utf8)), .bytes(png))
            let options = ["--allow-private-networks", "--failure-cache-seconds", "1"]
            try await withStack(options) { stack in
                #expect(try stack.get([url]).exitStatus == 65)
                _ = try await stack.awaitStatus("an empty list") { $0.counter("blacklisted") == 0 }
                #expect(try stack.get([url]).exitStatus == 0)
            }
        }
    }
}
