extension RealProcesses {
    /// An external pool with the right secret that sends false outcomes, or never finishes. Other
    /// loads go on, and no process is lost.
    @Suite struct LyingLoaderTests {
        private let folder = TemporaryDirectory()
        private let origin = OriginServer()
        private let image: [UInt8]

        init() throws {
            image = try Images.waves(width: 80, height: 60).png()
            origin.route("/*", .bytes(image))
        }

        private func withPool(
            _ body: (StackHarness, ImagebusClient) async throws -> Void
        ) async throws {
            try await withClient(
                folder.configuration(ExternalLoader.configuration), decoders: 1, body: body)
        }

        private func isServed(_ name: String, _ client: ImagebusClient) async -> Bool {
            await client.load(ImageRequest(origin.url("/\(name).png"), fit: 20)).errorCode == nil
        }

        private func load(
            _ name: String, _ client: ImagebusClient, timeout: Int = 20_000
        ) -> LoadTask {
            var request = ImageRequest("photos://album/\(name).png", fit: 20, format: .png)
            request.timeoutMilliseconds = timeout
            return client.load(request)
        }

        /// Between the check of the header and the decoding, the image becomes huge or invalid.
        @Test func bytesThatChangeAfterTheOutcomeHarmNobody() async throws {
            var huge = image
            huge.replaceSubrange(16..<24, with: [0, 0, 0x40, 0, 0, 0, 0x40, 0])
            let garbage = (0..<image.count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let other = try Images.noise(width: 60, height: 40).jpeg(quality: 90)
            try await withPool { stack, client in
                let processes = Set(stack.children.map(\.processID))
                let loader = try ExternalLoader(stack, image)
                let gate = Gate()
                let thread = loader.change(
                    between: [image, huge, image, garbage, image, other], until: gate)
                var ends: [ErrorCode?: Int] = [:]
                for number in 0..<60 {
                    let task = load("changing\(number)", client)
                    let job = try loader.job()
                    try loader.answer(job, image.count, block: BlockID(UInt64(number) + 1))
                    ends[await task.errorCode, default: 0] += 1
                }
                gate.open()
                _ = await thread.join()
                let expected: Set<ErrorCode?> = [
                    nil, .badImageData, .limitExceeded, .unsupportedFormat,
                ]
                #expect(Set(ends.keys).isSubset(of: expected), "\(ends)")
                #expect(await isServed("after", client))
                #expect(Set(stack.children.map(\.processID)) == processes)
            }
        }

        /// Processes that have mapped it find no memory behind the mapping.
        @Test func aSegmentThatIsTruncatedCostsItsLoaderTheSession() async throws {
            try await withPool { stack, client in
                for number in 0..<3 {
                    let loader = try ExternalLoader(stack, image)
                    let task = load("cut\(number)", client, timeout: 3_000)
                    let job = try loader.job()
                    loader.truncate()
                    try loader.answer(job, image.count)
                    #expect(try loader.worker.isRefused())
                    #expect(await isServed("beside\(number)", client))
                    task.cancel()
                }
            }
        }

        @Test func progressWithoutEndKeepsNobodyWaiting() async throws {
            try await withPool { stack, client in
                let loader = try ExternalLoader(stack, image)
                let task = load("flood", client, timeout: 60_000)
                let job = try loader.job()
                var sent = 0
                for round in 0..<20 {
                    for number in 0..<2_000 {
                        let isOther = number % 2 == 1
                        let progress = JobProgress(
                            id: isOther ? JobID(job.id.value + 77) : job.id, attempt: job.attempt,
                            received: UInt64(number), expected: 1)
                        // A full queue is the expected reaction.
                        if (try? loader.worker.send(.progress(progress))) != nil { sent += 1 }
                    }
                    #expect(await isServed("beside\(round)", client))
                }
                #expect(sent > 2_000)
                try loader.answer(job, image.count)
                #expect(await task.errorCode == nil)
            }
        }

        @Test func whoeverClaimsCreditHoldsNoMoreThanItsPoolMay() async throws {
            try await withPool { stack, client in
                let loader = try ExternalLoader(stack, image)
                for _ in 0..<3 { try loader.worker.send(.credit(.max)) }
                let tasks = (0..<5).map { load("claim\($0)", client) }
                let jobs = [try loader.job(), try loader.job()]
                #expect(try loader.worker.job(within: .milliseconds(500)) == nil)
                for (number, job) in jobs.enumerated() {
                    try loader.answer(job, image.count, block: BlockID(UInt64(number) + 1))
                }
                #expect(await tasks[0].errorCode == nil)
                for task in tasks { task.cancel() }
            }
        }

        @Test func whoNeverAnswersLosesItsSessionAndHoldsNoLoadBeyondItsDeadline() async throws {
            try await withPool { stack, client in
                let silent = try ExternalLoader(stack, image)
                let task = load("silent", client, timeout: 1_000)
                _ = try silent.job()
                #expect(await task.errorCode == .deadlineExceeded)
                #expect(await isServed("beside", client))
                #expect(try silent.worker.isRefused())
                let honest = try ExternalLoader(stack, image)
                let again = load("honest", client)
                try honest.answer(try honest.job(), image.count)
                #expect(await again.errorCode == nil)
            }
        }

        /// The decoder reads the signature itself; the loader's statements about the bytes aren't
        /// trusted.
        @Test func whatIsSaidOfBytesIsNotBelieved() async throws {
            let lies: [(String, @Sendable (inout FetchedBody) -> Void)] = [
                ("format", { $0.format = .jpeg }), ("media", { $0.contentType = "text/html" }),
                ("none", { $0.format = nil }), ("status", { $0.httpStatus = 999 }),
                ("url", { $0.effectiveURL = "http://127.0.0.1:1/" }),
                ("longer", { $0.reference.length += 5_000 }),
                ("shorter", { $0.reference.length -= 40 }),
            ]
            try await withPool { stack, client in
                let loader = try ExternalLoader(stack, image)
                for (number, lie) in lies.enumerated() {
                    let task = load(lie.0, client)
                    let job = try loader.job()
                    try loader.answer(job, image.count, block: BlockID(UInt64(number) + 1), lie.1)
                    let end = await task.errorCode
                    #expect(
                        [nil, .badImageData, .unsupportedFormat].contains(end),
                        "\(lie.0): \(String(describing: end))")
                }
                #expect(await isServed("after", client))
                let report = try await stack.awaitIdle()
                #expect(report.counter("expelledWorkers") == 0)
                #expect(report.processes.allSatisfy { $0.restarts == 0 })
            }
        }

