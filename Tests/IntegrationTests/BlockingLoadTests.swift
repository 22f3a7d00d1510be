import Synchronization

extension RealProcesses {
    /// Threads that block on their loads run the client's loop themselves.
    @Suite struct BlockingLoadTests {
        private func withImage(
            _ body: (StackHarness, ImagebusClient, String, [UInt8]) async throws -> Void
        ) async throws {
            let source = try SocketTrafficTests.small()
            let origin = OriginServer("/a.jpg", .jpeg(source))
            try await withStack { stack in
                try await body(stack, try stack.client(), origin.url("/a.jpg"), source)
            }
        }

        /// The thread that runs the loop also serves the other loads, and hands the loop over when
        /// it returns.
        @Test func manyThreadsAndTasksShareALine() async throws {
            try await withImage { _, client, url, source in
                let right = Atomic(0)
                let threads = (0..<4).map { _ in
                    BackgroundThread {
                        for _ in 0..<200 {
                            let image = try? client.loadAndWait(ImageRequest(url: url))
                            if image?.bytes?.array == source {
                                right.add(1, ordering: .relaxed)
                            }
                        }
                    }
                }
                for _ in 0..<200 {
                    let image = try await client.load(url).response
                    #expect(image.bytes?.array == source)
                }
                for thread in threads { #expect(await thread.join()) }
                #expect(right.load(ordering: .relaxed) == 800)
            }
        }

        @Test func anErrorEndsTheCall() async throws {
            try await withImage { _, client, url, _ in
                _ = try client.loadAndWait(ImageRequest(url: url))
                for _ in 0..<20 {
                    #expect(throws: ImageError.self) {
                        try client.loadAndWait(ImageRequest(url: "ftp://127.0.0.1/a"))
                    }
                }
            }
        }

        /// The loop notices on the caller's thread that the coordinator has gone.
        @Test func aCallOutlivesTheCoordinator() async throws {
            try await withImage { stack, client, url, source in
                for _ in 0..<10 { _ = try client.loadAndWait(ImageRequest(url: url)) }
                for _ in 0..<3 {
                    let coordinator = try await stack.coordinator()
                    for _ in 0..<5 { _ = try client.loadAndWait(ImageRequest(url: url)) }
                    try coordinator.kill()
                    let image = try client.loadAndWait(ImageRequest(url: url))
                    #expect(image.bytes?.array == source)
                }
            }
        }

        /// Requests of a task don't wait for a blocking call that is in progress.
        @Test func aClientThatIsClosedEndsItsBlockingCall() async throws {
            let gate = Gate()
            let origin = OriginServer("/slow.jpg", .hang(until: gate))
            try await withImage { stack, client, url, _ in
                for _ in 0..<5 { _ = try client.loadAndWait(ImageRequest(url: url)) }
                let code = Mutex<ErrorCode?>(nil)
                let thread = BackgroundThread {
                    do throws(ImageError) {
                        _ = try client.loadAndWait(ImageRequest(url: origin.url("/slow.jpg")))
                    } catch {
                        code.withLock { $0 = error.code }
                    }
                }
                _ = try await client.load(url).response
                _ = try await OperatorClient(client).status()
                client.close()
                #expect(await thread.join())
                gate.open()
                #expect(code.withLock { $0 } == .cancelled)
            }
        }
    }
}
