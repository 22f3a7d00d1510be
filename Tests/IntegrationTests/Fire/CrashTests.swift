extension RealProcesses {
    /// Content that crashes decoders isn't retried; jobs lost with a download process are
    /// (SEMANTICS §7.5).
    @Suite struct CrashTests {
        /// An image that takes long enough to decode for a signal to arrive meanwhile.
        private static let slow = Result { try Images.noise(width: 4_000, height: 3_000).png() }
        private let origin = OriginServer()
        private let url: String

        init() throws {
            origin.route("/a.png", .bytes(try Self.slow.get()))
            url = origin.url("/a.png")
        }

        @Test func whatCrashesItsWorkerTwiceIsQuarantinedAndCanBeFreed() async throws {
            try await withClient { stack, client in
                let task = client.load(request(100))
                try await crashTwice(stack)
                #expect(await task.errorCode == .poisoned)

                // At once: nothing is fetched or decoded.
                let before = try await OperatorClient(client).status()
                #expect(await client.load(request(90)).errorCode == .poisoned)
                let after = try await OperatorClient(client).status()
                #expect(before.counter("fetches") == after.counter("fetches"))
                #expect(before.counter("decodes") == after.counter("decodes"))
                #expect(after.counter("quarantined") == 1)
                #expect(after.counter("crashes") == 2)

                let listed = try stack.run(["failure-cache", "list", "--json"])
                #expect(listed.outputText.contains(url) && listed.outputText.contains("\"decode\""))
                try stack.get([url, "--resize", "80x80"]).expect(65)
                let freed = try stack.run(["failure-cache", "remove", url])
                #expect(freed.outputText == "removed 1\n")
                #expect(
                    try stack.run(["failure-cache", "list"]).outputText
                        == "the failure cache is empty\n")
                let size = try await client.load(request(100)).response.info?.size
                #expect(size == PixelSize(width: 100, height: 75))
            }
        }

        @Test func aDownloadProcessThatIsKilledIsNoEvidence() async throws {
            let slow = try SlowImage()
            try await withClient { stack, client in
                let task = client.load(ImageRequest(slow.origin.url("/slow.jpg"), fit: 100))
                for number in 1...5 {
                    #expect(await slow.origin.waitForRequest("/slow.jpg", count: number))
                    let download = try #require(stack.processes("download").first)
                    try download.kill()
                    #expect(try download.ends(within: defaultTimeout))
                }
                slow.gate.open()
                #expect(try await task.response.info?.size == PixelSize(width: 100, height: 75))
                let report = try await stack.awaitIdle()
                #expect(report.counter("quarantined") == 0)
                #expect(report.counter("crashes") == 0)
                #expect(
                    try stack.run(["failure-cache", "list"]).outputText
                        == "the failure cache is empty\n")
            }
        }

        private func request(_ side: Int) -> ImageRequest {
            ImageRequest(url, fit: side).unstored
        }

        /// A signal that arrives before the decoder has started its job is not evidence.
        private func crashTwice(_ stack: StackHarness) async throws {
            var crashes = 0
            while crashes < 2 {
                crashes = try await fell(stack) { try $0.crash() }.counter("crashes") ?? 0
            }
        }

        /// Ends the decoder that has the job, and waits until the coordinator has noticed.
        private func fell(
            _ stack: StackHarness, _ end: (ObservedProcess) throws -> Void
        ) async throws -> StatusReport {
            let decoder = try await decoding(stack)
            try end(decoder)
            return try await stack.awaitStatus("the end of a decoder") {
                !$0.processes(.decode).contains { Int32($0.pid) == decoder.processID }
            }
        }

        /// The decoder that has the job.
        private func decoding(_ stack: StackHarness) async throws -> ObservedProcess {
            let report = try await stack.awaitStatus("a decoder with a job") {
                $0.processes(.decode).contains { $0.state == "busy" }
            }
            return try stack.child(
                try #require(report.processes(.decode).first { $0.state == "busy" }))
        }
    }
}
