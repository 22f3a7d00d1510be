extension RealProcesses {
    /// One process with the maximum number of connections, all of them loading from slow origins.
    @Suite struct ProcessShareTests {
        private static let connections = 60
        private static let loadsOfEach = 5
        /// The number of slow hosts, large enough that the limit per host isn't what delays other
        /// loads.
        private static let hosts = 5
        /// At 1.5 KB per second this takes minutes.
        private static let body = OriginBody.generatedBytes(count: 256 << 10)
        /// Three quarters of 256 transfers.
        private static let share = 192

        @Test func oneProcessHasOneShareHoweverManyConnectionsItHas() async throws {
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
                let wires = try (0..<Self.connections).map { _ in try WireClient(stack) }
                for number in 0..<Self.connections * Self.loadsOfEach {
                    var image = ImageRequest(
                        url: slow[number % Self.hosts].url("/drip.jpg?\(number)"))
                    image.options = .fromLoaderOnly
                    // A transfer that ends would let another one begin.
                    image.timeoutMilliseconds = 300_000
                    try wires[number % Self.connections].send(
                        .load(LoadRequest(token: Token(.random), image: image)))
                }
                // Their distribution over the hosts depends on the order of arrival.
                _ = try await stack.awaitStatus("a whole share of transfers") { report in
                    report.stages.contains { $0.stage == "fetch" && $0.running == Self.share }
                }
                let count = Effort.count("DRIPS", short: 20, long: 500)
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
                    "\(held) slow transfers of \(Self.connections) connections of one process; of "
                        + "\(count) other loads: p50 \(milliseconds[count / 2]) ms, p99 "
                        + "\(milliseconds[count * 99 / 100]) ms")
                #expect(held <= Self.share, "a quarter remains free")
            }
        }
    }
}
