import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// External caches: in SDWebImage these are classes and objects of the application.
    @Suite struct ExternalCacheCases {
        private let gallery: Gallery
        private let folder = TestKit.TemporaryDirectory()

        init() throws { gallery = try Gallery() }

        /// Runs `body` with a stack that has the example program as one of its caches.
        private func withCache(
            _ body: (StackHarness) async throws -> Void
        ) async throws {
            let text = """
                pools: {team: {kind: cache, trust: external, credit: 16}}
                caches:
                  theirs: {pool: team, timeout: 10000}
                  own:
                  both: {of: [own, theirs], store: serial}
                profiles: {mine: {cache: theirs}}

                """
            let path = folder.write(Array(text.utf8), to: "imagebus.yaml")
            let options = ["--allow-private-networks", "--config", path]
            try await withStack(options, decoders: 1) { stack in
                let cache = try PythonExample.start(
                    "dictionary_cache.py",
                    ["--runtime-dir", stack.runtimeDirectory, "--pool", "team"])
                _ = try await stack.awaitStatus("a worker of the cache") { status in
                    status.pools.contains { $0.name.text == "team" && $0.workers == 1 }
                }
                try await body(stack)
                try cache.send(.terminate)
                #expect(try cache.end().exitStatus == 0)
            }
        }

        private let wait = ["--option", "wait-store-cache"]

        /// In SDWebImage a class replaces that of the disk or memory: here a named cache is an
        /// external program, which replaces its disk tier.
        @Test func case065_anotherProgramTakesThePlaceOfTheDisk() async throws {
            try await withCache { stack in
                let url = gallery.url("/case065.jpg")
                let words = ["--context", "image-cache=theirs"] + wait
                let first = try stack.answer(url, words)
                let key = try #require(first["key"]?.text)
                #expect(first["cacheType"]?.text == "none")
                #expect(try stack.tiers(key, ["--cache", "theirs"]) == "disk")
                #expect(try stack.tiers(key) == "none")
                // A disk hit comes from there.
                let out = folder.file("out.jpg")
                #expect(try stack.answer(url, words + ["-o", out])["cacheType"]?.text == "disk")
                #expect(FileBytes.read(out) == gallery.image)
                #expect(gallery.origin.requestCount("/case065.jpg") == 1)
                #expect(
                    try stack.run(["cache", "remove", key, "--cache", "theirs"]).exitStatus == 0)
                #expect(try stack.tiers(key, ["--cache", "theirs"]) == "none")
                #expect(try stack.answer(url, words)["cacheType"]?.text == "none")
                #expect(try stack.run(["cache", "clear", "--cache", "theirs"]).exitStatus == 0)
                #expect(try stack.tiers(key, ["--cache", "theirs"]) == "none")
                // SDWebImage uses the class for memory as well: here a query of memory doesn't
                // reach the external cache.
                let memory =
                    words
                    + [
                        "query-cache-type=memory", "store-cache-type=memory",
                        "original-store-cache-type=none",
                    ].flatMap {
                        ["--context", $0]
                    }
                _ = try stack.answer(url, memory)
                #expect(try stack.tiers(key, ["--cache", "theirs"]) == "none")
            }
        }

        /// An object of the application is the image cache of a request, of a manager, or one of
        /// the caches of a caches manager.
        @Test func case075_anotherProgramIsTheImageCache() async throws {
            try await withCache { stack in
                let url = gallery.url("/case075.jpg")
                let mine = ["--context", "custom-manager=mine"] + wait
                let key = try #require(try stack.answer(url, mine)["key"]?.text)
                #expect(try stack.answer(url, mine)["cacheType"]?.text == "disk")
                #expect(gallery.origin.requestCount("/case075.jpg") == 1)
                // As one of two: it is queried first, and entries are stored in it.
                let both = ["--context", "image-cache=both"] + wait
                #expect(try stack.answer(url, both)["cacheType"]?.text == "disk")
                #expect(try stack.tiers(key, ["--cache", "own"]) == "none")
                #expect(try stack.run(["cache", "remove", key, "--cache", "both"]).exitStatus == 0)
                #expect(try stack.answer(url, both)["cacheType"]?.text == "none")
                #expect(try stack.tiers(key, ["--cache", "own"]) == "all")
                #expect(try stack.tiers(key, ["--cache", "theirs"]) == "disk")
                // As the cache of originals only.
                let originals =
                    ["--context", "original-image-cache=theirs", "--resize", "20x20"] + wait
                #expect(try stack.answer(url, originals)["cacheType"]?.text == "disk")
                #expect(gallery.origin.requestCount("/case075.jpg") == 2)
            }
        }
    }
}
