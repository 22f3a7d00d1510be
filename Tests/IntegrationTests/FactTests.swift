import ImageModel
import Imagebus
import StackKit
import TestKit
import Testing

extension RealProcesses {
    /// Facts of images (SEMANTICS §11.15).
    @Suite struct FactTests {
        private let origin = OriginServer()

        @Test func theyComeFromTheOriginAndThenFromTheCache() async throws {
            origin.route("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack { stack in
                let client = try stack.client()
                var request = ImageRequest(url: origin.url("/a.png"))
                request.infoOnly = true
                // Until it is stored, the fetched body itself is used again.
                request.options = .waitStoreCache
                request.facts = WantedFacts([.header, .colours, .blurHash, .thumbHash])
                let first = try await client.load(request).response
                let facts = try #require(first.facts)
                #expect(first.bytes == nil && first.cacheType == .none)
                #expect(facts.bitsPerSample == 8)
                #expect(facts.average?.alpha == 255)
                #expect(facts.blurHash?.utf8.count == 28)
                #expect(facts.thumbHash != nil)
                let second = try await client.load(request).response
                #expect(second.facts == facts)
                #expect(second.cacheType != .none)
                #expect(origin.requests("/a.png").count == 1)
                request.facts = WantedFacts()
                #expect(try await client.load(request).response.facts == nil)
            }
        }

        @Test func theCommandPrintsThemAsTextAndJSON() async throws {
            origin.route("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack { stack in
                let url = origin.url("/a.png")
                let end = try stack.get([url, "--facts", "header,colours", "--json"])
                let answer = try end.json()
                #expect(answer["facts"]?["bitsPerSample"]?.integer == 8)
                #expect(answer["facts"]?["average"]?.text?.hasPrefix("#FF") == true)
                #expect(answer["facts"]?["blurHash"] == .null)
                let words = try stack.get([url, "--facts", "header,thumbhash"])
                #expect(words.outputText.contains("\nbitsPerSample: 8\n"), "\(words)")
                #expect(words.outputText.contains("\nthumbHash: "))
                #expect(try stack.get([url, "--info", "--json"]).json()["facts"] == .null)
            }
        }
    }
}
