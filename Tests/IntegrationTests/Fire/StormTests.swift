extension RealProcesses {
    /// A very large number of simultaneous requests for one image.
    @Suite struct StormTests {
        private static let clients = 4
        private static let perClient = 2_500
        /// One storm for each.
        private static let paths = ["/first.jpg", "/second.jpg", "/third.jpg"]

        @Test func tenThousandRequestsAreOneTransferAndOneDecode() async throws {
            let origin = OriginServer()
            let image = try Images.waves(width: 800, height: 600).jpeg(quality: 85)
            for path in Self.paths {
                origin.route(path, .jpeg(image))
            }
            try await withStack { stack in
                let clients = try (0..<Self.clients).map { _ in
                    try stack.client(sharesLoads: false)
                }
                let coordinator = try stack.child(
                    #require(await stack.awaitIdle().processes(.coordinator).first))
                let alone = ImageRequest(origin.url("/first.jpg"), fit: 200).unstored
                let expected = try #require(try await clients[0].load(alone).response.bytes?.array)
                #expect(origin.requestCount("/first.jpg") == 1)
                var metrics: [ProcessMetrics] = []
                for path in Self.paths {
                    let before = try await stack.awaitIdle()
                    let gets = origin.requestCount(path)
                    let seconds = try await storm(origin.url(path), clients, expected)
                    let after = try await stack.awaitIdle()
                    metrics.append(try await .settled(coordinator.processID))
                    print(
                        "storm of \(Self.clients * Self.perClient): \(seconds) s,"
                            + " then the coordinator has \(metrics[metrics.count - 1])")
                    #expect(origin.requestCount(path) - gets == 1)
                    for counter in ["fetches", "decodes", "transforms"] {
                        #expect(after.growth(of: counter, since: before) == 1, "\(counter)")
                    }
                    let requests = after.growth(of: "requests", since: before)
                    #expect(requests == Self.clients * Self.perClient)
                }
                // The number of simultaneous requests differs between storms; two storms show how
                // much memory that takes.
                let last = metrics.removeLast()
                let most = try #require(metrics.max { $0.bytes < $1.bytes })
                #expect(last.bytes <= most.bytesLimit, "\(metrics), then \(last)")
                #expect(metrics.allSatisfy { $0.descriptors == last.descriptors })
            }
        }

        /// Checks every reply. Returns the total duration.
        private func storm(
            _ url: String, _ clients: [ImagebusClient], _ expected: [UInt8]
        ) async throws -> Double {
            let began = MonotonicClock.now()
            let tasks = clients.flatMap { client in
                (0..<Self.perClient).map { _ in client.load(ImageRequest(url, fit: 200)) }
            }
            var wrong = 0
            for task in tasks where try await task.response.bytes?.array != expected { wrong += 1 }
            #expect(wrong == 0)
            return Double(MonotonicClock.now() - began) / 1e9
        }
    }
}
