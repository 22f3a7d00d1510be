extension RealProcesses {
    /// Origins that violate TLS, HTTP/1.1 and HTTP/2. Each load ends with the expected error and
    /// within its time; other loads go on, and the download process neither grows nor ends.
    @Suite struct HostileOriginTests {
        private let authority: TestAuthority
        private let origin = OriginServer()
        private let image: [UInt8]

        init() throws {
            authority = try TestAuthority()
            image = try Images.waves(width: 64, height: 64).png()
            origin.route("/small.png", .bytes(image))
        }

        /// How a load from an origin of `origins.py` may end; nil: with an image.
        private typealias Attack = (name: String, ends: [ErrorCode?])

        private static let slow: [ErrorCode?] = [.timedOut]
        private static let broken: [ErrorCode?] = [.connectionBroken]
        private static let refused: [ErrorCode?] = [.protocolBroken]

        /// They send endlessly, as fast as the client reads, and never a byte of a body.
        private static let floods: [Attack] =
            [
                "priority-flood", "unknown-flood", "window-flood", "away-flood", "empty-data",
                "padding", "ticket-flood", "hello-requests",
            ].map { ($0, slow) }
            + ["settings-flood", "ping-flood"].map { ($0, broken + slow) }

        private static let misuses: [Attack] =
            [("whole", [nil]), ("no-streams", [nil]), ("table-flood", [nil])]
            + [
                "resets", "refused-streams", "interim-flood", "endless-head", "endless-trailers",
                "field-bomb", "many-fields", "two-heads", "no-status", "wrong-status",
                "upper-case", "line-break", "bad-index", "longer", "shorter", "pushed",
                "window-overflow", "other-stream", "text", "huge-windows", "tiny-frames",
            ].map { ($0, broken) }
            + [("reset-flood", [.shortBody, .connectionBroken])]
            + ["away-below", "away-at-once"].map { ($0, refused) }
            // If libcurl closes a connection over such a frame, the body ends there.
            + ["window-zero", "connection-window-overflow", "huge-frame"].map {
                ($0, [.badImageData])
            }
            + ["half-head", "silent-stream", "silent-body", "byte-a-second"].map { ($0, slow) }
            + [("endless-body", [.limitExceeded])]
            + [
                "interim-answers", "endless-line", "endless-fields", "empty-lines",
                "chunk-trailers",
            ].map { ($0, refused) }
            + ["slow-interim-answers", "slow-head", "chunk-extension"].map { ($0, slow) }
            + ["mute", "handshake-drip"].map { ($0, slow) }
            + ["alerts", "no-tls"].map { ($0, [.tlsFailed]) }

        /// Half of an image isn't taken for all of it, whether libcurl reports the error that ends
        /// the connection or only the end.
        private static let cuts: [Attack] = [
            ("cut-by-overflow", [.badImageData, .shortBody, .connectionBroken, .protocolBroken])
        ]

        /// Libraries read a connection until it is empty; a turn is bounded nevertheless.
        @Test func floodsHoldUpNoOtherLoad() async throws {
            try await run(Self.floods)
        }

        @Test func misusesEndWithTheirErrors() async throws {
            try await run(Self.misuses + Self.cuts)
        }

        private func run(_ attacks: [Attack]) async throws {
            let hostile = try HostileOrigins(image, of: authority)
            // On a busy machine, fifty handshakes with a single process take seconds.
            let arguments = [
                "--allow-private-networks", "--ca-file", authority.certificate,
                "--connect-timeout", "10s", "--low-speed-time", "5s",
            ]
            let environment = ["IMAGEBUS_FETCH_RETRIES": "0"]
            try await withStack(arguments, decoders: 1, environment: environment) { stack in
                let report = try await stack.awaitIdle()
                let download = try stack.child(#require(report.processes(.download).first))
                let before = try ProcessMetrics(of: download.processID)
                let attacker = try stack.client()
                let loads = try attacks.map { attack in
                    let url = try hostile.url(attack.name)
                    return (attacker.load(ImageRequest(url, fit: 32)), attack)
                }
                let times = try await visit(stack, beside: loads.count)
                for (task, attack) in loads {
                    let code = await task.errorCode
                    #expect(attack.ends.contains(code), "\(attack.name) ended with \(code as Any)")
                }
                let after = try ProcessMetrics(of: download.processID)
                print(
                    "hostile origins: \(attacks.count), beside them \(times.count) loads, longest "
                        + "\(times.max() ?? .zero); download \(before), then \(after)")
                #expect(after.bytes < before.bytes + (64 << 20))
                #expect(stack.children.contains { $0.processID == download.processID })
                try await stack.awaitIdle()
            }
        }

        /// Loads of another client, one after another.
        private func visit(_ stack: StackHarness, beside attacks: Int) async throws -> [Duration] {
            let other = try stack.client()
            var times: [Duration] = []
            for number in 0..<20 {
                var request = ImageRequest(origin.url("/small.png?\(attacks),\(number)"), fit: 32)
                request.timeoutMilliseconds = 30_000
                let started = ContinuousClock.now
                #expect(await other.load(request).errorCode == nil)
                times.append(started.duration(to: .now))
            }
            #expect(times.allSatisfy { $0 < .seconds(10) }, "\(times)")
            return times
        }
    }
}
