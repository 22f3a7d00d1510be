extension RealProcesses {
    /// Thousands of transfers from an origin that sends a few bytes from time to time.
    @Suite struct ManyTransfersTests {
        private static let count = Effort.count("TRANSFERS", short: 300, long: 2_000)
        /// A download process has 256 slots, of which one client gets three quarters.
        private static let processes = count / 192 + 1

        /// All are in flight at once, a new load gets one of the remaining slots, a canceled load
        /// frees its slot, and every body arrives complete.
        @Test func allAreUnderWayAtOnceAndArrive() async throws {
            let gate = Gate()
            let png = try Images.quadrants().png()
            let slow = OriginBehavior.slow(png, chunk: 1, every: .seconds(2), until: gate)
            let origin = OriginServer("/slow/*", slow)
            origin.route("/fast.png", .bytes(png))
            let options = [
                "--allow-private-networks", "--download", "\(Self.processes)",
                "--fetches-per-host", "0", "--low-speed", "0",
            ]
            try await withClient(options) { stack, client in
                let tasks = (1...Self.count).map { number in
                    var request = ImageRequest(url: origin.url("/slow/\(number).png"))
                    request.timeoutMilliseconds = 300_000
                    return client.load(request)
                }
                let report = try await stack.awaitStatus("all transfers under way") {
                    $0.stages.first { $0.stage == "fetch" }?.running == UInt64(Self.count)
                }
                #expect(report.stages.first { $0.stage == "fetch" }?.queued == 0)
                let fast = try await client.load(origin.url("/fast.png")).response
                #expect(fast.bytes?.array == png)
                tasks[0].cancel()
                #expect(await tasks[0].errorCode == .cancelled)
                _ = try await stack.awaitStatus("one place less") {
                    $0.stages.first { $0.stage == "fetch" }?.running == UInt64(Self.count - 1)
                }
                gate.open()
                var whole = 0
                for task in tasks.dropFirst() where try await task.response.bytes?.array == png {
                    whole += 1
                }
                #expect(whole == Self.count - 1)
                let end = try await stack.awaitIdle()
                #expect(end.counter("retries") == 0 && end.counter("failed") == 0)
                #expect(end.processes.allSatisfy { $0.restarts == 0 })
            }
        }
    }
}
