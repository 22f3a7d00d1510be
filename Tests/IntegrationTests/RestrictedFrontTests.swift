import ProcessRuntime

extension RealProcesses {
    /// Two clients of one stack, one of which acts for untrusted HTTP clients (SEMANTICS §14.11).
    @Suite struct RestrictedFrontTests {
        private let origin = OriginServer()

        private func stranger(of stack: StackHarness) throws -> ImagebusClient {
            let paths = try RuntimePaths(resolving: stack.runtimeDirectory)
            return try ImagebusClient(
                ClientConfiguration(
                    endpoint: paths.webSocket, resultsDirectory: paths.resultsDirectory,
                    connectTimeoutMilliseconds: 20_000))
        }

        @Test func strangersGetImagesAndHaveNoSayInMore() async throws {
            origin.route("/a.png", .bytes(try Images.waves(width: 60, height: 30).png()))
            try await withStack { stack in
                let (web, front) = (try stranger(of: stack), try stack.client())
                var request = ImageRequest(origin.url("/a.png"), fit: 20)
                let image = try await web.load(request).response
                #expect(try Pixels(decoding: #require(image.bytes).array).size == "20x10")
                // The same bytes, through the fast path and on both sockets.
                for client in [web, front, web, front] {
                    #expect(try await client.load(request).response.digest == image.digest)
                }
                let forged = Self.forged(request)
                for (name, request) in forged {
                    #expect(await web.load(request).errorCode == .invalidRequest, "\(name)")
                }
                request.headers = [HTTPHeader(name: "X-Mine", value: "1")]
                _ = try await front.load(request).response
                #expect(origin.requestCount("/a.png") == 2)
                let none = ImageRequest(url: "")
                let bytes = try Images.noise(width: 700, height: 700, seed: 3).png()
                #expect(bytes.count > 1 << 20)
                #expect(
                    await web.load(none, uploading: bytes).errorCode == .invalidRequest)
                _ = try await front.load(none, uploading: bytes).response
                let small = try Images.noise(width: 90, height: 90, seed: 3).png()
                _ = try await web.load(none, uploading: small).response
            }
        }

        /// Requests that exceed what is always permitted, each in one respect.
        private static func forged(_ request: ImageRequest) -> [(String, ImageRequest)] {
            func with(_ change: (inout ImageRequest) -> Void) -> ImageRequest {
                var request = request
                change(&request)
                return request
            }
            return [
                ("headers", with { $0.headers = [HTTPHeader(name: "X-Mine", value: "1")] }),
                ("tags", with { $0.context.tags = ["shop:1"] }),
                ("refresh", with { $0.options = .refreshCached }),
                ("past the cache", with { $0.options = .fromLoaderOnly }),
                ("profile", with { $0.context.profile = "default" }),
                ("cache", with { $0.context.cache = "other" }),
                ("loader", with { $0.context.loader = "other" }),
                ("key", with { $0.context.key = .text("mine") }),
            ]
        }

