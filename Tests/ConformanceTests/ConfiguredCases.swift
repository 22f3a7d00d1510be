import StackKit
import TestKit
import Testing

extension Conformance {
    /// Settings of the operator's configuration that affect requests: in SDWebImage these are
    /// objects of a manager.
    @Suite struct ConfiguredCases {
        private let gallery: Gallery
        private let folder = TestKit.TemporaryDirectory()

        init() throws { gallery = try Gallery() }

        /// Runs `body` with a stack that has this configuration.
        private func withConfiguration(
            _ text: String, _ body: (StackHarness) async throws -> Void
        ) async throws {
            let path = folder.write(Array(text.utf8), to: "imagebus.yaml")
            try await withStack(
                ["--allow-private-networks", "--config", path], decoders: 1, body: body)
        }

        /// Metrics: an explanation contains those of the transfer.
        @Test func case042_theTransferSaysHowItWent() async throws {
            let url = gallery.url("/case042.jpg")
            try await withStack(["--allow-private-networks"], decoders: 1) { stack in
                let end = try stack.get([url, "--explain", "--json"]).json()
                let fetched = try #require(end["explanation"]?["fetched"])
                #expect(fetched["redirects"]?.integer == 0)
                #expect(fetched["address"]?.text == gallery.origin.authority)
                guard case .number(let first) = fetched["firstByte"],
                    case .number(let total) = fetched["total"]
                else {
                    Issue.record("no times: \(fetched)")
                    return
                }
                #expect(0 < first && first <= total)
                let status = try stack.run(["status", "--json"]).json()
                #expect(status["transfers"]?["firstByte"]?["count"]?.integer == 1)
                #expect(status["transfers"]?["tls"] == nil)
                #expect(status["counters"]?["transfers.1.1"]?.integer == 1)
            }
        }

        /// An unacceptable status fails with 2001 even if it is 200, an unacceptable type with
        /// 2004.
        @Test func case045_statusesAndTypesAreAcceptedAsTheOperatorSays() async throws {
            let url = gallery.url("/case045.jpg")
            let expected = [
                ("--accept-status", "201", 2001), ("--accept-type", "application/json", 2004),
            ]
            for (option, value, code) in expected {
                try await withStack(
                    ["--allow-private-networks", option, value], decoders: 1
                ) { stack in
                    let end = try stack.get([url, "--json"]).json()
                    #expect(end["error"]?["code"]?.integer == code, "\(option)")
                }
            }
        }

        private let wait = ["--option", "wait-store-cache"]

        /// A key filter: its key is used for the store; with store type memory the entry is only in
        /// memory under that key; the load itself is of type none.
        @Test func case007_theFiltersKeyIsTheKeyOfTheStore() async throws {
            try await withConfiguration(
                """
                key-filters:
                  one: {replace-host: cdn.example.com, drop-query: [v]}
                profiles:
                  default: {key-filter: one}
                """
            ) { stack in
                let url = gallery.url("/case007.jpg")
                let key = "http://cdn.example.com/case007.jpg"
                let memory = [
                    "--context", "store-cache-type=memory", "--context",
                    "original-store-cache-type=none",
                ]
                let first = try stack.answer("\(url)?v=1", wait + memory)
                #expect(first["cacheType"]?.text == "none")
                #expect(first["key"]?.text == key)
                #expect(try stack.tiers(key) == "memory")
                #expect(try stack.tiers("\(url)?v=1") == "none")
                #expect(try stack.answer("\(url)?v=2")["cacheType"]?.text == "memory")
                #expect(gallery.origin.requestCount("/case007.jpg") == 1)
            }
        }

        /// An options processor: its result replaces the request's context, and a scale of 3 is
        /// visible in the image; requests that it doesn't match are unchanged.
        @Test func case009_rulesReplaceTheContextOfWhatTheyMatch() async throws {
            try await withConfiguration(
                """
                profiles:
                  default:
                    rules:
                      - {match: "http://*/case009-ruled*", context: {image-scale-factor: 3}}
                """
            ) { stack in
                func scale(_ path: String, _ more: [String] = []) throws -> Int? {
                    try stack.answer(gallery.url(path), more)["scale"]?.integer
                }
                let two = ["--context", "image-scale-factor=2"]
                let ruled = try [scale("/case009-ruled.jpg"), scale("/case009-ruled.jpg", two)]
                #expect(ruled == [3, 3])
                let other = try [scale("/case009-other.jpg"), scale("/case009-other.jpg", two)]
                #expect(other == [1, 2])
            }
        }

        /// Two caches: the original is only in one, the transformed image only in the other.
        @Test func case016_originalAndResultHaveDifferentCaches() async throws {
            try await withConfiguration("caches: [originals, results]\n") { stack in
                let url = gallery.url("/case016.jpg")
                let line = [
                    "--resize", "40x40", "--context", "image-cache=results", "--context",
                    "original-image-cache=originals",
                ]
                let key = try #require(try stack.answer(url, line + wait)["key"]?.text)
                func tiers(_ key: String) throws -> [String] {
                    try [["--cache", "originals"], ["--cache", "results"], []].map {
                        try stack.tiers(key, $0)
                    }
                }
                #expect(try tiers(url) == ["disk", "none", "none"])
                #expect(try tiers(key) == ["none", "all", "none"])
                let again = try stack.answer(url, line + ["--option", "from-cache-only"])
                #expect(again["cacheType"]?.text == "memory")
                let elsewhere = try stack.answer(
                    url, ["--resize", "40x40", "--option", "from-cache-only"])
                #expect(elsewhere["status"]?.text == "miss")
                let remove = ["cache", "remove", key, "--cache", "results"]
                #expect(try stack.run(remove).exitStatus == 0)
                #expect(try tiers(key) == ["none", "none", "none"])
                #expect(gallery.origin.requestCount("/case016.jpg") == 1)
            }
        }

        /// `@2x.` in a key means a scale of 2.
        @Test func case122_theScaleIsReadInTheKey() async throws {
            let stack = try SharedStack.current
            for (path, scale) in [("@2x.jpg", 2), ("@3x.jpg", 3), (".jpg", 1)] {
                let answer = try stack.answer(gallery.url("/case122\(path)"))
                #expect(answer["scale"]?.integer == scale, "\(path)")
            }
        }

        /// customManager, imageTransformer and imageLoader by name; an unknown name is an error
        /// that lists the existing ones.
        @Test func profilesPresetsAndLoadersAreTakenByName() async throws {
            try await withConfiguration(
                """
                presets:
                  icon: {resize: 20x20, mode: stretch}
                profiles:
                  thumbs: {transformer: icon}
                """
            ) { stack in
                let url = gallery.url("/named.jpg")
                func width(_ contexts: String...) throws -> Int? {
                    try stack.answer(url, contexts.flatMap { ["--context", $0] })["width"]?.integer
                }
                #expect(try width() == 200)
                #expect(try width("custom-manager=thumbs") == 20)
                #expect(try width("custom-manager=thumbs", "image-transformer=none") == 200)
                #expect(try width("image-transformer=icon") == 20)
                #expect(try width("image-loader=http") == 200)
                for wrong in ["custom-manager=x", "image-transformer=x", "image-loader=x"] {
                    let end = try stack.get([url, "--context", wrong])
                    #expect(end.exitStatus == 64, "\(end)")
                }
                #expect(gallery.origin.requestCount("/named.jpg") <= 2, "at most one per profile")
            }
        }
    }
}
