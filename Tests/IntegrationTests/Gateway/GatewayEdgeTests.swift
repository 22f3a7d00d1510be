extension RealProcesses {
    /// A gateway behind a proxy: trusted addresses, and request ids in logs.
    @Suite struct GatewayEdgeTests {
        private let bench = GatewayBench()
        private let traceID = "0af7651916cd43dd8448eb211c80319c"
        private let workers: Set<String> = [
            "imagebus-download", "imagebus-cache", "imagebus-decode", "imagebus-transform",
        ]
        /// The last byte of the proxy's address; that of all other clients is 1.
        private static let proxy: UInt8 = 9
        private let trusting = ["--trusted-proxy", "127.0.0.9"]

        private func get(
            _ gateway: GatewayProcess, _ target: String, _ more: String = "",
            from lastByte: UInt8 = proxy
        ) throws -> RawClient.Response {
            let client = try RawClient(port: gateway.port, from: lastByte)
            client.get(target, more)
            return client.whole()
        }

        private func requests(_ lines: [String]) throws -> [JSONValue] {
            try lines.filter { $0.contains("\"message\":\"request\"") }
                .map { try JSONValue(parsing: Array($0.utf8)) }
        }

        // MARK: - Request ids

        @Test func theNamesOfAProxyAreFoundInTheLogsOfAllProcesses() async throws {
            try bench.origin.routeFresh()
            try await bench.run(
                trusting + ["--access-log"], stack: ["--log-format", "json"]
            ) { gateway, stack in
                let trace = "00-\(traceID)-b7ad6b7169203331-01"
                let answer = try get(
                    gateway, bench.path("/a.jpg"),
                    "X-Request-Id: r-1\r\ntraceparent: \(trace)\r\n"
                        + "X-Forwarded-For: 1.1.1.1, 198.51.100.7\r\n")
                #expect(answer.status == 200, "\(answer.head)")
                #expect(answer.field("X-Request-Id") == "r-1")
                #expect(answer.field("traceparent") == trace)
                _ = try await stack.awaitIdle()
                let log = try LogLines(stack)
                #expect(log.programs(naming: "r-1") == workers.union(["imagebus-coordinator"]))
                #expect(log.programs(tracing: traceID) == log.programs(naming: "r-1"))
                let lines = try requests(gateway.awaitLine { $0.contains("\"requestId\"") })
                let line = try #require(lines.first)
                #expect(line["requestId"]?.text == "r-1" && line["trace"]?.text == traceID)
                #expect(line["client"]?.text == "198.51.100.7")
                #expect(line["peer"]?.text == "127.0.0.9" && line["cache"]?.text == "origin")
            }
        }

        @Test func theNamesOfOthersAreMadeHereAndFoundAsWell() async throws {
            try bench.origin.routeFresh()
            try await bench.run(
                trusting, stack: ["--log-format", "json", "--log-level", "debug"]
            ) { gateway, stack in
                let answer = try get(
                    gateway, bench.path("/a.jpg"),
                    "X-Request-Id: r-1\r\ntraceparent: 00-\(traceID)-b7ad6b7169203331-01\r\n",
                    from: 1)
                let name = try #require(answer.field("X-Request-Id"))
                let trace = try #require(answer.field("traceparent"))
                #expect(name.utf8.count == 32 && trace.hasSuffix("-00"), "\(answer.head)")
                _ = try await stack.awaitIdle()
                let log = try LogLines(stack)
                #expect(log.programs(naming: name) == workers.union(["imagebus-coordinator"]))
                #expect(!log.text.contains(traceID) && !log.text.contains("r-1\""))
                let refused = try get(gateway, "/unsafe/w:x/plain/http://a/b", from: 1)
                #expect(refused.status == 400 && refused.field("X-Request-Id") != nil)
            }
        }

        /// Such responses are kept whole, and the ids of one request must not leak into other
        /// responses.
        @Test func answersAtHandHaveTheNamesOfTheirOwnRequest() async throws {
            try bench.origin.routeFresh()
            try await bench.run(trusting) { gateway, stack in
                _ = try get(gateway, bench.path("/a.jpg"))
                _ = try await stack.awaitIdle()
                _ = try get(gateway, bench.path("/a.jpg"))
                var withoutNames = 0
                for number in 0..<200 {
                    let more = number % 2 == 0 ? "X-Request-Id: r-\(number)\r\n" : ""
                    // Another peer may have sent an identical head before.
                    if number % 4 == 0 { _ = try get(gateway, bench.path("/a.jpg"), more, from: 1) }
                    let named = try get(gateway, bench.path("/a.jpg"), more)
                    #expect(named.field("X-Cache") == "memory", "\(named.head)")
                    let name = named.field("X-Request-Id") ?? ""
                    #expect(number % 2 == 0 ? name == "r-\(number)" : !name.hasPrefix("r-"))
                    #expect(number % 2 == 1 || named.field("traceparent") != nil)
                    let others = try get(gateway, bench.path("/a.jpg"), more, from: 1)
                    #expect(others.status == 200 && others.field("X-Request-Id") != "r-\(number)")
                    if others.field("X-Request-Id") == nil { withoutNames += 1 }
                }
                #expect(withoutNames > 150, "answered from gateway memory")
                // Requests with ids also report the use of vouchers.
                _ = try await stack.awaitStatus("vouchers used") {
                    ($0.counter("voucherHits") ?? 0) > 300
                }
            }
        }

        // MARK: - Clients

        @Test func aFieldOfAnotherNameIsBelievedOfProxiesAlone() async throws {
            try await bench.run(
                trusting + ["--client-header", "X-Real-IP", "--access-log"]
            ) { gateway, _ in
                for lastByte in [Self.proxy, 1] {
                    _ = try get(
                        gateway, "/unsafe/w:x/plain/http://a/b",
                        "X-Real-IP: 192.0.2.9\r\nX-Forwarded-For: 192.0.2.8\r\n", from: lastByte)
                }
                let lines = try requests(
                    gateway.awaitLine { $0.contains("\"peer\":\"127.0.0.1\"") })
                #expect(lines.map { $0["client"]?.text } == ["192.0.2.9", "127.0.0.1"])
                #expect(lines.allSatisfy { $0["error"]?.text == "malformedURL" }, "\(lines)")
            }
        }

        @Test func aProxyHasNoLimitOfConnectionsAndOthersAreClosedWithALine() async throws {
            try await bench.run(
                trusting + ["--connections-per-address", "2", "--metrics-listen", "127.0.0.1:0"]
            ) { gateway, _ in
                let proxied = try (0..<8).map { _ in
                    HeldClient(try RawClient(port: gateway.port, from: Self.proxy))
                }
                let own = try (0..<5).map { _ in HeldClient(try gateway.connect()) }
                for held in proxied { #expect(asks(held) == 200) }
                #expect(own.count { asks($0) == 200 } == 2)
                let lines = try gateway.awaitLine { $0.contains("closed at the limit") }
                let line = lines.first { $0.contains("closed at the limit") } ?? ""
                #expect(line.contains("127.0.0.1") && line.contains("--trusted-proxy"))
                let refused = try gateway.samples().first {
                    $0.name == "imagebus_gateway_refused_connections_total"
                }
                #expect(refused?.value == 3)
            }
        }

        /// The status of a response; 0: the connection is closed.
        private func asks(_ held: HeldClient) -> Int {
            held.client.get("/live")
            return held.client.whole().status
        }

        // MARK: - Log lines

        @Test func healthChecksHaveNoLines() async throws {
            try await bench.run(
                ["--access-log"],
                stack: ["--log-format", "json", "--log-level", "debug", "--log-requests", "all"]
            ) { gateway, stack in
                for path in ["/ready", "/live", "/health"] {
                    #expect(try gateway.get(path).status == 200)
                }
                _ = try await stack.awaitIdle()
                let log = try LogLines(stack)
                #expect(log.saying("job").isEmpty && log.saying("request").isEmpty)
                try bench.origin.routeFresh()
                _ = try gateway.get(bench.path("/a.jpg"))
                let lines = try requests(
                    gateway.awaitLine { $0.contains("w:40") || $0.contains("rs:") })
                #expect(lines.count == 1, "\(lines)")
                _ = try await stack.awaitIdle()
                #expect(try !LogLines(stack).saying("job").isEmpty)
            }
        }

        @Test func aReasonFor501IsLoggedOnceWithoutAnAccessLog() async throws {
            try await bench.run { gateway, _ in
                for _ in 0..<3 {
                    let answer = try gateway.get(
                        "/unsafe/video_thumbnail_second:1/plain/http://a/b")
                    #expect(answer.status == 501, "\(answer.head)")
                }
                _ = try gateway.get("/unsafe/w:x/plain/http://a/b")
                try gateway.send(.hangUp)
                let lines = try gateway.awaitLine { $0.contains("reloaded keys, presets, tokens") }
                let warnings = lines.filter { $0.contains("not supported (501)") }
                #expect(warnings.count == 1 && !lines.contains { $0.contains("malformedURL") })
                #expect(warnings.first?.contains("video_thumbnail_second") == true, "\(warnings)")
            }
        }

        @Test func aLineSaysWhichTokenSentAnImage() async throws {
            let folder = TemporaryDirectory()
            let tokens = folder.write(
                Array("# ours\nanother-token-of-them\na-token-of-some-length\n".utf8), to: "tokens")
            try await bench.run(["--post-tokens", tokens, "--access-log"]) { gateway, _ in
                let bytes = try Images.waves(width: 40, height: 20).png()
                let client = try gateway.connect()
                client.send(
                    "POST /_/rs:fit:4:4/plain/upload://body HTTP/1.1\r\nHost: a\r\n"
                        + "Authorization: Bearer a-token-of-some-length\r\n"
                        + "Content-Length: \(bytes.count)\r\n\r\n")
                client.send(bytes)
                let answer = client.whole()
                #expect(answer.status == 200 && answer.field("X-Cache") == nil, "\(answer.head)")
                let lines = try gateway.awaitLine { $0.contains("POST") }
                #expect(try requests(lines).first?["token"]?.integer == 2)
                #expect(!lines.contains { $0.contains("a-token") })
            }
        }

        // MARK: - X-Cache

        @Test func anAnswerSaysWhereTheImageCameFrom() async throws {
            try bench.origin.routeFresh()
            try await bench.run(["--allow-origin", "*"]) { gateway, stack in
                func cache(_ options: String = "rs:fit:40:40", _ more: String = "") throws
                    -> String?
                {
                    let answer = try gateway.get(bench.path("/a.jpg", options), more)
                    #expect([200, 304].contains(answer.status), "\(answer.head)")
                    let exposed = answer.field("Access-Control-Expose-Headers") ?? ""
                    #expect(exposed.contains("X-Cache") && exposed.contains("X-Request-Id"))
                    return answer.field("X-Cache")
                }
                #expect(try cache() == "origin")
                _ = try await stack.awaitIdle()
                for _ in 0..<5 { #expect(try cache() == "memory") }
                let smaller = try cache("rs:fit:20:20")
                #expect(["memory", "disk"].contains(smaller), "the original is cached")
                #expect(try gateway.get("/unsafe/w:x/plain/http://a/b").field("X-Cache") == nil)
            }
            try await bench.run(["--no-x-cache"]) { gateway, _ in
                let answer = try gateway.get(bench.path("/a.jpg"))
                #expect(answer.status == 200 && answer.field("X-Cache") == nil)
            }
        }

        @Test func whatIsShownWhileTheOriginIsAskedIsStale() async throws {
            bench.origin.route(
                "/a.jpg",
                .bytes(try Images.smallPhoto())
                    .with(header: "Cache-Control", "max-age=5, stale-while-revalidate=600")
                    .with(header: "Age", "10"))
            try await bench.run { gateway, stack in
                #expect(try gateway.get(bench.path("/a.jpg")).field("X-Cache") == "origin")
                _ = try await stack.awaitIdle()
                #expect(try gateway.get(bench.path("/a.jpg")).field("X-Cache") == "stale")
            }
        }
    }
}
