/// Processes that are stopped together.
struct HaltCase: Sendable, CustomTestStringConvertible {
    let kind: WorkerKind
    /// Whether every process of the kind is stopped, or the first of two.
    let all: Bool

    var testDescription: String { all ? "every \(kind.name)" : "one of two \(kind.name)s" }

    static let workers =
        WorkerKind.workers.map { HaltCase(kind: $0, all: true) }
        + [.download, .decode, .transform].map { HaltCase(kind: $0, all: false) }
}

extension RealProcesses {
    /// A hanging process delays no request beyond the deadline, and may continue later.
    @Suite struct HaltTests {
        private static let timeout = Duration.seconds(2)
        /// How much later than its deadline a request may end.
        private static let grace = Duration.seconds(1)
        private static let loads = 6

        @Test(arguments: HaltCase.workers)
        func haltedWorkersHoldNobodyBeyondTheDeadline(_ halt: HaltCase) async throws {
            try await withSlowImage { stack, client, slow, expected in
                let report = try await stack.awaitIdle()
                let rows = report.processes(halt.kind).prefix(halt.all ? 9 : 1)
                let halted = try rows.map(stack.child)
                #expect(halted.count == (halt.all && halt.kind != .cache ? 2 : 1))
                let begun = (0..<Self.loads).map { begin(client, slow.origin, "begun\($0)") }
                #expect(
                    await slow.origin.waitForRequest("/slow.jpg", count: Self.loads + 1))
                for process in halted { try process.halt() }
                slow.gate.open()
                let late = (0..<Self.loads).map { begin(client, slow.origin, "late\($0)") }
                // The running process does everything except the jobs assigned to the stopped one:
                // at most its credit, and no more than half.
                let kept = rows.reduce(0) { $0 + min(Int($1.credit), Self.loads / 2) }
                let right = halt.all ? 0...0 : max(0, Self.loads - kept)...Self.loads
                try await expectEndsInTime(
                    begun, expected, right, "\(halt.testDescription), in flight")
                try await expectEndsInTime(
                    late, expected, right, "\(halt.testDescription), new")
                for process in halted { try process.resume() }
                try await expectServes(stack, client, slow.origin, expected)
            }
        }

        @Test func aHaltedCoordinatorHoldsNobodyBeyondTheDeadline() async throws {
            try await withSlowImage { stack, client, slow, expected in
                let report = try await stack.awaitIdle()
                let coordinator = try stack.child(#require(report.processes(.coordinator).first))
                let begun = (0..<Self.loads).map { begin(client, slow.origin, "begun\($0)") }
                #expect(
                    await slow.origin.waitForRequest("/slow.jpg", count: Self.loads + 1))
                try coordinator.halt()
                slow.gate.open()
                let late = (0..<Self.loads).map { begin(client, slow.origin, "late\($0)") }
                try await expectEndsInTime(
                    begun, expected, 0...0, "the coordinator, in flight")
                try await expectEndsInTime(late, expected, 0...0, "the coordinator, new")
                try coordinator.resume()
                try await expectServes(stack, client, slow.origin, expected)
            }
        }

        /// The bodies of the image arrive when its gate opens, except the first.
        private func withSlowImage(
            _ body: (StackHarness, ImagebusClient, SlowImage, [UInt8]) async throws -> Void
        ) async throws {
            let slow = try SlowImage()
            let image = try Images.photo()
            slow.origin.route(
                "/slow.jpg", .sequence([.bytes(image), .hangBody(until: slow.gate, then: image)]))
            try await withClient(["--allow-private-networks", "--download", "2"]) { stack, client in
                let request = ImageRequest(slow.origin.url("/slow.jpg?first"), fit: 100)
                let expected = try #require(
                    try await client.load(request).response.bytes?.array)
                try await body(stack, client, slow, expected)
            }
        }

        private func begin(
            _ client: ImagebusClient, _ origin: OriginServer, _ variant: String
        ) -> (task: LoadTask, began: UInt64) {
            var request = ImageRequest(origin.url("/slow.jpg?\(variant)"), fit: 100)
            request.timeoutMilliseconds = Self.timeout.milliseconds
            return (client.load(request), MonotonicClock.now())
        }

        private func expectEndsInTime(
            _ loads: [(task: LoadTask, began: UInt64)], _ expected: [UInt8],
            _ rightOnes: ClosedRange<Int>, _ what: String
        ) async throws {
            let ends = await withTaskGroup(of: (ImageEnd, Duration).self) { group in
                for load in loads {
                    group.addTask {
                        let end = await ImageEnd(of: load.task, expected: expected)
                        return (end, .nanoseconds(MonotonicClock.now() - load.began))
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let right = ends.count { $0.0 == .right }
            let longest = ends.map { $0.1 }.max() ?? .zero
            print("\(what): \(right) of \(ends.count) right, the longest took \(longest)")
            #expect(rightOnes.contains(right), "\(what)")
            for (end, span) in ends {
                #expect([.right, .failed(.deadlineExceeded)].contains(end), "\(what)")
                #expect(span <= Self.timeout + Self.grace, "\(what)")
            }
        }

        private func expectServes(
            _ stack: StackHarness, _ client: ImagebusClient, _ origin: OriginServer,
            _ expected: [UInt8]
        ) async throws {
            for number in 0..<4 {
                let request = ImageRequest(origin.url("/slow.jpg?after\(number)"), fit: 100)
                let end = await ImageEnd(of: client.load(request), expected: expected)
                #expect(end == .right)
            }
            try await stack.awaitIdle()
            let report = try await stack.awaitStatus("all processes") {
                $0.processes.count == stack.children.count && $0.processes.count == 8
            }
            #expect(report.processes.allSatisfy { $0.state == "ready" })
        }
    }
}