        /// Entries stay unless `removals` permits their removal, whatever a front end requests.
        @Test(arguments: [false, true])
        func removalsAreTheOperatorsToPermit(isPermitted: Bool) async throws {
            origin.route("/d.png", .bytes(try Images.waves(width: 60, height: 30).png()))
            let folder = TemporaryDirectory()
            let arguments = folder.configuration(
                """
                key-filters: {plain: {drop-query: [v]}}
                profiles:
                  web: {key-filter: plain, front: {removals: \(isPermitted ? "yes" : "no")}}
                """)
            try await withStack(arguments) { stack in
                let web = try stranger(of: stack)
                let url = origin.url("/d.png?v=1")
                for request in [ImageRequest(url: url), ImageRequest(url, fit: 20)] {
                    _ = try await web.load(request).response
                }
                _ = try await stack.awaitIdle()
                let admin = try stack.operatorClient()
                let before = try await admin.count()
                #expect(before.disk.entries == 2 && before.memory.entries == 2)
                let beyond = [
                    EntrySelection(cache: "default", url: url),
                    EntrySelection(olderThanSeconds: 0), EntrySelection(),
                ]
                for selection in beyond {
                    #expect(await removalError(web, selection) == .invalidRequest)
                }
                #expect(await removalError(web, EntrySelection(url: url), .memory) != nil)
                for selection in [EntrySelection(tag: "a"), EntrySelection(prefix: "http://none")] {
                    let error = await removalError(web, selection)
                    #expect(error == (isPermitted ? nil : .invalidRequest))
                }
                let operators = OperatorClient(web)
                await #expect(throws: ImageError.self) { try await operators.clear() }
                await #expect(throws: ImageError.self) { try await operators.count() }
                #expect(try await admin.count() == before)
                guard isPermitted else {
                    #expect(await removalError(web, EntrySelection(url: url)) == .invalidRequest)
                    return
                }
                // The key has no `v`: the coordinator knows the filter of the profile.
                let gone = try await operators.remove(EntrySelection(url: url))
                #expect(gone.disk.entries == 2 && gone.memory.entries == 2)
                #expect(try await admin.count().disk.entries == 0)
            }
        }

        private func removalError(
            _ client: ImagebusClient, _ selection: EntrySelection, _ tiers: CacheTypes = .all
        ) async -> ErrorCode? {
            do throws(ImageError) {
                _ = try await OperatorClient(client).remove(selection, from: tiers)
                return nil
            } catch {
                return error.code
            }
        }

        /// What the profile `web` permits is done; everything beyond it is rejected.
        @Test func theOperatorMayPermitMore() async throws {
            origin.route("/c.png", .bytes(try Images.waves(width: 60, height: 30).png()))
            let folder = TemporaryDirectory()
            let arguments = folder.configuration(
                """
                sources: ["http://127.0.0.1:*/*"]
                profiles:
                  web:
                    front:
                      {headers: [X-Mine], upload-bytes: 2K, tag-prefix: "shop:", refresh: yes}
                """)
            try await withStack(arguments) { stack in
                let web = try stranger(of: stack)
                let request = ImageRequest(origin.url("/c.png"), fit: 20)
                let permitted = ["headers", "tags", "refresh", "past the cache"]
                for (name, request) in Self.forged(request) {
                    let error = await web.load(request).errorCode
                    #expect(error == (permitted.contains(name) ? nil : .invalidRequest), "\(name)")
                }
                #expect(origin.requests("/c.png").contains { $0.header("x-mine") == "1" })
                var beyond = request
                beyond.headers = ["X-Mine", "X-Yours"].map { HTTPHeader(name: $0, value: "1") }
                #expect(await web.load(beyond).errorCode == .invalidRequest)
                beyond = request
                beyond.context.tags = ["shop:1", "other"]
                #expect(await web.load(beyond).errorCode == .invalidRequest)
                let bytes = try Images.noise(width: 60, height: 60, seed: 3).png()
                #expect(bytes.count > 2_048)
                let none = ImageRequest(url: "")
                #expect(await web.load(none, uploading: bytes).errorCode == .invalidRequest)
            }
        }

        /// A message with identical bytes is a different load under another profile.
        @Test func theProfileOfStrangersIsNotThatOfClients() async throws {
            origin.route("/b.png", .bytes(try Images.waves(width: 64, height: 64).png()))
            let folder = TemporaryDirectory()
            let arguments = folder.configuration(
                """
                sources: ["http://127.0.0.1:*/*"]
                presets: {small: {resize: 16x16, format: png}}
                profiles: {web: {transformer: small}}
                """)
            try await withStack(arguments) { stack in
                let request = ImageRequest(url: origin.url("/b.png"))
                for _ in 1...3 {
                    let mine = try await stack.client().load(request).response
                    #expect(mine.info?.size == PixelSize(width: 64, height: 64))
                    let theirs = try await stranger(of: stack).load(request).response
                    #expect(theirs.info?.size == PixelSize(width: 16, height: 16))
                }
            }
        }
    }
}
