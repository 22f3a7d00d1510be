import Synchronization

extension RealProcesses {
    /// Answers that clients repeat by themselves, with a real coordinator, cache and files
    /// (SEMANTICS §5.24).
    @Suite struct VoucherTests {
        private let photo: ChangingImage
        private let folder = TemporaryDirectory()

        init() throws { photo = try ChangingImage() }

        private func awaitHits(_ count: Int, _ stack: StackHarness) async throws {
            let report = try await stack.awaitStatus("\(count) hits by voucher to be told") {
                $0.counter("voucherHits") ?? 0 >= count
            }
            #expect(report.counter("voucherHits") == count)
        }

        @Test func aRepeatedHitCostsNoMessageAndCounts() async throws {
            photo.answerPlainly(photo.old)
            try await withClient { stack, client in
                let request = ImageRequest(photo.url, fit: 100)
                let first = try await client.learn(request)
                let before = try await stack.awaitStatus("a status") { _ in true }
                for _ in 0..<1_000 {
                    let answer = try await client.load(request).response
                    #expect(answer.bytes?.array == first.bytes?.array)
                    #expect(answer.cacheType == .memory && answer.key == first.key)
                    #expect(answer.digest == first.digest && answer.info == first.info)
                }
                #expect(try client.loadAndWait(request).voucher?.use() == true)
                try await awaitHits(1 + 1_000 + 2, stack)
                let after = try await stack.awaitStatus("a status") { _ in true }
                let requests = after.growth(of: "requests", since: before)
                #expect(requests - after.growth(of: "voucherHits", since: before) <= 1)
                #expect(after.growth(of: "memoryHits", since: before) == requests)
                #expect(photo.requestCount == 1)
            }
        }

        /// A change by an operator or an event, and what the client gets once it has been notified.
        private struct Change: CustomTestStringConvertible {
            let testDescription: String
            let make: @Sendable (StackHarness, ChangingImage) async throws -> Void
        }

        private static let changes = [
            Change(testDescription: "cleared") { stack, photo in
                try stack.run(["cache", "clear", "--all"]).expect(0)
            },
            Change(testDescription: "made again") { stack, photo in
                var request = ImageRequest(photo.url, fit: 100)
                request.options = [.fromLoaderOnly, .waitStoreCache]
                _ = try await stack.client().load(request).response
            },
            Change(testDescription: "cache killed") { stack, _ in
                let cache = stack.children.first { $0.name == "imagebus-cache" }
                try cache?.kill()
                _ = try await stack.awaitStatus("the cache to be lost") { report in
                    report.processes.contains { $0.kind == .cache && $0.restarts == 1 }
                }
                _ = try stack.run(["cache", "clear", "--all"])
            },
        ]

        @Test(arguments: changes)
        private func whatHasChangedIsNotRepeated(change: Change) async throws {
            photo.answerPlainly(photo.old)
            try await withClient { stack, client in
                let request = ImageRequest(photo.url, fit: 100)
                let old = try await client.learn(request)
                photo.answerPlainly(photo.new)
                try await change.make(stack, photo)
                #expect(old.voucher?.use() == false)
                #expect(client.answerAtHand(to: request) == nil)
                let new = try await client.load(request).response
                #expect(new.bytes?.array != old.bytes?.array)
                #expect(try await client.learn(request).bytes?.array == new.bytes?.array)
            }
        }

        /// If vouchers are off, or if each load must appear in the log.
        @Test(arguments: [["--vouchers", "0"], ["--log-requests", "all"]])
        func withoutVouchersAllIsAsked(arguments: [String]) async throws {
            photo.answerPlainly(photo.old)
            try await withClient(["--allow-private-networks"] + arguments) { stack, client in
                let request = ImageRequest(photo.url, fit: 100)
                for _ in 0..<5 {
                    let answer = try await client.load(request).response
                    #expect(answer.voucher == nil)
                    #expect(client.answerAtHand(to: request) == nil)
                }
                let report = try await stack.awaitStatus("a status") { _ in true }
                #expect(report.counter("voucherHits") == 0)
                let left = DirectoryEntries.names(stack.runtimeDirectory + "/front")
                let count = left.count { $0.hasPrefix("vouchers") }
                #expect(count == (arguments == ["--vouchers", "0"] ? 0 : 1))
            }
        }

        /// The file may contain another secret at any time, which gives the load another identity.
        @Test func whatDependsOnASecretOfAFileIsAsked() async throws {
            photo.answerPlainly(photo.old)
            let key = folder.write("a secret\n", to: "key")
            let rules = """
                profiles:
                  default:
                    rules:
                      - match: "http://*/*"
                        headers: {X-Api-Key: {file: \(key)}}
                """
            try await withClient(folder.configuration(rules)) { _, client in
                let request = ImageRequest(photo.url, fit: 100)
                for round in 0..<5 {
                    let answer = try await client.load(request).response
                    #expect((answer.cacheType == .memory) == (round > 0))
                    #expect(answer.voucher == nil)
                    #expect(client.answerAtHand(to: request) == nil)
                }
            }
        }

        @Test func aClosedClientRepeatsNothing() async throws {
            photo.answerPlainly(photo.old)
            try await withClient { _, client in
                let request = ImageRequest(photo.url, fit: 100)
                let answer = try await client.learn(request)
                client.close()
                #expect(client.answerAtHand(to: request) == nil)
                #expect(answer.voucher?.use() == false)
                #expect(answer.bytes?.array.isEmpty == false, "delivered bytes stay valid")
                await #expect(throws: ImageError.self) {
                    try await client.load(request).response
                }
            }
        }
    }
}
