extension RealProcesses {
    /// One process is killed every 100 ms, and the coordinator every five seconds, while several
    /// clients send all kinds of requests.
    @Suite struct FireTests {
        private static let clients = 4
        private static let lanesPerClient = 3
        /// On a slow machine an image can be poisoned: if two decoders are lost that had it for
        /// 250 ms (SEMANTICS §7.5).
        private static let permitted: Set<ImageEnd> = [.right, .failed(.poisoned)]

        @Test func noRequestIsLostOrWrongWhileTheStackIsOnFire() async throws {
            let seconds = Effort.count("FIRE_SECONDS", short: 5, long: 60)
            var random = Effort.generator("fire")
            try await withStack { stack in
                let gallery = try await Gallery(learnedBy: stack.client())
                let moving = try await MovingGallery(
                    beside: gallery, learnedBy: stack.client())
                let report = try await stack.awaitIdle()
                let serve = try await ProcessMetrics.settled(stack.processID)
                let clients = try (0..<Self.clients).map { _ in try stack.client() }
                let lanes = MixedLoads.lanes(
                    Self.clients * Self.lanesPerClient, clients, gallery, moving, &random)
                let isOver = Gate()
                let ended = Gate()
                let running = Task {
                    let ends = await MixedLoads.run(lanes, until: isOver)
                    ended.open()
                    return ends
                }
                var killer = Killer(stack, random)
                try await killer.run(seconds: seconds)
                isOver.open()
                if await !ended.wait(timeout: .seconds(5)) {
                    print("fire: 5 s later some still wait: \(try await stack.summary())")
                }
                let ends = await running.value
                print("fire: \(seconds) s, killed \(killer.killed); \(ends)")
                let others = ends.filter { !Self.permitted.contains($0.key) }
                #expect(others.isEmpty, "of \(ends.values.reduce(0, +)): \(others)")
                #expect(ends[.right] ?? 0 > lanes.count * MixedLoads.requestsAfterwards)
                try await expectWhole(stack, report.processes.count)
                let after = try await ProcessMetrics.settled(stack.processID)
                print("fire: serve had \(serve), then \(after)")
                #expect(after.descriptors == serve.descriptors)
                #expect(after.bytes <= serve.bytesLimit)
            }
        }

        /// All processes run, no resources are held, and no segment belongs to an ended process.
        private func expectWhole(_ stack: StackHarness, _ count: Int) async throws {
            let report = try await stack.awaitStatus("a whole and idle stack") {
                $0.processes.count == count && $0.isIdle
                    && $0.processes.allSatisfy { $0.state == "ready" }
            }
            #expect(
                Set(report.processes.map(\.pid)) == Set(stack.children.map { UInt32($0.processID) })
            )
            let held = try stack.segmentTable().values.joined().reduce(0, +)
            print("fire: segments of the living and of the dead: \(held >> 10) MB")
            try await expectNoOrphans(stack, report)
        }

        /// A supervisor keeps the segments of ended processes for their readers for two seconds.
        private func expectNoOrphans(_ stack: StackHarness, _ report: StatusReport) async throws {
            try pollUntil("segments of the living alone", timeout: .seconds(45)) {
                try WorkerKind.workers.allSatisfy { kind in
                    let folders = ["arena/\(kind.name)"] + (kind == .cache ? ["results"] : [])
                    return try folders.allSatisfy { folder in
                        let lives = try stack.segments(folder).map { $0.name.prefix { $0 != "." } }
                        return Set(lives).count <= report.processes(kind).count
                    }
                }
            }
        }
    }
}
