extension RealProcesses {
    /// An answer has been withdrawn when the cause of the withdrawal is acknowledged: no client
    /// repeats the answer after that, however often it tries (SEMANTICS §5.24). The test doesn't
    /// wait between the acknowledgment and the check.
    ///
    /// One environment variable per test sets its rounds, such as
    /// `IMAGEBUS_VOUCHER_REMOVALS=10000`.
    @Suite struct VoucherWithdrawalTests {
        private let photo: ChangingImage
        private let folder = TemporaryDirectory()

        init() throws { photo = try ChangingImage() }

        /// Different bytes in each round, and in each half of it.
        private func image(_ round: Int, isNew: Bool = false) throws -> [UInt8] {
            try ChunkStack.image(2_048, seed: 2 * round + (isNew ? 1 : 0))
        }

        /// No client has the learned answer `old` any more.
        private func expectGone(
            _ old: ImageResponse, _ client: ImagebusClient, _ request: ImageRequest, _ round: Int
        ) {
            #expect(old.voucher?.use() == false, "round \(round)")
            #expect(client.answerAtHand(to: request) == nil, "round \(round)")
        }

        /// The acknowledgment is the reply to the operator that removes.
        @Test func afterARemovalIsToldNobodyRepeats() async throws {
            let rounds = Effort.count("VOUCHER_REMOVALS", short: 100, long: 10_000)
            try await withStack { stack in
                let (client, admin) = (try stack.client(), try stack.operatorClient())
                var request = ImageRequest(url: photo.url)
                request.originalStoreCacheTypes = .memory
                for round in 0..<rounds {
                    let (old, new) = (try image(round), try image(round, isNew: true))
                    photo.answerPlainly(old)
                    let learned = try await client.learn(request)
                    #expect(learned.bytes?.array == old, "round \(round)")
                    photo.answerPlainly(new)
                    _ = try await admin.remove(photo.url)
                    expectGone(learned, client, request, round)
                    #expect(try await client.load(request).response.bytes?.array == new)
                    _ = try await admin.remove(photo.url)
                }
            }
        }

        /// SIGHUP has no reply. The acknowledgment is the first image that is delivered, by a
        /// message, under the new configuration.
        @Test func afterAReloadIsSeenNobodyRepeats() async throws {
            let rounds = Effort.count("VOUCHER_RELOADS", short: 20, long: 10_000)
            photo.answerPlainly(photo.old)
            let edges = [40, 60]
            func configure(_ edge: Int) -> [String] {
                folder.configuration(
                    "presets:\n  card: {resize: \(edge)x\(edge), format: png}\n")
            }
            try await withStack(configure(edges[0])) { stack in
                let (client, admin) = (try stack.client(), try stack.operatorClient())
                var request = ImageRequest(url: photo.url)
                request.context.preset = "card"
                for round in 0..<rounds {
                    let old = try await client.learn(request)
                    #expect(old.info?.size.width == edges[round % 2], "round \(round)")
                    let edge = edges[(round + 1) % 2]
                    _ = configure(edge)
                    try stack.send(.hangUp)
                    try await awaitImage(as: edge, admin.client, request)
                    expectGone(old, client, request, round)
                    #expect(try await client.load(request).response.info?.size.width == edge)
                }
            }
        }

        /// Operators get no vouchers: each of their loads is a message.
        private func awaitImage(
            as edge: Int, _ admin: ImagebusClient, _ request: ImageRequest
        ) async throws {
            try await pollUntil("the configuration to be reloaded") {
                try await admin.load(request).response.info?.size.width == edge
            }
        }

