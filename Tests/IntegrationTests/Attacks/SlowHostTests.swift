extension RealProcesses {
    /// One HTTP client of a gateway that requests images from hosts that hardly send anything.
    @Suite struct SlowHostTests {
        private let bench = GatewayBench()
        private static let connections = Effort.count("SLOW", short: 240, long: 480)
        private static let hosts = 10
        /// At 1.5 KB per second this takes minutes.
        private static let body = OriginBody.generatedBytes(count: 256 << 10)
        /// A client's share: three quarters of the gateway's share, which is three quarters of 256
        /// transfers.
        private static let share = 144

        @Test func oneVisitorHasThreeQuartersAndTheNextOneAPlaceAtOnce() async throws {
            let gate = Gate()
            defer { gate.open() }
            let slow = (0..<Self.hosts).map { _ in OriginServer() }
            let image = try Images.waves(width: 160, height: 120).jpeg(quality: 80)
            for origin in slow {
                origin.route(
                    "/drip.jpg",
                    .slow(Self.body, chunk: 150, every: .milliseconds(100), until: gate))
                origin.route("/at-once.jpg", .jpeg(image))
            }
            let urls = slow.map { $0.url("/at-once.jpg") }
            // On a busy machine the transfers are even slower, and a transfer that ends would free
            // a slot.
            try await bench.run(
                ["--timeout", "300"], stack: ["--low-speed", "0"]
            ) { gateway, stack in
                let memory = try ShippedMemory(stack, gateway)
                let honest = HonestHTTPClient(port: gateway.port)
                // Misses, from the same slow hosts.
                let undisturbed = await honest.load(40) {
                    "/unsafe/plain/\(urls[$0 % urls.count])%3Fbefore=\($0)"
                }
                let attack = try StalledReaders(
                    Self.connections, ofHTTPClients: 1, at: gateway.port
                ) { "/unsafe/plain/\(slow[$0 % slow.count].url("/drip.jpg"))%3F\($0)" }
                _ = try await stack.awaitStatus("a whole share of transfers") { report in
                    report.stages.contains { $0.stage == "fetch" && $0.running == Self.share }
                }
                let beside = await honest.load(40) {
                    "/unsafe/plain/\(urls[$0 % urls.count])%3Fbeside=\($0)"
                }
                beside.expectUndisturbed(
                    than: undisturbed, beside: "\(Self.connections) connections to slow hosts")
                let held = slow.reduce(0) { $0 + $1.requestCount("/drip.jpg") }
                #expect(held == Self.share)
                memory.expectNoKills()
                withExtendedLifetime(attack) {}
            }
        }
    }
}
