extension RealProcesses {
    /// Requests to a gateway that end early, and a gateway that ends.
    @Suite struct GatewayTests {
        private let origin = OriginServer()

        private func path(_ name: String) -> String {
            "/unsafe/rs:fit:40:40/plain/\(origin.url(name))"
        }

        @Test func whoLeavesCancelsAndNobodyElse() async throws {
            let image = try Images.smallPhoto()
            let gate = Gate()
            origin.route("/own.jpg", .hangBody(until: Gate(), then: image))
            origin.route("/shared.jpg", .hangBody(until: gate, then: image))
            try await withGateway { gateway, stack in
                do {
                    let client = try gateway.connect()
                    client.get(path("/own.jpg"))
                    #expect(await origin.waitForRequest("/own.jpg"))
                }
                #expect(await origin.waitForConnectionClosed("/own.jpg"))
                let stays = try gateway.connect()
                stays.get(path("/shared.jpg"))
                #expect(await origin.waitForRequest("/shared.jpg"))
                do {
                    let leaves = try gateway.connect()
                    leaves.get(path("/shared.jpg"))
                    _ = try await stack.awaitStatus("two who wait") {
                        ($0.counter("liveRequests") ?? 0) == 2
                    }
                }
                _ = try await stack.awaitStatus("one who waits") {
                    ($0.counter("liveRequests") ?? 0) == 1
                }
                gate.open()
                #expect(stays.whole().status == 200)
                #expect(origin.requestCount("/shared.jpg") == 1)
                try await stack.awaitIdle()
            }
        }

        @Test func whoIsToldToEndAnswersWhoWaits() async throws {
            let image = try Images.smallPhoto()
            let gate = Gate()
            origin.route("/a.jpg", .hangBody(until: gate, then: image))
            try await withGateway { gateway, _ in
                let waits = try gateway.connect()
                let asks = try gateway.connect()
                waits.get(path("/a.jpg"))
                #expect(await origin.waitForRequest("/a.jpg"))
                try gateway.send(.terminate)
                try pollUntil("/ready to say no") {
                    asks.get("/ready")
                    return asks.whole().status == 503
                }
                gate.open()
                #expect(waits.whole().status == 200)
                #expect(try gateway.end().status == "exit 0")
                #expect(throws: RawClient.ConnectionRefused.self) {
                    _ = try RawClient(port: gateway.port)
                }
            }
        }
    }
}
