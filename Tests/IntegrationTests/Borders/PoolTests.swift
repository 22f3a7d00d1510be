import Wire

extension RealProcesses {
    /// Pools of workers defined by the configuration: with Imagebus programs and with plug-ins.
    @Suite struct PoolTests {
        private let folder = TemporaryDirectory()

        private func arguments(_ pools: String) -> [String] {
            folder.configuration("pools:\n\(pools)\n")
        }

        /// An image that no built-in decoder accepts.
        private static let outsideImage = Array("GIF89a, as somebody else reads it".utf8)

        private func origin() throws -> OriginServer {
            let source = Images.quadrants(width: 80, height: 60)
            let origin = OriginServer("/a.jpg", .jpeg(try source.jpeg(quality: 85)))
            origin.route("/a.png", .bytes(try source.png()))
            origin.route("/a.webp", .bytes(try source.webp(quality: 80), contentType: "image/webp"))
            origin.route("/a.gif", .bytes(Self.outsideImage, contentType: "image/gif"))
            return origin
        }

        // MARK: - Imagebus programs

        @Test func aSecondPoolOfDecodersIsConfigurationAlone() async throws {
            let origin = try origin()
            let pools = """
                  second: {kind: decode, formats-in: [png]}
                  decode: {formats-in: [jpeg]}
                """
            try await withStack(arguments(pools), decoders: 1) { stack in
                let before = try await stack.awaitStatus("all processes") {
                    $0.processes.count == 6
                }
                #expect(
                    before.processes(.decode).map(\.pool.text).sorted() == ["decode", "second"])
                let sandboxes = before.processes(.decode).map(\.sandbox)
                #expect(sandboxes[0] == sandboxes[1], "same sandbox as the other one")
                var (jobs, last) = ([[Int]](), before)
                for (name, pool) in [("/a.png", "second"), ("/a.jpg", "decode")] {
                    let end = try stack.get([origin.url(name), "--resize", "40x40", "--json"])
                    #expect(try end.json()["width"]?.integer == 40, "\(end)")
                    // A job, and the release of its output, which arrives some time later.
                    let report = try await stack.awaitStatus("a job and a release") {
                        [last] in $0.sent(to: pool, since: last) >= 2
                    }
                    jobs.append(["second", "decode"].map { report.sent(to: $0, since: last) })
                    last = report
                }
                #expect(jobs[0][0] > 0 && jobs[0][1] == 0, "one pool gets PNG: \(jobs)")
                #expect(jobs[1][0] == 0 && jobs[1][1] > 0, "the other gets JPEG: \(jobs)")
                let none = try stack.get([origin.url("/a.webp"), "--resize", "40x40"])
                none.expect(65, "no pool of decode workers is granted", "'webp'")
                let status = try stack.run(["status", "--all"])
                #expect(status.outputText.contains("decode/second"), "\(status)")
                #expect(status.outputText.contains("POOL"), "\(status)")
                let metrics = try stack.run(["status", "--prometheus"])
                let line = "imagebus_pool_workers{pool=\"second\",kind=\"decode\"} 1"
                #expect(metrics.outputText.contains(line), "\(metrics)")
            }
        }

