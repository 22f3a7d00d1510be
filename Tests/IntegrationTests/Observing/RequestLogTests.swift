extension RealProcesses {
    /// What the logs contain, and what they don't.
    @Suite struct RequestLogTests {
        private let workers: Set<String> = [
            "imagebus-download", "imagebus-cache", "imagebus-decode", "imagebus-transform",
        ]
        private let traceID = "0af7651916cd43dd8448eb211c80319c"
        private let json = ["--allow-private-networks", "--log-format", "json"]

        private func origin() throws -> OriginServer {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            origin.route("/gone.png", .status(404))
            return origin
        }

        /// The complete log so far: once the status is answered, no line is being written.
        private func settled(_ stack: StackHarness) async throws -> LogLines {
            _ = try await stack.awaitStatus("nothing to do") {
                $0.count("liveJobs") == 0 && $0.count("liveRequests") == 0
            }
            return try LogLines(stack)
        }

        @Test func oneTraceIsFoundInTheLogsOfAllProcesses() async throws {
            let origin = try origin()
            try await withStack(json) { stack in
                let sampled = "00-\(traceID)-b7ad6b7169203331-01"
                try stack.get([
                    origin.url("/a.png"), "--resize", "40x40", "--traceparent", sampled,
                ]).expect(0)
                #expect(
                    try await settled(stack).programs(tracing: traceID)
                        == workers.union(["imagebus-coordinator"]))

                let other = "1" + traceID.dropFirst()
                try stack.run(
                    ["get", origin.url("/a.png?2"), "--resize", "40x40"],
                    environment: ["TRACEPARENT": "00-\(other)-b7ad6b7169203331-00"]
                ).expect(0)
                let lines = try await settled(stack)
                #expect(lines.programs(tracing: other) == ["imagebus-coordinator"], "not sampled")
            }
        }

        @Test func whoDebugsSeesALineForEachJob() async throws {
            let origin = try origin()
            try await withClient(json + ["--log-level", "debug"]) { stack, client in
                _ = try await client.load(ImageRequest(origin.url("/a.png"), fit: 40)).response
                let jobs = try await settled(stack).saying("job")
                let stages = Set(jobs.compactMap { $0["stage"]?.text })
                #expect(stages == ["query", "fetch", "decode", "transform", "store"])
                #expect(jobs.allSatisfy { ($0["job"]?.integer ?? 0) > 0 })
                #expect(Set(jobs.compactMap { $0["program"]?.text }) == workers)
            }
        }

        @Test func aRequestHasALineUnlessMemoryAnsweredIt() async throws {
            let origin = try origin()
            func lines(_ arguments: [String]) async throws -> [JSONValue] {
                try await withClient(json + arguments) { stack, client in
                    for _ in 0..<4 { _ = try await client.load(origin.url("/a.png")).response }
                    _ = await client.load(origin.url("/gone.png")).errorCode
                    return try await settled(stack).saying("request")
                }
            }
            let misses = try await lines([])
            #expect(misses.map { $0["outcome"]?.text } == ["image", "error"])
            #expect(misses.first?["cache"]?.text == "none")
            #expect(misses.first?["url"]?.text == origin.url("/a.png"))
            #expect(misses.last?["error"]?.text == "invalidDownloadStatusCode")
            #expect(misses.map { $0["token"]?.text?.count } == [8, 8])
            let all = try await lines(["--log-requests", "all"])
            #expect(all.map { $0["cache"]?.text } == ["none", "memory", "memory", "memory", nil])
            let slow = try await lines(["--log-requests", "slow"])
            // On a busy machine an image may be slow too.
            let fast = slow.filter {
                guard case .number(let total) = $0["totalMilliseconds"] else { return true }
                return total < 1_000
            }
            #expect(fast.map { $0["outcome"]?.text } == ["error"])
            #expect(try await lines(["--log-requests", "none"]).isEmpty)
        }
    }
}

extension StatusReport {
    /// A counter; nil if it doesn't exist.
    fileprivate func count(_ name: String) -> UInt64? {
        counters.first { $0.name == name }?.value
    }
}
