extension RealProcesses {
    /// A very large number of connections: the coordinator survives, and existing sessions keep
    /// their slots.
    @Suite struct ConnectionFloodTests {
        /// The coordinator's limit of descriptors; libzmq aborts a process that runs out of them.
        private static let descriptors = 10_000
        private static let bare = 11_000
        private static let places = ConnectionFloodTests.descriptors / 10
        private let origin = OriginServer()

        init() throws {
            origin.route("/a.jpg", .bytes(try Images.quadrants().jpeg(quality: 85)))
            let wanted = UInt64(Self.bare + 1_000)
            let limit = try ResourceLimit.raise(.descriptors, to: wanted)
            try #require(limit >= wanted, "this test needs \(wanted) descriptors: raise ulimit -n")
        }

        @Test func bareConnectionsEndNothing() async throws {
            try await withFewDescriptors { stack, client in
                let before = Set(stack.children.map(\.processID))
                let path = stack.frontSocket
                let flood = Monitor<[UnixStream]?>(nil)
                let thread = BackgroundThread {
                    let all = (0..<Self.bare).compactMap { _ in UnixStream(path) }
                    flood.withLock { $0 = all }
                }
                var answers = 0
                while flood.withLock({ $0 == nil }) {
                    try await expectServes(stack, client)
                    answers += 1
                }
                #expect(thread.join())
                let connected = flood.withLock { $0?.count ?? 0 }
                print("\(connected) bare connections, \(answers) answers meanwhile")
                #expect(connected == Self.bare)
                #expect(Set(stack.children.map(\.processID)) == before)
                try await expectWorkersJoin(stack)
                try await expectServes(stack, client)
                #expect(try await stack.counter("refusedConnections") > 0)
                flood.withLock { $0 = nil }
                try await expectNewClients(stack)
            }
        }

        @Test func idleSessionsTakeNoPlacesFromOperatorsAndWorkers() async throws {
            let arguments = ["--connections-per-process", "8000"]
            try await withFewDescriptors(arguments) { stack, client in
                var sessions = try (0..<2 * Self.places).compactMap { _ in
                    try RawSession(stack.frontSocket)
                }
                #expect(sessions.count == 2 * Self.places)
                let report = try await stack.awaitStatus("a listener that is full") {
                    $0.counter("refusedConnections") ?? 0 > Self.places / 2
                }
                let clients = try #require(report.counter("clients"))
                print("\(sessions.count) sessions wanted, \(clients) there")
                #expect(clients < Self.places)
                try await expectWorkersJoin(stack)
                try await expectServes(stack, client)
                // Reported by name; its connection is then closed to free its slot.
                #expect(await errorOfANewClient(stack) == .busy)
                let end = try stack.get([origin.url("/a.jpg"), "--json"])
                #expect(try end.json()["error"]?["name"]?.text == "busy", "\(end)")
                sessions = []
                try await expectNewClients(stack)
            }
        }

        @Test func oneProcessTakesNoPlacesFromOthers() async throws {
            try await withClient { stack, client in
                try await expectServes(stack, client)
                var sessions = try (0..<63).compactMap { _ in try RawSession(stack.frontSocket) }
                _ = try await stack.awaitStatus("as many as one may have") {
                    $0.counter("clients") == 64
                }
                #expect(await errorOfANewClient(stack) == .busy)
                try await expectServes(stack, client)
                let end = try stack.get([origin.url("/a.jpg"), "--json"])
                #expect(end.exitStatus == 0, "another process: \(end)")
                sessions = []
                try await expectNewClients(stack)
                _ = sessions
            }
        }

        /// A connection without a hello keeps its slot only for a while.
        @Test func whoNeverSaysHelloIsClosed() async throws {
            try await withStack { stack in
                let silent = try [stack.frontSocket, stack.backSocket(.decode)].map {
                    try #require(UnixStream($0))
                }
                let peer = try WirePeer(stack.frontSocket)
                #expect(try peer.isClosed(within: .seconds(60)), "the greeting was completed")
                for stream in silent { #expect(stream.isClosed(within: .seconds(60))) }
            }
        }

        // MARK: - Invariants

        private func withFewDescriptors(
            _ arguments: [String] = [],
            _ body: (StackHarness, ImagebusClient) async throws -> Void
        ) async throws {
            let programs = AlteredPrograms(
                "imagebus-coordinator", arguments: arguments, descriptors: Self.descriptors)
            try await withClient(environment: programs.environment) { stack, client in
                try await expectServes(stack, client)
                try await body(stack, client)
            }
        }

        /// An operator and an existing client get replies.
        private func expectServes(_ stack: StackHarness, _ client: ImagebusClient) async throws {
            _ = try await stack.awaitStatus("an answer") { _ in true }
            #expect(try await client.load(origin.url("/a.jpg")).response.info != nil)
        }

        /// A worker that dies is replaced, and its successor gets a session.
        private func expectWorkersJoin(_ stack: StackHarness) async throws {
            let report = try await stack.awaitStatus("workers") {
                $0.processes(.decode).count == 2
            }
            let old = try #require(report.processes(.decode).first)
            try stack.child(old).kill()
            _ = try await stack.awaitStatus("the next worker") {
                $0.processes(.decode).count == 2
                    && $0.processes(.decode).allSatisfy { $0.pid != old.pid }
            }
        }

        /// The error of its load. The process has no slot, so it repeats its hello.
        private func errorOfANewClient(_ stack: StackHarness) async -> ErrorCode? {
            guard let client = try? stack.client() else { return nil }
            return await client.load(origin.url("/a.jpg")).errorCode
        }

        /// Closed connections end a moment later.
        private func expectNewClients(_ stack: StackHarness) async throws {
            _ = try await stack.awaitStatus("places that are free") {
                $0.counter("clients") ?? .max < 8
            }
            #expect(await errorOfANewClient(stack) == nil)
            #expect(try stack.get([origin.url("/a.jpg")]).exitStatus == 0)
        }
    }
}
