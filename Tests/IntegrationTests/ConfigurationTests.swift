extension RealProcesses {
    /// A configuration in a running stack: its effect on requests, and reloading it.
    @Suite struct ConfigurationTests {
        private let folder = TemporaryDirectory()

        private func write(_ text: String) -> [String] { folder.configuration(text) }

        private func origin() throws -> OriginServer {
            let origin = OriginServer()
            let image = try Images.photo()
            for path in ["/a.jpg", "/a@2x.jpg", "/private/a.jpg"] {
                origin.route(path, .jpeg(image))
            }
            return origin
        }

        /// Loads until the answer is as expected, since a signal takes effect asynchronously.
        private func expectSoon(
            _ what: String, _ stack: StackHarness, _ isThere: () throws -> Bool
        ) throws {
            try pollUntil(what, log: stack.logFile, isThere)
        }

        @Test func requestsBecomeWhatTheFileSays() async throws {
            let origin = try origin()
            let arguments = write(
                """
                sources: ["http://127.0.0.1:*/*"]
                caches: [products]
                presets:
                  card: {resize: 100x100, mode: fill, format: webp}
                  small: {resize: 40x40, format: png}
                profiles:
                  default:
                    cache: products
                    transformer: card
                    rules:
                      - {match: "http://*/private/*", download: no}
                  plain: {}
                """)
            try await withStack(arguments) { stack in
                let card = try stack.get([origin.url("/a.jpg"), "--json"]).json()
                #expect(card["format"]?.text == "webp")
                #expect(card["width"]?.integer == 100)
                #expect(card["key"]?.text?.hasPrefix("http://127.0.0.1") == true)
                let again = try stack.get([origin.url("/a.jpg"), "--json"]).json()
                #expect(again["cacheType"]?.text == "memory")
                let small = try stack.get([origin.url("/a.jpg"), "--preset", "small", "--json"])
                #expect(try small.json()["width"]?.integer == 40)
                let whole = ["--context", "image-transformer=none", "--json"]
                #expect(
                    try stack.get([origin.url("/a.jpg")] + whole).json()["width"]?.integer == 400)
                #expect(origin.requestCount("/a.jpg") == 1)

                let plain = ["--profile", "plain", "--json"]
                let other = try stack.get([origin.url("/a.jpg")] + plain).json()
                #expect(other["width"]?.integer == 400)
                #expect(other["cacheType"]?.text == "none", "another cache")
                #expect(origin.requestCount("/a.jpg") == 2)

                let scaled = try stack.get([origin.url("/a@2x.jpg")] + plain).json()
                #expect(scaled["scale"]?.integer == 2)
                let context = plain + ["--context", "image-scale-factor=3"]
                let asked = try stack.get([origin.url("/a@2x.jpg")] + context).json()
                #expect(asked["scale"]?.integer == 3)

                let denied = try stack.get([origin.url("/private/a.jpg"), "--json"])
                #expect(try denied.json()["status"]?.text == "miss")
                #expect(origin.requestCount("/private/a.jpg") == 0)
                #expect(try stack.get(["http://localhost/a.jpg"]).exitStatus == 77)
                try stack.get([origin.url("/a.jpg"), "--profile", "x"]).expect(64, "default, plain")
                let refused = ["--context", "image-coder=x"]
                #expect(try stack.get([origin.url("/a.jpg")] + refused).exitStatus == 64)
            }
        }

        @Test func sighupLoadsTheFileWholeOrNotAtAll() async throws {
            let origin = try origin()
            func file(_ size: Int) -> String {
                """
                presets: {card: {resize: \(size)x\(size), format: png}}
                profiles: {default: {transformer: card}}
                """
            }
            let arguments = write(file(100))
            try await withStack(arguments) { stack in
                func width() throws -> Int? {
                    try stack.get([origin.url("/a.jpg"), "--json"]).json()["width"]?.integer
                }
                for _ in 0..<3 { #expect(try width() == 100) }
                _ = write(file(50))
                try stack.send(.hangUp)
                try expectSoon("the new size", stack) { try width() == 50 }

                _ = write("presets: {card: {resize: 10x10}}\nprofiles: {default: {transformr: x}}")
                try stack.send(.hangUp)
                try expectSoon("a complaint", stack) {
                    let log = FileBytes.text(stack.logFile) ?? ""
                    return log.contains("imagebus.yaml:2: ") && log.contains("'transformer'")
                }
                #expect(try width() == 50)
                // A successor couldn't start with it, so this process stays.
                try stack.run(["drain", "coordinator"]).expect(64, "imagebus.yaml:2: ")
                #expect(try width() == 50)
                _ = write(file(60))
                try stack.send(.hangUp)
                try expectSoon("the third size", stack) { try width() == 60 }
            }
        }

        /// As a terminal sends it when it is closed.
        @Test func aHangUpWithoutAConfigurationEndsNothing() async throws {
            try await withStack(["--only", "coordinator"]) { stack in
                let workers = try stack.begin(["serve", "--only", "download"])
                _ = try await stack.awaitStatus("a worker") { $0.processes.count == 2 }
                try stack.send(.hangUp)
                try expectSoon("a word of it", stack) {
                    let log = FileBytes.text(stack.logFile) ?? ""
                    return log.contains("SIGHUP: no configuration to reload")
                }
                try workers.send(.hangUp)
                // The signal is handled before the end of the worker.
                try stack.run(["drain", "download"]).expect(0)
                try workers.send(.terminate)
                try workers.end().expect(0, "SIGHUP: nothing to reload")
            }
        }

        @Test func whereNohupIgnoresIt() async throws {
            let place = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
            let run = try CommandLineRun(
                program: "/usr/bin/nohup",
                [
                    Programs.path(.imagebus), "serve", "--only", "coordinator", "--runtime-dir",
                    place.path,
                ])
            let status = ["status", "--runtime-dir", place.path]
            try pollUntil("serve") { try CommandLineRun(status).end().exitStatus == 0 }
            try run.send(.hangUp)
            #expect(try CommandLineRun(status).end().exitStatus == 0)
            try run.send(.terminate)
            try run.end().expect(0)
        }

        @Test func aSecretThatIsMissingAtTheStartCostsOnlyWhatNeedsIt() async throws {
            let origin = try origin()
            let arguments = write(
                """
                profiles:
                  default:
                    rules:
                      - match: "http://*/private/*"
                        headers: {X-Api-Key: {file: \(folder.file("late"))}}
                """)
            try await withStack(arguments) { stack in
                #expect(try stack.get([origin.url("/a.jpg")]).exitStatus == 0)
                #expect(try stack.get([origin.url("/private/a.jpg")]).exitStatus != 0)
                #expect(origin.requestCount("/private/a.jpg") == 0)
                folder.write("late-secret\n", to: "late")
                try expectSoon("the secret", stack) {
                    try stack.get([origin.url("/private/a.jpg")]).exitStatus == 0
                }
                let sent = origin.requests("/private/a.jpg").map { $0.header("x-api-key") }
                #expect(sent == ["late-secret"])
            }
        }

        @Test func aSecretIsReadAgainAndKeepsItsEntriesUnderItsName() async throws {
            let origin = try origin()
            let key = folder.write("first-secret\n", to: "key")
            let arguments = write(
                """
                profiles:
                  default:
                    rules:
                      - match: "http://*/*"
                        headers: {X-Api-Key: {file: \(key)}}
                        identity: partner-7
                  other: {}
                """)
            try await withStack(arguments) { stack in
                let first = try stack.get([origin.url("/a.jpg"), "--json"]).json()
                #expect(first["key"]?.text?.contains("-Auth(") == true)
                let other = ["--profile", "other", "--json"]
                let external = try stack.get([origin.url("/a.jpg")] + other).json()
                #expect(external["cacheType"]?.text == "none", "identities share no entry")
                func sent() -> [String?] {
                    origin.requests("/a.jpg").map { $0.header("x-api-key") }
                }
                #expect(sent() == ["first-secret", nil])
                folder.write("second-secret\n", to: "key")
                let fromOrigin = [origin.url("/a.jpg"), "--option", "from-loader-only"]
                try expectSoon("the new secret", stack) {
                    _ = try stack.get(fromOrigin)
                    return origin.newestRequest("/a.jpg")?.header("x-api-key") == "second-secret"
                }
                let count = origin.requestCount("/a.jpg")
                let kept = try stack.get([origin.url("/a.jpg"), "--json"]).json()
                #expect(kept["cacheType"]?.text == "memory")
                #expect(kept["key"]?.text == first["key"]?.text)
                #expect(origin.requestCount("/a.jpg") == count)
                let log = FileBytes.text(stack.logFile) ?? ""
                #expect(!log.contains("first-secret") && !log.contains("second-secret"))
                #expect(try !stack.run(["status", "--json"]).outputText.contains("-secret"))
            }
        }

        /// Two headers of rules that are resolved late, under a named profile, as the origin
        /// receives them: at a URL of a prefetch, and at the fallback of a load that fails.
        private func lateHeaders(
            _ round: Int, _ origin: OriginServer, _ stack: StackHarness
        ) throws -> [[String?]] {
            let paths = ["/late/listed-\(round).jpg", "/late/instead-\(round).jpg"]
            let profile = ["--profile", "shop"]
            try stack.run(["prefetch", origin.url(paths[0])] + profile).expect(0)
            let fallback = ["--fallback", origin.url(paths[1]), "--json"]
            try stack.get([origin.url("/gone-\(round).jpg")] + fallback + profile).expect(0)
            return paths.flatMap { path in
                origin.requests(path).map { [$0.header("x-version"), $0.header("x-api-key")] }
            }
        }

        @Test func whatIsResolvedLateFollowsAReloadAndASecret() async throws {
            let origin = try origin()
            let image = try Images.waves(width: 40, height: 30).jpeg(quality: 80)
            origin.route("/late/*", .jpeg(image))
            let key = folder.write("first-secret\n", to: "key")
            func file(_ version: String) -> String {
                """
                profiles:
                  shop:
                    rules:
                      - match: "http://*/*"
                        headers: {X-Version: \(version), X-Api-Key: {file: \(key)}}
                """
            }
            let arguments = write(file("one"))
            try await withStack(arguments) { stack in
                // A load is resolved when it arrives, so it shows when the new rules are in effect.
                func awaitHeader(_ name: String, _ value: String, at path: String) throws {
                    let fromOrigin = ["--profile", "shop", "--option", "from-loader-only"]
                    try expectSoon(value, stack) {
                        _ = try stack.get([origin.url(path)] + fromOrigin)
                        return origin.newestRequest(path)?.header(name) == value
                    }
                }
                let first = try lateHeaders(1, origin, stack)
                #expect(first == [["one", "first-secret"], ["one", "first-secret"]])
                _ = write(file("two"))
                try stack.send(.hangUp)
                try awaitHeader("x-version", "two", at: "/a.jpg")
                let second = try lateHeaders(2, origin, stack)
                #expect(second == [["two", "first-secret"], ["two", "first-secret"]])
                folder.write("second-secret\n", to: "key")
                try awaitHeader("x-api-key", "second-secret", at: "/private/a.jpg")
                let third = try lateHeaders(3, origin, stack)
                #expect(third == [["two", "second-secret"], ["two", "second-secret"]])
            }
        }

        @Test func aCoordinatorThatAloneHasASecretStays() async throws {
            let origin = try origin()
            let key = folder.write("first-secret\n", to: "key")
            let arguments = write(
                """
                profiles:
                  default:
                    rules:
                      - {match: "http://*/a.jpg", headers: {X-Api-Key: {file: \(key)}}}
                      - match: "http://*/private/*"
                        headers: {X-Api-Key: {file: \(folder.file("never"))}}
                """)
            try await withStack(arguments) { stack in
                #expect(try stack.get([origin.url("/a.jpg")]).exitStatus == 0)
                try FileDescriptor.open(folder.path, .directory).unlink("key")
                try stack.run(["drain", "coordinator"]).expect(64, key)
                let fromOrigin = [origin.url("/a.jpg"), "--option", "from-loader-only"]
                #expect(try stack.get(fromOrigin).exitStatus == 0)
                let sent = origin.requests("/a.jpg").map { $0.header("x-api-key") }
                #expect(sent == ["first-secret", "first-secret"])
                folder.write("second-secret\n", to: "key")
                // A value that the coordinator itself never loaded doesn't prevent draining it.
                try stack.run(["drain", "coordinator"]).expect(0)
            }
        }

        @Test func aRedirectStaysWithinTheSourcesAndTakesNoSecretAlong() async throws {
            let (origin, other, stranger) = (try origin(), try self.origin(), OriginServer())
            origin.route("/to-other", .redirect(to: other.url("/a.jpg")))
            origin.route("/to-stranger", .redirect(to: stranger.url("/a.jpg")))
            let key = folder.write("first-secret\n", to: "key")
            let arguments = write(
                """
                sources: ["http://\(origin.authority)/*", "http://\(other.authority)/*"]
                profiles:
                  default:
                    rules: [{match: "*", headers: {X-Api-Key: {file: \(key)}}}]
                """)
            try await withStack(arguments) { stack in
                #expect(try stack.get([origin.url("/to-other"), "--json"]).exitStatus == 0)
                let first = try #require(origin.requests("/to-other").first)
                #expect(first.header("x-api-key") == "first-secret")
                let second = try #require(other.requests("/a.jpg").first)
                #expect(second.header("x-api-key") == nil)
                let away = try stack.get([origin.url("/to-stranger"), "--json"])
                #expect(try away.json()["error"]?["name"]?.text == "sourceForbidden")
                #expect(stranger.acceptedConnectionCount == 0)
            }
        }

        @Test func aPrefetchFollowsTheRulesForEachURL() async throws {
            let origin = try origin()
            let arguments = write(
                """
                caches: [private]
                presets: {card: {resize: 100x100, format: png}}
                profiles:
                  default:
                    transformer: card
                    rules:
                      - {match: "http://*/private/*", context: {image-cache: private}}
                      - {match: "http://*/a@2x.jpg", download: no}
                """)
            try await withStack(arguments) { stack in
                let urls = ["/a.jpg", "/private/a.jpg", "/a@2x.jpg"].map { origin.url($0) }
                try stack.run(["prefetch"] + urls).expect(0)
                #expect(origin.requestCount("/a@2x.jpg") == 0)
                for url in urls.prefix(2) {
                    let answer = try stack.get([url, "--json"]).json()
                    #expect(answer["cacheType"]?.text == "memory")
                    #expect(answer["width"]?.integer == 100)
                    let asked = ["cache", "contains", answer["key"]?.text ?? ""]
                    let isPrivate = url.contains("private/")
                    #expect(try (stack.run(asked).outputText == "none\n") == isPrivate)
                    let named = try stack.run(asked + ["--cache", "private"])
                    #expect((named.outputText == "none\n") == !isPrivate)
                }
                try stack.run(["prefetch", urls[0], "--profile", "nobody"]).expect(64)
            }
        }

        @Test func aBrokenFileAtTheStartIsSaidAndEndsWith64() throws {
            let path = folder.write(
                "caches: [a]\nprofiles: {default: {cash: a}}\n", to: "imagebus.yaml")
            let places = ["--runtime-dir", folder.file("run"), "--cache-dir", folder.file("cache")]
            let serve = try CommandLineRun(["serve", "--config", path] + places).end()
            serve.expect(64, "\(path):2: ", "Did you mean 'cache'?")
            let line = ["get", "http://h/a", "--private", "--config", path] + places
            try CommandLineRun(line).end().expect(64, "\(path):2: ")
        }

        @Test func theCheckSaysWhatIsInAFileOrWhatIsWrongWithIt() throws {
            let good = RepositoryRoot.file("Examples/imagebus.yaml")
            let fine = try CommandLineRun(["config", "check", good]).end().expect(0)
            #expect(
                fine.outputText == "\(good): ok, 2 sources, 6 caches, 3 presets, 1 key filter, "
                    + "1 serializer, 2 profiles, 5 rules, 5 loaders, 5 pools\n")
            let bad = folder.write("caches: [a b]\nsorces: []\n", to: "imagebus.yaml")
            let faults = try CommandLineRun(
                ["config", "check"], environment: ["IMAGEBUS_CONFIG": bad]
            ).end().expect(64)
            #expect(faults.output.isEmpty)
            #expect(
                faults.errorText.split(separator: "\n").map { $0.prefix(bad.count + 3) }
                    == ["\(bad):1:", "\(bad):2:"])
            #expect(try CommandLineRun(["config", "check"]).end().exitStatus == 64)
        }
    }
}
