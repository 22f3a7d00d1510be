extension RealProcesses {
    /// A worker whose loop stalls is killed by `serve`, which logs that. Unlike other kills this is
    /// evidence against the worker's job.
    @Suite struct StallTests {
        private let origin = OriginServer()
        private static let path = "/a.png"

        @Test func aStandstillIsEvidenceAndAnotherWorkerTries() async throws {
            let image = try Images.quadrants().png()
            origin.route(Self.path, .sequence([.hang(until: Gate()), .bytes(image)]))
            try await withStack { stack in
                let task = try load(with: stack.client())
                try await haltUntilKilled(stack, life: 1)
                #expect(try await task.response.bytes?.array == image)
                #expect(try await stack.counter("crashes") == 1)
                #expect(try await stack.counter("quarantined") == 0)
                let log = FileBytes.text(stack.logFile) ?? ""
                #expect(log.contains("its event loop stalled"))
            }
        }

        /// Takes twice as long.
        @Test(.enabled(if: Effort.isLong))
        func whatTwoWorkersStandStillWithIsNotTriedAgain() async throws {
            origin.route(Self.path, .hang(until: Gate()))
            try await withClient { stack, client in
                let task = load(with: client)
                for life in 1...2 { try await haltUntilKilled(stack, life: life) }
                #expect(await task.errorCode == .poisoned)
                #expect(await load(with: client).errorCode == .poisoned)
                #expect(origin.requestCount(Self.path) == 2)
                let list = try stack.run(["failure-cache", "list", "--json"]).outputText
                #expect(list.contains("\"fetch\""), "\(list)")
            }
        }

        private func load(with client: ImagebusClient) -> LoadTask {
            var request = ImageRequest(url: origin.url(Self.path))
            request.options = .fromLoaderOnly
            request.timeoutMilliseconds = 300_000
            return client.load(request)
        }

        /// Stops the downloader once it waits for its origin and `serve` watches it.
        private func haltUntilKilled(_ stack: StackHarness, life: Int) async throws {
            // A job is entered in the control segment before its work begins.
            #expect(await origin.waitForRequest(Self.path, count: life))
            let report = try await stack.awaitStatus("a downloader that has the job") {
                $0.processes(.download).map(\.jobs) == [1] && isWatched(stack)
            }
            let worker = try stack.child(try #require(report.processes(.download).first))
            try worker.halt()
            // Late checks of `serve` don't count, and on a busy machine many are late.
            try stack.expectGone([worker], within: .seconds(90))
        }

        /// `serve` only watches workers that have a session, and reports them as healthy.
        private func isWatched(_ stack: StackHarness) -> Bool {
            (try? stack.run(["health", "--only", "download"]).exitStatus) == 0
        }
    }
}
