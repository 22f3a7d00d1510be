extension RealProcesses {
    /// Loads of one client that share one message, and what each of them observes.
    @Suite struct SharedLoadTests {
        private let origin = OriginServer()
        private let begun = Recorder<String>()

        private func hold(_ path: String, _ image: [UInt8], until gate: Gate) -> String {
            origin.route(path, .hangBody(until: gate, then: image))
            return origin.url(path)
        }

        private func picture(side: Int = 40) throws -> [UInt8] {
            try Images.waves(width: side, height: side).jpeg(quality: 80)
        }

        /// Starts these loads in one turn of the client: on its own thread, between two messages.
        private func loads(
            _ requests: [ImageRequest], on client: ImagebusClient, wantsProgress: Bool = false
        ) async -> [LoadTask] {
            await withTaskExecutorPreference(client.executor) {
                requests.map { client.load($0, wantsProgress: wantsProgress) }
            }
        }

        private let arguments = ["--allow-private-networks", "--low-speed", "0"]

        @Test func tenThousandLoadsOfOneImageAreOneRequestOfTheStack() async throws {
            let (image, gate) = (try picture(), Gate())
            let url = hold("/many.jpg", image, until: gate)
            var request = ImageRequest(url: url)
            request.timeoutMilliseconds = 600_000
            try await withClient(arguments, decoders: 1) { stack, client in
                let first = try await OperatorClient(client).status()
                let before = try #require(first.counter("requests"))
                let requests = Array(repeating: request, count: 10_000)
                let tasks = await loads(requests, on: client)
                #expect(await origin.waitForRequest("/many.jpg"))
                let report = try await OperatorClient(client).status()
                #expect(report.counter("liveRequests") == 1)
                // The load that sent the message is among the canceled ones.
                for task in tasks[..<5_000] { task.cancel() }
                for task in tasks[..<5_000] { #expect(await task.errorCode == .cancelled) }
                #expect(tasks[5_000...].allSatisfy { $0.status == .running })
                gate.open()
                for task in tasks[5_000...] {
                    #expect(try await task.response.bytes?.array == image)
                }
                #expect(origin.requestCount("/many.jpg") == 1)
                let after = try await stack.awaitIdle()
                #expect(after.counter("requests") == before + 1)
            }
        }

        @Test func theTransferEndsWithTheLastOfThem() async throws {
            let url = hold("/left.jpg", try picture(), until: Gate())
            try await withClient(arguments, decoders: 1) { stack, client in
                let request = ImageRequest(url: url)
                let tasks = await loads([request, request, request], on: client)
                #expect(await origin.waitForRequest("/left.jpg"))
                tasks[0].cancel()
                #expect(await tasks[0].errorCode == .cancelled)
                tasks[2].cancel()
                #expect(await tasks[2].errorCode == .cancelled)
                #expect(try await OperatorClient(client).status().counter("liveRequests") == 1)
                tasks[1].cancel()
                #expect(await tasks[1].errorCode == .cancelled)
                #expect(await origin.waitForConnectionClosed("/left.jpg"))
                try await stack.awaitIdle()
            }
        }

        @Test func progressAndBytesAreForEach() async throws {
            // At this size the image is mapped from shared memory, and stays mapped while it is
            // referenced.
            let image = try Images.waves(width: 900, height: 900).png()
            #expect(image.count > 1 << 20)
            let gate = Gate()
            let url = hold("/large.png", image, until: gate)
            try await withClient(arguments, decoders: 1) { _, client in
                let request = ImageRequest(url: url)
                let tasks = await loads([request, request], on: client, wantsProgress: true)
                let streams = tasks.map(\.progress)
                #expect(await origin.waitForRequest("/large.png"))
                gate.open()
                for (task, stream) in zip(tasks, streams) {
                    var last: RequestProgress?
                    for await progress in stream {
                        #expect(progress.token == task.token)
                        last = progress
                    }
                    #expect(last?.received == UInt64(image.count))
                }
                var first = try await tasks[0].response.bytes
                let second = try await tasks[1].response.bytes
                #expect(first?.array == image)
                first = nil
                #expect(second?.array == image)
                #expect(try await OperatorClient(client).status().counter("liveRequests") == 0)
                #expect(origin.requestCount("/large.png") == 1)
            }
        }

        /// One transfer at a time: the highest priority among coalesced loads counts.
        @Test func theHighestClassOfThemCounts() async throws {
            let (image, gate) = (try picture(), Gate())
            for path in ["/first", "/normal", "/shared", "/low"] {
                let behavior: OriginBehavior =
                    path == "/first" ? .hangBody(until: gate, then: image) : .bytes(image)
                origin.route(path, behavior.observed { [begun] in begun.append($0.path) })
            }
            func request(_ path: String, _ priority: Priority) -> ImageRequest {
                var request = ImageRequest(url: origin.url(path))
                request.priority = priority
                return request
            }
            let oneAtATime = arguments + ["--fetches-per-host", "1"]
            try await withClient(oneAtATime, decoders: 1) { stack, client in
                let first = client.load(request("/first", .normal))
                #expect(await origin.waitForRequest("/first"))
                let tasks = await loads(
                    [
                        request("/normal", .normal), request("/shared", .low),
                        request("/shared", .high), request("/low", .low),
                    ], on: client)
                _ = try await stack.awaitStatus("three transfers that wait") {
                    $0.counter("queued.fetch") == 3
                }
                #expect(try await OperatorClient(client).status().counter("liveRequests") == 4)
                gate.open()
                for task in [first] + tasks { #expect(await task.errorCode == nil) }
            }
            #expect(begun.values == ["/first", "/shared", "/normal", "/low"])
        }

        /// Each load counts as a hit, as if it had its own message.
        @Test func whatSharesAHitCountsAsManyHits() async throws {
            let image = try picture()
            origin.route("/hit.jpg", .bytes(image))
            var request = ImageRequest(url: origin.url("/hit.jpg"))
            request.options = .waitStoreCache
            try await withStack(arguments, decoders: 1) { stack in
                _ = try await stack.client().load(request).response
                let client = try stack.client()
                let report = try await OperatorClient(client).status()
                let before = try #require(report.counter("memoryHits"))
                let tasks = await loads([request, request, request], on: client)
                for task in tasks {
                    let response = try await task.response
                    #expect(response.cacheType == .memory && response.bytes?.array == image)
                }
                _ = try await stack.awaitStatus("three hits") {
                    $0.counter("memoryHits") == before + 3
                }
            }
        }
    }
}
