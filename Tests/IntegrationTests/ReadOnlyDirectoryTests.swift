import Glibc

extension RealProcesses {
    /// Read-only directories, created by another stack, in which caches look up entries that they
    /// don't have themselves (SEMANTICS §5.18).
    @Suite struct ReadOnlyDirectoryTests {
        private let folder = TemporaryDirectory()
        private let origin = OriginServer()
        private let fromCache = ["--option", "from-cache-only"]
        private let image: [UInt8]

        init() throws {
            image = try Images.noise(width: 160, height: 120).png()
            origin.route("/a.png", .bytes(image))
        }

        private var bundled: String { folder.file("bundled") }

        private func url(_ number: Int) -> String { origin.url("/a.png?\(number)") }

        /// A stack creates the entries, including resized results, and ends; its directory is
        /// copied as a whole.
        private func make() async throws {
            let wait = ["--option", "wait-store-cache"]
            let stack = try StackHarness(
                ["--decode", "1", "--transform", "1", "--allow-private-networks"])
            try stack.start()
            for number in 0..<2 { #expect(try stack.get([url(number)] + wait).exitStatus == 0) }
            #expect(try stack.get([url(0), "--resize", "40x30"] + wait).exitStatus == 0)
            try stack.stop()
            try Tool.run(["cp", "-a", stack.cacheDirectory, bundled])
        }

        /// The names, times and bytes of everything in the directory.
        private func contents() throws -> String {
            let names = try Tool.run(["find", bundled, "-printf", "%P %y %s %T@ %C@\n"])
            let sums = try Tool.run([
                "find", bundled, "-type", "f", "-exec", "sha256sum", "{}", "+",
            ])
            return String(decoding: names + sums, as: UTF8.self)
                .split(separator: "\n").sorted().joined(separator: "\n")
        }

        /// The number of requests to the origin.
        private var asked: Int { origin.totalRequestCount }

        private func answer(
            _ number: Int, _ more: [String], _ stack: StackHarness
        ) throws -> JSONValue {
            try stack.get([url(number), "--json"] + more).json()
        }

        private func tiers(
            _ number: Int, _ more: [String], _ stack: StackHarness
        ) throws -> String {
            let end = try stack.run(["cache", "contains", url(number)] + more)
            return String(end.outputText.dropLast())
        }

        private func directory(_ report: StatusReport) -> ReadOnlyDirectory? {
            report.caches.first?.readOnly.first
        }

        @Test func whatAnotherStackMadeIsAnsweredWithoutTheOrigin() async throws {
            try await make()
            let (before, asked) = (try contents(), asked)
            let arguments = folder.configuration("caches: {default: {read-only: \(bundled)}}")
            try await withStack(arguments, decoders: 1) { stack in
                _ = try await stack.awaitStatus("the directory") { directory($0)?.reason == "" }
                let first = try answer(0, fromCache, stack)
                #expect(first["cacheType"]?.text == "disk" && first["width"]?.integer == 160)
                #expect(try stack.run(["cache", "get", url(1)]).output == image)
                let small = try answer(0, fromCache + ["--resize", "40x30"], stack)
                #expect(small["width"]?.integer == 40, "results as well")
                // Another size is derived from the original in the directory.
                let other = try answer(1, ["--resize", "80x60"], stack)
                #expect(other["width"]?.integer == 80 && other["status"]?.text == "ok")
                #expect(try answer(0, fromCache, stack)["cacheType"]?.text == "memory")
                #expect(try tiers(0, [], stack) == "memory", "not written to the own disk")
                #expect(self.asked == asked)
                #expect(try stack.run(["cache", "remove", url(0)]).exitStatus == 0)
                #expect(try answer(0, fromCache, stack)["cacheType"]?.text == "disk")
                let miss = try answer(7, fromCache, stack)
                #expect(miss["status"]?.text == "miss")
                let report = try await stack.awaitStatus("hits") {
                    (directory($0)?.hits ?? 0) >= 4
                }
                #expect(directory(report)?.damaged == 0 && directory(report)?.cache == "")
                let json = try stack.run(["cache", "stats", "--json"]).json()
                let status = json["caches"]?.array?.first?["readOnly"]?.array?.first
                #expect(status?["path"]?.text == bundled && status?["cache"]?.text == "default")
            }
            #expect(try contents() == before, "nothing is written, removed or touched")
        }

        /// As a named cache below another one, added by SIGHUP; a missing directory is reported and
        /// used once it exists.
        @Test func aDirectoryMayComeLaterAndBeACacheOfItsOwn() async throws {
            try await make()
            try #require(rename(bundled, bundled + ".away") == 0)
            let text = """
                caches:
                  hot:
                  bundled: {read-only: [\(bundled)], disk-cache: no}
                  both: {of: [bundled, hot]}
                profiles: {default: {cache: both, original-cache: both}}
                """
            let arguments = folder.configuration("caches: [hot]")
            try await withStack(arguments + ["--log-format", "json"], decoders: 1) { stack in
                #expect(try answer(0, fromCache, stack)["status"]?.text == "miss")
                folder.write(text, to: "imagebus.yaml")
                try stack.send(.hangUp)
                let missing = try await stack.awaitStatus("the missing directory") {
                    directory($0)?.reason.isEmpty == false
                }
                #expect(directory(missing)?.reason.contains("create or mount it") == true)
                #expect(directory(missing)?.path == bundled)
                try expectSaid(stack, "degraded", up: 0)
                #expect(try answer(0, fromCache, stack)["status"]?.text == "miss")
                try #require(rename(bundled + ".away", bundled) == 0)
                _ = try await stack.awaitStatus("the directory") { directory($0)?.reason == "" }
                try expectSaid(stack, "healthy", up: 1)
                let hit = try answer(0, fromCache, stack)
                #expect(hit["cacheType"]?.text == "disk" && hit["width"]?.integer == 160)
                #expect(try tiers(0, ["--cache", "bundled"], stack) == "memory")
                #expect(try tiers(0, ["--cache", "hot"], stack) == "none")
                // Fetched images are stored in the topmost cache.
                let new = try answer(5, ["--option", "wait-store-cache"], stack)
                #expect(new["status"]?.text == "ok")
                #expect(try tiers(5, ["--cache", "hot"], stack) == "all")
                #expect(try tiers(5, ["--cache", "bundled"], stack) == "none")
            }
        }

        private func expectSaid(_ stack: StackHarness, _ state: String, up: Double) throws {
            let table = try stack.run(["status", "--all"]).outputText
            #expect(
                table.contains("\(bundled)  bundled  \(state)")
                    || table.contains("bundled   \(state)"), "\(table)")
            let text = try stack.run(["status", "--prometheus"]).outputText
            let sample = try PrometheusParser.samples(text).first {
                $0.name == "imagebus_cache_read_only_up"
            }
            #expect(sample?.labels == ["cache": "bundled", "path": bundled])
            #expect(sample?.value == up)
        }

