extension RealProcesses {
    /// Uploads: images without a URL.
    @Suite struct UploadTests {
        @Test func anUploadIsTransformedAndTheSameBytesAreAMemoryHit() async throws {
            let source = try Images.quadrants(width: 800, height: 600).png()
            var request = ImageRequest.uploaded
            request.steps = [.resize(PixelSize(width: 200, height: 200), .fit)]
            request.output.format = .jpeg
            try await withClient { stack, client in
                let produced = try await client.load(request, uploading: source).response
                #expect(produced.cacheType == .none)
                #expect(produced.info?.size == PixelSize(width: 200, height: 150))
                let pixels = try Pixels(decoding: try #require(produced.bytes).array)
                #expect(isClose(pixels.at(20, 20), Images.red))
                #expect(isClose(pixels.at(180, 130), Images.yellow))
                for delivery in Delivery.allCases {
                    let other = try stack.client(delivery)
                    let again = try other.loadAndWait(request, uploading: source)
                    #expect(again.cacheType == .memory)
                    #expect(again.key == produced.key)
                    #expect(again.bytes?.array == produced.bytes?.array)
                }
            }
        }

        /// Sizes around one chunk, and beyond the window; returned the same way.
        @Test func theBytesThatComeBackAreThoseThatWent() async throws {
            try await withStack { stack in
                let client = try stack.client(.chunks)
                for size in [2_000, 61_439, 61_440, 61_441, 1 << 20, (9 << 20) + 5] {
                    let source = try ChunkStack.image(size, seed: size)
                    let image = try await client.load(.uploaded, uploading: source).response
                    #expect(image.bytes?.array == source, "\(size) bytes")
                }
            }
        }

        @Test func eightClientsUploadAtOnce() async throws {
            try await withStack { stack in
                try await withThrowingTaskGroup { group in
                    for number in 0..<8 {
                        let client = try stack.client(number % 2 == 0 ? .chunks : .mapped)
                        group.addTask {
                            let sources = try (0..<10).map {
                                try ChunkStack.image(
                                    100_000 + $0 * 70_001, seed: number * 10 + $0)
                            }
                            let tasks = sources.map { client.load(.uploaded, uploading: $0) }
                            for (task, source) in zip(tasks, sources) {
                                #expect(try await task.response.bytes?.array == source)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await stack.counter("uploads") == 80)
            }
        }

        /// The library queues uploads beyond what the coordinator accepts from one client at once.
        @Test func twoHundredUploadsOfOneClientAllEnd() async throws {
            try await withStack { stack in
                let client = try stack.client(.chunks)
                let sources = try (0..<200).map { try ChunkStack.image(5_000, seed: $0) }
                let tasks = sources.map { client.load(.uploaded, uploading: $0) }
                for (task, source) in zip(tasks, sources) {
                    #expect(try await task.response.bytes?.array == source)
                }
            }
        }

        /// Some may have completed before the cancel; while the coordinator is halted none can,
        /// since they are larger than the window.
        @Test func cancelledUploadsLeaveTheWindowToOthers() async throws {
            try await withStack { stack in
                let client = try stack.client(.chunks)
                let coordinator = try await stack.coordinator()
                let source = try ChunkStack.image(9 << 20)
                for round in 0..<12 {
                    let isHalted = round % 4 == 0
                    if isHalted { try coordinator.halt() }
                    let tasks = (0..<4).map { _ in client.load(.uploaded, uploading: source) }
                    for _ in 0..<(round % 4) { _ = try await OperatorClient(client).status() }
                    for task in tasks { task.cancel() }
                    if isHalted { try coordinator.resume() }
                    for task in tasks {
                        let code = await task.errorCode
                        #expect(code == .cancelled || (code == nil && !isHalted))
                    }
                }
                let image = try await client.load(.uploaded, uploading: source).response
                #expect(image.bytes?.array == source)
            }
        }

        @Test func aGroupOfUploadsIsCancelledAsAWhole() async throws {
            try await withStack { stack in
                let client = try stack.client(.chunks)
                let group = GroupID(Identifier128(high: 3, low: 4))
                let coordinator = try await stack.coordinator()
                let source = try ChunkStack.image(9 << 20)
                let tasks = (0..<20).map { _ in
                    client.load(.uploaded, uploading: source, group: group)
                }
                // The coordinator has received them when it answers the later status request. They
                // are larger than the window, so most are incomplete by then.
                _ = try await OperatorClient(client).status()
                try coordinator.halt()
                client.cancel(group: group)
                try coordinator.resume()
                var cancelled = 0
                for task in tasks {
                    let code = await task.errorCode
                    #expect(code == .cancelled || code == nil)
                    if code == .cancelled { cancelled += 1 }
                }
                #expect(cancelled >= tasks.count / 2)
                let small = try ChunkStack.image(5_000)
                let image = try await client.load(.uploaded, uploading: small).response
                #expect(image.bytes?.array == small)
            }
        }

        @Test func uploadsOutliveTheCoordinatorThatTakesThem() async throws {
            try await withStack { stack in
                let client = try stack.client(.chunks)
                for round in 0..<3 {
                    let sources = try (0..<6).map {
                        try ChunkStack.image(5 << 20, seed: round * 6 + $0)
                    }
                    let tasks = sources.map { client.load(.uploaded, uploading: $0) }
                    try await stack.killCoordinator()
                    for (task, source) in zip(tasks, sources) {
                        #expect(try await task.response.bytes?.array == source)
                    }
                }
            }
        }

        @Test func whatIsNoUploadIsRefused() async throws {
            try await withClient { _, client in
                #expect(
                    await client.load(.uploaded, uploading: []).errorCode == .invalidRequest)
                let named = ImageRequest(url: "http://127.0.0.1/a.png")
                #expect(await client.load(named, uploading: [1]).errorCode == .invalidRequest)
                #expect(throws: ImageError.self) {
                    try client.loadAndWait(named, uploading: [1])
                }
                let text = Array("no image".utf8)
                for _ in 0..<2 {
                    #expect(
                        await client.load(.uploaded, uploading: text).errorCode == .badImageData)
                }
            }
        }

        /// Announcing an upload doesn't take a slot: the bytes of another client are transferred
        /// meanwhile.
        @Test func whoAnnouncesAllAndSendsNothingKeepsNobodyWaiting() async throws {
            try await withStack { stack in
                let idle = try WireClient(stack)
                let tokens = (0..<64).map { _ in Token(.random) }
                for token in tokens {
                    try idle.send(
                        .load(LoadRequest(token: token, image: .uploaded, uploadBytes: 64 << 20)))
                }
                // All have been handled once a status request after them is answered.
                try idle.send(.status)
                while true {
                    guard let message = try idle.receive(within: defaultTimeout) else { break }
                    if case .reply(let reply) = message {
                        Issue.record("an announcement was refused: \(reply.outcome)")
                    }
                    if case .status = message { break }
                }
                let client = try stack.client()
                let source = try ChunkStack.image(5 << 20)
                let image = try await client.load(.uploaded, uploading: source).response
                #expect(image.bytes?.array == source)
                #expect(try await stack.counter("uploads") == 65)
            }
        }

        /// No other event wakes the coordinator meanwhile.
        @Test func whatIsAnnouncedAndNeverComesEndsAtItsOwnTimeout() async throws {
            try await withStack { stack in
                let idle = try WireClient(stack)
                let (slow, hurried) = (Token(.random), Token(.random))
                try idle.send(
                    .load(LoadRequest(token: slow, image: .uploaded, uploadBytes: 1 << 20)))
                var image = ImageRequest.uploaded
                image.timeoutMilliseconds = 200
                try idle.send(
                    .load(LoadRequest(token: hurried, image: image, uploadBytes: 1 << 20)))
                let message = try idle.receive(within: defaultTimeout)
                guard case .reply(let reply) = message, case .failure(let error) = reply.outcome
                else {
                    Issue.record("no failure: \(String(describing: message))")
                    return
                }
                #expect(reply.token == hurried)
                #expect(error.code == .deadlineExceeded, "\(error)")
            }
        }

        @Test func getReadsAnImageFromStandardInput() async throws {
            let jpeg = try Images.quadrants().jpeg(quality: 90)
            let png = try Images.quadrants().png()
            try await withStack { stack in
                let plain = try stack.get(["-", "-o", "-"], input: jpeg)
                #expect(plain.exitStatus == 0 && plain.output == jpeg, "\(plain.errorText)")
                let properties = try stack.get(["-", "--info", "--json"], input: png)
                #expect(try properties.json()["format"]?.text == "png", "\(properties)")
                #expect(try properties.json()["width"]?.integer == 400)
                let steps = ["-", "--resize", "100x100", "--format", "webp", "--json"]
                for (input, tier) in [(png, "none"), (png, "memory"), (jpeg, "none")] {
                    let run = try stack.get(steps, input: input).expect(0)
                    #expect(try run.json()["cacheType"]?.text == tier, "\(run)")
                    #expect(try run.json()["format"]?.text == "webp")
                    #expect(try run.json()["height"]?.integer == 75)
                    #expect(try run.json()["key"]?.text?.isEmpty == false)
                    #expect(try run.json()["timings"]?.names.contains("total") == true)
                }
            }
        }

        @Test func whatGetCannotReadFromStandardInputIsATypedError() async throws {
            let tooLarge = [UInt8](repeating: 0xFF, count: (64 << 20) + 1)
            let cut = try Images.noise(width: 200, height: 200).jpeg(quality: 90).prefix(2_000)
            let cases: [(input: [UInt8], status: Int32, name: String)] = [
                ([], 64, "invalidRequest"), (tooLarge, 77, "limitExceeded"),
                (Array("<!doctype html>".utf8), 65, "badImageData"),
                (Array(cut), 65, "badImageData"),
            ]
            try await withStack { stack in
                for (input, status, name) in cases {
                    let run = try stack.get(["-", "--resize", "50x50", "--json"], input: input)
                    #expect(run.exitStatus == status, "\(run)")
                    #expect(try run.json()["error"]?["name"]?.text == name, "\(run)")
                }
            }
        }

        @Test func getReadsStandardInputForAStackOfItsOwn() throws {
            let png = try Images.quadrants().png()
            let folder = TemporaryDirectory()
            let places = ["--runtime-dir", folder.file("run"), "--cache-dir", folder.file("cache")]
            let run = try CommandLineRun(["get", "-", "--private", "-o", "-"] + places, input: png)
            let end = try run.end()
            #expect(end.exitStatus == 0 && end.output == png, "\(end.errorText)")
        }
    }
}
