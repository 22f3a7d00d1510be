extension RealProcesses {
    /// Removed entries are gone when the removal is acknowledged, and work in flight doesn't bring
    /// them back (SEMANTICS §5.7).
    @Suite struct CacheRemovalTests {
        private let photo: ChangingImage

        init() throws { photo = try ChangingImage() }

        private static let removals = [
            ["clear", "--all"], ["remove", "URL"], ["remove", "--url", "URL"],
            ["remove", "--prefix", "ORIGIN"], ["remove", "--cache", "default"],
        ]

        private func words(_ removal: [String]) -> [String] {
            removal.map { $0 == "URL" ? photo.url : $0 == "ORIGIN" ? photo.origin.url("/") : $0 }
        }

        /// The origin has sent the head of the old bytes. It sends the rest after the removal is
        /// acknowledged: no load gets it, and none of it is stored.
        @Test(arguments: removals)
        func aTransferOfOldBytesIsNotStoredAfterTheRemoval(removal: [String]) async throws {
            let gate = Gate()
            photo.answer(.hangBody(until: gate, then: photo.old))
            try await withClient { stack, client in
                let tasks = [ImageRequest(url: photo.url), ImageRequest(photo.url, fit: 100)].map {
                    var request = $0
                    request.options = .waitStoreCache
                    return client.load(request)
                }
                #expect(await photo.waitForRequest())
                photo.answerPlainly(photo.new)
                try stack.run(["cache"] + words(removal)).expect(0)
                gate.open()
                #expect(try await tasks[0].response.bytes?.array == photo.new)
                let small = try await tasks[1].response
                _ = try await stack.awaitIdle()
                #expect(photo.requestCount == 2, "the transfer was restarted")
                // Both tiers hold the result of the new bytes, and nothing else.
                for tier in ["memory", "disk"] {
                    let cached = try stack.run(["cache", "get", photo.url, "--type", tier])
                    #expect(cached.output == photo.new, "\(tier)")
                }
                let again = try await client.load(ImageRequest(photo.url, fit: 100)).response
                #expect(again.bytes?.array == small.bytes?.array)
                #expect(again.cacheType == .memory)
                let reference = try await client.load(
                    ImageRequest(photo.url, fit: 100, options: .fromLoaderOnly)
                ).response
                #expect(reference.bytes?.array == small.bytes?.array, "made of the new bytes")
            }
        }

        /// Loads that arrive while entries are removed again and again complete with the current
        /// bytes.
        @Test func loadsEndHoweverOftenEntriesAreRemoved() async throws {
            photo.origin.route("/*", .jpeg(photo.new))
            try await withClient { stack, client in
                let admin = try stack.operatorClient()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for _ in 0..<40 { _ = try await admin.clear() }
                    }
                    for number in 0..<60 {
                        let request = ImageRequest(photo.origin.url("/\(number % 7).jpg"), fit: 64)
                        group.addTask { _ = try await client.load(request).response }
                    }
                    try await group.waitForAll()
                }
                _ = try await stack.awaitIdle()
                _ = try await admin.clear()
                #expect(try await admin.count().disk.entries == 0)
                #expect(try await admin.count().memory.entries == 0)
            }
        }

        @Test func entriesAreListedCountedReadAndRemovedByWhatTheyAre() async throws {
            photo.origin.route("/*", .jpeg(photo.new))
            try await withStack { stack in
                let wait = ["--option", "wait-store-cache"]
                let urls = (0..<3).map { photo.origin.url("/\($0).jpg") }
                for url in urls {
                    #expect(try stack.get([url] + wait).exitStatus == 0)
                    try stack.get([url, "--resize", "40x40"] + wait).expect(0)
                }
                func json(_ words: [String]) throws -> JSONValue {
                    try stack.run(["cache"] + words + ["--json"]).json()
                }
                let list = try json(["list"])
                let entries = list["entries"]?.array ?? []
                #expect(entries.count(where: { $0["tier"]?.text == "disk" }) == 6)
                #expect(entries.count(where: { $0["tier"]?.text == "memory" }) == 6)
                #expect(list["next"] == .null)
                let page = try json(["list", "--limit", "4"])
                let next = try #require(page["next"]?.text)
                #expect(page["entries"]?.array?.count == 4)
                let rest = try json(["list", "--after", next])
                #expect(rest["entries"]?.array?.count == 8)
                #expect(try json(["count", "--url", urls[0]])["disk"]?["entries"]?.integer == 2)
                let size = try json(["size", "--prefix", urls[1], "--type", "disk"])
                #expect(size["disk"]?["bytes"]?.integer ?? 0 > photo.new.count)
                let file = TemporaryDirectory()
                let path = file.path + "/out.jpg"
                let got = try stack.run(["cache", "get", urls[2], "-o", path])
                #expect(got.outputText == "\(photo.new.count) bytes from memory\n", "\(got)")
                #expect(FileBytes.read(path) == photo.new)
                #expect(try stack.run(["cache", "get", "none"]).exitStatus == 1)
                let young = try json(["remove", "--older-than", "1h"])
                #expect(young["disk"]?["entries"]?.integer == 0)
                let removed = try stack.run(["cache", "remove", "--url", urls[0]])
                #expect(removed.outputText.hasPrefix("removed 2 from memory"), "\(removed)")
                #expect(try json(["count"])["disk"]?["entries"]?.integer == 4)
                try stack.run(["cache", "trim"]).expect(0)
                _ = try await stack.awaitStatus("figures after the removal") { report in
                    report.caches.first?.diskEntries == 4
                }
                let stats = try json(["stats"])["caches"]?.array?.first
                #expect(stats?["disk"]?["state"]?.text == "healthy")
                #expect(stats?["disk"]?["bytesWritten"]?.integer ?? 0 > 3 * photo.new.count)
                let text = try stack.run(["cache", "stats"]).outputText
                #expect(text.contains("SINCE THE CACHE STARTED"), "\(text)")
            }
        }

        /// Settings of the file override the options, and are reloaded.
        @Test func settingsOfTheFileHoldAtOnce() async throws {
            photo.origin.route("/*", .jpeg(photo.new))
            let folder = TemporaryDirectory()
            let file = folder.configuration("caches: {default: {disk-entries: 2}}\n")
            try await withStack(file + ["--disk-entries", "9"]) { stack in
                func load(_ numbers: Range<Int>) throws {
                    for number in numbers {
                        let url = photo.origin.url("/\(number).jpg")
                        try stack.get([url, "--option", "wait-store-cache"]).expect(0)
                    }
                }
                try load(0..<5)
                _ = try await stack.awaitStatus("two entries") {
                    $0.caches.first?.diskEntriesMax == 2 && $0.caches[0].diskEntries <= 2
                        && $0.caches[0].diskEntriesTrimmed >= 3
                }
                _ = folder.configuration("caches: {default: {disk-cache: no}}\n")
                try stack.send(.hangUp)
                _ = try await stack.awaitStatus("the option again") {
                    $0.caches.first?.diskEntriesMax == 9
                }
                let url = photo.origin.url("/7.jpg")
                let end = try stack.get([url, "--option", "wait-store-cache", "--json"])
                #expect(try end.json()["stored"]?.text != "all", "\(end)")
                #expect(try stack.run(["cache", "contains", url]).outputText == "memory\n")
            }
        }
    }
}
