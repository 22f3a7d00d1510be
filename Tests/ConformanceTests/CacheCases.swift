import Imagebus
import Model
import StackKit
import Synchronization
import TestKit
import Testing

extension Conformance {
    /// The cache by itself (SDImageCacheTests), as shown by `imagebus cache`.
    @Suite struct CacheCases {
        private let gallery: Gallery
        private let wait = ["--option", "wait-store-cache"]

        init() throws { gallery = try Gallery() }

        private func counts(_ stack: StackHarness, _ more: [String] = []) throws -> [Int?] {
            let json = try stack.run(["cache", "count", "--json"] + more).json()
            return ["memory", "disk"].map { json[$0]?["entries"]?.integer }
        }

        private func put(_ key: String, _ tier: String, in stack: StackHarness) throws {
            let folder = TestKit.TemporaryDirectory()
            let file = folder.write(gallery.image, to: "a.jpg")
            let end = try stack.run(["cache", "put", key, file, "--type", tier])
            #expect(end.outputText == "\(tier)\n", "\(end)")
        }

        /// The disk holds the output of the serializer, although the source was a JPEG.
        @Test func case008_theDiskHasWhatTheSerializerMade() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case008.jpg")
            let produced = try stack.get(
                [url, "-o", "-", "--context", "cache-serializer=transcode:png"] + wait)
            #expect(produced.output == gallery.image, "\(produced)")
            let words = ["-o", "-", "--option", "from-cache-only"]
            let kept = try stack.get([url] + words + ["--context", "query-cache-type=disk"])
            // The reference: the bytes as read by another program.
            let kind = try Tool.run(["identify", "-format", "%m %wx%h", "-"], input: kept.output)
            #expect(String(decoding: kind, as: UTF8.self) == "PNG 200x150")
        }

