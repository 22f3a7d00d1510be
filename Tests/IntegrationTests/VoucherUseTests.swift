extension RealProcesses {
    /// Hits by voucher count as uses when the memory tier decides what to evict (SEMANTICS §5.4
    /// and SEMANTICS §5.24), although they don't reach the stack.
    @Suite struct VoucherUseTests {
        /// The tier has 1 MiB. Large images are worth less per byte: those without a reported use
        /// are evicted in the second pass of the scan.
        private static let (usedBytes, passingBytes) = (128 << 10, 24 << 10)
        /// The number of loads that fill the tier once, and how often they do.
        private static let (turn, turns) = ((1 << 20) / (24 << 10), 24)

        private let origin = OriginServer()
        private let image: [UInt8]

        init() throws {
            image = try ChunkStack.image(Self.usedBytes)
            let passing = try ChunkStack.image(Self.passingBytes)
            origin.route("/*", .bytes(passing))
            for path in ["/used.png", "/unused.png"] {
                origin.route(path, .bytes(image))
            }
        }

        private func request(_ path: String) -> ImageRequest {
            var request = ImageRequest(url: origin.url(path))
            (request.storeCacheTypes, request.originalStoreCacheTypes) = (.memory, .none)
            return request
        }

        private func awaitTold(_ uses: Int, _ stack: StackHarness) async throws {
            _ = try await stack.awaitStatus("\(uses) uses to be told") {
                $0.counter("voucherHits") ?? 0 >= uses
            }
        }

        @Test func anEntryThatIsUsedByVoucherAloneOutlivesAScan() async throws {
            let arguments = ["--allow-private-networks", "--memory-limit", "1M"]
            try await withStack(arguments) { stack in
                let (client, others) = (try stack.client(), try stack.client())
                let unused = try await client.learn(request("/unused.png"))
                let used = try await client.learn(request("/used.png"))
                let voucher = try #require(used.voucher)
                var uses = 2
                // Each report counts as one use, however many there were.
                for _ in 0..<8 {
                    try #require(voucher.use())
                    uses += 1
                    try await awaitTold(uses, stack)
                }
                for turn in 0..<Self.turns {
                    for number in 0..<Self.turn {
                        let passing = request("/\(turn)-\(number).png")
                        _ = try await others.load(passing).response
                        try #require(voucher.use(), "evicted in scan pass \(turn)")
                        uses += 1
                    }
                    try await awaitTold(uses, stack)
                }
                #expect(unused.voucher?.use() == false, "unused entries are evicted")
                let answer = client.answerAtHand(to: request("/used.png"))
                #expect(answer?.bytes?.array == image)
                let admin = try stack.operatorClient()
                #expect(try await admin.contains(used.key, in: .memory) == .memory)
                #expect(try await admin.contains(unused.key, in: .memory) == CacheTypes.none)
                #expect(origin.requestCount("/used.png") == 1)
            }
        }
    }
}
