extension RealProcesses {
    /// The clocks of coordinator, download and cache are set forward and back while they run.
    /// Nothing is considered fresh longer than its origin permitted, and no process ends or hangs.
    @Suite struct SetClockTests {
        private let origin = OriginServer()
        private let folder = TemporaryDirectory()

        private func set(_ offset: String) { folder.write(offset, to: "offset") }

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

        /// Loads until the origin has had `count` requests.
        private func awaitAsked(
            _ path: String, count: Int, _ client: ImagebusClient
        ) async throws {
            try await pollUntil("\(count) requests for \(path)") {
                _ = try await load(path, client)
                return origin.requestCount(path) >= count
            }
        }

        /// Loads until a load doesn't reach the origin.
        private func awaitFresh(_ path: String, _ client: ImagebusClient) async throws {
            try await pollUntil("a load of \(path) that doesn't reach the origin") {
                let asked = origin.requestCount(path)
                _ = try await load(path, client)
                return origin.requestCount(path) == asked
            }
        }

        /// Loads images until the date of one differs from the clock of the test as wanted, in
        /// milliseconds.
        private func awaitDated(
            _ client: ImagebusClient, _ isWanted: (Int64) -> Bool
        ) async throws {
            var number = 0
            try await pollUntil("an image of another date") {
                number += 1
                var request = ImageRequest(url: origin.url("/probe.png?\(number)"))
                request.options = .respectCacheControl
                let born = try await client.load(request).response.validity?.expiry?.born
                return born.map { isWanted($0 - WallClock.nanoseconds() / 1_000_000) } ?? false
            }
        }

        /// It would be fresh for the whole day.
        @Test func anImageOfAFastClockIsAskedAboutOnceTheClockIsRight() async throws {
            let image = try route("/b.png")
            _ = try route("/probe.png")
            try await withClock { stack, client in
                set("+1d")
                try await awaitDated(client) { $0 > 43_200_000 }
                var seen = [try await load("/b.png", client)]
                set("+0")
                // The next coordinator relies on the cache's data about it.
                #expect(try stack.run(["drain", "coordinator"]).exitStatus == 0)
                try await awaitAsked("/b.png", count: 2, client)
                // Once all clocks are right, revalidation makes it fresh.
                try await awaitFresh("/b.png", client)
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
                // New images are loaded.
                try await awaitDated(client) { $0 < -43_200_000 }
                // Its date is in the future now.
                try await awaitAsked("/b.png", count: 2, client)
                try await awaitFresh("/b.png", client)
                seen.append(try await load("/b.png", client))
                #expect(seen == [image, image])
                // Freshness that begins now also ends.
                try await awaitAsked("/short.png", count: 2, client)
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
                try await pollUntil("another request") {
                    _ = await client.load(request).errorCode
                    return origin.requestCount("/none.png") > 1
                }
                #expect(origin.requestCount("/none.png") == 2)
                let seen = try await load("/probe.png", client)
                #expect(seen == probe)
            }
        }
    }
}
