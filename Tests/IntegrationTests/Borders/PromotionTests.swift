extension RealProcesses {
    /// Stacks that share an external cache, as several machines do: entries made by one are
    /// promoted into the other's own cache (SEMANTICS §5.26).
    @Suite struct PromotionTests {
        private let folder = TemporaryDirectory()
        private let records = TemporaryDirectory()
        private let origin = OriginServer()
        private let picture: [UInt8]

        init() throws {
            picture = try Images.noise(width: 60, height: 40, seed: 1).png()
            origin.route("/a.png", .bytes(picture))
        }

        private var url: String { origin.url("/a.png") }
        private var request: ImageRequest { ImageRequest(url, fit: 20) }

        /// Writes the configuration; without a program there is no process for the external cache.
        private func configure(_ promotion: String, _ program: [String]) throws -> [String] {
            let command =
                program.isEmpty ? "" : ", command: [\(program.joined(separator: ", "))]"
            let text = """
                pools: {mine: {kind: cache, trust: external, credit: 16\(command)}}
                caches:
                  own:
                  theirs: {pool: mine, timeout: 10000, promote: \(promotion)}
                  tiers: {of: [theirs, own], store: serial}
                profiles: {default: {cache: tiers, original-cache: tiers}}

                """
            return folder.configuration(text)
        }

        /// One stack makes the image and ends; then `body` runs with a second one, whose own cache
        /// is empty.
        private func withFinder(
            _ promotion: String, _ request: ImageRequest,
            body: (StackHarness, _ produced: ImageResponse) async throws -> Void
        ) async throws {
            let program = try [Programs.path(.extensionProbe), "cache", records.path]
            let options = try configure(promotion, program)
            let produced = try await withStack(options, decoders: 1) { maker in
                try await maker.awaitWorker()
                var request = request
                request.options.insert(.waitStoreCache)
                let produced = try await maker.client().load(request).response
                #expect(produced.cacheType == CacheTypes.none)
                return produced
            }
            try await withStack(options, decoders: 1) { finder in
                try await finder.awaitWorker()
                try await body(finder, produced)
            }
        }

        private func tiers(_ key: String, _ stack: StackHarness) throws -> String {
            let end = try stack.run(["cache", "contains", key, "--cache", "own"])
            return end.exitStatus == 0 ? String(end.outputText.dropLast()) : "\(end)"
        }

        // MARK: - Memory

        /// First from the hit index and then by voucher; the external cache is queried once.
        @Test(arguments: [20, nil]) func theSecondHitIsOfItsOwnMemory(size: Int?) async throws {
            let request = size.map { ImageRequest(url, fit: $0) } ?? ImageRequest(url: url)
            try await withFinder("memory", request) { finder, produced in
                let client = try finder.client()
                let first = try await client.load(request).response
                #expect(first.cacheType == .disk && first.bytes?.array == produced.bytes?.array)
                let second = try await client.load(request).response
                #expect(second.cacheType == .memory && second.bytes?.array == produced.bytes?.array)
                #expect(second.digest == produced.digest && second.info == produced.info)
                let repeated = try await client.learn(request)
                #expect(repeated.voucher?.use() == true)
                let report = try await finder.awaitIdle()
                #expect(report.counter("foreignCacheHits.mine") == 1)
                #expect(report.counter("foreignCachePromoted.mine") == 1)
                #expect(try tiers(produced.key, finder) == "memory")
                #expect(origin.requestCount("/a.png") == 1)
            }
        }

        @Test func withoutPromotionItIsAskedEachTime() async throws {
            try await withFinder("none", request) { finder, produced in
                let client = try finder.client()
                for _ in 0..<3 {
                    let response = try await client.load(request).response
                    #expect(response.cacheType == .disk)
                    #expect(
                        response.bytes?.array == produced.bytes?.array && response.voucher == nil)
                }
                let report = try await finder.awaitIdle()
                #expect(report.counter("foreignCacheHits.mine") == 3)
                #expect(report.counter("foreignCachePromoted.mine") == 0)
                #expect(try tiers(produced.key, finder) == "none")
            }
        }

        /// Large results are copied on another thread and may be mapped.
        @Test func aLargeResultIsPromotedAsWell() async throws {
            let large = try Images.noise(width: 900, height: 600, seed: 2).png()
            #expect(large.count > 1 << 20)
            origin.route("/a.png", .bytes(large))
            let request = ImageRequest(url: url)
            try await withFinder("memory", request) { finder, produced in
                let client = try finder.client()
                #expect(try await client.load(request).response.cacheType == .disk)
                let second = try await client.load(request).response
                #expect(second.cacheType == .memory && second.bytes?.array == large)
            }
        }

        // MARK: - Disk

        /// It survives a restart without the external cache.
        @Test func onTheDiskItOutlivesARestartAndTheExternalCache() async throws {
            try await withFinder("disk", request) { finder, produced in
                let client = try finder.client()
                #expect(try await client.load(request).response.cacheType == .disk)
                _ = try await finder.awaitStatus("the entry on the disk") { _ in
                    try tiers(produced.key, finder) == "all"
                }
                try finder.stop()
                _ = try configure("disk", [])
                try finder.start()
                var again = request
                again.options.insert(.fromCacheOnly)
                let response = try await finder.client().load(again).response
                #expect(
                    response.cacheType == .disk && response.bytes?.array == produced.bytes?.array)
                #expect(origin.requestCount("/a.png") == 1)
            }
        }

        /// Another size is derived from the original in the external cache; a third size finds that
        /// original on the own disk.
        @Test func anOriginalIsKeptOnTheDisk() async throws {
            try await withFinder("disk", request) { finder, produced in
                let client = try finder.client()
                let other = ImageRequest(url, fit: 30)
                #expect(try await client.load(other).response.cacheType == .disk)
                _ = try await finder.awaitStatus("the original on the disk") { _ in
                    try tiers(url, finder) == "disk"
                }
                let report = try await finder.awaitIdle()
                let asked = try #require(report.counter("foreignCacheHits.mine"))
                let third = ImageRequest(url, fit: 25)
                #expect(try await client.load(third).response.cacheType == .disk)
                let after = try await finder.awaitIdle()
                #expect(after.counter("foreignCacheHits.mine") == asked)
                #expect(origin.requestCount("/a.png") == 1)
            }
        }

        // MARK: - Removals

        /// The external cache has received a query and is stopped; the entry is removed here; then
        /// it answers with the old value.
        @Test(arguments: [
            ["remove", "--url", "/a.png"], ["remove", "--prefix", "/a"],
            ["remove", "--tag", "red"],
            ["clear", "--all"],
        ])
        func whatIsRemovedMeanwhileStaysAway(words: [String]) async throws {
            let arguments = try configure("disk", [try Programs.path(.dictionaryCache)])
            try await withStack(arguments, decoders: 1) { stack in
                let produced = try await makeElsewhere(stack)
                let process = try ProcessDescriptor(ProcessID(try await stack.awaitWorker().pid))
                try process.send(.stop)
                let load = try stack.startGet([
                    url, "--resize", "20x20", "--mode", "fit", "--format", "jpeg",
                    "--option", "from-cache-only", "--timeout", "5m",
                ])
                _ = try await stack.awaitStatus("the question") { $0.worker()?.jobs == 1 }
                let removal = try stack.begin(
                    ["cache"] + words.map { $0.hasPrefix("/") ? origin.url($0) : $0 })
                _ = try await stack.awaitStatus("the removal") { $0.worker()?.jobs ?? 0 >= 2 }
                try process.send(.resume)
                try removal.end().expect(0)
                _ = try load.end()
                let report = try await stack.awaitIdle()
                // Its threads may handle the removal first; then it no longer has the entry.
                let hits = report.counter("foreignCacheHits.mine") ?? 0
                print("\(words): \(hits) hits were overtaken")
                #expect(report.counter("foreignCachePromoted.mine") == 0)
                #expect(try tiers(produced.key, stack) == "none")
                try await expectNewer(than: produced, stack)
            }
        }

        /// Stores the image only in the external cache.
        private func makeElsewhere(_ stack: StackHarness) async throws -> ImageResponse {
            try await stack.awaitWorker()
            var request = request
            request.options.insert(.waitStoreCache)
            request.context.tags = ["red"]
            let produced = try await stack.client().load(request).response
            try stack.run(["cache", "clear", "--cache", "own"]).expect(0)
            #expect(try tiers(produced.key, stack) == "none")
            return produced
        }

        /// All loads return the current image of the origin.
        private func expectNewer(
            than produced: ImageResponse, _ stack: StackHarness
        ) async throws {
            let newer = try Images.noise(width: 60, height: 40, seed: 3).png()
            origin.route("/a.png", .bytes(newer))
            let response = try await stack.client().load(request).response
            #expect(response.cacheType == CacheTypes.none)
            #expect(response.bytes?.array != produced.bytes?.array)
            #expect(origin.requestCount("/a.png") == 2)
        }
    }
}
