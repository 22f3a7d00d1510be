extension RealProcesses {
    /// The clocks of coordinator, download and cache are set forward and back while they run.
    /// Nothing is considered fresh longer than its origin permitted, and no process ends or hangs.
    @Suite struct SetClockTests {
        private let origin = OriginServer()
        private let folder = TemporaryDirectory()

        private func set(_ offset: String) { folder.write(Array(offset.utf8), to: "offset") }

        /// The processes read the file once a second.
        private func clock() -> AlteredPrograms {
            AlteredPrograms(
                "imagebus-coordinator", "imagebus-download", "imagebus-cache",
                variables: [
                    "LD_PRELOAD": "/usr/$LIB/faketime/libfaketime.so.1",
                    "FAKETIME_TIMESTAMP_FILE": folder.file("offset"),
                    "FAKETIME_CACHE_DURATION": "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
                ])
        }

        private func withClock(
            _ arguments: [String] = [], _ body: (StackHarness, ImagebusClient) async throws -> Void
        ) async throws {
            set("+0")
            let programs = clock()
            let line = ["--allow-private-networks"] + arguments
            try await withStack(line, decoders: 1, environment: programs.environment) { stack in
                let before = workers(stack)
                try await body(stack, try stack.client(repeatsAnswers: false))
                #expect(workers(stack) == before, "a process ended")
            }
        }

        private func workers(_ stack: StackHarness) -> Set<Int32> {
            Set(
                stack.children.filter { !$0.name.hasPrefix("imagebus-coordi") }
                    .map(\.processID))
        }

        /// An image that is fresh for a while and has a validator.
        private func route(_ path: String, seconds: Int = 60) throws -> [UInt8] {
            let image = try Images.waves(width: 40, height: 30).png()
            origin.route(
                path,
                .revalidated(image, etag: "\"1\"")
                    .with(header: "Cache-Control", "max-age=\(seconds), stale-if-error=60"))
            return image
        }

        private func load(_ path: String, _ client: ImagebusClient) async throws -> [UInt8]? {
            var request = ImageRequest(url: origin.url(path))
            request.options = .respectCacheControl
            return try await client.load(request).response.bytes?.array
        }

        /// Loads until the origin has had `count` requests. Returns false if that doesn't happen.
        private func isAsked(
            _ path: String, count: Int, _ client: ImagebusClient
        ) async throws -> Bool {
            let deadline = ContinuousClock.now.advanced(by: .seconds(20))
            while ContinuousClock.now < deadline {
                _ = try await load(path, client)
                if origin.requestCount(path) >= count { return true }
                try await Task.sleep(for: .milliseconds(100))
            }
            return false
        }

        /// Loads until a load doesn't reach the origin. Returns false if every load does.
        private func isFresh(_ path: String, _ client: ImagebusClient) async throws -> Bool {
            let deadline = ContinuousClock.now.advanced(by: defaultTimeout)
            while ContinuousClock.now < deadline {
                let asked = origin.requestCount(path)
                _ = try await load(path, client)
                if origin.requestCount(path) == asked { return true }
                try await Task.sleep(for: .milliseconds(100))
            }
            return false
        }

        /// Loads images until one has a date half a day in the future.
        private func isAhead(_ client: ImagebusClient) async throws -> Bool {
            try await isDated(client) { $0 > 43_200_000 }
        }

        /// Loads images until one has a date half a day in the past.
        private func isBehind(_ client: ImagebusClient) async throws -> Bool {
            try await isDated(client) { $0 < -43_200_000 }
        }

        /// Loads images until the date of one differs from the clock of the test as wanted, in
        /// milliseconds.
        private func isDated(
            _ client: ImagebusClient, _ isWanted: (Int64) -> Bool
        ) async throws -> Bool {
            let deadline = ContinuousClock.now.advanced(by: defaultTimeout)
            var number = 0
            while ContinuousClock.now < deadline {
                number += 1
                var request = ImageRequest(url: origin.url("/probe.png?\(number)"))
                request.options = .respectCacheControl
                let born = try await client.load(request).response.validity?.expiry?.born
                if let born, isWanted(born - WallClock.nanoseconds() / 1_000_000) { return true }
                try await Task.sleep(for: .milliseconds(100))
            }
            return false
        }

        /// It would be fresh for the whole day.
        @Test func anImageOfAFastClockIsAskedAboutOnceTheClockIsRight() async throws {
            let image = try route("/b.png")
            _ = try route("/probe.png")
            try await withClock { stack, client in
                set("+1d")
                let isAhead = try await isAhead(client)
                var seen = [try await load("/b.png", client)]
                set("+0")
                // The next coordinator relies on the cache's data about it.
                #expect(try stack.run(["drain", "coordinator"]).exitStatus == 0)
                let isAskedAgain = try await isAsked("/b.png", count: 2, client)
                #expect(isAhead && isAskedAgain)
                // Once all clocks are right, revalidation makes it fresh.
                let isFresh = try await isFresh("/b.png", client)
                #expect(isFresh)
                seen.append(try await load("/b.png", client))
                #expect(seen == [image, image])
            }
        }

        /// Loads, freshness and failure cache go on, without a new process.
        @Test func aClockThatIsSetBackByADayStopsNothing() async throws {
            let image = try route("/b.png")
            _ = try route("/probe.png")
            _ = try route("/short.png", seconds: 1)
            origin.route("/none.png", .bytes(Array("no image".utf8)))
            try await withClock { _, client in
                let failing = ImageRequest(url: origin.url("/none.png"))
                #expect(await client.load(failing).errorCode == .badImageData)
                var seen = [try await load("/b.png", client)]
                set("-1d")
                let isBehind = try await isBehind(client)
                #expect(isBehind, "new images are loaded")
                // Its date is in the future now.
                let isAskedAgain = try await isAsked("/b.png", count: 2, client)
                let isFresh = try await isFresh("/b.png", client)
                #expect(isAskedAgain && isFresh)
                seen.append(try await load("/b.png", client))
                #expect(seen == [image, image])
                // Freshness that begins now also ends.
                let isAskedInTime = try await isAsked("/short.png", count: 2, client)
                #expect(isAskedInTime)
                #expect(await client.load(failing).errorCode == .blacklisted)
                #expect(origin.requestCount("/none.png") == 1)
            }
        }

        /// The age of failures is measured in elapsed time.
        @Test(arguments: ["+1d", "-1d"])
        func whatFailedIsRefusedForItsTime(offset: String) async throws {
            origin.route("/none.png", .bytes(Array("no image".utf8)))
            let probe = try route("/probe.png")
            try await withClock(["--failure-cache-seconds", "4"]) { _, client in
                let request = ImageRequest(url: origin.url("/none.png"))
                #expect(await client.load(request).errorCode == .badImageData)
                set(offset)
                #expect(await client.load(request).errorCode == .blacklisted)
                let deadline = ContinuousClock.now.advanced(by: defaultTimeout)
                while origin.requestCount("/none.png") == 1, ContinuousClock.now < deadline {
                    _ = await client.load(request).errorCode
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(origin.requestCount("/none.png") == 2)
                let seen = try await load("/probe.png", client)
                #expect(seen == probe)
            }
        }
    }
}