        /// A pool served on its own, for example in a container: its workers are started
        /// separately.
        @Test func aPoolIsServedApart() async throws {
            let origin = try origin()
            let pools = "  second: {kind: decode, formats-in: [png]}"
            let coordinator = arguments(pools) + ["--only", "coordinator"]
            try await withStack(coordinator, decoders: 1) { stack in
                let kinds = [
                    ["download"], ["cache", "--memory-only"], ["decode", "--pool", "second"],
                    ["transform", "--input-pools", "second"],
                ]
                var others: [CommandLineRun] = []
                for words in kinds {
                    others.append(
                        try stack.begin(
                            ["serve", "--allow-private-networks", "--decode", "1"]
                                + ["--transform", "1", "--only"] + words))
                }
                _ = try await stack.awaitStatus("all workers") { $0.processes.count == 5 }
                let end = try stack.get([origin.url("/a.png"), "--resize", "40x40", "--json"])
                #expect(try end.json()["width"]?.integer == 40, "\(end)")
                let status = try await stack.awaitIdle()
                #expect(status.processes(.decode).map(\.pool.text) == ["second"])
                for other in others { try other.send(.terminate) }
                for other in others { #expect(try other.end().exitStatus == 0) }
            }
        }

        // MARK: - Plug-ins

        private static let outside = """
              outside: {kind: decode, trust: external, formats-in: [gif], credit: 2}
              apart: {kind: decode, trust: external, formats-in: [bmp]}
            """

        @Test func aForeignWorkerDoesWhatItsPoolIsGrantedAndNothingElse() async throws {
            let origin = try origin()
            try await withClient(arguments(Self.outside), decoders: 1) { stack, client in
                // A worker with more capabilities than its pool doesn't get more than the pool is
                // granted.
                let worker = try WireWorker(
                    external: "outside", stack, credit: 100,
                    WorkerCapabilities(formatsIn: ["gif", "jpeg", "png"]))
                let pixels = try OutsidePixels(of: worker, in: stack)
                defer { pixels.remove() }
                try worker.announce()
                let gif = client.load(ImageRequest(origin.url("/a.gif"), fit: 8, format: .png))
                let job = try #require(try worker.job(within: defaultTimeout))
                guard case .decode(let work) = job.work else {
                    Issue.record("\(job.work) came")
                    return
                }
                #expect(work.source.producer?.pool == PoolName(.download))
                for name in ["/a.jpg", "/a.png"] {
                    let other = client.load(ImageRequest(origin.url(name), fit: 8, format: .png))
                    _ = try await other.response
                }
                #expect(try worker.job(within: .zero) == nil, "it gets no other formats")
                // The claimed producer isn't trusted: the bytes belong to its pool.
                try worker.send(.outcome(pixels.outcome(of: job, .gif, claiming: .decode)))
                let image = try await gif.response
                let result = try Pixels(decoding: #require(image.bytes?.array))
                #expect(result.at(4, 4) == OutsidePixels.color, "its output is used")
                let report = try await stack.awaitIdle()
                let row = try #require(report.pools.first { $0.name.text == "outside" })
                #expect(row.isExternal && row.workers == 1 && row.credit == 2, "\(row)")
                #expect(report.counter("expelledWorkers") == 0)
            }
        }

        @Test func aPoolWithoutAWorkerIsNamedByHealthStatusAndTheError() async throws {
            let origin = try origin()
            let pools = "  outside: {kind: decode, trust: external, formats-in: [gif]}"
            try await withStack(arguments(pools), decoders: 1) { stack in
                let expected = "no worker of the pool 'outside' is connected: start the plug-in"
                let health = try stack.run(["health"])
                #expect(health.exitStatus == 0, "plug-ins don't affect it: \(health)")
                #expect(health.errorText.contains(expected), "\(health)")
                #expect(try stack.run(["status"]).outputText.contains(expected))
                try stack.get([
                    origin.url("/a.gif"), "--resize", "8x8", "--timeout", "1s",
                ]).expect(124, expected)
                #expect(FileBytes.text(stack.logFile)?.contains(" pool=outside") == true)
                let worker = try WireWorker(external: "outside", stack)
                _ = try await stack.awaitStatus("the worker") {
                    $0.pools.contains { $0.name.text == "outside" && $0.workers == 1 }
                }
                #expect(try stack.run(["health"]).exitStatus == 0)
                withExtendedLifetime(worker) {}
            }
        }

        /// The other pool of the kind `decode` isn't affected.
        @Test func onePoolOfAKindIsDrained() async throws {
            let pools = "  second: {kind: decode, formats-in: [png]}"
            try await withStack(arguments(pools), decoders: 1) { stack in
                let before = try await stack.awaitStatus("all processes") {
                    $0.processes.count == 6
                }
                func pids(_ report: StatusReport, _ pool: String) -> [UInt32] {
                    report.processes.filter { $0.pool.text == pool }.map(\.pid)
                }
                let end = try stack.run(["drain", "decode/second"]).expect(0)
                #expect(end.outputText == "replaced 1 decode/second process\n")
                let after = try await stack.awaitStatus("the next process") {
                    $0.processes.count == 6
                }
                #expect(pids(after, "decode") == pids(before, "decode"))
                #expect(pids(after, "second") != pids(before, "second"))
                try stack.run(["drain", "decode/third"]).expect(64, "decode/decode, decode/second")
            }
        }

        /// Detected before anything starts, and only by the `serve` that would start it.
        @Test func aCommandThatCannotBeRunIsAnErrorOfTheConfiguration() async throws {
            let plain = folder.write([], to: "plain")
            let commands = [("gone", "/nowhere/coder"), ("plain", plain), ("place", "/usr/bin")]
            let pools = commands.map { name, path in
                "  \(name): {kind: decode, trust: external, formats-in: [qoi], command: [\(path)]}"
            }.joined(separator: "\n")
            let end = try CommandLineRun(
                ["serve", "--runtime-dir", folder.file("run"), "--memory-only"] + arguments(pools)
            ).end().expect(64)
            for (name, path) in commands {
                let fault = "pools.\(name).command: \(path) does not exist or is not executable"
                #expect(end.errorText.contains(fault), "\(end)")
            }
            let coordinator = arguments(pools) + ["--only", "coordinator"]
            try await withStack(coordinator, decoders: 1) { stack in
                _ = try await stack.awaitStatus("a coordinator") { $0.processes.count == 1 }
            }
        }

        @Test func aJobWaitsForAForeignWorkerAndLiesEndItsSession() async throws {
            let origin = try origin()
            try await withClient(arguments(Self.outside), decoders: 1) { stack, client in
                let gif = client.load(ImageRequest(origin.url("/a.gif"), fit: 8, format: .png))
                _ = try await stack.awaitStatus("a job that waits for its pool") { report in
                    report.pools.contains { $0.name.text == "outside" && $0.queued == 1 }
                }
                // A worker of another pool, and one of this pool without the granted capability.
                let apart = try WireWorker(external: "apart", stack)
                let unable = try WireWorker(
                    external: "outside", stack, WorkerCapabilities(formatsIn: []))
                #expect(try unable.isRefused())
                let liar = try WireWorker(external: "outside", stack)
                let pixels = try OutsidePixels(of: liar, in: stack)
                try liar.announce()
                let job = try #require(try liar.job(within: defaultTimeout))
                try liar.send(.outcome(pixels.outcome(of: job, .jpeg)))
                #expect(try liar.isRefused(), "its pool is only granted GIF")
                pixels.remove()
                let honest = try WireWorker(external: "outside", stack)
                let right = try OutsidePixels(of: honest, in: stack)
                defer { right.remove() }
                try honest.announce()
                let again = try #require(try honest.job(within: defaultTimeout))
                #expect(again.id == job.id && again.attempt == job.attempt + 1)
                try honest.send(.outcome(right.outcome(of: again, .gif)))
                _ = try await gif.response
                #expect(try apart.job(within: .zero) == nil)
                let report = try await stack.awaitIdle()
                #expect(report.counter("expelledWorkers") == 2)
            }
        }

        /// Both frames are at the stated positions, but only the first was requested.
        @Test func whoHandsOverMoreFramesThanItWasAskedForLosesItsSession() async throws {
            let origin = try origin()
            try await withClient(arguments(Self.outside), decoders: 1) { stack, client in
                let gif = client.load(ImageRequest(origin.url("/a.gif"), fit: 8, format: .png))
                for count in [2, 1] {
                    let worker = try WireWorker(external: "outside", stack)
                    let pixels = try OutsidePixels(of: worker, in: stack)
                    defer { pixels.remove() }
                    try worker.announce()
                    let job = try #require(try worker.job(within: defaultTimeout))
                    guard case .decode(let work) = job.work else {
                        Issue.record("\(job.work) came")
                        return
                    }
                    #expect(work.framesMax == 1)
                    try worker.send(.outcome(pixels.outcome(of: job, .gif, frames: count)))
                    if count == 1 { _ = try await gif.response }
                    #expect(try count == 1 || worker.isRefused())
                }
                let report = try await stack.awaitIdle()
                #expect(report.counter("expelledWorkers") == 1)
            }
        }

        @Test func nobodyPosesAsAnotherPool() async throws {
            try await withStack(arguments(Self.outside), decoders: 1) { stack in
                let listeners = ["outside", "apart", "decode"]
                let secrets = try listeners.dropLast().map { pool in
                    let path = "\(stack.runtimeDirectory)/back/\(pool)/secret"
                    let file = try FileDescriptor.open(path)
                    #expect(try file.status().mode & 0o777 == 0o600)
                    return ListenerSecret(try file.readToEnd(bytesMax: 64))
                }
                for (pool, secret) in zip(listeners, secrets) {
                    for listener in listeners where listener != pool {
                        #expect(
                            try refusal(of: secret, at: listener, stack) == .addressForbidden,
                            "\(pool) at \(listener)")
                    }
                }
                let report = try await stack.awaitStatus("a status") { _ in true }
                #expect(report.processes(.decode).count == 1)
                let long = Set((0..<64).map { "f\($0)" })
                let worker = try WireWorker(
                    external: "outside", stack, WorkerCapabilities(formatsIn: long))
                #expect(try worker.job(within: .zero) == nil)
                let malformed = try refusal(
                    of: secrets[0], at: "outside", stack, WorkerCapabilities(steps: ["blur"])
                ) { $0.replacing(Array("blur".utf8), with: Array("b ur".utf8)) }
                #expect(malformed == .protocolViolation)
            }
        }

        private func refusal(
            of secret: ListenerSecret?, at pool: String, _ stack: StackHarness,
            _ capabilities: WorkerCapabilities = .all,
            altered: ([UInt8]) -> [UInt8] = { $0 }
        ) throws -> ErrorCode? {
            let peer = try WirePeer("\(stack.runtimeDirectory)/back/\(pool)/back.sock")
            var encoder = MessageEncoder()
            var decoder = MessageDecoder()
            let hello = WorkerHello(
                incarnation: Incarnation(.random), pid: UInt32(CurrentProcess.processID),
                restarts: 0, version: "test", credit: 1, secret: secret,
                capabilities: capabilities)
            let encoded = try encoder.encode(WorkerMessage.hello(hello))
            try peer.send([encoded.header.bytes, altered(encoder.packed())])
            let frames = try #require(try peer.receive(within: defaultTimeout))
            let (head, body) = (frames[0], frames[1])
            let header = try FrameHeader(decoding: head.span.bytes)
            guard
                case .refused(let error) = try decoder.workerCommand(
                    header.kind, body.span.bytes)
            else { return nil }
            return error.code
        }
    }
}

