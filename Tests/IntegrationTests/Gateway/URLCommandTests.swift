extension RealProcesses {
    /// `imagebus url` and a gateway with the same settings.
    @Suite struct URLCommandTests {
        private let bench = GatewayBench()
        private let folder = TemporaryDirectory()

        private func url(_ arguments: [String]) throws -> CommandLineEnd {
            try CommandLineRun(["url"] + arguments).end()
        }

        @Test func whatIsBuiltIsAnsweredAndExplained() async throws {
            let waves = Images.waves(width: 160, height: 80)
            bench.origin.route("/a.jpg", .bytes(try waves.jpeg(quality: 90)))
            let keys = folder.write("736563726574 68656C6C6F\n", to: "keys")
            try await withGateway(["--keys", keys]) { gateway, stack in
                let source = bench.origin.url("/a.jpg?q=1@2")
                let produced = try url(["build", "rs:fit:40:40", source, "--gateway-keys", keys])
                #expect(produced.exitStatus == 0, "\(produced)")
                let target = produced.outputText.trimmingEnd
                let explain = [
                    "explain", target, "--gateway-keys", keys, "--runtime-dir",
                    stack.runtimeDirectory, "--json",
                ]
                let before = try url(explain).json()
                #expect(before["source"]?.text == source)
                #expect(before["steps"]?.array?.count == 1)
                #expect(before["cached"]?.text == "no")
                let image = try gateway.get(target)
                #expect(image.status == 200, "\(image.head)")
                #expect(try Pixels(decoding: image.body).size == "40x20")
                let after = try url(explain).json()
                #expect(after["cached"]?.text == "memory", "\(after)")
                let key = try #require(after["key"]?.text)
                let tiers = try stack.run(["cache", "contains", key])
                #expect(tiers.exitStatus == 0, "\(key): \(tiers)")
                let path = String(target.dropFirst().drop { $0 != "/" })
                let signed = try url(["sign", path, "--gateway-keys", keys])
                #expect(signed.outputText.trimmingEnd == target)
            }
        }

        @Test func aRefusalIsExplained() throws {
            let refused = try url([
                "explain", "https://images.example.com/unsafe/w:40/plain/https://example.com/a.jpg",
            ]).expect(1)
            #expect(refused.outputText.contains("status   403"))
            #expect(refused.outputText.contains("allow unsigned paths"))
            let absent = try url([
                "explain", "/unsafe/filters:noise(3)/example.com/a.jpg", "--gateway-grammar",
                "thumbor", "--gateway-unsigned",
            ])
            #expect(absent.outputText.contains("status   501"), "\(absent)")
        }

        @Test(arguments: [
            ([], "expected one of"), (["build", "w:1"], "build requires OPTIONS and SOURCE"),
            (["build", "w:x", "https://example.com/a.jpg", "--gateway-unsigned"], "w: "),
            (["sign", "/w:1/plain/https://example.com/a.jpg"], "operator must configure keys"),
            (["sign", "/w:1", "--gateway-keys", "/nowhere"], "/nowhere cannot be read"),
        ])
        func aMistakeIsSaid(_ arguments: [String], _ sentence: String) throws {
            try url(arguments).expect(64, sentence)
        }
    }
}

extension String {
    fileprivate var trimmingEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}