        /// The disk is cleared: memory keeps its entry, and a query of the disk is a miss.
        @Test func case050_clearingTheDiskLeavesMemory() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case050.jpg")
            #expect(try stack.get([url] + wait).exitStatus == 0)
            #expect(try stack.tiers(url) == "all")
            let clear = try stack.run(["cache", "clear", "--all", "--type", "disk"])
            #expect(clear.outputText == "cleared disk\n")
            #expect(try stack.tiers(url) == "memory")
            #expect(try counts(stack, ["--type", "disk"])[1] == 0)
        }

        /// Memory is cleared: the disk keeps its entry, and a load finds it there.
        @Test func case051_clearingMemoryLeavesTheDisk() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case051.jpg")
            #expect(try stack.get([url] + wait).exitStatus == 0)
            let clear = try stack.run(["cache", "clear", "--all", "--type", "memory"])
            #expect(clear.outputText == "cleared memory\n")
            #expect(try stack.tiers(url) == "disk")
            #expect(try stack.answer(url)["cacheType"]?.text == "disk")
            #expect(gallery.origin.requestCount("/case051.jpg") == 1)
        }

        /// A store goes to both tiers, to one of them, or to none, as requested.
        @Test func case052_anImageIsInTheTiersThatItIsStoredIn() async throws {
            let stack = try SharedStack.current
            for tier in ["all", "memory", "disk", "none"] {
                let url = gallery.url("/case052-\(tier).jpg")
                let types = ["store", "original-store"].flatMap {
                    ["--context", "\($0)-cache-type=\(tier)"]
                }
                #expect(try stack.get([url] + wait + types).exitStatus == 0)
                #expect(try stack.tiers(url) == tier)
            }
        }

        /// A stored entry is found in memory, and otherwise on disk.
        @Test func case053_whatWasStoredIsRetrieved() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case053.jpg")
            #expect(try stack.get([url] + wait).exitStatus == 0)
            for tier in ["memory", "disk"] {
                let words = ["--option", "from-cache-only", "-o", "-"]
                let only = ["--context", "query-cache-type=\(tier)"]
                #expect(try stack.get([url] + words + only).output == gallery.image, "\(tier)")
            }
        }

        /// Removal from memory, from disk, and from both.
        @Test func case054_anEntryIsRemovedFromTheTiersThatAreNamed() async throws {
            let stack = try SharedStack.current
            for (tier, left) in [("memory", "disk"), ("disk", "memory"), ("all", "none")] {
                let url = gallery.url("/case054-\(tier).jpg")
                #expect(try stack.get([url] + wait).exitStatus == 0)
                let end = try stack.run(["cache", "remove", url, "--type", tier])
                #expect(end.exitStatus == 0, "\(end)")
                #expect(try stack.tiers(url) == left)
                // A second removal finds nothing.
                let again = try stack.run(["cache", "remove", url, "--type", tier])
                #expect(again.outputText == "nothing removed: no such entry\n")
            }
        }

        /// Expired entries are removed, the command ends, and the count drops to 0.
        @Test func case055_whatIsOverAgeIsDeleted() async throws {
            let folder = TestKit.TemporaryDirectory()
            func file(_ age: String) -> String {
                let text = "caches: {default: {max-age: \(age), expire-type: modification}}\n"
                return folder.write(Array(text.utf8), to: "a.yaml")
            }
            let line = ["--allow-private-networks", "--config", file("never")]
            try await withStack(line, decoders: 1) { stack in
                for number in 0..<3 {
                    let url = gallery.url("/case055.jpg?\(number)")
                    #expect(try stack.get([url] + wait).exitStatus == 0)
                }
                #expect(try stack.run(["cache", "trim"]).exitStatus == 0)
                #expect(try counts(stack)[1] == 3, "no entry has expired")
                _ = file("1s")
                try stack.send(.hangUp)
                let deadline = ContinuousClock.now + .seconds(20)
                var pause = PollingPause()
                while try counts(stack)[1] != 0 {
                    #expect(try stack.run(["cache", "trim"]).exitStatus == 0)
                    try #require(ContinuousClock.now < deadline)
                    try await pause.wait()
                }
                let expired = try await stack.awaitStatus("the figures") {
                    $0.caches.first?.diskEntriesExpired == 3
                }
                #expect(expired.caches[0].disk == .healthy)
            }
        }

        /// An animation is in memory. Its first frame is a different image, which is derived from
        /// it: the tier is memory, and the animation stays cached.
        @Test func case056_theFirstFrameIsMadeOfTheAnimationInMemory() async throws {
            let client = try SharedStack.current.client()
            gallery.origin.route("/case056.gif", .bytes(Images.animatedGIF, contentType: nil))
            var request = ImageRequest(url: gallery.url("/case056.gif"))
            request.options = .waitStoreCache
            let animation = try await client.load(request).response
            #expect(animation.info?.pages == 2)
            var first = request
            first.options = .decodeFirstFrameOnly
            first.queryCacheTypes = .memory
            first.originalQueryCacheTypes = .memory
            let still = try await client.load(first).response
            #expect(still.cacheType == .memory)
            #expect(still.info?.pages == 1 && still.info?.stillOf == 2)
            #expect(still.info?.format == .gif && still.bytes?.array != Images.animatedGIF)
            let pixels = try Pixels(decoding: #require(still.bytes?.array))
            #expect(isClose(pixels.at(0, 0), Images.red) && isClose(pixels.at(1, 1), Images.yellow))
            let again = try await client.load(request).response
            #expect(again.cacheType == .memory && again.bytes?.array == Images.animatedGIF)
            #expect(gallery.origin.requestCount("/case056.gif") == 1)
        }

        /// A query is canceled while it is in flight: its callback is called once, with 2002, and
        /// the entry is unchanged.
        @Test func case057_aCancelledQueryIsAnsweredExactlyOnce() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case057.jpg")
            try put(url, "disk", in: stack)
            let report = try await stack.awaitIdle()
            let process = try stack.child(try #require(report.processes(.cache).first))
            var request = ImageRequest(url: url)
            request.options = .fromCacheOnly
            // Loads that share a message would be a single query.
            let client = try stack.client(sharesLoads: false)
            let (calls, sink) = AsyncStream<ErrorCode?>.makeStream()
            let called = Mutex(0)
            // The cache is stopped, so every query is in flight when it is canceled.
            try process.halt()
            let tasks = (0..<10).map { _ in
                client.load(request, on: .dispatch()) { end in
                    called.withLock { $0 += 1 }
                    if case .failure(let error) = end {
                        sink.yield(error.code)
                    } else {
                        sink.yield(nil)
                    }
                }
            }
            _ = try await stack.awaitStatus("the queries") {
                $0.counter("liveRequests") == tasks.count
                    && $0.processes(.cache).contains { $0.jobs >= 1 }
            }
            #expect(called.withLock(\.self) == 0, "no callback before the cancel")
            for task in tasks { task.cancel() }
            var codes: [UInt16?] = []
            for await code in calls {
                codes.append(code?.rawValue)
                if codes.count == tasks.count { break }
            }
            let ended = try await stack.awaitStatus("the end of the queries") { _ in true }
            try process.resume()
            #expect(ended.counter("liveRequests") == 0, "the coordinator knows of each cancel")
            #expect(codes == [UInt16?](repeating: 2002, count: tasks.count))
            _ = try await stack.awaitIdle()
            let late = client.load(request, on: .dispatch()) { _ in sink.finish() }
            #expect(try await late.response.bytes?.array == gallery.image)
            for await code in calls { Issue.record("called again: \(String(describing: code))") }
        }

        /// An empty cache has count 0 and size 0; after one store the count is 1.
        @Test func case058_anEmptyCacheCountsNothingAndOneStoreCountsOne() async throws {
            let stack = try SharedStack.current
            #expect(try stack.run(["cache", "clear", "--all"]).exitStatus == 0)
            #expect(try counts(stack) == [0, 0])
            #expect(
                try stack.run(["cache", "size"]).outputText == "memory 0 bytes\ndisk 0 bytes\n")
            let url = gallery.url("/case058.jpg")
            #expect(try stack.get([url] + wait).exitStatus == 0)
            #expect(try counts(stack) == [1, 1])
            let size = try stack.run(["cache", "size", "--json"]).json()
            #expect(size["disk"]?["bytes"]?.integer ?? 0 >= gallery.image.count)
        }

        /// Data without an image is stored on disk, not in memory, and exists there.
        @Test func case060_dataIsPutOnTheDiskAndNotIntoMemory() async throws {
            let stack = try SharedStack.current
            let key = gallery.url("/case060.jpg")
            try put(key, "disk", in: stack)
            #expect(try stack.tiers(key) == "disk")
            #expect(try stack.tiers(key, ["--type", "memory"]) == "none")
            let read = try stack.run(["cache", "get", key, "--type", "disk"])
            #expect(read.output == gallery.image)
            #expect(try stack.tiers(key) == "disk", "read, and not promoted")
        }

        /// If there are too many entries, the oldest are evicted down to the low-water mark.
        @Test func whatIsOverTheLimitGoesDownToTheLowWaterMark() async throws {
            // Not the default, which is half.
            let limits = ["--disk-entries", "8", "--low-water", "25"]
            let types = ["--allow-private-networks", "--expire-type", "modification"]
            try await withStack(types + limits) { stack in
                for number in 0..<8 {
                    let url = gallery.url("/case067.jpg?\(number)")
                    #expect(try stack.get([url] + wait).exitStatus == 0)
                }
                #expect(try counts(stack, ["--type", "disk"])[1] == 8, "within the limit")
                #expect(try stack.get([gallery.url("/case067.jpg?8")] + wait).exitStatus == 0)
                // The cache itself is queried, since the status may still show two loads.
                _ = try await stack.awaitStatus("a quarter of what there may be") { _ in
                    (try? counts(stack, ["--type", "disk"]))?[1] == 2
                }
                for number in 0..<9 {
                    let tiers = try stack.tiers(
                        gallery.url("/case067.jpg?\(number)"), ["--type", "disk"])
                    #expect(tiers == (number < 7 ? "none" : "disk"), "\(number)")
                }
            }
        }

        /// Expired entries are gone after the maximum age, also for queries and counts.
        @Test func case067_whatIsOverAgeGoes() async throws {
            let line = ["--allow-private-networks", "--max-age", "1s"]
            try await withStack(line + ["--expire-type", "modification"]) { stack in
                for number in 0..<5 {
                    let url = gallery.url("/case067.jpg?\(number)")
                    #expect(try stack.get([url] + wait).exitStatus == 0)
                }
                let deadline = ContinuousClock.now + .seconds(20)
                var pause = PollingPause()
                while try counts(stack, ["--type", "disk"])[1] != 0 {
                    #expect(try stack.run(["cache", "trim"]).exitStatus == 0)
                    try #require(ContinuousClock.now < deadline)
                    try await pause.wait()
                }
                let url = gallery.url("/case067.jpg?4")
                let miss = try stack.answer(url, ["--option", "from-cache-only"])
                #expect(miss["status"]?.text == "miss")
            }
        }

        /// Extended data is stored beside an image, returned with it from both tiers and after a
        /// restart, and removed when the image is stored again without any.
        @Test func case069_extendedDataIsKeptBesideAnImage() async throws {
            let folder = TestKit.TemporaryDirectory()
            let file = folder.write(gallery.image, to: "a.jpg")
            let data = folder.write(Array("{\"a\": 1}\n".utf8), to: "a.json")
            let key = gallery.url("/case069.jpg")
            try await withStack(["--allow-private-networks"]) { stack in
                func read(_ tier: String, _ more: [String] = ["--extended-data"]) throws
                    -> JSONValue?
                {
                    let only = ["--context", "query-cache-type=\(tier)", "--context"]
                    let words = only + ["store-cache-type=\(tier)", "--option", "from-cache-only"]
                    let answer = try stack.answer(key, words + more)
                    #expect(answer["cacheType"]?.text == tier)
                    return answer["extendedData"]
                }
                let put = ["cache", "put", key, file]
                let with = ["--extended-data", data, "--media-type", "application/json"]
                #expect(try stack.run(put + with).outputText == "all\n")
                for tier in ["memory", "disk"] {
                    let found = try read(tier)
                    #expect(found?["mediaType"]?.text == "application/json", "\(tier)")
                    #expect(found?["length"]?.integer == 9)
                    #expect(found?["base64"]?.text == "eyJhIjogMX0K", "base64 -w0 of the file")
                    #expect(try read(tier, []) == .null, "not requested")
                }
                // Results derived from it have the same data, both when they are made and when they
                // are cached.
                for tier in ["none", "memory"] {
                    let words = ["--resize", "20x20", "--option", "from-cache-only"]
                    let produced = try stack.answer(key, words + ["--extended-data"])
                    #expect(produced["cacheType"]?.text == (tier == "none" ? "disk" : "memory"))
                    #expect(produced["width"]?.integer == 20, "\(tier)")
                    #expect(produced["extendedData"]?["base64"]?.text == "eyJhIjogMX0K", "\(tier)")
                    #expect(try stack.answer(key, words)["extendedData"] == .null, "not requested")
                }
                try stack.stop()
                try stack.start()
                #expect(try read("disk")?["base64"]?.text == "eyJhIjogMX0K")
                #expect(try stack.run(put).outputText == "all\n")
                for tier in ["memory", "disk"] { #expect(try read(tier) == .null, "\(tier)") }
                let large = folder.write([UInt8](repeating: 1, count: 4_097), to: "b")
                let end = try stack.run(put + ["--extended-data", large])
                #expect(end.exitStatus != 0, "\(end)")
                #expect(try read("disk") == .null, "no data was stored")
            }
        }

        /// With a store type of disk only, a disk hit isn't promoted to memory.
        @Test func case070_aDiskHitIsNotPromotedWhereOnlyTheDiskStores() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case070.jpg")
            try put(url, "disk", in: stack)
            let only = ["--context", "store-cache-type=disk", "--option", "from-cache-only"]
            #expect(try stack.answer(url, only)["cacheType"]?.text == "disk")
            #expect(try stack.tiers(url) == "disk")
            let usual = ["--option", "from-cache-only"]
            #expect(try stack.answer(url, usual)["cacheType"]?.text == "disk")
            #expect(try stack.tiers(url) == "all")
        }

        /// Query, store in both tiers, remove from disk, query again, clear.
        @Test func case071_theOperationsOfOneCache() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case071.jpg")
            let usual = ["--option", "from-cache-only"]
            #expect(try stack.answer(url, usual)["status"]?.text == "miss")
            #expect(try stack.get([url] + wait).exitStatus == 0)
            #expect(try stack.answer(url, usual)["cacheType"]?.text == "memory")
            let removal = try stack.run(["cache", "remove", url, "--type", "disk"])
            #expect(removal.outputText == "removed 1 entry from disk\n")
            #expect(try stack.tiers(url) == "memory")
            #expect(try stack.run(["cache", "clear", "--all"]).exitStatus == 0)
            #expect(try stack.tiers(url) == "none")
        }
    }
}
