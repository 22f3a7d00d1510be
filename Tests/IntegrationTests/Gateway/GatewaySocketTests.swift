extension RealProcesses {
    /// A gateway on a Unix socket.
    @Suite struct GatewaySocketTests {
        private let bench = GatewayBench()
        private let folder = TemporaryDirectory()
        private var socket: String { folder.file("http.sock") }

        private func arguments(_ more: [String] = []) -> [String] {
            [
                "--allow-private-networks", "--gateway", "unix:\(socket)", "--gateway-unsigned",
                "--gateway-access-log",
            ] + more
        }

        private func get(_ target: String) throws -> RawClient.Response {
            let client = try RawClient(path: socket)
            client.get(target)
            return client.whole()
        }

        private func routeImage() throws {
            bench.origin.route("/a.jpg", .bytes(try Images.smallPhoto()))
        }

        /// Its file has the mode that proxies need, the ready line contains its path, and both
        /// clients and nginx can connect.
        @Test func clientsAndNginxReachIt() async throws {
            try routeImage()
            try await withStack(arguments(), decoders: 1) { stack in
                #expect(try stack.gatewayURL() == "unix:\(socket)")
                let status = try FileDescriptor.status(path: socket)
                #expect(status.type == .socket && status.mode & 0o7777 == 0o660)
                let target = bench.path("/a.jpg")
                let direct = try get(target)
                #expect(direct.status == 200, "\(direct.head)")
                #expect(try Pixels(decoding: direct.body).size == "40x40")
                let proxy = try NginxServer(beforePlaces: ["unix:\(socket)"])
                let answer = try proxy.get(target)
                #expect(answer.status == 200 && answer.body == direct.body)
                #expect(try proxy.complaints() == [])
                let log = FileBytes.text(stack.logFile) ?? ""
                #expect(log.contains(#""peer":"unix""#), "\(log.suffix(400))")
            }
        }

        /// Connections made while the next gateway starts wait for it; SIGHUP doesn't affect the
        /// socket.
        @Test func itStaysWhenTheGatewayIsRestarted() async throws {
            try routeImage()
            try await withStack(arguments(), decoders: 1) { stack in
                let target = bench.path("/a.jpg")
                for signal in [StackSignal.kill, .hangUp, .kill] {
                    #expect(try get(target).status == 200)
                    guard signal == .kill else {
                        try stack.send(signal)
                        continue
                    }
                    let gateway = try #require(
                        stack.children.first { $0.name == "imagebus-gatewa" })
                    try gateway.kill()
                }
                #expect(try get(target).status == 200)
            }
        }

        /// Peers have no address, so the limit per address doesn't apply.
        @Test func itHasNoLimitByAddress() async throws {
            let more = ["--gateway-connections-per-address", "1"]
            try await withStack(arguments(more), decoders: 1) { _ in
                let first = try RawClient(path: socket)
                let second = try RawClient(path: socket)
                let third = try RawClient(path: socket)
                first.get("/live")
                second.get("/live")
                third.get("/live")
                #expect(first.whole().status == 200 && second.whole().status == 200)
                #expect(third.whole().status == 200)
            }
        }

        /// The file stays behind and is replaced, unless something listens on it.
        @Test func aFileIsReplacedWhereNobodyListens() async throws {
            try await withStack(arguments(), decoders: 1) { stack in
                let other = try StackHarness(arguments())
                let failure = #expect(throws: StackFailure.self) { try other.start() }
                #expect("\(failure as Any)".contains("exit 78"), "\(failure as Any)")
                #expect(try get("/live").status == 200)
                try stack.send(.terminate)
                #expect(try stack.awaitEnd() == "exit 0")
                #expect(try FileDescriptor.status(path: socket).type == .socket)
                #expect(throws: RawClient.ConnectionRefused.self) {
                    _ = try RawClient(path: socket)
                }
                try stack.start()
                #expect(try get("/live").status == 200)
            }
        }

        /// A separate gateway, and one of the configuration.
        @Test func programAndFileTakeItToo() async throws {
            try routeImage()
            let inner = "unix:\(folder.file("inner.sock"))"
            let arguments = folder.configuration(
                "gateway: {listen: \"unix:\(socket)\", unsigned: yes}")
            try await withStack(arguments, decoders: 1) { stack in
                #expect(try stack.gatewayURLs(1) == ["unix:\(socket)"])
                #expect(try get(bench.path("/a.jpg")).status == 200)
                let gateway = try GatewayProcess(
                    before: stack, ["--unsigned", "--metrics-listen", inner])
                let client = try RawClient(path: folder.file("inner.sock"))
                client.get("/metrics")
                #expect(client.whole().status == 200)
                #expect(try gateway.get("/live").status == 200)
            }
        }
    }
}
