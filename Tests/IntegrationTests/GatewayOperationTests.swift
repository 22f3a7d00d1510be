extension RealProcesses {
    /// Operating a gateway: metrics, log, readiness, limits, and its sandbox.
    @Suite struct GatewayOperationTests {
        private let origin = OriginServer()

        private var path: String { "/unsafe/rs:fit:40:40/plain/\(origin.url("/a.jpg"))" }

        @Test func figuresAreReadElsewhereAndAreWhatHappened() async throws {
            try origin.routeFresh()
            try await withGateway(
                ["--unsigned", "--metrics-listen", "127.0.0.1:0", "--allow-origin", "*"]
            ) { gateway, _ in
                let image = try gateway.get(path)
                let tag = try #require(image.field("ETag"))
                _ = try gateway.get(path, "If-None-Match: \(tag)\r\n")
                _ = try gateway.get("/unsafe/w:abc/plain/http://a/b")
                #expect(try gateway.get("/metrics").status == 400, "treated as an image path")
                let port = try #require(gateway.metricsPort)
                let client = try RawClient(port: port)
                client.get("/metrics")
                let answer = client.whole()
                #expect(answer.status == 200 && answer.field("Access-Control-Allow-Origin") == "*")
                let samples = try PrometheusParser.samples(answer.text)
                func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
                    samples.first { $0.name == name && $0.labels == labels }?.value
                }
                let requests = "imagebus_gateway_requests_total"
                #expect(value(requests, ["status": "200"]) == 1)
                #expect(value(requests, ["status": "304"]) == 1)
                #expect(value(requests, ["status": "400"]) == 2)
                #expect(value("imagebus_gateway_not_modified_total") == 1)
                #expect(
                    (value("imagebus_gateway_sent_bytes_total") ?? 0) >= Double(image.body.count))
                // The metrics of the stack behind it.
                #expect(value("imagebus_jobs_started_total", ["stage": "fetch"]) == 1)
                #expect(
                    value("imagebus_processes", ["kind": "gateway", "state": "ready"]) == 1)
                client.get("/")
                #expect(client.whole().status == 404)
            }
        }

        @Test func eachRequestHasALineWithoutSignatureAndQuery() async throws {
            origin.route("/a.jpg", .bytes(try Images.smallPhoto()))
            try await withGateway(["--unsigned", "--access-log"]) { gateway, _ in
                let target = "/unsafe/w:40/plain/\(origin.url("/a.jpg"))%3Ftoken=hidden"
                #expect(try gateway.get(target).status == 200)
                _ = try gateway.get("/signature/w:x/plain/http://a/b")
                let lines = try gateway.awaitLine { $0.contains(":400") }
                let requests = lines.filter { $0.contains("\"message\":\"request\"") }
                #expect(requests.count == 2)
                let first = try JSONValue(parsing: Array(requests[0].utf8))
                #expect(first["path"]?.text == "/w:40/…" && first["status"]?.integer == 200)
                #expect(first["source"]?.text == origin.url("/a.jpg"))
                for line in requests {
                    #expect(!line.contains("hidden") && !line.contains("signature"), "\(line)")
                    let object = try JSONValue(parsing: Array(line.utf8))
                    #expect(object["peer"]?.text == "127.0.0.1")
                }
            }
        }

        @Test func readyIsAnImageThroughTheStackAndProbesAreNoLoad() async throws {
            try await withGateway { gateway, stack in
                let before = try await stack.operatorClient().status()
                for _ in 0..<50 { #expect(try gateway.get("/ready").status == 200) }
                let after = try await stack.operatorClient().status()
                let loads = after.growth(of: "transforms", since: before)
                #expect((1...49).contains(loads), "\(loads) canaries for 50 probes")
                // Without a running decoder no canary succeeds. A decoder killed because it stalls
                // has a successor, which is halted as well.
                try awaitReady(gateway, false) {
                    for child in stack.children where child.name == "imagebus-decode" {
                        try? child.halt()
                    }
                }
                #expect(try gateway.get("/live").status == 200)
                for child in stack.children where child.name == "imagebus-decode" {
                    try child.resume()
                }
                try awaitReady(gateway, true)
            }
        }

        /// Polls until the gateway is, or isn't, ready; `prepare` runs before each request.
        private func awaitReady(
            _ gateway: GatewayProcess, _ wanted: Bool, _ prepare: () -> Void = {}
        ) throws {
            try pollUntil("/ready to say \(wanted)", timeout: .seconds(60)) {
                prepare()
                return try (gateway.get("/ready").status == 200) == wanted
            }
        }

        @Test func withoutACoordinatorItIsNotReady() async throws {
            try await withGateway { gateway, stack in
                #expect(try gateway.get("/ready").status == 200)
                try stack.send(.terminate)
                #expect(try stack.awaitEnd() == "exit 0")
                try awaitReady(gateway, false)
                let answer = try gateway.get("/ready")
                #expect(answer.status == 503 && answer.field("Retry-After") != nil)
                #expect(try gateway.get("/live").status == 200)
                try stack.start()
                try awaitReady(gateway, true)
            }
        }

        @Test func keysAreReadAnewWholeOrNotAtAll() async throws {
            let folder = TemporaryDirectory()
            let keys = folder.write("# one\n736563726574 68656c6c6f\n", to: "keys")
            let signed =
                "/oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8/rs:fill:300:400:0/g:sm/"
                + "aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
            try await withGateway(["--keys", keys]) { gateway, _ in
                #expect(try gateway.get(signed).status != 403)
                _ = folder.write("no key\n", to: "keys")
                try gateway.send(.hangUp)
                let lines = try gateway.awaitLine { $0.contains("fallback image not reloaded") }
                #expect(lines.contains { $0.contains("file must be KEY SALT") })
                #expect(try gateway.get(signed).status != 403, "the old key is still valid")
                // Replaced by a rename, as editors do; the sandbox must permit it.
                _ = folder.write("616263 646566\n", to: "new")
                try Tool.run(["mv", folder.file("new"), keys])
                try gateway.send(.hangUp)
                _ = try gateway.awaitLine { $0.contains("reloaded keys, presets, tokens") }
                #expect(try gateway.get(signed).status == 403)
            }
        }

        /// The example URL of the page can be loaded.
        @Test(arguments: [
            ["--unsigned"], ["--grammar", "thumbor", "--unsigned"],
            ["--grammar", "imagor", "--unsigned"],
            ["--grammar", "iiif", "--iiif-source", "https://example.com/{id}"],
            ["--grammar", "weserv", "--unsigned"],
        ])
        func theRootIsAPage(arguments: [String]) async throws {
            try await withGateway(arguments) { gateway, _ in
                let page = try gateway.get("/")
                #expect(page.status == 200, "\(page.head)")
                let example = try #require(page.text.split(separator: "<pre>").last)
                    .prefix { $0 != "<" }.replacing("&amp;", with: "&")
                let settings = arguments.map {
                    $0.hasPrefix("--") ? "--gateway" + $0.dropFirst() : $0
                }
                let end = try CommandLineRun(["url", "explain", String(example)] + settings).end()
                #expect(end.exitStatus == 0, "\(end)")
                #expect(end.outputText.contains("https://example.com/photo.jpg"))
            }
        }

        @Test func aURLHasItsLimit() async throws {
            try await withGateway(["--unsigned", "--url-limit", "100"]) { gateway, _ in
                for (count, isTooLong) in [(100, false), (101, true)] {
                    let target = "/ready?" + String(repeating: "x", count: count - 7)
                    let status = try gateway.get(target).status
                    #expect((status == 414) == isTooLong, "\(count) bytes: \(status)")
                }
            }
        }

        @Test func tenThousandConnectionsRestAndOneMoreIsAnswered() async throws {
            // Both ends take descriptors of their process; this process may have a lower limit.
            let possible = Int(clamping: try ResourceLimit.raise(.descriptors, to: 16_384)) - 1_024
            let wanted = min(10_000, possible)
            try #require(wanted > 1_000)
            try await withGateway(["--unsigned", "--connections-per-address", "0"]) { gateway, _ in
                let crowd = Crowd()
                for number in 0..<wanted {
                    let client = try gateway.connect()
                    client.get("/live")
                    if number % 100 == 0 { #expect(client.whole().status == 200) }
                    crowd.add(client)
                }
                #expect(try gateway.get("/live").status == 200)
                #expect(crowd.holdsAll())
                let metrics = try ProcessMetrics(of: gateway.processID)
                #expect(metrics.bytes < 1 << 30, "\(metrics)")
                print("\(wanted) idle connections: \(metrics)")
            }
        }

        /// Idle connections.
        private final class Crowd {
            private var members: [HeldClient] = []

            func add(_ client: consuming RawClient) { members.append(HeldClient(client)) }

            /// Whether a sample of them, including the first and the last, gets another response.
            func holdsAll() -> Bool {
                let step = max(1, members.count / 50)
                return stride(from: 0, to: members.count, by: step).allSatisfy { index in
                    // Two responses: the one that hasn't been read yet, and the next.
                    members[index].client.get("/live", "Connection: close\r\n")
                    return members[index].client.response().head.first?.contains(" 200") == true
                }
            }
        }

        @Test func itsDoorsAreShutFromInside() async throws {
            try origin.routeFresh()
            try await withGateway { gateway, stack in
                #expect(try gateway.get(path).status == 200)
                let report = try await stack.awaitStatus("a gateway") { !$0.fronts.isEmpty }
                let layers = try #require(report.fronts.first).process.sandbox
                #expect(layers.isSuperset(of: [.noNewPrivileges, .resourceLimits, .seccomp]))
                let threads = DirectoryEntries.names("/proc/\(gateway.processID)/task")
                #expect(threads.count > 1)
                for thread in threads {
                    let status =
                        FileBytes.text(
                            "/proc/\(gateway.processID)/task/\(thread)/status") ?? ""
                    let fields = status.split(separator: "\n")
                    #expect(fields.contains("Seccomp:\t2") && fields.contains("NoNewPrivs:\t1"))
                }
            }
        }
    }
}
