extension RealProcesses {
    /// One process with one connection, and with the maximum number of them, that loads from origins
    /// that send just enough not to count as stalled.
    @Suite struct ProcessShareTests {
        private static let loads = 300
        /// The number of slow hosts, large enough that the limit per host isn't what delays other
        /// loads.
        private static let hosts = 5
        /// At 1.5 KB per second this takes minutes.
        private static let body = OriginBody.generatedBytes(count: 256 << 10)
        /// Three quarters of 256 transfers.
        private static let share = 192

        @Test(arguments: [1, 60])
        func oneProcessHasOneShareHoweverManyConnectionsItHas(connections: Int) async throws {
            let gate = Gate()
            defer { gate.open() }
            let source = try Images.waves(width: 160, height: 120).jpeg(quality: 80)
            let slow = (0..<Self.hosts).map { _ in OriginServer() }
            for origin in slow {
                origin.route(
                    "/drip.jpg",
                    .slow(Self.body, chunk: 150, every: .milliseconds(100), until: gate))
                origin.route("/at-once.jpg", .jpeg(source))
            }
            // On a busy machine the transfers are even slower.
            try await withStack(["--allow-private-networks", "--low-speed", "0"]) { stack in
                let clients = try (0..<connections).map { _ in try stack.client() }
                let tasks = (0..<Self.loads).map { number in
                    let url = slow[number % Self.hosts].url("/drip.jpg?\(number)")
                    var image = ImageRequest(url, fit: 100, options: .fromLoaderOnly)
                    // A transfer that ends would let another one begin.
                    image.timeoutMilliseconds = 300_000
                    return clients[number % connections].load(image)
                }
                // Their distribution over the hosts depends on the order of arrival.
                _ = try await stack.awaitStatus("a whole share of transfers") { report in
                    report.stages.contains { $0.stage == "fetch" && $0.running == Self.share }
                }
                let count = Effort.count("DRIPS", short: 20, long: 1_000)
                var milliseconds: [Double] = []
                for number in 0..<count {
                    // From another process, from the same slow hosts.
                    let url = slow[number % Self.hosts].url("/at-once.jpg?\(number)")
                    let began = MonotonicClock.now()
                    let end = try stack.get([url, "--option", "from-loader-only", "-o", "-"])
                    milliseconds.append(Double(MonotonicClock.now() - began) / 1e6)
                    #expect(end.exitStatus == 0, "load \(number): \(end)")
                }
                milliseconds.sort()
                let held = slow.reduce(0) { $0 + $1.requestCount("/drip.jpg") }
                print(
                    "\(held) slow transfers of \(connections) connections of one process; of "
                        + "\(count) other loads: p50 \(milliseconds[count / 2]) ms, p99 "
                        + "\(milliseconds[count * 99 / 100]) ms")
                #expect(held <= Self.share, "a quarter remains free")
                for task in tasks { task.cancel() }
            }
        }
    }
}
