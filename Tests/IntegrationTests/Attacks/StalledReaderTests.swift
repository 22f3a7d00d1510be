extension RealProcesses {
    /// HTTP clients of a gateway that stop reading their responses.
    @Suite struct StalledReaderTests {
        private let bench = GatewayBench()
        private let folder = TemporaryDirectory()
        private let imageBytes = 8 << 20

        private static let httpClients = 4
        private static let readers = Effort.count("STALLED", short: 400, long: 1_000)
        /// The memory that a gateway may use besides an image shared by all readers: connections,
        /// library buffers, copies in flight.
        private static let allowance = 64 << 20

        private func route() throws {
            let image = try ChunkStack.image(imageBytes)
            bench.origin.route("/a.jpg", .bytes(image))
            bench.origin.route(
                "/small.png", .bytes(try Images.waves(width: 200, height: 200).png()))
        }

        /// One copy for all, at most three quarters of the limit per HTTP client, and no effect on
        /// other clients.
        @Test func allOfThemHaveOneCopyAndNobodyElseWaits() async throws {
            try route()
            try await bench.run(
                ["--metadata", "all", "--timeout", "120", "--metrics-listen", "127.0.0.1:0"]
            ) { gateway, stack in
                let memory = try ShippedMemory(stack, gateway)
                try expectWhole(bench.path("/a.jpg", ""), gateway)
                let (honest, small) = (
                    HonestHTTPClient(port: gateway.port), bench.origin.url("/small.png")
                )
                let undisturbed = await honest.load(50) {
                    "/unsafe/rs:fit:\(10 + $0):0/plain/\(small)"
                }
                let before = try ProcessMetrics(of: gateway.processID).bytes
                let stalled = try StalledReaders(
                    Self.readers, ofHTTPClients: Self.httpClients, at: gateway.port
                ) { _ in bench.path("/a.jpg", "") }
                let answers = stalled.answers()
                let beside = await honest.load(50) {
                    "/unsafe/rs:fit:\(100 + $0):0/plain/\(small)"
                }
                let bytes = try ProcessMetrics(of: gateway.processID).bytes
                print(
                    "\(Self.readers) stalled readers: \(before >> 20) MB before, \(bytes >> 20) MB")
                #expect(bytes < before + imageBytes + Self.allowance)
                let metrics = try metrics(gateway)
                #expect(metrics["unread_bytes"] == Double(imageBytes))
                expectRefusals(answers, metrics)
                beside.expectUndisturbed(than: undisturbed, beside: "stalled readers")
                memory.expectNoKills()
            }
        }

        @Test func theirTimeEndsAndTheyGiveBackWhatTheyHeld() async throws {
            try route()
            try await bench.run(
                ["--metadata", "all", "--idle-timeout", "6", "--metrics-listen", "127.0.0.1:0"]
            ) { gateway, _ in
                try expectWhole(bench.path("/a.jpg", ""), gateway)
                let stalled = try StalledReaders(
                    8, ofHTTPClients: Self.httpClients, at: gateway.port
                ) { _ in bench.path("/a.jpg", "") }
                #expect(stalled.answers().count { $0.status == 200 } == 8)
                try pollUntil("the end of stalled readers", timeout: .seconds(120)) {
                    try metrics(gateway)["unread_bytes"] == 0
                }
                #expect(try metrics(gateway)["slow_readers_total"] ?? 0 == 8)
            }
        }

        private func expectRefusals(
            _ answers: [RawClient.Response], _ metrics: [String: Double]
        ) {
            #expect(answers.count == Self.readers)
            let images = answers.count { $0.status == 200 }
            // 24 images of 8 MB are three quarters of 256 MB.
            #expect((1...24 * Self.httpClients).contains(images))
            let refused = answers.filter { $0.status == 429 }
            #expect(refused.count == Self.readers - images)
            for answer in refused {
                #expect(answer.field("Retry-After") == "1")
                #expect(answer.field("X-Imagebus-Error") == "busy")
            }
            #expect(metrics["refused_answers_total client"] == Double(refused.count))
        }

        /// Different images don't share memory: there is a limit on the total.
        @Test func differentImagesAreRefusedBeyondTheLimitOfAll() async throws {
            try route()
            try await bench.run(
                ["--metadata", "all", "--timeout", "120", "--metrics-listen", "127.0.0.1:0"]
            ) { gateway, _ in
                let count = (256 << 20) / imageBytes + 4
                let stalled = try StalledReaders(
                    count, ofHTTPClients: count, at: gateway.port
                ) { bench.path("/a.jpg%3F\($0)", "") }
                let statuses = stalled.answers().map(\.status)
                #expect(statuses.count { $0 == 200 } == count - 4, "\(statuses)")
                #expect(statuses.count { $0 == 503 } == 4, "\(statuses)")
                let metrics = try metrics(gateway)
                #expect(metrics["unread_bytes"] == Double(256 << 20))
                #expect(metrics["refused_answers_total all"] == 4)
                // Responses that fit the socket buffer are still sent.
                let small = try gateway.get(bench.path("/small.png"))
                #expect(small.status == 200)
            }
        }

        @Test func aSignedURLIsNoExcuse() async throws {
            try route()
            let keys = folder.write("736563726574 68656c6c6f\n", to: "keys")
            // The HMAC of salt and path, computed with `openssl dgst`.
            let signed = "/9zdzZtTvF2nVYPMcOQnK-54VrdBQapeatCIAbgkuMnA/plain/a.jpg"
            try await withStack(decoders: 1) { stack in
                let gateway = try GatewayProcess(
                    before: stack,
                    [
                        "--keys", keys, "--base-url", bench.origin.url("/"), "--metadata", "all",
                    ])
                try expectWhole(signed, gateway)
                let before = try ProcessMetrics(of: gateway.processID).bytes
                let stalled = try StalledReaders(60, ofHTTPClients: 1, at: gateway.port) { _ in
                    signed
                }
                let statuses = stalled.answers().map(\.status)
                #expect(statuses.count { $0 == 200 } == 24, "\(statuses)")
                #expect(statuses.count { $0 == 429 } == 36, "\(statuses)")
                let bytes = try ProcessMetrics(of: gateway.processID).bytes
                #expect(bytes < before + imageBytes + Self.allowance)
            }
        }

        private func expectWhole(_ target: String, _ gateway: GatewayProcess) throws {
            let client = try gateway.connect()
            client.get(target, "Connection: close\r\n")
            #expect(client.everything().count > imageBytes)
        }

        /// The metrics of the gateway, by name without the prefix; a label `limit` is appended.
        private func metrics(_ gateway: GatewayProcess) throws -> [String: Double] {
            var metrics: [String: Double] = [:]
            for sample in try gateway.samples() {
                let prefix = "imagebus_gateway_"
                guard sample.name.hasPrefix(prefix) else { continue }
                let limit = sample.labels["limit"].map { " \($0)" } ?? ""
                metrics[sample.name.dropFirst(prefix.count) + limit] = sample.value
            }
            return metrics
        }
    }
}
