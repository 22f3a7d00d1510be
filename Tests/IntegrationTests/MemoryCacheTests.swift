extension RealProcesses {
    /// The memory cache of a client, with a real stack whose contents change.
    @Suite struct MemoryCacheTests {
        private let photo: ChangingImage

        init() throws { photo = try ChangingImage() }

        private func client(
            _ stack: StackHarness, _ limits: MemoryCacheLimits, isOperator: Bool = false
        ) throws -> ImagebusClient {
            try stack.client(asOperator: isOperator) { $0.memoryCache = limits }
        }

        /// Loads until the client's memory has the image.
        private func fill(
            _ client: ImagebusClient, _ request: ImageRequest
        ) async throws -> ImageResponse {
            try await pollUntil("the image in memory") {
                _ = try await client.load(request).response
                return client.memory?.statistics.entries != 0
            }
            return try #require(client.answerAtHand(to: request))
        }

        /// Hits share their bytes, count as loads, and stop when the entry is removed.
        @Test func memoryGivesNothingThatTheStackRemoved() async throws {
            photo.answerPlainly(photo.old)
            try await withStack { stack in
                let client = try client(stack, MemoryCacheLimits(bytesMax: 1 << 24))
                let request = ImageRequest(photo.url, fit: 100)
                let old = try await fill(client, request)
                #expect(try await client.load(request).response.bytes === old.bytes)
                let hits = try #require(client.memory?.statistics.hits)
                let report = try await stack.awaitStatus("hits by voucher to be told") {
                    $0.counter("voucherHits") ?? 0 >= hits
                }
                #expect(report.counter("voucherHits") ?? 0 >= hits)
                photo.answerPlainly(photo.new)
                try stack.run(["cache", "remove", "--url", photo.url]).expect(0)
                #expect(client.answerAtHand(to: request) == nil)
                #expect(client.memory?.statistics.entries == 0)
                let new = try await client.load(request).response
                #expect(new.bytes?.array != old.bytes?.array)
                #expect(photo.requestCount == 2)
            }
        }

        /// Without vouchers, a client only answers from its memory if its limits permit stale
        /// images, and for as long as they do.
        @Test func memoryMayBeStaleWhereTheCallerSaysSo() async throws {
            photo.answerPlainly(photo.old)
            try await withStack(["--allow-private-networks", "--vouchers", "0"]) { stack in
                let request = ImageRequest(photo.url, fit: 100)
                let strict = try client(stack, MemoryCacheLimits(bytesMax: 1 << 24))
                let stale = try client(
                    stack, MemoryCacheLimits(bytesMax: 1 << 24, staleMilliseconds: 3_600_000))
                let old = try await fill(stale, request)
                for _ in 0..<3 { _ = try await strict.load(request).response }
                #expect(strict.memory?.statistics.entries == 0)
                photo.answerPlainly(photo.new)
                try stack.run(["cache", "remove", "--url", photo.url]).expect(0)
                #expect(try await stale.load(request).response.bytes === old.bytes)
                stale.memory?.remove(url: photo.url)
                let new = try await stale.load(request).response
                #expect(new.bytes?.array != old.bytes?.array)
                #expect(try await strict.load(request).response.digest == new.digest)
            }
        }

        /// A client that removes an entry as an operator no longer serves it itself.
        @Test func aClientThatRemovesForgetsToo() async throws {
            photo.answerPlainly(photo.old)
            try await withStack(["--allow-private-networks", "--vouchers", "0"]) { stack in
                let limits = MemoryCacheLimits(bytesMax: 1 << 24, staleMilliseconds: 3_600_000)
                let client = try client(stack, limits, isOperator: true)
                let request = ImageRequest(photo.url, fit: 100)
                let old = try await fill(client, request)
                let operators = OperatorClient(client)
                try await operators.remove(old.key)
                #expect(client.answerAtHand(to: request) == nil)
                _ = try await fill(client, request)
                _ = try await operators.clear()
                #expect(client.answerAtHand(to: request) == nil)
            }
        }
    }
}
