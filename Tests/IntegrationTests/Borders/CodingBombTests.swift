extension RealProcesses {
    /// Bodies in content codings that expand enormously: loading them neither blocks the single
    /// download thread nor uses memory that isn't accounted for.
    @Suite struct CodingBombTests {
        private static let bodyLimit = 32 << 20
        private let origin = OriginServer()

        @Test func bombsOfOneClientDoNotHoldUpAnother() async throws {
            let loads = 20
            let bombs = try routeBombs()
            let image = try Images.waves(width: 64, height: 64).jpeg(quality: 85)
            origin.route("/small.jpg", .bytes(image))
            let programs = AlteredPrograms(
                "imagebus-coordinator", arguments: ["--body-limit", "\(Self.bodyLimit)"])
            try await withStack(environment: programs.environment) { stack in
                let report = try await stack.awaitIdle()
                let download = try stack.child(#require(report.processes(.download).first))
                let before = try ProcessMetrics(of: download.processID)
                let (attacker, other) = (try stack.client(), try stack.client())
                let attack = bombs.map { (attacker.load($0.request), $0) }
                var times: [Duration] = []
                for number in 0..<loads {
                    var request = ImageRequest(origin.url("/small.jpg?\(number)"), fit: 32)
                    request.timeoutMilliseconds = 30_000
                    let started = ContinuousClock.now
                    #expect(await other.load(request).errorCode == nil)
                    times.append(started.duration(to: .now))
                }
                let during = try ProcessMetrics(of: download.processID)
                for (task, bomb) in attack {
                    #expect(await task.errorCode == bomb.code, "\(bomb.url)")
                }
                print(
                    "content codings: \(bombs.count) bombs beside \(loads) loads, p99 "
                        + "\(times.max() ?? .zero), median \(times.sorted()[loads / 2]); download "
                        + "\(before), then \(during)")
                #expect(times.allSatisfy { $0 < .seconds(10) })
                #expect(during.bytes < before.bytes + (64 << 20))
                #expect(stack.children.contains { $0.processID == download.processID })
                try await stack.awaitIdle()
            }
        }

        /// A load and the result that it must have.
        private struct Bomb {
            let url: String
            let code: ErrorCode

            /// With a generous timeout for a busy machine, since loads take turns.
            var request: ImageRequest {
                var request = ImageRequest(url: url)
                request.timeoutMilliseconds = 300_000
                return request
            }
        }

        private func routeBombs() throws -> [Bomb] {
            let nested = try PackedBodies.nested(512)
            let zeros = try PackedBodies.zeros(mebibytes: 256)
            let layers = "gzip, gzip, gzip, gzip"
            origin.route("/nested", .bytes(nested).with(header: "Content-Encoding", layers))
            origin.route(
                "/transfer",
                .bytes(nested).changed { $0.length = .untilClose }
                    .with(header: "Transfer-Encoding", layers))
            origin.route(
                "/zstd",
                .bytes(PackedBodies.zstd(blocks: 2_250))
                    .with(header: "Content-Encoding", "zstd"))
            origin.route("/zeros", .bytes(zeros).with(header: "Content-Encoding", "gzip"))
            print("content codings: \(nested.count) bytes of four layers")
            #expect(nested.count < 100_000)
            let kinds: [(String, Int, ErrorCode)] = [
                ("/nested", 2, .protocolBroken), ("/transfer", 2, .protocolBroken),
                ("/zstd", 12, .protocolBroken), ("/zeros", 6, .limitExceeded),
            ]
            return kinds.flatMap { path, count, code in
                (0..<count).map { Bomb(url: origin.url("\(path)?\($0)"), code: code) }
            }
        }
    }
}
