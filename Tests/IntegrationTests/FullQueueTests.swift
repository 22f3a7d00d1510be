extension RealProcesses {
    /// A full queue rejects at once and states when to retry (SEMANTICS §9.3).
    @Suite struct FullQueueTests {
        private static let limit = 4
        private let origin = OriginServer()
        private let gate = Gate()

        init() throws {
            let image = try Images.quadrants().png()
            // Slow, but fast enough not to be aborted: it takes a quarter of an hour.
            let large = try Images.noise(width: 900, height: 800).png()
            origin.route("/slow.png", .slow(large, chunk: 2_048, every: .seconds(1), until: gate))
            origin.route("/late.png", .bytes(image))
        }

        /// A stack that makes one transfer at a time, with a full queue; the transfers continue
        /// once `body` has opened the gate.
        private func withFullQueue(
            _ body: (StackHarness, ImagebusClient) async throws -> Void
        ) async throws {
            let arguments = [
                "--allow-private-networks", "--fetches-per-host", "1", "--queue-limit",
                "\(Self.limit)",
            ]
            try await withClient(arguments) { stack, client in
                var slow = ImageRequest(url: origin.url("/slow.png"))
                slow.timeoutMilliseconds = RequestLimits.timeoutMillisecondsMax
                var tasks = [client.load(slow)]
                #expect(await origin.waitForRequest("/slow.png"))
                for number in 0..<Self.limit {
                    slow.url = origin.url("/slow.png?\(number)")
                    tasks.append(client.load(slow))
                }
                _ = try await stack.awaitStatus("a full queue") {
                    $0.counter("queued.fetch") == Self.limit
                }
                try await body(stack, client)
                gate.open()
                for task in tasks { #expect(await task.errorCode == nil) }
            }
        }

        @Test func oneMoreThanTheQueueTakesIsBusyAndHearsWhenToComeAgain() async throws {
            try await withFullQueue { stack, _ in
                let end = try stack.get([origin.url("/late.png"), "--json"]).expect(75)
                let error = try #require(try end.json()["error"])
                #expect(error["name"]?.text == "busy")
                #expect(error["retryable"] == .bool(true))
                let stated = error["details"]?["retryAfter"]?.text.flatMap { Double($0) }
                let seconds = try #require(stated, "\(end)")
                #expect((0.1...30).contains(seconds))
                _ = try await stack.awaitStatus("a refusal") { $0.counter("refusedBusy") == 1 }
                #expect(origin.requestCount("/late.png") == 0)
            }
            #expect(origin.requestCount("/slow.png") == Self.limit + 1)
        }

        @Test func whatExpiresInTheQueueReachesNoWorker() async throws {
            let arguments = ["--allow-private-networks", "--fetches-per-host", "1"]
            try await withClient(arguments) { stack, client in
                let slow = client.load(origin.url("/slow.png"))
                #expect(await origin.waitForRequest("/slow.png"))
                let before = try await stack.awaitStatus("one transfer") {
                    $0.counter("fetches") == 1
                }
                // From a connected client, so that its timeout doesn't start before the coordinator
                // receives it.
                var late = ImageRequest(url: origin.url("/late.png"))
                late.timeoutMilliseconds = 200
                #expect(await client.load(late).errorCode == .deadlineExceeded)
                gate.open()
                #expect(await slow.errorCode == nil)
                let after = try await stack.awaitIdle()
                #expect(after.counter("fetches") == before.counter("fetches"))
                #expect(after.counter("failed.deadlineExceeded") == 1)
                #expect(origin.requestCount("/late.png") == 0)
            }
        }

        /// Every second one is rejected at the listener, the others after a cache miss.
        @Test func refusalsLeaveNothingBehind() async throws {
            let count = Effort.count("REFUSALS", short: 20_000, long: 1_000_000)
            try await withFullQueue { stack, client in
                let status = try await stack.awaitStatus("a coordinator") { _ in true }
                let coordinator = try #require(status.processes(.coordinator).first)
                let process = ProcessID(coordinator.pid)
                try await refuse(count / 10, by: client)
                try ProcessMemory.resetPeak(of: process)
                let before = try ProcessMemory.peakBytes(of: process)
                try await refuse(count, by: client)
                let after = try ProcessMemory.peakBytes(of: process)
                print("\(count) refusals: \(before >> 10) KB, then at most \(after >> 10) KB")
                #expect(after <= before + before / 10 + (4 << 20))
            }
        }

        private func refuse(_ count: Int, by client: ImagebusClient) async throws {
            let lanes = 32
            let url = origin.url("/late.png")
            let busy = await withTaskGroup(of: Int.self) { group in
                for lane in 0..<lanes {
                    group.addTask {
                        var busy = 0
                        for number in 0..<(count / lanes) {
                            var request = ImageRequest(url: "\(url)?\(lane).\(number)")
                            if number % 2 == 0 { request.options = .fromLoaderOnly }
                            if await client.load(request).errorCode == .busy { busy += 1 }
                        }
                        return busy
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(busy == count / lanes * lanes)
        }
    }
}
