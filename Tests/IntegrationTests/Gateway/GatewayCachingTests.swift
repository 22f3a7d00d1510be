extension RealProcesses {
    /// Caching of gateway responses (RFC 9111): the table of `Proto/WEB.md` (5.4), verified with
    /// nginx and `proxy_cache`.
    @Suite struct GatewayCachingTests {
        private let bench = GatewayBench()

        private struct Row: CustomTestStringConvertible {
            /// Header fields of the origin's response.
            var origin: [(String, String)] = []
            /// `Cache-Control` of the gateway's response, of whose seconds up to ten may have
            /// passed.
            let answer: String
            /// Whether nginx answers the second request from its cache.
            let isKept: Bool
            var testDescription: String { "\(origin) → \(answer)" }
        }

        private static func control(_ text: String, _ answer: String, _ isKept: Bool) -> Row {
            Row(origin: [("Cache-Control", text)], answer: answer, isKept: isKept)
        }

        private static let rows = [
            control("max-age=600", "max-age=600", true),
            control("public, max-age=600", "public, max-age=600", true),
            control("private, max-age=600", "private, max-age=600", false),
            control("no-store", "no-store", false),
            control("no-cache, max-age=600", "no-cache", false),
            control("max-age=60, s-maxage=600", "max-age=60, s-maxage=600", true),
            control("s-maxage=600", "max-age=0, s-maxage=600", true),
            control(
                "max-age=600, must-revalidate, proxy-revalidate",
                "max-age=600, must-revalidate, proxy-revalidate", true),
            control("max-age=600, immutable", "max-age=600, immutable", true),
            control(
                "max-age=600, stale-while-revalidate=30, stale-if-error=40",
                "max-age=600, stale-while-revalidate=30, stale-if-error=40", true),
            Row(
                origin: [("Cache-Control", "max-age=600"), ("Vary", "*")], answer: "max-age=600",
                isKept: false),
            Row(
                origin: [("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")],
                answer: "max-age=31536000", isKept: true),
            Row(
                answer: "public, max-age=3600, stale-while-revalidate=600, stale-if-error=86400",
                isKept: true),
        ]

        /// Every row, for a processed image, for unchanged bytes, and for image properties.
        @Test(arguments: rows)
        private func nginxKeepsWhatTheOriginPermits(row: Row) async throws {
            try await run([]) { gateway, proxy in
                for (place, target) in targets.enumerated() {
                    try route(row.origin, "/\(place).jpg")
                    try expect(row.answer, row.isKept, target, proxy)
                }
            }
        }

        private var targets: [String] {
            let urls = (0..<3).map { "plain/\(bench.origin.url("/\($0).jpg"))" }
            return [
                "/unsafe/rs:fit:40:40/\(urls[0])", "/unsafe/raw:1/\(urls[1])",
                "/info/unsafe/\(urls[2])",
            ]
        }

        private func expect(
            _ answer: String, _ isKept: Bool, _ target: String, _ proxy: NginxServer
        ) throws {
            let first = try proxy.get(target)
            #expect(first.status == 200, "\(target): \(first.head)")
            let field = first.field("Cache-Control") ?? ""
            #expect(Self.isNearly(field, answer), "\(target): \(field)")
            let second = try proxy.get(target)
            #expect(second.field("X-Proxy-Cache") == (isKept ? "HIT" : "MISS"), "\(second.head)")
            #expect(second.body == first.body)
        }

        /// Whether the texts are equal, except for elapsed seconds.
        private static func isNearly(_ field: String, _ expected: String) -> Bool {
            let (field, expected) = (field.split(separator: ", "), expected.split(separator: ", "))
            return field.count == expected.count
                && zip(field, expected).allSatisfy { one, other in
                    let (left, right) = (one.split(separator: "="), other.split(separator: "="))
                    guard left.count == 2, right.count == 2, left[0] == right[0],
                        let seconds = Int(left[1]), let most = Int(right[1])
                    else { return one == other }
                    return (max(0, most - 10)...most).contains(seconds)
                }
        }

        private func route(_ fields: [(String, String)], _ path: String) throws {
            let bytes = try Images.smallPhoto()
            var behavior = OriginBehavior.revalidated(
                bytes, etag: "\"1\"", contentType: "image/jpeg")
            for (name, value) in fields { behavior = behavior.with(header: name, value) }
            bench.origin.route(path, behavior)
        }

        private func run(
            _ arguments: [String], rules: String? = nil,
            _ body: (GatewayProcess, NginxServer) throws -> Void
        ) async throws {
            let folder = TemporaryDirectory()
            let flags = rules.map { rules in
                let file = "profiles: {default: {rules: [{match: '*', \(rules)}]}}"
                return ["--config", folder.write(file, to: "a.yaml")]
            }
            try await bench.run(arguments, stack: flags ?? []) { gateway, _ in
                try body(gateway, try NginxServer(before: [gateway.port], keeps: true))
            }
        }

        // MARK: - Overrides

        /// thumbor's `max_age` sets the lifetime, but not the scope of caching.
        @Test(
            arguments: [
                ("no-cache", "max-age=60", true), ("private", "private, max-age=60", false),
            ])
        func aURLMaySayHowLong(origin: String, answer: String, isKept: Bool) async throws {
            try await run(["--grammar", "thumbor"]) { _, proxy in
                try route([("Cache-Control", origin)], "/0.jpg")
                let url = bench.origin.url("/0.jpg")
                try expect(answer, isKept, "/unsafe/40x40/filters:max_age(60)/\(url)", proxy)
            }
        }

        @Test func aRuleMayIgnoreTheOrigin() async throws {
            try await run([], rules: "ignore-cache-control: yes") { _, proxy in
                try route([("Cache-Control", "private, max-age=600")], "/0.jpg")
                try expect("public, max-age=3600", true, targets[0], proxy)
            }
        }
    }
}
