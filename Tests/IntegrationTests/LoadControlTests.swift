extension RealProcesses {
    /// Controlling and observing a running load.
    @Suite struct LoadControlTests {
        private let origin = OriginServer()

        @Test func theStatusSaysWhereALoadStands() async throws {
            let gate = Gate()
            let image = try Images.quadrants().png()
            origin.route("/slow.png", .hang(until: gate, then: image))
            try await withClient { _, client in
                let slow = client.load(origin.url("/slow.png"))
                #expect(slow.status == .running && slow.result == nil)
                gate.open()
                _ = try await slow.response
                #expect(slow.status == .loaded)
                #expect(try slow.result?.get().bytes?.array == image)

                var cached = ImageRequest(url: origin.url("/none.png"))
                cached.options = .fromCacheOnly
                let missed = client.load(cached)
                _ = try await missed.response
                #expect(missed.status == .missed)

                let bad = client.load(origin.url("/none.png"))
                _ = try? await bad.response
                #expect(bad.status == .failed(.invalidDownloadStatusCode))
            }
        }

        @Test func aLoadEndsWithItsLease() async throws {
            let gate = Gate()
            origin.route("/slow.png", .hang(until: gate, then: [1]))
            defer { gate.open() }
            try await withClient { _, client in
                var lease: LoadLease? = LoadLease(client.load(origin.url("/slow.png")))
                let task = try #require(lease?.task)
                #expect(task.status == .running)
                lease = nil
                _ = try? await task.response
                #expect(task.status == .cancelled)
            }
        }

        /// One transfer at a time: among the queued loads, the one whose priority was raised runs
        /// first, although it was requested last.
        @Test func aLoadThatIsMadeUrgentComesFirst() async throws {
            let gate = Gate()
            let image = try Images.quadrants(width: 8, height: 8).png()
            let order = Recorder<Int>()
            origin.route("/first.png", .hang(until: gate, then: image))
            for number in 0..<5 {
                origin.route(
                    "/\(number).png", .bytes(image).observed { _ in order.append(number) })
            }
            try await withClient([
                "--allow-private-networks", "--fetches-per-host", "1",
            ]) { stack, client in
                let first = client.load(origin.url("/first.png"))
                #expect(await origin.waitForRequest("/first.png"))
                let others = (0..<5).map { client.load(origin.url("/\($0).png")) }
                others[4].reprioritize(.high)
                _ = try await stack.awaitStatus("all to wait") {
                    $0.counter("queued.fetch") == 5
                }
                // Messages of one client are handled in order: the priority before the status
                // request.
                _ = try await OperatorClient(client).status()
                gate.open()
                _ = try await first.response
                for other in others { _ = try await other.response }
                #expect(order.values.first == 4, "\(order.values)")
                others[4].reprioritize(.low)
            }
        }
    }
}
