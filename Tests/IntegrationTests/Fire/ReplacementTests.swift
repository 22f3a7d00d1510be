extension RealProcesses {
    /// Processes that hang, that don't obey a cancel, or that have done their number of jobs are
    /// replaced without losing any request (SEMANTICS §7.6, §8.3).
    @Suite struct ReplacementTests {
        private let origin = OriginServer()
        private static let size = PixelSize(width: 100, height: 75)

        init() throws {
            let image = try Images.photo()
            origin.route("/a.jpg", .jpeg(image))
        }

        private func request(_ number: Int) -> ImageRequest {
            ImageRequest(origin.url("/a.jpg?\(number)"), fit: 100)
        }

        @Test(arguments: [WorkerKind.coordinator, .cache, .decode])
        func whatDoesNotAnswerIsKilledAndStartedAgain(_ kind: WorkerKind) async throws {
            try await withClient(decoders: 1) { stack, client in
                #expect(try await client.load(request(1)).response.info?.size == Self.size)
                let before = try await stack.awaitIdle()
                let hung = try stack.child(try #require(before.processes(kind).first))
                try hung.halt()
                var waiting = request(2)
                // Checks by `serve` that are late on a busy machine don't count.
                waiting.timeoutMilliseconds = 300_000
                #expect(try await client.load(waiting).response.info?.size == Self.size)
                let after = try await stack.awaitStatus("all processes") {
                    $0.processes.count == before.processes.count
                }
                let restarts = after.processes.filter { $0.restarts > 0 }
                #expect(restarts.map(\.kind) == [kind])
                #expect(restarts.map(\.restarts) == [1])
                let log = FileBytes.text(stack.logFile) ?? ""
                #expect(log.contains("\(kind.name) \(hung.processID) does not respond: killed"))
                #expect(!log.contains("failed repeatedly"))
            }
        }

        /// An interlaced image is read completely before libvips checks for cancellation again.
        @Test func nativeCodeThatHeedsNoCancelIsEndedAndReplacedAtOnce() async throws {
            origin.route("/slow.png", .bytes(try Self.interlaced()))
            try await withClient(decoders: 1) { stack, client in
                let hard = try await endHard(client, stack)
                let began = ContinuousClock.now
                #expect(try await client.load(request(1)).response.info?.size == Self.size)
                print("hard cancel: the next image came \(ContinuousClock.now - began) later")
                let report = try await stack.awaitIdle()
                // As many restarts as ends, and no timeouts.
                #expect(report.processes(.decode).map { Int($0.restarts) } == [hard])
                #expect(report.counter("crashes") == 0)
                let log = FileBytes.text(stack.logFile) ?? ""
                #expect(log.contains("ended: exit 75") && !log.contains("failed repeatedly"))
            }
        }

        @Test func aWorkerThatHasDoneEnoughLeavesAndLosesNothing() async throws {
            try await withClient(decoders: 1) { stack, client in
                let extra = try startAnotherDecoder(in: stack)
                defer { try? extra.send(.kill) }
                _ = try await stack.awaitStatus("a second decoder") {
                    $0.processes(.decode).count == 2
                }
                var number = 0
                while try extra.poll() == nil, number < 2_000 {
                    let tasks = (0..<16).map { client.load(request(number + $0)) }
                    number += tasks.count
                    for task in tasks {
                        #expect(try await task.response.info?.size == Self.size)
                    }
                }
                #expect(try extra.wait(milliseconds: 10_000) == .exited(75))
                let report = try await stack.awaitIdle()
                #expect(report.counter("requeued") == 0)
                #expect(report.counter("lostWorkers") == 0)
                #expect(report.counter("decodes") == number)
            }
        }

        /// A decoder that does three jobs, with the secret that `serve` gives to its own.
        private func startAnotherDecoder(in stack: StackHarness) throws -> ChildProcess {
            let memory = StackHarness.secretPaths(of: stack.processID, WorkerKind.decode.name)
            let secret = try FileDescriptor.open(#require(memory.first))
            var command = try ChildCommand(
                Programs.path(.decode),
                [
                    "--runtime-dir", stack.runtimeDirectory, "--recycle-jobs", "3",
                    "--secret-fd", "4",
                ])
            command.descriptors[4] = .descriptor(secret.number)
            return try ChildProcess(command)
        }

        /// Cancels decodes until a cancel has ended a process. Returns the number of ended
        /// processes.
        private func endHard(_ client: ImagebusClient, _ stack: StackHarness) async throws -> Int {
            // On a fast machine a decode often completes before its cancel arrives.
            for attempt in 0..<40 {
                var request = ImageRequest(origin.url("/slow.png?\(attempt)"), fit: 100)
                request.options = .fromLoaderOnly
                let task = client.load(request)
                _ = try await stack.awaitStatus("a decode") {
                    $0.processes(.decode).contains { $0.state == "busy" }
                }
                task.cancel()
                #expect(await task.errorCode == .cancelled)
                let report = try await stack.awaitStatus("a free decoder") {
                    $0.isIdle && $0.processes(.decode).first?.state == "ready"
                }
                let ended = report.cancellations.first { $0.stage == "decode" }?.hard ?? 0
                if ended > 0 { return Int(ended) }
            }
            throw StackFailure("no decode took longer than the grace", log: stack.logFile)
        }

        /// 41 megapixels with four bands, in seven passes.
        private static func interlaced() throws -> [UInt8] {
            let (width, rows) = (6_399, 50)
            var samples = (0..<(width * rows * 4)).map { UInt8(truncatingIfNeeded: $0 / 127) }
            for _ in 0..<7 { samples += samples }
            return try Pixels(width: width, height: 128 * rows, bands: 4, samples: samples)
                .png(interlaced: true)
        }
    }
}
