extension RealProcesses {
    /// Gateways and a coordinator are replaced under load, behind an nginx that only retries
    /// refused connections.
    @Suite struct RollingRestartTests {
        private let origin = OriginServer()

        @Test func nobodySeesThatPartsAreReplaced() async throws {
            try origin.routeFresh(
                "/a.jpg", Images.waves(width: 640, height: 480).jpeg(quality: 90))
            let rounds = Effort.count("ROLLING_ROUNDS", short: 1, long: 20)
            try await withStack(decoders: 1) { stack in
                var gateways = [try gateway(stack), try gateway(stack)]
                let proxy = try NginxServer(before: gateways.map(\.port))
                let load = try GatewayLoad(
                    at: proxy.socket, "/unsafe/rs:fit:{n}:{n}/plain/\(origin.url("/a.jpg"))@jpg")
                try load.awaitRequests(50)
                for _ in 0..<rounds {
                    for index in gateways.indices {
                        let port = gateways[index].port
                        try gateways[index].send(.terminate)
                        #expect(try gateways[index].end().status == "exit 0")
                        gateways[index] = try gateway(stack, port: port)
                        try load.awaitRequests(50)
                    }
                    try await replaceCoordinator(stack)
                    try load.awaitRequests(50)
                }
                let result = try load.end()
                #expect(result.failed.isEmpty, "\(result.failed)")
                #expect(result.answered > 150)
                let retried = try proxy.complaints()
                #expect(
                    retried.allSatisfy { $0.contains("(111: Connection refused)") }, "\(retried)")
                print("rolling: \(result.answered) answers, \(retried.count) refused connections")
            }
        }

        private func gateway(_ stack: StackHarness, port: UInt16 = 0) throws -> GatewayProcess {
            try GatewayProcess(
                before: stack, ["--unsigned", "--listen", "127.0.0.1:\(port)"])
        }

        /// The coordinator is killed: its successor is ready soon, and requests are sent again.
        private func replaceCoordinator(_ stack: StackHarness) async throws {
            let before = try await stack.operatorClient().status()
            let process = try #require(before.processes(.coordinator).first)
            try stack.child(process).kill()
            _ = try await stack.awaitStatus("the next coordinator") {
                $0.processes(.coordinator).first.map { $0.restarts > process.restarts } == true
                    && $0.processes.count == before.processes.count && $0.fronts.count == 2
            }
        }
    }
}
