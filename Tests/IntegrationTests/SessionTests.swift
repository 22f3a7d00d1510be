extension RealProcesses {
    /// Sessions begin whatever else the coordinator is doing.
    @Suite struct SessionTests {
        /// The coordinator grants 4,096 loads without a reply; the library holds the others back.
        /// Every load fails, or every second one.
        @Test(arguments: [1, 2])
        func moreLoadsThanTheWindowAllEndOnce(kinds: Int) async throws {
            try await withStack { stack in
                let client = try stack.client(sharesLoads: false)
                var miss = ImageRequest(url: "http://127.0.0.1:9/none.png")
                miss.options = .fromCacheOnly
                let tasks = (0..<10_000).map { number in
                    number % kinds == 0
                        ? client.load(ImageRequest(url: "ftp://127.0.0.1/none.png"))
                        : client.load(miss)
                }
                var codes = [Set<ErrorCode?>](repeating: [], count: kinds)
                for (number, task) in tasks.enumerated() {
                    codes[number % kinds].insert(await task.errorCode)
                }
                let expected: [Set<ErrorCode?>] = [[.unsupportedScheme], [nil]]
                #expect(codes == Array(expected.prefix(kinds)))
            }
        }

        /// The load, and the bytes that it returns, don't need a reference to the client, which is
        /// released after it.
        @Test func aClientThatNobodyHoldsEndsWithItsLastLoad() async throws {
            let origin = OriginServer()
            let gate = Gate()
            origin.route("/a.png", .hangBody(until: gate, then: try Images.quadrants().png()))
            try await withStack { stack in
                let before = try await stack.awaitStatus("a status") { _ in true }
                let task = try stack.client().load(origin.url("/a.png"))
                #expect(await origin.waitForRequest("/a.png"))
                gate.open()
                let image = try await task.response
                #expect(image.bytes?.array.isEmpty == false)
                _ = try await stack.awaitStatus("no client but the one that asks") {
                    $0.counter("clients") == before.counter("clients")
                }
            }
        }

        /// Also for tasks that run on the client's thread, which no longer exists.
        @Test func whoComesAfterCloseIsToldSo() async throws {
            try await withClient { _, client in
                _ = try await OperatorClient(client).status()
                let url = "http://127.0.0.1:9/none.png"
                let last = await withTaskExecutorPreference(client.executor) {
                    client.close()
                    return await client.load(url).errorCode
                }
                #expect(last == .cancelled)
                #expect(await client.load(url).errorCode == .cancelled)
                await #expect(throws: ImageError.self) { try await OperatorClient(client).status() }
                await #expect(throws: ImageError.self) {
                    try await client.prefetch([url]).result
                }
                let blocking = await BackgroundThread.value {
                    Result { try client.loadAndWait(ImageRequest(url: url)) }
                }
                #expect(throws: ImageError.self) { try blocking.get() }
            }
        }

        @Test func everyHelloIsAnsweredHoweverManyComeAtOnce() async throws {
            try await withStack { stack in
                let configuration = try ClientConfiguration(
                    runtimeDirectory: stack.runtimeDirectory, connectTimeoutMilliseconds: 5_000)
                try await withThrowingTaskGroup { group in
                    for _ in 0..<8 {
                        group.addTask {
                            for _ in 0..<100 {
                                let client = try ImagebusClient(configuration)
                                _ = try await OperatorClient(client).status()
                                client.close()
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