        /// The acknowledgment is the failure, sent to another client, with which the source enters
        /// the failure cache: the origin redirects in circles, or serves something that isn't an
        /// image. With a lagging thread the test shows that the voucher is withdrawn before that
        /// reply is sent.
        @Test(arguments: [false, true])
        func afterARefusalIsToldNobodyRepeats(lags: Bool) async throws {
            let rounds = Effort.count("VOUCHER_REFUSALS", short: 20, long: 10_000)
            photo.answerPlainly(photo.old)
            try await withStack { stack in
                let (client, other) = (try stack.client(), try stack.client())
                let admin = try stack.operatorClient()
                let coordinator = try await stack.coordinator().processID
                let lagging = lags ? try LaggingThread(coordinator) : nil
                defer { _ = lagging }
                let request = ImageRequest(photo.url, fit: 100)
                var again = request
                again.options = .fromLoaderOnly
                let first = try await client.learn(request)
                for round in 0..<rounds {
                    let old = try await client.learn(request)
                    #expect(old.bytes?.array == first.bytes?.array, "it stayed in memory")
                    let noImage = OriginBehavior.bytes(
                        Array("no image".utf8), contentType: "image/jpeg")
                    photo.answer(round.isMultiple(of: 2) ? .redirect(to: photo.url) : noImage)
                    let failure = await other.load(again).errorCode
                    #expect(failure != nil && failure != .blacklisted, "round \(round)")
                    expectGone(old, client, request, round)
                    #expect(await client.load(request).errorCode == .blacklisted)
                    let report = try await admin.failureCache(.remove(url: photo.url))
                    #expect(report.removed == 1)
                    expectGone(old, client, request, round)
                }
            }
        }

        /// The acknowledgment is the reply to another client, whose response head tells the
        /// coordinator that the image varies by another request field than before.
        @Test func afterAnotherVaryIsSeenNobodyRepeats() async throws {
            let rounds = Effort.count("VOUCHER_VARIES", short: 20, long: 10_000)
            try await withStack { stack in
                let (client, other) = (try stack.client(), try stack.client())
                let admin = try stack.operatorClient()
                func request(_ language: String) -> ImageRequest {
                    var request = ImageRequest(url: photo.url)
                    request.headers = [
                        HTTPHeader(name: "Accept", value: "image/png"),
                        HTTPHeader(name: "Accept-Language", value: language),
                    ]
                    request.originalStoreCacheTypes = .none
                    return request
                }
                var again = request("de")
                again.options = .fromLoaderOnly
                for round in 0..<rounds {
                    let (old, new) = (try image(round), try image(round, isNew: true))
                    photo.answerPlainly(old, [("Vary", "Accept")])
                    let learned = try await client.learn(request("en"))
                    #expect(learned.bytes?.array == old, "round \(round)")
                    photo.answerPlainly(new, [("Vary", "Accept-Language")])
                    #expect(try await other.load(again).response.bytes?.array == new)
                    expectGone(learned, client, request("en"), round)
                    let answer = try await client.load(request("en")).response
                    #expect(answer.bytes?.array == new, "round \(round)")
                    _ = try await admin.remove(EntrySelection(url: photo.url))
                }
            }
        }

        /// The acknowledgment of a drain is its reply, with a lagging thread. A killed coordinator
        /// sends nothing: there it is the reply of its successor to an operator that removes.
        @Test(arguments: [false, true])
        func afterTheCoordinatorIsReplacedNobodyRepeats(isKilled: Bool) async throws {
            let rounds = Effort.count(
                isKilled ? "VOUCHER_KILLS" : "VOUCHER_DRAINS", short: 3, long: 10_000)
            try await withClient { stack, client in
                let request = ImageRequest(url: photo.url)
                photo.answerPlainly(try image(-1, isNew: true))
                for round in 0..<rounds {
                    let old = try await client.learn(request)
                    #expect(old.bytes?.array == (try image(round - 1, isNew: true)))
                    let left = DirectoryEntries.names(stack.runtimeDirectory + "/front")
                    #expect(isKilled || left.count { $0.hasPrefix("vouchers") } == 1, "\(left)")
                    let new = try image(round, isNew: true)
                    photo.answerPlainly(new)
                    if isKilled {
                        try await stack.killCoordinator()
                    } else {
                        let admin = try stack.operatorClient()
                        let lagging = try await LaggingThread(stack.coordinator().processID)
                        defer { _ = lagging }
                        #expect(try await admin.drain(.coordinator) == 1)
                        expectGone(old, client, request, round)
                    }
                    try await removeByNext(stack)
                    expectGone(old, client, request, round)
                    #expect(try await client.load(request).response.bytes?.array == new)
                }
            }
        }

        /// A request to a coordinator that is ending may not get a reply.
        private func removeByNext(_ stack: StackHarness) async throws {
            try await pollUntil("an answer of the next coordinator") {
                let admin = try stack.operatorClient()
                return (try? await admin.remove(photo.url)) != nil
            }
        }
    }
}
