extension RealProcesses {
    /// The processes of a kind are replaced while clients keep loading.
    @Suite struct DrainTests {
        private static let clients = 4
        private let origin = OriginServer()

        init() throws {
            let source = try Images.photo()
            for number in 0..<400 {
                origin.route("/\(number).jpg", .jpeg(source))
            }
        }

        @Test(arguments: WorkerKind.allCases)
        func noRequestFailsWhileAKindIsReplaced(_ kind: WorkerKind) async throws {
            try await withStack(decoders: 2) { stack in
                let before = try await stack.awaitStatus("the first processes") { _ in true }
                let progress = Monitor(Progress())
                try await withThrowingTaskGroup { group in
                    for number in 0..<Self.clients {
                        let client = try stack.client()
                        group.addTask { try await load(by: client, number, progress) }
                    }
                    #expect(await progress.wait { $0.loads.allSatisfy { $0 == [.before] } })
                    progress.withLock { $0.phase = .meanwhile }
                    let end = try stack.run(["drain", kind.name, "--json"])
                    progress.withLock { $0.phase = .after }
                    #expect(end.exitStatus == 0, "\(end)")
                    let count = before.processes(kind).count
                    #expect(try end.json()["replaced"]?.integer == count, "\(end)")
                    try await group.waitForAll()
                }
                let loads = progress.current.loads
                #expect(loads.allSatisfy { $0 == Set(Phase.allCases) }, "\(loads)")
                let after = try await stack.awaitStatus("the next processes") {
                    $0.processes.count == before.processes.count
                }
                let old = Set(before.processes(kind).map(\.pid))
                #expect(
                    after.processes(kind).allSatisfy { !old.contains($0.pid) && $0.restarts == 1 })
                let others = { (report: StatusReport) in
                    Set(report.processes.filter { $0.kind != kind }.map(\.pid))
                }
                #expect(others(after) == others(before), "the others stay")
            }
        }

        /// When a load was in flight: before its kind was drained, during the drain, or after it.
        private enum Phase: CaseIterable {
            case before, meanwhile, after
        }

        private struct Progress {
            var phase = Phase.before
            /// The phases in which each client received images.
            var loads = Array(repeating: Set<Phase>(), count: DrainTests.clients)
        }

        /// Loads until a load that began after the drain has completed; throws if a load fails.
        private func load(
            by client: ImagebusClient, _ number: Int, _ progress: Monitor<Progress>
        ) async throws {
            var count = 0
            while !progress.current.loads[number].contains(.after) {
                let began = progress.current.phase
                let source = (number + count * Self.clients) % 400
                let image = try await client.load(
                    ImageRequest(origin.url("/\(source).jpg"), fit: 100)
                ).response
                #expect(image.info?.size == PixelSize(width: 100, height: 75))
                count += 1
                // A load that didn't begin after the drain was in flight during it.
                progress.withLock {
                    let isOver = $0.phase == .after && began != .after
                    $0.loads[number].insert(isOver ? .meanwhile : $0.phase)
                }
            }
        }

        @Test func aDownloadThatIsUnderWayIsFinishedFirst() async throws {
            let slow = try SlowImage()
            try await withStack { stack in
                let load = try await slow.begin(stack)
                let drain = try stack.begin(["drain", "download"])
                _ = try await stack.awaitStatus("a download process that drains") {
                    $0.processes(.download).contains { $0.state == "draining" }
                }
                slow.gate.open()
                try load.end().expect(0)
                let drained = try drain.end().expect(0)
                #expect(drained.outputText == "replaced 1 download process\n")
                #expect(slow.origin.requestCount("/slow.jpg") == 1)
            }
        }

        @Test func aDrainedCacheHasWrittenEverything() async throws {
            try await withStack { stack in
                let line = [origin.url("/1.jpg"), "--resize", "100x100", "--json"]
                #expect(try stack.get(line).exitStatus == 0)
                #expect(try stack.run(["drain", "cache"]).exitStatus == 0)
                let end = try stack.get(line + ["--option", "from-cache-only"])
                #expect(try end.json()["cacheType"]?.text == "disk", "\(end)")
            }
        }

        /// An idle coordinator ends within milliseconds of its reply.
        @Test func whoHasTheCoordinatorReplacedIsAnswered() async throws {
            try await withStack { stack in
                for _ in 0..<12 {
                    try stack.run(["drain", "coordinator"]).expect(0)
                }
            }
        }

        /// One worker is disconnected when the coordinator dismisses the others, one of which
        /// stays.
        @Test func aWorkerThatComesBackToAnEndingCoordinatorIsDismissed() async throws {
            try await withStack { stack in
                let decoder = try #require(stack.processes("decode").first)
                let transformer = try #require(stack.processes("transform").first)
                let cache = try #require(stack.processes("cache").first)
                try decoder.halt()
                #expect(try stack.run(["drain", "coordinator"]).exitStatus == 0)
                _ = try await stack.awaitStatus("the other workers") { report in
                    WorkerKind.allCases.allSatisfy {
                        $0 == .decode || !report.processes($0).isEmpty
                    }
                }
                try transformer.halt()
                try stack.send(.terminate)
                #expect(try cache.ends(within: .seconds(5)), "the others are dismissed")
                try decoder.resume()
                #expect(try decoder.ends(within: .seconds(5)), "late workers are dismissed too")
                try transformer.resume()
                #expect(try stack.awaitEnd() == "exit 0")
            }
        }

        @Test func onlyOperatorsDrain() async throws {
            try await withClient { (_, client) async throws in
                await #expect(throws: ImageError.self) {
                    _ = try await OperatorClient(client).drain(.decode)
                }
                #expect(
                    try await client.load(origin.url("/2.jpg")).response.info != nil)
            }
        }
    }
}
