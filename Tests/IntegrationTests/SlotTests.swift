extension RealProcesses {
    /// A slot (such as a view) loads one image at a time; see also ConformanceTests, `ViewCases`.
    @Suite struct SlotTests {
        /// One transfer per host at a time: the load with raised priority runs before those that
        /// have waited longer.
        @Test func aRaisedLoadOfASlotGoesOnAndAnswers() async throws {
            let slow = try SlowImage()
            let begun = Recorder<String>()
            let image = try Images.waves(width: 40, height: 30).jpeg(quality: 85)
            for path in ["/first.jpg", "/second.jpg", "/raised.jpg"] {
                slow.origin.route(path, .bytes(image).observed { begun.append($0.path) })
            }
            let oneAtATime = ["--allow-private-networks", "--fetches-per-host", "1"]
            try await withClient(oneAtATime, decoders: 1) { stack, client in
                func load(_ name: String, _ options: RequestOptions = []) -> LoadTask {
                    // Loads without a cache query are queued in their order.
                    let request = ImageRequest(
                        slow.origin.url("/\(name).jpg"), fit: 20,
                        options: options.union(.fromLoaderOnly))
                    return client.load(request, slot: name)
                }
                let busy = load("slow")
                #expect(await slow.origin.waitForRequest("/slow.jpg"))
                let others = [load("first"), load("second")]
                let raised = load("raised", .lowPriority)
                _ = try await stack.awaitStatus("three that wait") {
                    $0.counter("queued.fetch") == 3
                }
                client.reprioritize(raised, .high)
                // Messages of a client are handled in order.
                _ = try await OperatorClient(client).status()
                slow.gate.open()
                for task in [busy, raised] + others { _ = try await task.response }
            }
            #expect(begun.values == ["/raised.jpg", "/first.jpg", "/second.jpg"])
        }
    }
}