/// Pixels of one color in a segment of an external pool.
private struct OutsidePixels {
    static let color: [UInt8] = [10, 200, 30]
    private static let size = PixelSize(width: 16, height: 16)

    private let file: WireWorker.SegmentFile

    init(of worker: WireWorker, in stack: StackHarness) throws {
        file = try worker.makeSegment(in: stack, of: "outside")
        try file.write((0..<Self.size.width * Self.size.height).flatMap { _ in Self.color })
    }

    func remove() { file.remove() }

    /// An outcome of a decode, optionally with a false producer.
    func outcome(
        of job: Job, _ format: ImageFormat, claiming kind: WorkerKind? = nil, frames count: Int = 1
    ) -> JobOutcome {
        let bytes = UInt64(Self.size.width * Self.size.height * 3)
        let layout = PixelLayout(bands: .rgb, size: Self.size, stride: Self.size.width * 3)
        let frames = (1...UInt64(count)).map { number in
            DecodedImage.Frame(
                reference: BlockReference(
                    producer: kind.map { .init(kind: $0, incarnation: Incarnation(.random)) },
                    segment: Forgery.segment, offset: 64, length: bytes, block: BlockID(number)),
                layout: layout)
        }
        let info = ImageInfo(format: format, size: Self.size, pages: count)
        return JobOutcome(
            id: job.id, attempt: job.attempt,
            result: .decoded(DecodedImage(info: info, frames: frames)), workMicroseconds: 1_000)
    }
}

extension StatusReport {
    /// The number of messages to the workers of a pool between two reports.
    fileprivate func sent(to pool: String, since earlier: StatusReport) -> Int {
        func count(_ report: StatusReport) -> Int {
            report.sockets.first { $0.name == "back/\(pool)" }.map { Int($0.messagesSent) } ?? 0
        }
        return count(self) - count(earlier)
    }
}
