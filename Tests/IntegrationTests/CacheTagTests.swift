extension RealProcesses {
    /// Tags of entries, with real caches and origins (SEMANTICS §5.20).
    @Suite struct CacheTagTests {
        private let origin = OriginServer()
        private let image: [UInt8]

        init() throws { image = try Images.waves(width: 160, height: 120).jpeg(quality: 85) }

        private func request(_ number: Int, fit side: Int? = nil) -> ImageRequest {
            let url = origin.url("/\(number).jpg")
            var request = side.map { ImageRequest(url, fit: $0) } ?? ImageRequest(url: url)
            request.options = .waitStoreCache
            // Half of them have the tag `shop`; a tag is requested with and without a variant.
            request.context.tags = number % 2 == 0 ? ["shop", "n\(number)"] : ["news"]
            return request
        }

        private func load(
            _ client: ImagebusClient, _ numbers: [Int]
        ) async throws -> [String: CacheTypes] {
            var tiers: [String: CacheTypes] = [:]
            for number in numbers {
                for side in [nil, 40] {
                    let response = try await client.load(request(number, fit: side)).response
                    tiers[response.key] = response.cacheType
                }
            }
            return tiers
        }

        /// A hundred originals with a variant each: entries with the tag are gone when the removal
        /// is acknowledged, and nothing else is fetched from the origin again.
        @Test func whatHasATagIsGoneAndNothingElse() async throws {
            origin.route("/*", .jpeg(image))
            try await withClient { stack, client in
                _ = try await load(client, Array(0..<100))
                _ = try await stack.awaitIdle()
                let admin = try stack.operatorClient()
                let shop = EntrySelection(tag: "shop")
                #expect(try await admin.count(shop).disk.entries == 100)
                let one = try stack.run([
                    "cache", "list", "--tag", "n4", "--type", "disk", "--json",
                ])
                #expect(try one.json()["entries"]?.array?.count == 2)
                let end = try stack.run(["cache", "remove", "--tag", "shop", "--json"])
                #expect(try end.json()["disk"]?["entries"]?.integer == 100, "\(end)")
                #expect(try end.json()["memory"]?["entries"]?.integer == 100, "\(end)")
                #expect(try await admin.count(shop).disk.entries == 0)
                #expect(try await admin.count(EntrySelection(tag: "news")).disk.entries == 100)
                let before = (0..<100).map { origin.requestCount("/\($0).jpg") }
                #expect(before == [Int](repeating: 1, count: 100))
                let again = try await load(client, Array(0..<100))
                #expect(again.values.count { $0 == .memory } == 100)
                _ = try await stack.awaitIdle()
                for number in 0..<100 {
                    let count = origin.requestCount("/\(number).jpg")
                    #expect(count == (number % 2 == 0 ? 2 : 1), "\(number)")
                }
                #expect(try await admin.count(shop).disk.entries == 100, "stored with tags again")
                // Removal through the library works like the command line.
                let gone = try await admin.remove(EntrySelection(tag: "news"), from: .disk)
                #expect(gone.disk.entries == 100 && gone.memory.entries == 0)
                let left = try await admin.count(EntrySelection(tag: "news"))
                #expect(left.disk.entries == 0 && left.memory.entries == 100)
                #expect(try await admin.count().disk.entries == 100)
                let none = try await admin.remove(EntrySelection(tag: "no-such-tag"))
                #expect(none.disk.entries == 0 && none.memory.entries == 0)
                await #expect(throws: ImageError.self) {
                    _ = try await admin.remove(EntrySelection(tag: "no tag"))
                }
            }
        }

        /// The origin has sent the head when the removal arrives: the rest is discarded and the
        /// image fetched again.
        @Test func aTransferOfSomethingTaggedBeginsAnew() async throws {
            let new = try Images.quadrants(width: 160, height: 120).jpeg(quality: 85)
            let gate = Gate()
            origin.route("/0.jpg", .hangBody(until: gate, then: image))
            origin.route("/1.jpg", .hangBody(until: gate, then: image))
            try await withClient { stack, client in
                let tasks = [0, 1].map { client.load(request($0)) }
                for path in ["/0.jpg", "/1.jpg"] { #expect(await origin.waitForRequest(path)) }
                for path in ["/0.jpg", "/1.jpg"] {
                    origin.route(path, .jpeg(new))
                }
                try stack.run(["cache", "remove", "--tag", "shop"]).expect(0)
                gate.open()
                #expect(try await tasks[0].response.bytes?.array == new)
                #expect(try await tasks[1].response.bytes?.array == image, "no such tag")
                #expect(origin.requestCount("/0.jpg") == 2)
                #expect(origin.requestCount("/1.jpg") == 1)
            }
        }

        /// Tags come from a profile, from rules, and from the origin if a rule enables that.
        /// Results have them as well, even those derived from a cached original later.
        @Test func tagsOfTheConfigurationAndOfTheOrigin() async throws {
            let tagged = OriginBehavior.jpeg(image)
                .with(header: "Cache-Tag", "p1, p2,not a tag")
                .with(header: "Surrogate-Key", "s1 s2")
            origin.route("/*", tagged)
            let folder = TemporaryDirectory()
            let file = """
                profiles:
                  default:
                    tags: house
                    rules:
                      - {match: "\(origin.url("/a"))*", tags: [a1, a2], origin-tags: yes}
                """
            try await withStack(folder.configuration(file)) { stack in
                func load(_ name: String, _ more: [String] = []) throws {
                    let wait = ["--option", "wait-store-cache"] + more
                    try stack.get([origin.url(name)] + wait).expect(0)
                }
                func count(_ tag: String) throws -> Int? {
                    let words = ["cache", "count", "--tag", tag, "--type", "disk", "--json"]
                    return try stack.run(words).json()["disk"]?["entries"]?.integer
                }
                try load("/a.jpg", ["--tag", "mine"])
                try load("/b.jpg")
                try load("/a.jpg", ["--resize", "40x40", "--tag", "small"])
                for tag in ["p1", "p2", "s1", "s2", "a1", "a2"] {
                    #expect(try count(tag) == 2, "\(tag)")
                }
                #expect(try count("house") == 3)
                #expect(try count("mine") == 2, "including its original")
                #expect(try count("small") == 1)
                // A hit doesn't change the tags.
                try load("/b.jpg", ["--tag", "late"])
                #expect(try count("late") == 0)
                #expect(origin.requestCount("/a.jpg") == 1)
                #expect(origin.requestCount("/b.jpg") == 1)
                try stack.get([origin.url("/b.jpg"), "--tag", "no/tag"]).expect(64)
                var request = ImageRequest(url: origin.url("/b.jpg"))
                request.context.tags = ["no/tag"]
                let task = try stack.client().load(request)
                #expect(await task.errorCode == .invalidRequest)
            }
        }
    }
}
