import Wire

/// Frames that aren't a valid message, and the replies before and after a hello.
struct Garbage: Sendable {
    let what: String
    let frames: [[UInt8]]
    /// The expected reply.
    let answer: Answer

    enum Answer: Sendable {
        /// `Refused`, within a session and without one.
        case refusal
        /// The frozen reply to another version, in any state.
        case versions
    }

    init(_ what: String, _ frames: [[UInt8]], _ answer: Answer = .refusal) {
        (self.what, self.frames, self.answer) = (what, frames, answer)
    }

    /// `hello` is a kind that the listener accepts, `stranger` one that only the other side may
    /// send.
    static func all(hello: MessageKind, stranger: MessageKind) -> [Garbage] {
        let header = FrameHeader(kind: hello).bytes
        let noise = (0..<2_000).map { UInt8(truncatingIfNeeded: $0 * 167 + $0 / 7) }
        return [
            Garbage("one empty frame", [[]]), Garbage("an empty pair", [[], []]),
            Garbage("a header alone", [header]), Garbage("noise alone", [noise]),
            Garbage("a third frame", [header, [], []]),
            Garbage("an envelope", [[], header, []]),
            Garbage("twenty frames", Array(repeating: header, count: 20)),
            Garbage("noise for a header", [Array(noise.prefix(8)), []]),
            Garbage("half a header", [Array(header.prefix(4)), []]),
            Garbage("a long header", [header + [0], []]),
            Garbage("a last byte that is not 0", [Array(header.prefix(7)) + [1], []]),
            Garbage("noise for a body", [header, noise]),
            Garbage("an empty hello", [header, []]),
            Garbage("an unknown kind", [Array(header.prefix(5)) + [200, 0, 0], []]),
            Garbage("a wrong direction", [FrameHeader(kind: stranger).bytes, []]),
            Garbage("version 0", [FrameHeader(kind: hello, version: 0).bytes, noise], .versions),
            Garbage("version 9", [FrameHeader(kind: hello, version: 9).bytes, []], .versions),
        ]
    }
}

extension RealProcesses {
    /// Anything can be sent by whatever may connect; other connections aren't affected.
    @Suite struct GarbageTests {
        /// Header and body of the reply to an unsupported version (PROTOCOL §4).
        private static let versions: [[UInt8]] = [[0x49, 0x42, 0x55, 0x53, 1, 0, 0, 0], [1, 1]]

        @Test func garbageInFramesHarmsNobody() async throws {
            try await withStack { stack in
                let before = Set(stack.children.map(\.processID))
                var sent = 0
                for garbage in Garbage.all(hello: .clientHello, stranger: .reply) {
                    try expectAnswer(to: garbage, from: WirePeer(stack.frontSocket))
                    let client = try WireClient(stack)
                    try expectAnswer(to: garbage, from: client.peer)
                    try client.send(.status)
                    guard case .status = try client.receive(within: defaultTimeout) else {
                        Issue.record("\(garbage.what) ended the session of a client")
                        continue
                    }
                    sent += 2
                }
                for kind in WorkerKind.workers {
                    for garbage in Garbage.all(hello: .workerHello, stranger: .job) {
                        let stranger = try WirePeer(stack.backSocket(kind))
                        try expectAnswer(to: garbage, from: stranger)
                        sent += 1
                        // There can be only one cache: a second one doesn't get a session.
                        if kind == .cache { continue }
                        let worker = try WireWorker(kind, stack, credit: 0)
                        try expectAnswer(to: garbage, from: worker.peer)
                        sent += 1
                    }
                }
                let report = try await stack.awaitIdle()
                #expect(report.counter("malformedMessages") == sent)
                #expect(Set(stack.children.map(\.processID)) == before)
                try await expectServes(stack)
            }
        }

        @Test func framesThatAreTooLargeCloseTheirConnectionOnly() async throws {
            try await withStack { stack in
                let before = Set(stack.children.map(\.processID))
                let listeners =
                    [(stack.frontSocket, MessageLimits.frontFrameBytesMax)]
                    + WorkerKind.workers.map {
                        (stack.backSocket($0), MessageLimits.backFrameBytesMax)
                    }
                for (path, limit) in listeners {
                    for bytes in [limit + 1, limit * 10] {
                        let peer = try WirePeer(path)
                        let header = FrameHeader(kind: .status).bytes
                        try peer.send([header, [UInt8](repeating: 7, count: bytes)])
                        #expect(try peer.isClosed(), "\(bytes) bytes at \(path)")
                    }
                }
                _ = try await stack.awaitStatus("all strangers are counted") {
                    ($0.counter("strangers") ?? 0) >= 2 * listeners.count
                }
                #expect(Set(stack.children.map(\.processID)) == before)
                try await expectServes(stack)
            }
        }

        @Test func rawBytesOnTheSocketsCloseTheirConnectionOnly() async throws {
            let noise = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 89 &+ $0 / 3) }
            // The greeting of ZMTP 3.0 with the NULL mechanism, as sent by libzmq.
            let greeting: [UInt8] =
                [0xFF] + [UInt8](repeating: 0, count: 8) + [0x7F, 3, 0] + Array("NULL".utf8)
                + [UInt8](repeating: 0, count: 48)
            let rows: [[UInt8]] = [
                noise, [0], Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), greeting + noise,
                greeting + [4, 255, 255, 255, 255, 255, 255, 255, 255, 255],
                greeting + [2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            ]
            try await withStack { stack in
                let before = Set(stack.children.map(\.processID))
                let paths = [stack.frontSocket] + WorkerKind.workers.map(stack.backSocket)
                let streams = try paths.flatMap { path in
                    try rows.map { bytes in
                        let stream = try #require(UnixStream(path))
                        stream.send(bytes)
                        return stream
                    }
                }
                try await expectServes(stack)
                for (index, stream) in streams.enumerated() {
                    #expect(stream.isClosed(), "row \(index % rows.count)")
                }
                _ = try await stack.awaitStatus("all strangers are counted") {
                    ($0.counter("strangers") ?? 0) >= streams.count
                }
                #expect(Set(stack.children.map(\.processID)) == before)
                try await expectServes(stack)
            }
        }

        private func expectAnswer(
            to garbage: Garbage, from peer: WirePeer
        ) throws {
            try peer.send(garbage.frames)
            let frames = try peer.receive(within: defaultTimeout)
            switch garbage.answer {
            case .versions: #expect(frames == Self.versions, "\(garbage.what)")
            case .refusal:
                #expect(frames?.first?[5] == MessageKind.refused.rawValue, "\(garbage.what)")
            }
        }

        private func expectServes(_ stack: StackHarness) async throws {
            let source = Images.quadrants()
            let origin = OriginServer("/a.png", .bytes(try source.png()))
            var request = ImageRequest(url: origin.url("/a.png"))
            request.options = .fromLoaderOnly
            request.output.format = .png
            request.steps = [.flip(horizontal: true, vertical: true)]
            let client = try stack.client()
            let image = try await client.load(request).response
            let pixels = try Pixels(decoding: #require(image.bytes?.array))
            #expect(pixels.at(0, 0) == Images.yellow)
        }
    }
}
