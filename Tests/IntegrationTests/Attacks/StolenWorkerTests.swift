import Wire

extension RealProcesses {
    /// A compromised worker impersonates another worker or kind, or sends outcomes of an earlier
    /// session.
    @Suite struct StolenWorkerTests {
        private let origin = OriginServer()
        private let image: [UInt8]

        init() throws {
            image = try Images.waves(width: 80, height: 60).png()
            origin.route("/*", .bytes(image))
        }

        private func load(_ name: String, _ client: ImagebusClient) -> LoadTask {
            client.load(ImageRequest(origin.url("/\(name).png"), fit: 20))
        }

        /// The names of segments reveal the incarnations of all workers to processes that may list
        /// them.
        private func siblings(_ kind: WorkerKind, _ stack: StackHarness) -> [Incarnation] {
            let names = DirectoryEntries.names("\(stack.runtimeDirectory)/arena/\(kind.name)")
            let lives = names.compactMap { Identifier128(hex: String($0.prefix { $0 != "." })) }
            return Set(lives).map { Incarnation($0) }
        }

        /// The reply, or nothing if none arrives within a second: a rejected worker gets no reply.
        private func answer(
            to hello: WorkerHello, at kind: WorkerKind, _ stack: StackHarness
        ) throws -> WorkerCommand? {
            let peer = try WirePeer(stack.backSocket(kind))
            var encoder = MessageEncoder()
            var decoder = MessageDecoder()
            let encoded = try encoder.encode(WorkerMessage.hello(hello))
            try peer.send([encoded.header.bytes, encoder.packed()])
            guard let frames = try peer.receive(within: .seconds(1)) else { return nil }
            let (head, body) = (frames[0], frames[1])
            let header = try FrameHeader(decoding: head.span.bytes)
            return try decoder.workerCommand(header.kind, body.span.bytes)
        }

        @Test(arguments: [WorkerKind.download, .decode, .transform])
        func noLivingWorkerIsPosedAs(_ kind: WorkerKind) async throws {
            try await withClient { stack, client in
                for number in 0..<4 { #expect(await load("\(number)", client).errorCode == nil) }
                let lives = siblings(kind, stack)
                #expect(!lives.isEmpty)
                for life in lives {
                    let hello = try WorkerHello(
                        incarnation: life, pid: 1, restarts: 0, version: "test", credit: 1,
                        secret: stack.listenerSecret(kind))
                    if let answer = try answer(to: hello, at: kind, stack) {
                        Issue.record("\(kind.name) \(life) has two workers: \(answer)")
                    }
                }
                #expect(await load("after", client).errorCode == nil)
                let report = try await stack.awaitIdle()
                #expect(report.processes.allSatisfy { $0.restarts == 0 })
            }
        }

        /// Its messages end its session or have no effect.
        @Test func noDecoderSpeaksForTheCache() async throws {
            try await withClient { stack, client in
                let first = try await load("kept", client).response
                let forged = BlockReference(
                    arena: .results, segment: 1, offset: 64, length: 100, block: BlockID(1))
                let info = try #require(first.info)
                let messages: [WorkerMessage] = [
                    .stored(
                        StoredNotice(
                            key: first.key, reference: forged, info: info,
                            expiresInMilliseconds: nil)),
                    .stored(
                        StoredNotice(
                            key: "of its own", reference: Forgery.honest(BlockID(1)), info: info,
                            expiresInMilliseconds: nil)),
                    .evicted((1...64).map { BlockID($0) }),
                ]
                for message in messages {
                    let worker = try WireWorker(.decode, stack, credit: 1)
                    try worker.send(message)
                    #expect(try worker.isRefused(), "\(message)")
                    let again = try await load("kept", client).response
                    #expect(again.bytes?.array == first.bytes?.array)
                    #expect(again.cacheType == .memory)
                }
            }
        }

        @Test func aSecondHelloEndsTheSession() async throws {
            try await withClient { stack, client in
                let worker = try WireWorker(.transform, stack, credit: 1)
                try worker.send(
                    .hello(
                        WorkerHello(
                            incarnation: Incarnation(.random), pid: 1, restarts: 0,
                            version: "test", credit: 9, secret: stack.listenerSecret(.transform))))
                _ = try await stack.awaitStatus("one session of the two") { report in
                    report.processes(.transform).count { $0.pid == 1 } == 1
                        && report.processes(.transform).count == 3
                }
                #expect(await load("after", client).errorCode == nil)
            }
        }

        /// The job was assigned to another worker when the session ended.
        @Test(arguments: [WorkerKind.download, .decode, .transform])
        func anOutcomeOfAnEarlierSessionIsNotBelieved(_ kind: WorkerKind) async throws {
            try await withClient { stack, client in
                let expected = try await load("first", client).response.bytes?.array
                var tasks: [LoadTask] = []
                var job: Job?
                var worker: WireWorker? = try WireWorker(kind, stack, credit: 1_000)
                try worker?.announce()
                for number in 0..<3 { tasks.append(load("held\(number)", client)) }
                job = try worker?.job(within: defaultTimeout)
                let held = try #require(job)
                worker = nil
                var next: WireWorker? = try WireWorker(kind, stack, credit: 1)
                try next?.announce()
                for attempt in [held.attempt, held.attempt + 1, .max] {
                    var past = held
                    past.attempt = attempt
                    try next?.send(.outcome(Forgery.fileMissing.outcome(of: past)))
                }
                // A job assigned to it meanwhile goes to another worker when the connection ends.
                try next?.send(.goodbye(.recycled))
                next = nil
                for task in tasks {
                    #expect(try await task.response.bytes?.array == expected)
                }
            }
        }
    }
}
