import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Several caches under one name (SDImageCachesManagerTests).
    @Suite struct CompositeCases {
        private let gallery: Gallery
        private let folder = TestKit.TemporaryDirectory()
        /// A different image from the gallery's.
        private let other: [UInt8]
        private let fromCache = ["--option", "from-cache-only"]

        init() throws {
            gallery = try Gallery()
            other = try Images.waves(width: 90, height: 60).jpeg(quality: 80)
        }

        /// Runs `body` with a stack with the caches `low` and `high`, and one composite name per
        /// policy for both of them.
        private func withCaches(_ body: (StackHarness) async throws -> Void) async throws {
            let names = ["serial", "concurrent", "highest-only", "lowest-only"]
            let lines = names.map { policy in
                let all = ["query", "store", "remove", "contains", "clear"]
                    .map { "\($0): \(policy)" }.joined(separator: ", ")
                return "  \(policy): {of: [low, high], \(all)}"
            }
            let text =
                "caches:\n  low:\n  high:\n" + lines.joined(separator: "\n")
                + "\n  usual: {of: [low, high]}\n"
            let path = folder.write(Array(text.utf8), to: "imagebus.yaml")
            try await withStack(
                ["--allow-private-networks", "--config", path], decoders: 1, body: body)
        }

        private func put(
            _ bytes: [UInt8], _ key: String, _ cache: String, _ tier: String = "all",
            in stack: StackHarness
        ) throws {
            let file = folder.write(bytes, to: "put.jpg")
            let end = try stack.run(["cache", "put", key, file, "--type", tier, "--cache", cache])
            #expect(end.outputText == "\(tier)\n", "\(end)")
        }

        private func tiers(_ key: String, _ cache: String, in stack: StackHarness) throws -> String
        {
            try stack.tiers(key, ["--cache", cache])
        }

        private func bytes(_ key: String, _ cache: String, in stack: StackHarness) throws -> [UInt8]
        {
            try stack.run(["cache", "get", key, "--cache", cache]).output
        }

        /// Lowest-only uses the cache listed first, highest-only the last one, for each of the five
        /// operations.
        @Test func case072_highestAndLowestOnlyAreAboutOneCache() async throws {
            try await withCaches { stack in
                let key = gallery.url("/case072.jpg")
                let pairs = [("lowest-only", "low", "high"), ("highest-only", "high", "low")]
                for (name, meant, spared) in pairs {
                    try put(gallery.image, key, name, in: stack)
                    #expect(try tiers(key, meant, in: stack) == "all")
                    #expect(try tiers(key, spared, in: stack) == "none", "stored in one cache")
                    #expect(try bytes(key, name, in: stack) == gallery.image)
                    try put(other, key, spared, in: stack)
                    #expect(try bytes(key, name, in: stack) == gallery.image)
                    #expect(
                        try stack.run(["cache", "remove", key, "--cache", name]).exitStatus == 0)
                    #expect(try tiers(key, meant, in: stack) == "none")
                    #expect(try tiers(key, name, in: stack) == "none", "other cache not queried")
                    #expect(try tiers(key, spared, in: stack) == "all", "and keeps its entry")
                    let miss = try stack.answer(
                        key, fromCache + ["--context", "image-cache=\(name)"])
                    #expect(miss["status"]?.text == "miss")
                    try put(gallery.image, key, meant, in: stack)
                    #expect(try stack.run(["cache", "clear", "--cache", name]).exitStatus == 0)
                    #expect(try tiers(key, meant, in: stack) == "none")
                    #expect(try tiers(key, spared, in: stack) == "all")
                    #expect(try stack.run(["cache", "clear", "--all"]).exitStatus == 0)
                }
            }
        }

        /// Concurrent: the memory of the lower cache takes precedence over the disk of the higher
        /// one.
        @Test func case073_concurrentTakesTheMemoryOfAnyBeforeTheDiskOfAny() async throws {
            try await withCaches { stack in
                let key = gallery.url("/case073.jpg")
                try put(gallery.image, key, "low", "memory", in: stack)
                try put(other, key, "high", "disk", in: stack)
                #expect(try tiers(key, "concurrent", in: stack) == "memory")
                let options = fromCache + ["--context", "image-cache=concurrent"]
                let hit = try stack.answer(key, options)
                #expect(hit["cacheType"]?.text == "memory")
                #expect(hit["width"]?.integer == 200)
                #expect(try bytes(key, "concurrent", in: stack) == gallery.image)
            }
        }

        /// Serial: the highest cache answers, also from its disk; a lower one only if the higher
        /// one has no entry. Entries of a lower cache aren't copied to the higher one.
        @Test func case074_serialAsksTheHighestFirst() async throws {
            try await withCaches { stack in
                let key = gallery.url("/case074.jpg")
                try put(gallery.image, key, "low", "memory", in: stack)
                let options = fromCache + ["--context", "image-cache=usual"]
                for _ in 0..<2 {
                    let low = try stack.answer(key, options)
                    #expect(low["cacheType"]?.text == "memory" && low["width"]?.integer == 200)
                }
                #expect(try tiers(key, "high", in: stack) == "none")
                try put(other, key, "high", "disk", in: stack)
                #expect(try tiers(key, "serial", in: stack) == "disk")
                let high = try stack.answer(key, options)
                #expect(high["cacheType"]?.text == "disk", "the lower one had an answer in memory")
                #expect(high["width"]?.integer == 90)
                #expect(try bytes(key, "serial", in: stack) == other)
                #expect(
                    try stack.run(["cache", "remove", key, "--cache", "usual"]).exitStatus == 0)
                for cache in ["low", "high", "usual"] {
                    #expect(try tiers(key, cache, in: stack) == "none")
                }
            }
        }

        /// Under the default policies, loaded images are only stored in the highest cache.
        @Test func whatIsLoadedIsKeptInTheHighestCacheOnly() async throws {
            try await withCaches { (stack: StackHarness) async throws in
                let url = gallery.url("/composite.jpg")
                let wait = ["--option", "wait-store-cache"]
                let all = wait + ["--context", "image-cache=usual"]
                #expect(try stack.answer(url, all)["cacheType"]?.text == "none")
                #expect(try tiers(url, "high", in: stack) == "all")
                #expect(try tiers(url, "low", in: stack) == "none")
                #expect(try stack.answer(url, all)["cacheType"]?.text == "memory")
                let both = wait + ["--context", "image-cache=concurrent"]
                let new = gallery.url("/composite2.jpg")
                #expect(try stack.answer(new, both)["cacheType"]?.text == "none")
                #expect(try tiers(new, "high", in: stack) == "all")
                #expect(try tiers(new, "low", in: stack) == "all", "stored in both")
            }
        }
    }
}
