extension RealProcesses {
    /// The first use of the command line.
    @Suite struct FirstUseTests {
        private let origin = OriginServer()
        private let folder = TemporaryDirectory()

        init() throws { origin.route("/a.png", .bytes(try Images.quadrants().png())) }

        private func get(
            _ words: [String], environment: [String: String] = [:]
        ) throws -> CommandLineEnd {
            try CommandLineRun(["get", origin.url("/a.png")] + words, environment: environment)
                .end()
        }

        @Test func aRuntimeDirectoryWithoutAStackIsNoReasonToStartOne() throws {
            let path = folder.file("run")
            for end in [
                try get(["--runtime-dir", path]),
                try get([], environment: ["IMAGEBUS_RUNTIME_DIR": path]),
            ] {
                #expect(end.exitStatus == 69, "\(end)")
                #expect(end.errorText.contains("no stack runs in \(path)"))
                #expect(end.errorText.contains("imagebus serve --runtime-dir \(path)"))
                #expect(end.errorText.contains("--private"))
            }
            #expect(origin.requests("/a.png").isEmpty)
        }

        @Test func aStackOfItsOwnBesideOneSaysNothing() async throws {
            try await withStack { stack in
                let end = try get([
                    "--private", "--cache-dir", stack.cacheDirectory, "--allow-address",
                    origin.authority,
                ]).expect(0)
                #expect(end.errorText == "")
            }
        }

        @Test func whatTheEnvironmentSaysForServeIsNoMistakeOfGet() async throws {
            let environment = [
                "IMAGEBUS_ALLOW_ADDRESS": "10.0.0.7:80", "IMAGEBUS_CONFIG": folder.file("none"),
                "IMAGEBUS_CA_FILE": folder.file("none"), "IMAGEBUS_DECODE": "two",
                "IMAGEBUS_ALLOW_PRIVATE_NETWORKS": "yes",
            ]
            try await withStack { stack in
                let place = ["--runtime-dir", stack.runtimeDirectory]
                let end = try get(["--json"] + place, environment: environment)
                #expect(end.exitStatus == 0 && end.errorText == "", "\(end)")
                let result = try get(["--allow-address", "10.0.0.7:80"] + place)
                #expect(result.errorText.contains("pass --private to start one"), "\(result)")
            }
        }

        @Test func helpOfACommandIsFoundBothWays() throws {
            let help = try CommandLineRun(["help", "get"]).end().expect(0)
            #expect(help.output == (try CommandLineRun(["get", "--help"]).end().output))
            let unknown = try CommandLineRun(["help", "git"]).end()
            unknown.expect(64, "unknown command 'git'. Did you mean 'get'?")
            let other = try CommandLineRun(["frobnicate"]).end()
            #expect(other.errorText.contains("'frobnicate': the commands are serve, get"))
        }

        @Test(arguments: [
            ("--memory-limit", "256", "Did you mean 256M"),
            ("--disk-limit", "10", "below the minimum of 1M"),
            ("--disk-limit", "512K", "1M (1048576 bytes)"),
        ])
        func aLimitInWhichNothingFitsIsRefused(
            _ option: String, _ value: String, _ advice: String
        ) throws {
            let end = try CommandLineRun(["serve", option, value]).end()
            end.expect(64, "\(option): '\(value)' is ", advice)
        }

        @Test func anOverlayThatIsNotSeenIsSaid() async throws {
            try await withStack { stack in
                func notes(_ place: String) throws -> [JSONValue]? {
                    let overlay = "\(origin.url("/a.png")),\(place),1"
                    return try stack.get([origin.url("/a.png"), "--overlay", overlay, "--json"])
                        .json()["notes"]?.array
                }
                let outside = try #require(try notes("5000,0"))
                #expect(outside.first?.text?.contains("at 5000,0 lies outside") == true)
                #expect(try notes("0,-5000")?.count == 1)
                #expect(try notes("10,10")?.isEmpty == true)
                #expect(try notes("-10,-10")?.isEmpty == true)
                let overlay = "\(origin.url("/a.png")),5000,0,1"
                let result = try stack.get([origin.url("/a.png"), "--overlay", overlay])
                result.expect(0, "is not visible")
            }
        }

        @Test func ordinaryEndsAreNoLossesAndNoWarnings() async throws {
            try await withStack(["--allow-private-networks", "--log-format", "json"]) { stack in
                let stores = try stack.run(["status", "--json"]).json()["cacheStores"]?.array ?? []
                for store in stores {
                    #expect(store["disk"]?["state"]?.text == "healthy", "the state is known")
                }
                for _ in 0..<5 { #expect(try stack.get([origin.url("/a.png")]).exitStatus == 0) }
                #expect(try stack.run(["prefetch", origin.url("/a.png")]).exitStatus == 0)
                #expect(try stack.run(["drain", "decode"]).exitStatus == 0)
                let status = try stack.run(["status", "--json"]).json()
                #expect(status["counters"]?["lostClients"]?.integer == 0)
                let bad = try LogLines(stack).lines.filter {
                    ["warning", "error"].contains($0["level"]?.text ?? "")
                }
                #expect(bad.isEmpty, "\(bad)")
            }
        }

        @Test func aSecretThatIsMissingIsNamedUntilItIsThere() async throws {
            let key = folder.file("partner.key")
            let rule = "{match: 'http://*/*', headers: {X-Key: {file: \(key)}}}"
            let arguments = folder.configuration("profiles: {default: {rules: [\(rule)]}}\n")
            try await withStack(arguments) { stack in
                let end = try stack.get([origin.url("/a.png")])
                end.expect(66, "requires the file \(key) for this URL, but the secret ", "ENOENT")
                #expect(origin.requests("/a.png").isEmpty)
            }
        }

        @Test func theRequestLogHasTheStatusAndTheStep() async throws {
            origin.route("/gone.png", .status(404))
            try await withStack(["--allow-private-networks", "--log-format", "json"]) { stack in
                #expect(try stack.get([origin.url("/gone.png")]).exitStatus == 66)
                try stack.get([origin.url("/a.png"), "--crop", "5000,5000,10,10"]).expect(65)
                try await stack.awaitIdle()
                let lines = try LogLines(stack).saying("request")
                #expect(lines.map { $0["httpStatus"]?.text } == ["404", nil])
                #expect(lines.map { $0["step"]?.text } == [nil, "crop"])
            }
        }
    }
}
