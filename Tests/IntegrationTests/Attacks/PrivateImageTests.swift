extension RealProcesses {
    /// Images that may not be stored at all, or only for the requesting client, loaded through a
    /// gateway by one HTTP client after another: each load goes to the origin.
    @Suite struct PrivateImageTests {
        private let bench = GatewayBench()

        private static let answers: [[(String, String)]] = [
            [("Cache-Control", "no-store")], [("cache-control", "NO-STORE, max-age=600")],
            [("Cache-Control", "max-age=600"), ("Cache-Control", "no-store")],
            [("Cache-Control", "no-store"), ("Cache-Control", "max-age=600, public")],
            [("Cache-Control", "private, max-age=600")],
            [("Cache-Control", "max-age=600"), ("Cache-Control", "Private")],
            [("Cache-Control", "max-age=600,private=\"set-cookie\"")],
            [
                ("Cache-Control", "public"), ("Cache-Control", "x=\"a"),
                ("Cache-Control", "no-store"),
            ],
            [("Vary", "*"), ("Cache-Control", "max-age=600")],
        ]

        @Test func everyVisitorHasTheOriginAsked() async throws {
            let images = try (0..<3).map { try Images.noise(width: 30 + $0, height: 20).png() }
            try await bench.run { gateway, stack in
                for (number, headers) in Self.answers.enumerated() {
                    let path = "/\(number).png"
                    // Each HTTP client gets a different image.
                    let answers = images.map { image in
                        headers.reduce(OriginBehavior.bytes(image)) { $0.with(header: $1.0, $1.1) }
                    }
                    bench.origin.route(path, .sequence(answers))
                    for (visit, image) in images.enumerated() {
                        let answer = try gateway.get(bench.path(path, "", ""))
                        #expect(answer.status == 200, "\(answer.head)")
                        #expect(answer.body == image, "\(headers), visit \(visit)")
                        let caching = answer.field("Cache-Control")?.lowercased() ?? ""
                        #expect(
                            ["no-store", "private", "no-cache"].contains { caching.contains($0) }
                                || answer.field("Vary") == "*",
                            "\(headers): \(answer.head)")
                        _ = try await stack.awaitIdle()
                    }
                    #expect(bench.origin.requestCount(path) == images.count, "\(headers)")
                }
            }
        }
    }
}
