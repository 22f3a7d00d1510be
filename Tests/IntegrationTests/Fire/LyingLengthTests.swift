extension RealProcesses {
    /// Memory grows with the data that arrives, never with the length that an origin announces.
    @Suite struct LyingLengthTests {
        private static let announced = 60 << 20
        private static let sent = 1 << 10
        /// The memory of a body before it grows.
        private static let blockBytes = 64 << 10
        /// The number of concurrent transfers of one client in a download process.
        private static let atOnce = 192
        /// Segments are allocated as a whole.
        private static let segmentBytes = 16 << 20

        @Test func twoThousandTransfersThatAnnounceMuchTakeLittle() async throws {
            let count = Effort.count("LIES", short: 2_000, long: 10_000)
            let (origin, gate) = (OriginServer(), Gate())
            let bytes = OriginBody.generatedBytes(count: Self.sent)
            origin.route(
                "/lie.jpg",
                .lying(length: Self.announced, bytes).changed { $0.endGate = gate })
            let options = [
                "--allow-private-networks", "--fetch-retries", "0", "--fetches-per-host", "0",
            ]
            try await withStack(options) { stack in
                let report = try await stack.awaitIdle()
                let download = try stack.child(#require(report.processes(.download).first))
                let before = try ProcessMetrics(of: download.processID)
                let client = try stack.client()
                let tasks = (0..<count).map { number in
                    var request = ImageRequest(origin.url("/lie.jpg?\(number)"), fit: 100)
                    request.timeoutMilliseconds = 120_000
                    return client.load(request)
                }
                #expect(await origin.waitForRequest("/lie.jpg", count: Self.atOnce))
                try await expectLittle(before, download, stack, "\(Self.atOnce) in flight")
                #expect(origin.requestCount("/lie.jpg") == Self.atOnce)
                gate.open()
                var codes: [ErrorCode?: Int] = [:]
                for task in tasks { codes[await task.errorCode, default: 0] += 1 }
                #expect(codes == [.shortBody: count])
                #expect(origin.requestCount("/lie.jpg") == count)
                try await stack.awaitIdle()
                try await expectLittle(before, download, stack, "after \(count)")
                let after = try await ProcessMetrics.settled(download.processID)
                #expect(after.descriptors <= before.descriptors + 2, "\(before), then \(after)")
            }
        }

        private func expectLittle(
            _ before: ProcessMetrics, _ download: ObservedProcess, _ stack: StackHarness,
            _ when: String
        ) async throws {
            let now = try ProcessMetrics(of: download.processID)
            let arena = try stack.arenaBytes(.download)
            print(
                "lying lengths, \(when): \(now); arena/download \(arena >> 10) KB; "
                    + "at first \(before)"
            )
            #expect(arena <= Self.atOnce * Self.blockBytes + 2 * Self.segmentBytes, "\(when)")
            // Its control segment is one page.
            #expect(now.sharedBytes <= arena + 4_096, "\(when)")
            // Besides its block, a transfer has libcurl buffers of 16 KB and more.
            let buffers = Self.atOnce * Self.blockBytes
            #expect(now.bytes <= before.bytesLimit + buffers, "\(when): \(before), then \(now)")
        }
    }
}
