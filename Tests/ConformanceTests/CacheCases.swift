import ImageModel
import Imagebus
import Messages
import StackKit
import TestKit
import Testing

extension Conformance {
    /// The cache by itself (SDImageCacheTests): what `imagebus cache` shows of it.
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

        /// An empty cache counts 0 and has no size; after one store it counts 1.
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

        /// Data without an image goes to the disk and not to memory, and exists there.
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

        /// What is over age is gone after that time, also for a look and a count; entries beyond
        /// the limit go down to the low-water mark.
        @Test func case067_whatIsOverAgeOrOverTheLimitGoes() async throws {
            let line = ["--allow-private-networks", "--max-age", "1s", "--disk-entries", "4"]
            let types = ["--expire-type", "modification", "--low-water", "50"]
            try await withStack(line + types) { stack in
                for number in 0..<5 {
                    let url = gallery.url("/case067.jpg?\(number)")
                    #expect(try stack.get([url] + wait).exitStatus == 0)
                }
                _ = try await stack.awaitStatus("no more than there may be") {
                    ($0.caches.first?.diskEntries ?? 9) <= 4
                }
                let deadline = ContinuousClock.now + .seconds(20)
                while try counts(stack, ["--type", "disk"])[1] != 0 {
                    #expect(try stack.run(["cache", "trim"]).exitStatus == 0)
                    try #require(ContinuousClock.now < deadline)
                }
                let url = gallery.url("/case067.jpg?4")
                let miss = try stack.answer(url, ["--option", "from-cache-only"])
                #expect(miss["status"]?.text == "miss")
            }
        }

        /// Under a store type of disk alone, a disk hit is not promoted to memory.
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

        /// Query, store into both tiers, remove from the disk, look, clear.
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
