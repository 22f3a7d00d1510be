import Wire

extension RealProcesses {
    /// Several loads in one message, and several replies (PROTOCOL §8.2).
    @Suite struct BatchTests {
        private let origin = OriginServer()
        private let arguments = ["--allow-private-networks"]

        /// Loads `count` images so that the memory tier has them.
        private func warm(_ count: Int, _ stack: StackHarness) async throws -> [ImageRequest] {
            let requests = try (0..<count).map { number in
                let image = try Images.waves(width: 20 + number, height: 20).png()
                origin.route("/\(number).png", .bytes(image))
                return ImageRequest(url: origin.url("/\(number).png"))
            }
            let client = try stack.client()
            for request in requests {
                _ = try await client.load(request).response
                #expect(try await client.load(request).response.cacheType == .memory)
            }
            return requests
        }

        private func token(_ number: Int) -> Token {
            Token(Identifier128(high: 77, low: UInt64(number)))
        }

        /// Collects replies from the next messages, by the number of the token: the error code, or
        /// nil for an image.
        private func ends(
            _ count: Int, of client: WireClient
        ) throws -> (ends: [UInt64: ErrorCode?], batches: Int) {
            var (ends, batches) = ([UInt64: ErrorCode?](), 0)
            while ends.count < count {
                let (replies, isBatch) = try client.receiveReplies()
                if isBatch { batches += 1 }
                for reply in replies {
                    switch reply {
                    case .reply(let reply):
                        guard reply.isTerminal else { continue }
                        if case .failure(let error) = reply.outcome {
                            ends[reply.token.value.low] = .some(error.code)
                        } else {
                            ends[reply.token.value.low] = .some(nil)
                        }
                    case .refused(let error, let token?):
                        ends[token.value.low] = .some(error.code)
                    default: throw StackFailure("\(reply) came")
                    }
                }
            }
            return (ends, batches)
        }

