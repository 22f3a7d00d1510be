extension RealProcesses {
    /// How long responses are fresh. The origin sends the `Age`, so that tests don't have to wait.
    @Suite struct GatewayFreshnessTests {
        private let bench = GatewayBench()

        private func route(_ fields: [(String, String)], status: Int? = nil) throws {
            let bytes = try Images.smallPhoto()
            var behavior = OriginBehavior.revalidated(
                bytes, etag: "\"1\"", contentType: "image/jpeg")
            if let status { behavior = .status(status) }
            for (name, value) in fields { behavior = behavior.with(header: name, value) }
            bench.origin.route("/a.jpg", behavior)
        }

        private func seconds(_ response: RawClient.Response) -> Int? {
            response.field("Cache-Control")?.split(separator: ", ")
                .first { $0.hasPrefix("max-age=") }.flatMap { Int($0.dropFirst(8)) }
        }

        /// An image without freshness information is fetched once an hour, and may be served stale
        /// for a while.
        @Test func whatOriginsDoNotSayIsAssumed() async throws {
            try route([])
            try await bench.run { gateway, stack in
                let first = try gateway.get(bench.path("/a.jpg"))
                #expect((3_500...3_600).contains(seconds(first) ?? 0), "\(first.head)")
                let field = first.field("Cache-Control") ?? ""
                #expect(field.hasSuffix(", stale-while-revalidate=600, stale-if-error=86400"))
                _ = try await stack.awaitIdle()
                _ = try gateway.get(bench.path("/a.jpg"))
                _ = try gateway.get(bench.path("/a.jpg", "rs:fit:20:20"))
                #expect(bench.origin.requestCount("/a.jpg") == 1)
            }
        }

        @Test func nothingIsAssumedWhereTheOperatorSaysSo() async throws {
            try route([])
            let none = [
                "--assume-fresh", "0", "--assume-stale-while-revalidate", "0",
                "--assume-stale-if-error", "0",
            ]
            try await bench.run(none) { gateway, stack in
                #expect(try gateway.get(bench.path("/a.jpg")).field("Cache-Control") == "no-cache")
                _ = try await stack.awaitIdle()
                #expect(try gateway.get(bench.path("/a.jpg")).status == 200)
                let conditions = bench.origin.requests("/a.jpg").map { $0.header("if-none-match") }
                #expect(conditions == [nil, "\"1\""])
            }
        }

        @Test func whatOriginsSayIsNotAssumed() async throws {
            try route([("Cache-Control", "no-cache")])
            try await bench.run { gateway, stack in
                #expect(try gateway.get(bench.path("/a.jpg")).field("Cache-Control") == "no-cache")
                _ = try await stack.awaitIdle()
                // Also if the 304 contains no freshness information.
                try route([])
                _ = try gateway.get(bench.path("/a.jpg"))
                _ = try await stack.awaitIdle()
                _ = try gateway.get(bench.path("/a.jpg"))
                #expect(bench.origin.requestCount("/a.jpg") == 3)
            }
        }

        /// Within the assumed stale period the image is served while the origin is asked, which
        /// hasn't responded yet.
        @Test func whatIsPastItsTimeIsShownWhileTheOriginIsAsked() async throws {
            try route([("Age", "3700")])
            try await bench.run { gateway, stack in
                let first = try gateway.get(bench.path("/a.jpg"))
                _ = try await stack.awaitIdle()
                let gate = Gate()
                bench.origin.route("/a.jpg", .hang(until: gate))
                let stale = try gateway.get(bench.path("/a.jpg"))
                #expect(stale.status == 200 && stale.body == first.body, "\(stale.head)")
                let field = stale.field("Cache-Control") ?? ""
                #expect(field.hasPrefix("max-age=0, stale-while-revalidate="), "\(field)")
                #expect(await bench.origin.waitForRequest("/a.jpg", count: 2))
                gate.open()
                _ = try await stack.awaitIdle()
            }
        }

        @Test func whatIsPastItsTimeIsShownWhereTheOriginFails() async throws {
            try route([("Age", "9000")])
            try await bench.run { gateway, stack in
                let first = try gateway.get(bench.path("/a.jpg"))
                _ = try await stack.awaitIdle()
                try route([], status: 503)
                let stale = try gateway.get(bench.path("/a.jpg"))
                #expect(stale.status == 200 && stale.body == first.body, "\(stale.head)")
                #expect(stale.field("X-Cache") == "stale", "\(stale.head)")
                #expect(bench.origin.requestCount("/a.jpg") > 1)
            }
        }

        /// A client has stored it; for that client, an origin without freshness information made it
        /// stale at once. It is too old for the assumed freshness, and the stack has been restarted
        /// since. The gateway asks the origin once, and not again after a further restart.
        @Test(arguments: ["rs:fit:40:40", "raw:1"])
        func whatAClientHadStoredIsAskedAboutOnce(options: String) async throws {
            try route([("Age", "9000")])
            try await withStack(decoders: 1) { stack in
                var request = ImageRequest(url: bench.origin.url("/a.jpg"))
                if options != "raw:1" {
                    request.steps = [.resize(PixelSize(width: 40, height: 40), .fit)]
                }
                _ = try await stack.client().load(request).response
                _ = try await stack.awaitIdle()
                try route([])
                for _ in 0..<2 {
                    try stack.stop()
                    try stack.start()
                    let gateway = try GatewayProcess(before: stack, ["--unsigned"])
                    for _ in 0..<6 {
                        let response = try gateway.get(bench.path("/a.jpg", options))
                        #expect(seconds(response) ?? 0 > 3_500, "\(response.head)")
                    }
                    _ = try await stack.awaitIdle()
                }
                let conditions = bench.origin.requests("/a.jpg").map { $0.header("if-none-match") }
                #expect(conditions == [nil, "\"1\""])
            }
        }

        @Test func clientsAreToldOfTheOperatorsLimits() async throws {
            try route([("Cache-Control", "max-age=5000")])
            let limits = ["--max-age-limit", "900", "--browser-max-age", "60"]
            try await bench.run(limits) { gateway, _ in
                let field = try gateway.get(bench.path("/a.jpg")).field("Cache-Control")
                #expect(field == "max-age=60, s-maxage=900")
            }
        }
    }
}