        /// A response dated in the year 9999 would be fresh until then.
        @Test func anAnswerOfTheFutureIsNotFresh() async throws {
            try await withPool { stack, client in
                let loader = try ExternalLoader(stack, image)
                var request = ImageRequest("photos://album/future.png", fit: 20, format: .png)
                request.options = .respectCacheControl
                for number in 1...2 {
                    let task = client.load(request)
                    let job = try loader.job()
                    try loader.answer(job, image.count, block: BlockID(UInt64(number))) {
                        $0.cacheControl = "max-age=60"
                        $0.age = ResponseAge(bornMilliseconds: HTTPExpiry.bornRange.upperBound)
                    }
                    #expect(await task.errorCode == nil)
                    _ = try await stack.awaitIdle()
                }
            }
        }

        /// A released block, a block of an earlier job, and outcomes of jobs that have ended.
        @Test func whatWasSaidBeforeIsNotSaidAgain() async throws {
            try await withPool { stack, client in
                let loader = try ExternalLoader(stack, image)
                let first = load("first", client)
                let job = try loader.job()
                try loader.answer(job, image.count)
                #expect(await first.errorCode == nil)
                // This job has ended.
                for _ in 0..<100 { try loader.answer(job, image.count, block: BlockID(2)) }
                let second = load("second", client)
                let next = try loader.job()
                var past = next
                past.attempt = next.attempt + 7
                try loader.answer(past, image.count, block: BlockID(3))
                try loader.answer(next, image.count, block: BlockID(4))
                #expect(await second.errorCode == nil)
                #expect(await isServed("beside", client))
                _ = try await stack.awaitIdle()
            }
        }
    }
}
