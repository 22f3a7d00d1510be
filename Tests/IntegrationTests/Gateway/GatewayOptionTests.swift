extension RealProcesses {
    /// Options of operators for the responses of a gateway.
    @Suite struct GatewayOptionTests {
        private let bench = GatewayBench()

        /// A preset for `Save-Data` applies after the preset `default`, and the options of the path
        /// after both.
        @Test(arguments: ["few=w:32/q:10\n", "few=w:32/q:10\n default = w:50/bl:0\n"])
        func whoSavesDataHasThePreset(lines: String) async throws {
            bench.origin.route("/a.png", .bytes(try Images.waves(width: 120, height: 60).png()))
            let folder = TemporaryDirectory()
            let presets = folder.write(lines, to: "presets")
            let arguments = [
                "--presets", presets, "--client-hints", "--save-data-preset", "few",
            ]
            try await bench.run(arguments) { gateway, _ in
                let usual = lines.contains("default") ? 50 : 120
                for (options, field, width) in [
                    ("", "", usual), ("", "Save-Data: off\r\n", usual),
                    ("", "Save-Data: on\r\n", 32), ("w:60", "Save-Data: on\r\n", 60),
                ] {
                    let image = try gateway.get(bench.path("/a.png", options, "@png"), field)
                    #expect(image.status == 200, "\(image.head)")
                    #expect(try Pixels(decoding: image.body).width == width, "\(options) \(field)")
                    #expect(image.field("Vary")?.hasPrefix("Save-Data") == true)
                }
            }
        }

        private static let mistakes = [
            ["--public-url", "example.com"], ["--public-url", "https://example.com/"],
            ["--fallback", "/nowhere/a.png"], ["--fallback-for", "404"],
            ["--fallback-status", "204"], ["--fallback-status", "x"],
            ["--fallback-max-age", "-1"], ["--post-tokens", "/nowhere/tokens"],
            ["--hint-widths", "320"], ["--save-data-preset", "few"],
            ["--hint-widths", "640,320", "--client-hints"],
            ["--hint-widths", "0", "--client-hints"],
            ["--save-data-quality", "101", "--client-hints"],
            ["--save-data-preset", "few", "--client-hints"],
            ["--assume-fresh", "31536001"], ["--assume-fresh", "1h"], ["--timeout", "0"],
            ["--timeout", "3601"], ["--iiif-source", "https://h/{id}"],
            ["--iiif-source", "https://h/", "--grammar", "iiif"],
            ["--keys", "/dev/null", "--grammar", "iiif", "--iiif-source", "https://h/{id}"],
            ["--keys", "/dev/null", "--grammar", "weserv"],
            ["--presets", "/dev/null", "--grammar", "thumbor"],
            ["--presets", "/proc/self/status"],
            ["--pass-headers", "cookie"], ["--pass-headers", "x-mine"],
            ["--pass-headers", "host", "--pass-headers-to", "https://h/"],
            ["--pass-headers", "a b", "--pass-headers-to", "https://h/"],
            ["--pass-headers-to", "https://h/"], ["--response-headers", "x"],
            ["--response-headers", "Cache-Control=no-store"],
            ["--response-headers", "a b=c"], ["--response-headers", "X="],
            ["--client-header", "X-Real-IP"], ["--trusted-proxy", "10.0.0.0/33"],
            ["--trusted-proxy", "example.com"],
        ]

        /// A gateway without keys and `--unsigned` reports that, and so do its responses.
        @Test func aGatewayThatRefusesEverybodySaysSo() async throws {
            try await withGateway([]) { gateway, _ in
                let lines = try gateway.awaitLine { $0.contains("all images are refused") }
                #expect(lines.contains { $0.contains("--keys") && $0.contains("--unsigned") })
                let answer = try gateway.get("/unsafe/plain/http://127.0.0.1/a.png")
                #expect(answer.status == 403)
                #expect(answer.text.contains("has no keys"))
            }
        }

        /// thumbor's keys are lines, with the line breaks of any system.
        @Test(arguments: ["one\ntwo\n", "# both\r\none\r\ntwo\r\n"])
        func keysAreLines(text: String) async throws {
            bench.origin.route("/a.png", .bytes(try Images.waves(width: 60, height: 40).png()))
            let folder = TemporaryDirectory()
            let keys = folder.write(text, to: "keys")
            try await withGateway(["--grammar", "thumbor", "--keys", keys]) { gateway, _ in
                for key in ["one", "two"] {
                    let path = "30x20/\(bench.origin.url("/a.png"))"
                    let code = try Tool.run(
                        ["openssl", "dgst", "-sha1", "-hmac", key, "-binary"],
                        input: Array(path.utf8))
                    let signature = try Tool.text(["base64", "-w0"], input: code)
                    let safe = signature.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
                    let answer = try gateway.get("/\(String(safe))/\(path)")
                    #expect(answer.status == 200, "\(key) \(answer.head)")
                }
            }
        }

        /// Each ends the program with an error that names the option.
        @Test func mistakesAreNamed() async throws {
            try await withStack(decoders: 1) { stack in
                for arguments in Self.mistakes {
                    do {
                        _ = try GatewayProcess(before: stack, ["--unsigned"] + arguments)
                        Issue.record("it listens: \(arguments)")
                    } catch let failure as StackFailure {
                        #expect("\(failure)".contains(arguments[0]), "\(failure)")
                    }
                }
            }
        }
    }
}
