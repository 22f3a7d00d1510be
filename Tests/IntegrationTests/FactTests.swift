extension RealProcesses {
    /// Image properties (SEMANTICS §11.15).
    @Suite struct FactTests {
        private let origin = OriginServer()

        @Test func theyComeFromTheOriginAndThenFromTheCache() async throws {
            origin.route("/a.png", .bytes(try Images.quadrants().png()))
            try await withClient { _, client in
                var request = ImageRequest(url: origin.url("/a.png"))
                request.infoOnly = true
                // Until it is stored, the fetched body itself is reused.
                request.options = .waitStoreCache
                request.properties = RequestedProperties([.header, .colors, .blurHash, .thumbHash])
                let first = try await client.load(request).response
                let properties = try #require(first.properties)
                #expect(first.bytes == nil && first.cacheType == .none)
                #expect(properties.bitsPerSample == 8)
                #expect(properties.average?.alpha == 255)
                #expect(properties.blurHash?.utf8.count == 28)
                #expect(properties.thumbHash != nil)
                let second = try await client.load(request).response
                #expect(second.properties == properties)
                #expect(second.cacheType != .none)
                #expect(origin.requests("/a.png").count == 1)
                request.properties = RequestedProperties()
                #expect(try await client.load(request).response.properties == nil)
            }
        }

        @Test func theCommandPrintsThemAsTextAndJSON() async throws {
            origin.route("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack { stack in
                let url = origin.url("/a.png")
                let end = try stack.get([url, "--properties", "header,colors", "--json"])
                let answer = try end.json()
                #expect(answer["facts"]?["bitsPerSample"]?.integer == 8)
                #expect(answer["facts"]?["average"]?.text?.hasPrefix("#FF") == true)
                #expect(answer["facts"]?["blurHash"] == .null)
                let words = try stack.get([url, "--properties", "header,thumbhash"])
                #expect(words.outputText.contains("\nbitsPerSample: 8\n"), "\(words)")
                #expect(words.outputText.contains("\nthumbHash: "))
                #expect(try stack.get([url, "--info", "--json"]).json()["facts"] == .null)
            }
        }
    }
}