        /// A hit, a load that must be fetched, an invalid one, and another hit: each gets its
        /// terminal reply, and hits are batched for clients that accept batches.
        @Test(arguments: [true, false])
        func eachLoadEndsAsItWouldAlone(takesBatches: Bool) async throws {
            try await withStack(arguments) { stack in
                let requests = try await warm(3, stack)
                origin.route("/cold.png", .bytes(try Images.quadrants().png()))
                let client = try WireClient(stack, takesBatches: takesBatches)
                var loads = requests
                loads.append(ImageRequest(url: origin.url("/cold.png")))
                loads.append(ImageRequest(url: "ftp://127.0.0.1/none.png"))
                for round in 0..<2 {
                    var bodies: [[UInt8]] = []
                    for (number, image) in loads.enumerated() {
                        let load = LoadRequest(token: token(10 * round + number), image: image)
                        bodies.append(try client.body(.load(load)))
                    }
                    // Its group is too short (one byte), but the token before it is readable.
                    bodies.insert(
                        Array(bodies[0].prefix(17)) + [UInt8(10 * round + 9), 0x12, 1, 7], at: 2)
                    try client.send(bodies: bodies)
                    let found = try ends(6, of: client)
                    let first = UInt64(10 * round)
                    for hit in first..<(first + 4) { #expect(found.ends[hit] == .some(nil)) }
                    #expect(found.ends[first + 4] == .some(.unsupportedScheme))
                    #expect(found.ends[first + 9] == .some(.invalidRequest))
                    #expect((found.batches > 0) == takesBatches)
                }
                #expect(origin.requestCount("/cold.png") == 1)
            }
        }

        @Test func aStrangerIsAnsweredOnce() async throws {
            try await withStack { stack in
                let peer = try WirePeer(stack.frontSocket)
                // 64 empty bodies.
                let message = [[UInt8]](repeating: [0x0A, 0], count: 64).flatMap { $0 }
                try peer.send([FrameHeader(kind: .loads).bytes, message])
                try peer.send([FrameHeader(kind: .loads).bytes, message])
                for _ in 0..<2 {
                    let frames = try #require(try peer.receive(within: defaultTimeout))
                    let head = try #require(frames.first)
                    #expect(try FrameHeader(decoding: head.span.bytes).kind == .helloRequired)
                }
                // The next message is handled after them.
                try peer.send([FrameHeader(kind: .status).bytes, []])
                #expect(try peer.receive(within: defaultTimeout) != nil)
                #expect(try peer.receive(within: .zero) == nil)
            }
        }

        /// On web/ every load of a batch is checked.
        @Test func whatStrangersHaveNoSayInIsRefusedInABatch() async throws {
            try await withStack(arguments) { stack in
                let requests = try await warm(1, stack)
                let client = try WireClient(stack, takesBatches: true, socket: stack.webSocket)
                var keyed = requests[0]
                keyed.context.key = .text("another")
                var named = requests[0]
                named.headers = [HTTPHeader(name: "Accept", value: "image/png")]
                let bodies = try [keyed, requests[0], named].enumerated().map { number, image in
                    try client.body(.load(LoadRequest(token: token(number), image: image)))
                }
                try client.send(bodies: bodies)
                let found = try ends(3, of: client).ends
                #expect(found == [0: .invalidRequest, 1: nil, 2: .invalidRequest])
            }
        }

        /// A batch of no body and one of too many, and invalid bodies before a valid one, which is
        /// served: each message is refused once.
        @Test func whatIsNoBatchIsRefusedAndTheSessionGoesOn() async throws {
            try await withStack(arguments) { stack in
                let client = try WireClient(stack, takesBatches: true)
                let image = ImageRequest(url: "ftp://127.0.0.1/none.png")
                let body = try client.body(.load(LoadRequest(token: token(1), image: image)))
                let nonsense = Array(repeating: [0x0A, 0] as [UInt8], count: 63)
                for bodies in [[], Array(repeating: body, count: 65), nonsense + [body]] {
                    try client.send(bodies: bodies)
                    guard case .refused(let error, nil) = try client.receive(within: defaultTimeout)
                    else { throw StackFailure("it was not refused") }
                    #expect(error.code == .protocolViolation)
                }
                #expect(try ends(1, of: client).ends == [1: .unsupportedScheme])
                try client.send(.load(LoadRequest(token: token(2), image: image)))
                #expect(try ends(1, of: client).ends == [2: .unsupportedScheme])
            }
        }

        /// Loads requested in one turn of the client go out in one message and are answered in one.
        @Test func loadsOfOneTurnAreFewMessages() async throws {
            try await withStack(arguments) { stack in
                let requests = try await warm(48, stack)
                let client = try stack.client(repeatsAnswers: false)
                let admin = try stack.operatorClient()
                _ = try await OperatorClient(client).status()
                func traffic() async throws -> StatusReport.SocketStatus {
                    let report = try await admin.status()
                    return try #require(report.sockets.first { $0.name == "front" })
                }
                // The first time, the coordinator and the client parse each of them in full.
                for request in requests { _ = try await client.load(request).response }
                let before = try await traffic()
                let tasks = await withTaskExecutorPreference(client.executor) {
                    requests.map { client.load($0) }
                }
                for task in tasks { #expect(try await task.response.cacheType == .memory) }
                let after = try await traffic()
                #expect(after.messagesReceived - before.messagesReceived <= 4)
                #expect(after.messagesSent - before.messagesSent <= 8)
            }
        }

        /// A task on the client's loop thread continues before the next image is copied; that copy
        /// reuses the memory of the previous image.
        @Test func imagesOfOneMessageFollowEachOtherInTheSameMemory() async throws {
            try await withStack(arguments) { stack in
                let requests = try await warm(24, stack)
                let client = try stack.client(repeatsAnswers: false)
                for request in requests { _ = try await client.load(request).response }
                let places = try await withThrowingTaskGroup(of: UInt.self) { group in
                    for request in requests {
                        group.addTask(executorPreference: client.executor) {
                            let image = try await client.load(request).response
                            let start = try #require(image.bytes?.lastingBytes.baseAddress)
                            return UInt(bitPattern: start)
                        }
                    }
                    return try await group.reduce(into: Set<UInt>()) { $0.insert($1) }
                }
                // One per size class; it would be 12 or more if all images were copied before the
                // first is delivered.
                #expect(places.count <= 8)
            }
        }
    }
}
