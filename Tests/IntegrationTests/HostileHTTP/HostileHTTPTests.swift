extension RealProcesses {
    /// Attacks on a gateway over HTTP: every request gets its expected status or none, nothing
    /// reaches the origin, no process dies, and no resources are leaked.
    @Suite struct HostileHTTPTests {
        private let origin = OriginServer()

        private func path(_ name: String, _ options: String = "w:40") -> String {
            "/unsafe/\(options)/plain/\(origin.url(name))"
        }

        private func withGateway(
            _ arguments: [String] = ["--unsigned"],
            _ body: (GatewayProcess, StackHarness) async throws -> Void
        ) async throws {
            try await withStack(decoders: 1) { stack in
                let gateway = try GatewayProcess(before: stack, arguments)
                try await body(gateway, stack)
                #expect(try gateway.get("/live").status == 200)
                try gateway.send(.terminate)
                #expect(try gateway.end().status == "exit 0")
            }
        }

        // MARK: - Requests

        @Test func theTableHasEnoughRows() {
            #expect(HostileRequest.all.count >= 200)
            #expect(Set(HostileRequest.all.map(\.bytes)).count == HostileRequest.all.count)
        }

        @Test func everyRequestIsAnsweredAsItsRowSays() async throws {
            origin.route("/smuggled", .status(404))
            try await withGateway { gateway, _ in
                try sendAll(to: gateway)
                let before = try await ProcessMetrics.settled(gateway.processID)
                for _ in 0..<3 { try sendAll(to: gateway) }
                let after = try await ProcessMetrics.settled(gateway.processID)
                #expect(after.bytes <= before.bytesLimit, "\(before), then \(after)")
                #expect(after.descriptors <= before.descriptors + 2, "\(before), then \(after)")
                #expect(origin.acceptedConnectionCount == 0)
            }
        }

        /// Requests that close their own connections are awaited together.
        private func sendAll(to gateway: GatewayProcess) throws {
            let peers = try HostileRequest.all.filter(\.finishes).map { row in
                let peer = HeldClient(try gateway.connect())
                send(row, to: peer.client)
                return (row, peer)
            }
            for row in HostileRequest.all where !row.finishes {
                let client = try gateway.connect()
                send(row, to: client)
                expect(client.everything(), row)
            }
            for (row, peer) in peers { expect(peer.client.everything(), row) }
        }

        private func send(_ row: HostileRequest, to client: borrowing RawClient) {
            client.send(row.bytes(smuggling: path("/smuggled")))
            if row.finishes { client.finish() }
        }

        private func expect(_ bytes: [UInt8], _ row: HostileRequest) {
            // If the stack was asked, it remembers failures for a while.
            let statuses = RawClient.Response.all(in: bytes).map {
                $0.text.hasPrefix("blacklisted") ? 400 : $0.status
            }
            #expect(
                statuses == row.statuses,
                "\(row.name): \(String(decoding: bytes.prefix(400), as: UTF8.self))")
            // The end of a body may be taken for the head of another response.
            let text = String(decoding: bytes, as: UTF8.self)
            let heads = text.split(separator: "HTTP/1.1 ", omittingEmptySubsequences: false)
            #expect(heads.count - 1 == row.statuses.count, "\(row.name): \(text.prefix(400))")
        }

        @Test func aPipelineIsAnsweredInOrder() async throws {
            let gate = Gate()
            origin.route(
                "/a.jpg",
                .hangBody(until: gate, then: try Images.smallPhoto())
                    .with(header: "Cache-Control", "max-age=600"))
            try await withGateway { gateway, _ in
                let client = try gateway.connect()
                let targets = [
                    (path("/a.jpg"), 200), ("/live", 200), ("/nobody/x", 400),
                    (path("/a.jpg"), 200),
                    ("/ready", 200), ("/unsafe/w:x/plain/a", 400),
                ]
                for _ in 0..<20 { for (target, _) in targets { client.get(target) } }
                client.get("/live", "Connection: close\r\n")
                #expect(await origin.waitForRequest("/a.jpg"))
                gate.open()
                let answers = RawClient.Response.all(in: client.everything())
                let statuses = (0..<20).flatMap { _ in targets.map(\.1) } + [200]
                #expect(answers.map(\.status) == statuses)
                #expect(answers.first?.field("Content-Type") == "image/jpeg")
                #expect(answers.dropFirst().first?.body == Array("live\n".utf8))
                #expect(origin.requestCount("/a.jpg") == 1)
            }
        }

        @Test func fieldsThatAreNonsenseChangeNothing() async throws {
            try origin.routeFresh()
            try await withGateway { gateway, _ in
                let image = try gateway.get(path("/a.jpg"))
                #expect(image.status == 200)
                let tag = try #require(image.field("ETag"))
                for (name, text, status) in Self.nonsense {
                    let field = "\(name): \(text.replacing("TAG", with: tag))\r\n"
                    let answer = try gateway.get(path("/a.jpg"), field)
                    #expect(answer.status == status, "\(field.prefix(120)): \(answer.head)")
                    if status == 200 { #expect(answer.body == image.body, "\(field.prefix(120))") }
                }
                #expect(origin.requestCount("/a.jpg") == 1)
            }
        }

        private static let nonsense: [(name: String, text: String, status: Int)] = [
            ("Range", "bytes=0-0" + String(repeating: ",0-0", count: 4_000), 200),
            ("Range", "bytes=" + String(repeating: "0-,", count: 1_300), 200),
            ("Range", "bytes=9-5", 200), ("Range", "bytes=-", 200), ("Range", "bytes", 200),
            ("Range", "bytes=--1", 200), ("Range", "bytes=+1-2", 200), ("Range", "=", 200),
            ("Range", "bytes=0x0-0x9", 200), ("Range", "bytes=1.5-2", 200),
            ("Range", "lines=0-1", 200), ("Range", "bytes=0-1;q=1", 200),
            ("Range", "bytes=18446744073709551616-", 200),
            ("Range", "bytes=0-18446744073709551615", 200),
            ("Range", "bytes=9223372036854775807-9223372036854775808", 200),
            ("Range", "bytes=999999999999999999-", 416), ("Range", "bytes=-0", 416),
            ("Range", "bytes=-999999999999999999", 206), ("Range", "bytes=0-0", 206),
            ("If-None-Match", String(repeating: "\"x\",", count: 4_000) + "TAG", 304),
            ("If-None-Match", String(repeating: "\"x\",", count: 4_000) + "\"y\"", 200),
            ("If-None-Match", String(repeating: ",", count: 15_000), 200),
            ("If-None-Match", "\"" + String(repeating: "x", count: 15_000), 200),
            ("If-None-Match", "W/W/TAG", 200), ("If-None-Match", "w/TAG", 200),
            ("If-None-Match", "*, TAG", 304), ("If-Range", "TAG, TAG", 200),
            ("Accept", String(repeating: "image/avif;q=0.000,", count: 800), 406),
            ("Accept", String(repeating: "a/b,", count: 3_800) + "image/webp", 406),
            ("Accept", "image/webp" + String(repeating: ";q=1", count: 3_800) + ";q=2", 200),
            ("Accept", String(repeating: ";", count: 15_000), 200),
            ("Accept", String(repeating: "/", count: 15_000), 200),
            ("Accept", "image/webp;q=1e-999999999", 200), ("Accept", "image/webp;q=NaN", 200),
            ("Accept", "image/webp;q=-1", 200), ("Accept", "image/webp;q=0.0000", 200),
            ("Save-Data", "on", 200), ("Via", String(repeating: "1.1 a,", count: 2_500), 200),
            ("X-Forwarded-For", "127.0.0.1, " + String(repeating: "[::1],", count: 2_000), 200),
        ]

        // MARK: - Connections

        @Test func thousandSilentConnectionsKeepNobodyElseOut() async throws {
            try await withGateway { gateway, _ in
                let before = try await ProcessMetrics.settled(gateway.processID)
                try await beSilentAThousandTimes(gateway)
                let once = try await ProcessMetrics.settled(gateway.processID)
                try await beSilentAThousandTimes(gateway)
                let twice = try await ProcessMetrics.settled(gateway.processID)
                #expect(once.descriptors <= before.descriptors + 2, "\(before), then \(once)")
                #expect(twice.descriptors <= before.descriptors + 2, "\(before), then \(twice)")
                #expect(twice.bytes <= once.bytesLimit, "\(once), then \(twice)")
            }
        }

        private func beSilentAThousandTimes(_ gateway: GatewayProcess) async throws {
            var silent = try (0..<1_000).map { _ in HeldClient(try gateway.connect()) }
            #expect(silent.count == 1_000)
            for place in 2..<UInt8(22) {
                let other = try RawClient(port: gateway.port, from: place)
                other.get("/live")
                #expect(other.whole().status == 200)
            }
            silent = []
            // A client that had all connections of its address is served again once the server has
            // noticed that they are closed.
            try pollUntil("an answer to the address of all", timeout: .seconds(60)) {
                try gateway.get("/live").status == 200
            }
        }

        @Test func largeRepliesThatNobodyReadsAreLetGoOf() async throws {
            // Bytes after an image are delivered with its source.
            let image = try Images.smallPhoto() + [UInt8](repeating: 0, count: 12 << 20)
            try origin.routeFresh("/large", image)
            try await withGateway { gateway, stack in
                let target = path("/large", "raw:1")
                let first = try gateway.get(target)
                #expect(first.status == 200 && first.body.count == image.count, "\(first.head)")
                let before = try await ProcessMetrics.settled(gateway.processID)
                for round in 0..<30 {
                    let client = try gateway.connect()
                    client.get(target)
                    #expect(!client.some(of: 1 << (round % 16)).isEmpty)
                    if round % 3 != 2 { client.resetsAtItsEnd() }
                    if round % 3 == 1 { client.finish() }
                }
                // A slow reader doesn't delay other clients.
                let reads = try gateway.connect()
                reads.get(target)
                for _ in 0..<20 {
                    #expect(reads.some(of: 1).count == 1)
                    #expect(try gateway.get("/live").status == 200)
                }
                _ = consume reads
                try await stack.awaitIdle(timeout: .seconds(60))
                let after = try await ProcessMetrics.settled(gateway.processID)
                #expect(after.descriptors <= before.descriptors + 2, "\(before), then \(after)")
                #expect(after.bytes <= before.bytesLimit, "\(before), then \(after)")
                #expect(origin.requestCount("/large") == 1)
            }
        }
    }
}
