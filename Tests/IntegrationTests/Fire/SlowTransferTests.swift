extension RealProcesses {
    /// Origins that send just enough not to count as stalled, all for one client.
    @Suite struct SlowTransferTests {
        private static let transfers = 300
        /// The number of slow hosts, large enough that the limit per host isn't what delays other
        /// loads.
        private static let hosts = 5
        /// At 1.5 KB per second this takes minutes.
        private static let body = OriginBody.generatedBytes(count: 256 << 10)
        private static let chunk = 150
        private static let pause = Duration.milliseconds(100)
        /// About the share of one client of 256 transfers.
        private static let heldByOne = 190

        @Test func threeHundredSlowTransfersOfOneClientKeepNobodyElseWaiting() async throws {
            let gate = Gate()
            defer { gate.open() }
            let image = try Images.waves(width: 160, height: 120).jpeg(quality: 80)
            let slow = (0..<Self.hosts).map { _ in OriginServer() }
            for origin in slow {
                origin.route(
                    "/drip.jpg",
                    .slow(Self.body, chunk: Self.chunk, every: Self.pause, until: gate))
                origin.route("/at-once.jpg", .jpeg(image))
            }
            // On a busy machine the transfers are even slower.
            try await withStack(["--allow-private-networks", "--low-speed", "0"]) { stack in
                let busy = try stack.client()
                let tasks = (0..<Self.transfers).map { number in
                    busy.load(request(slow[number % Self.hosts].url("/drip.jpg?\(number)")))
                }
                for origin in slow {
                    let count = Self.heldByOne / Self.hosts
                    #expect(await origin.waitForRequest("/drip.jpg", count: count))
                }
                let count = Effort.count("DRIPS", short: 20, long: 1_000)
                var milliseconds: [Double] = []
                for number in 0..<count {
                    // From the same slow hosts.
                    let url = slow[number % Self.hosts].url("/at-once.jpg?\(number)")
                    let began = MonotonicClock.now()
                    // From another process: all connections of a process share one quota.
                    let end = try stack.get([url, "--option", "from-loader-only", "-o", "-"])
                    #expect(end.exitStatus == 0, "load \(number): \(end)")
                    if end.exitStatus != 0 { return }
                    milliseconds.append(Double(MonotonicClock.now() - began) / 1e6)
                }
                let held = slow.reduce(0) { $0 + $1.requestCount("/drip.jpg") }
                milliseconds.sort()
                print(
                    "\(held) slow transfers of one client; of \(count) loads of another: p50 "
                        + "\(milliseconds[count / 2]) ms, p99 \(milliseconds[count * 99 / 100]) ms")
                #expect(held < 256, "a quarter remains free")
                for task in tasks { task.cancel() }
            }
        }

        private func request(_ url: String) -> ImageRequest {
            var request = ImageRequest(url, fit: 100)
            request.options = .fromLoaderOnly
            // A transfer that ends would let another one begin.
            request.timeoutMilliseconds = 300_000
            return request
        }
    }
}
