extension RealProcesses {
    /// A gateway supervised by `serve`.
    @Suite struct GatewayServeTests {
        private static let arguments = [
            "--allow-private-networks", "--gateway", "127.0.0.1:0", "--gateway-unsigned",
        ]
        private let origin = OriginServer()

        private func gateway(_ stack: StackHarness) throws -> ObservedProcess {
            try #require(stack.children.first { $0.name == "imagebus-gatewa" })
        }

        @Test func itIsListedAndAnswersAndComesBack() async throws {
            origin.route("/a.jpg", .bytes(try Images.smallPhoto()))
            let target = "/unsafe/rs:fit:40:40/plain/\(origin.url("/a.jpg"))"
            try await withStack(Self.arguments, decoders: 1) { stack in
                let port = try stack.gatewayPort()
                #expect(try RawClient.get(target, port).status == 200)
                let first = try gateway(stack)
                let listed = try await stack.awaitStatus("a gateway") { !$0.fronts.isEmpty }
                #expect(listed.fronts.map(\.process.name) == ["gateway"])
                #expect(listed.fronts.map(\.pid) == [UInt32(first.processID)])
                try first.kill()
                // New connections wait for its successor.
                #expect(try RawClient.get(target, port).status == 200)
                let again = try await stack.awaitStatus("the next gateway") {
                    $0.fronts.map(\.process.restarts) == [1]
                }
                #expect(again.fronts.map(\.pid) != listed.fronts.map(\.pid))
            }
        }

        /// systemd without `KillMode=mixed`, the end of a login session and `killall` signal all
        /// processes at once; `serve` then signals them again, in its own order.
        @Test(arguments: [false, true])
        func whoWaitsIsAnsweredAsTheStackEnds(areAllSignaled: Bool) async throws {
            let image = try Images.smallPhoto()
            let gate = Gate()
            origin.route("/a.jpg", .hangBody(until: gate, then: image))
            try await withStack(Self.arguments, decoders: 1) { stack in
                let port = try stack.gatewayPort()
                let waits = try RawClient(port: port)
                waits.get("/unsafe/rs:fit:40:40/plain/\(origin.url("/a.jpg"))")
                #expect(await origin.waitForRequest("/a.jpg"))
                let told = ContinuousClock.now
                if areAllSignaled { for child in stack.children { try child.terminate() } }
                try stack.send(.terminate)
                var (statuses, answeredAt) = (Set<Int>(), told)
                var pause = PollingPause()
                while let answer = try? RawClient.get("/ready", port) {
                    statuses.insert(answer.status)
                    answeredAt = .now
                    try await pause.wait()
                }
                #expect(statuses.contains(503), "\(statuses)")
                // Proxies have one second to notice.
                #expect(!areAllSignaled || told.duration(to: answeredAt) > .milliseconds(400))
                gate.open()
                #expect(waits.whole().status == 200)
                #expect(try stack.awaitEnd() == "exit 0")
                #expect(throws: RawClient.ConnectionRefused.self) { _ = try RawClient(port: port) }
            }
        }

        @Test func anAddressThatIsTakenEndsServe() async throws {
            try await withStack(Self.arguments, decoders: 1) { stack in
                let taken = "127.0.0.1:\(try stack.gatewayPort())"
                let other = try StackHarness(["--gateway", taken, "--gateway-unsigned"])
                let failure = #expect(throws: StackFailure.self) { try other.start() }
                #expect("\(failure as Any)".contains("exit 78"), "\(failure as Any)")
            }
        }
    }
}