        /// Someone with write access to the directory can make entries unavailable, but can't
        /// substitute their contents.
        @Test func filesOfStrangersAreHeldAgainstTheIndex() async throws {
            try await make()
            let bodies = try Tool.run(["find", bundled + "/files", "-type", "f"])
            let paths = String(decoding: bodies, as: UTF8.self).split(separator: "\n").sorted()
            try #require(paths.count == 2, "two originals are larger than 16 KiB")
            let secret = folder.write(image, to: "secret.png")
            try #require(unlink(String(paths[0])) == 0)
            try #require(symlink(secret, String(paths[0])) == 0)
            try Tool.run(["truncate", "--size=-1", String(paths[1])])
            let arguments = folder.configuration("caches: {default: {read-only: \(bundled)}}")
            try await withStack(arguments, decoders: 1) { stack in
                _ = try await stack.awaitStatus("the directory") { directory($0)?.reason == "" }
                for number in 0..<2 {
                    let miss = try answer(number, fromCache, stack)
                    #expect(miss["status"]?.text == "miss")
                    #expect(try answer(number, [], stack)["status"]?.text == "ok")
                }
                let small = try answer(0, fromCache + ["--resize", "40x30"], stack)
                #expect(small["status"]?.text == "ok", "intact entries are used")
                _ = try await stack.awaitStatus("the damage") { (directory($0)?.damaged ?? 0) >= 2 }
            }
        }
    }
}
