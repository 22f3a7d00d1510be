extension RealProcesses {
    /// Identical work is done once for all subscribers.
    @Suite struct CoalescingTests {
        private static let sizes = [40, 64, 96, 100, 150, 200, 256, 300, 400, 512]

        @Test func tenSizesOfOneURLAreOneTransferAndTenResults() async throws {
            let origin = OriginServer()
            let gate = Gate()
            let source = try Images.waves(width: 1600, height: 1200)
                .jpeg(quality: 85)
            origin.route("/ten.jpg", .jpeg(source))
            let alone = try await loadedAlone(origin.url("/ten.jpg"), sides: Self.sizes)
            #expect(origin.requestCount("/ten.jpg") == 10)
            origin.route("/ten.jpg", .hangBody(until: gate, then: source))
            try await withClient { _, client in
                let tasks = Self.sizes.map { side in
                    (side, client.load(ImageRequest(origin.url("/ten.jpg"), fit: side)))
                }
                #expect(await origin.waitForRequest("/ten.jpg", count: 11))
                gate.open()
                for (side, task) in tasks {
                    let image = try await task.response
                    let bytes = try #require(image.bytes?.array)
                    let expected = try #require(alone[side])
                    #expect(image.info?.size == PixelSize(width: side, height: (side * 3 + 2) / 4))
                    let isEqual = try Pixels(decoding: bytes) == Pixels(decoding: expected)
                    #expect(isEqual, "\(side) differs from a separate load")
                }
            }
            #expect(origin.requestCount("/ten.jpg") == 11)
        }

        /// The results per size on an otherwise idle stack with an empty cache.
        private func loadedAlone(_ url: String, sides: [Int]) async throws -> [Int: [UInt8]] {
            try await withClient { _, client in
                var results: [Int: [UInt8]] = [:]
                for side in sides {
                    var request = ImageRequest(url, fit: side).unstored
                    request.originalQueryCacheTypes = .none
                    results[side] = try await client.load(request).response.bytes?.array
                }
                return results
            }
        }
    }
}
