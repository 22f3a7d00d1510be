import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Complete loads (SDWebImageManagerTests).
    @Suite struct LoadCases {
        private let gallery: Gallery

        init() throws { gallery = try Gallery() }

        /// A new manager is a distinct instance: a new client has its own session, and canceling or
        /// closing one doesn't affect the other.
        @Test func case001_aNewClientIsASessionOfItsOwn() async throws {
            let stack = try SharedStack.current
            let gate = Gate()
            let url = gallery.hold("/case001.jpg", until: gate)
            let (first, second) = (try stack.client(), try stack.client())
            let group = GroupID(Identifier128(high: 1, low: 1))
            let ends = first.load(ImageRequest(url, fit: 20), group: group)
            let stays = second.load(ImageRequest(url, fit: 20), group: group)
            #expect(await gallery.origin.waitForRequest("/case001.jpg"))
            first.cancel(group: group)
            #expect(await ends.errorCode == .cancelled)
            first.close()
            gate.open()
            #expect(try await stays.response.status == .ok)
        }

        /// A fresh load: an image, no error, the same URL in the result. While it runs it is
        /// counted as running, in its transfer and no longer in a query; at its end nothing is.
        @Test func case002_aFreshLoadEndsWithItsImage() async throws {
            let stack = try SharedStack.current
            try await stack.awaitIdle()
            let gate = Gate()
            let url = gallery.hold("/case002.jpg", until: gate)
            let client = try stack.client()
            let task = client.load(url)
            #expect(await gallery.origin.waitForRequest("/case002.jpg"))
            let report = try await stack.awaitStatus("a load") { $0.counter("liveRequests") == 1 }
            let running = report.stages.filter { $0.running > 0 }.map(\.stage)
            #expect(running == ["fetch"])
            gate.open()
            let image = try await task.response
            #expect(image.bytes?.array == gallery.image)
            #expect(image.key == url)
            #expect(image.cacheType == CacheTypes.none)
            try await stack.awaitIdle()
        }

        /// An unreachable URL: no image, an error, and the URL is reported: in the log of the
        /// request, since a client's result belongs to its own task.
        @Test func case003_anUnreachableURLIsAnError() async throws {
            let stack = try SharedStack.current
            let url = "http://127.0.0.1:1/case003.jpg"
            let end = try stack.get([url, "--json"])
            #expect(end.exitStatus == 75, "\(end)")
            let answer = try end.json()
            #expect(answer["error"]?["code"]?.integer == 3010)
            #expect(answer["bytes"] == .null)
            let token = try #require(answer["token"]?.text)
            try await stack.awaitIdle()
            let record = try LogLines(stack).saying("request").first {
                $0["token"]?.text == String(token.prefix(8))
            }
            #expect(record?["url"]?.text == url)
            #expect(record?["error"]?.text == "connectionFailed")
        }

        /// cancelAll of a manager with a pending load: its callback gets 2002, and shortly after
        /// nothing is running. Closing a client cancels all of its loads.
        @Test func case004_cancellingAllEndsAllWith2002() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            let gate = Gate()
            let urls = (0..<5).map { gallery.hold("/case004-\($0).jpg", until: gate) }
            let tasks = urls.map { client.load($0) }
            for number in 0..<5 {
                #expect(await gallery.origin.waitForRequest("/case004-\(number).jpg"))
            }
            client.close()
            for task in tasks { #expect(await task.errorCode?.rawValue == 2002) }
            try await stack.awaitIdle()
        }

        /// RefreshCached twice for one URL: the second doesn't fail, and each time there is an
        /// image.
        @Test func case005_refreshCachedWorksAgainAndAgain() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            gallery.origin.route("/case005.jpg", .revalidated(gallery.image, etag: "\"1\""))
            var request = ImageRequest(url: gallery.url("/case005.jpg"))
            request.options = .refreshCached
            for count in 1...3 {
                let image = try await client.load(request).response
                #expect(image.bytes?.array == gallery.image)
                #expect(gallery.origin.requestCount("/case005.jpg") == count)
                try await stack.awaitIdle()
            }
        }

        /// An entry on disk only: query type memory with FromCacheOnly finds nothing, type none,
        /// and no error. If it is stored in memory as well, query type disk finds it on disk.
        @Test func case014_theQueryTypeSaysWhichTiersAreAsked() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case014.jpg")
            let wait = ["--option", "wait-store-cache"]
            let cacheOnly = ["--option", "from-cache-only"]
            func asking(_ tier: String) -> [String] { ["--context", "query-cache-type=\(tier)"] }
            _ = try stack.answer(url, wait + ["--context", "store-cache-type=disk"])
            #expect(try stack.tiers(url) == "disk")
            let miss = try stack.get([url, "--json"] + cacheOnly + asking("memory"))
            #expect(miss.exitStatus == 0)
            #expect(try miss.json()["status"]?.text == "miss")
            #expect(try miss.json()["cacheType"]?.text == "none")
            #expect(try miss.json()["error"] == .null)
            #expect(try stack.answer(url, cacheOnly)["cacheType"]?.text == "disk")
            #expect(try stack.tiers(url) == "all")
            let hit = try stack.answer(url, cacheOnly + asking("disk"))
            #expect(hit["cacheType"]?.text == "disk")
            #expect(gallery.origin.requestCount("/case014.jpg") == 1)
        }

        /// After a load with a transformer, with the original in all tiers and the transformed
        /// image in none: FromCacheOnly with original query type all makes it again without the
        /// network.
        @Test func case015_theTransformedImageIsMadeAgainOfTheCachedOriginal() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case015.jpg")
            let line = [
                "--resize", "60x60", "--format", "png",
                "--context", "original-store-cache-type=all", "--option", "wait-store-cache",
            ]
            let first = try stack.answer(url, line)
            let key = try #require(first["key"]?.text)
            #expect(key != url)
            #expect(try stack.tiers(key) == "all" && stack.tiers(url) == "all")
            #expect(try stack.run(["cache", "remove", key]).exitStatus == 0)
            #expect(try stack.tiers(key) == "none")
            let again = try stack.answer(
                url,
                line + [
                    "--option", "from-cache-only", "--context", "original-query-cache-type=all",
                ])
            #expect(again["status"]?.text == "ok")
            #expect(again["key"]?.text == key)
            #expect(again["width"]?.integer == 60 && again["height"]?.integer == 45)
            #expect(gallery.origin.requestCount("/case015.jpg") == 1)
        }
    }
}
