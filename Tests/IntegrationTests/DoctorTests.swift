extension RealProcesses {
    /// `doctor` and `health --canary` with real programs.
    @Suite struct DoctorTests {
        private func states(_ end: CommandLineEnd) throws -> [String: String] {
            let findings = try end.json()["findings"]?.array ?? []
            return Dictionary(
                findings.map { ($0["name"]?.text ?? "", $0["state"]?.text ?? "") },
                uniquingKeysWith: { "\($0), \($1)" })
        }

        @Test func aStackThatWorksIsFoundToWork() async throws {
            try await withStack { stack in
                let end = try stack.run(["doctor", "--json", "--within", "60s"])
                let states = try states(end)
                for name in [
                    "kernel", "programs", "front socket", "admin socket", "stack", "disk tier",
                    "canary",
                ] {
                    #expect(states[name] == "ok", "\(name): \(end)")
                }
                for name in ["descriptors", "memory", "runtime directory", "landlock"] {
                    #expect(states[name] != nil, "\(name): \(end)")
                }
                let messages = try #require(
                    end.json()["findings"]?.array?.first { $0["name"]?.text == "imagebus-decode" })
                #expect(
                    messages["says"]?.text?.hasPrefix("reads jpeg, png, ") == true, "\(messages)")
                #expect(messages["says"]?.text?.contains("libvips42 8.") == true, "\(messages)")
                let cache = try end.json()["findings"]?.array?.first {
                    $0["name"]?.text == "cache directory"
                }
                #expect(cache?["says"]?.text?.hasPrefix(stack.cacheDirectory) == true, "\(end)")
                #expect(end.exitStatus == (states.values.contains("missing") ? 1 : 0))
                let text = try stack.run(["doctor"])
                #expect(text.outputText.contains("\nok       canary"), "\(text)")
                #expect(!text.outputText.contains("\u{1B}"))
            }
        }

        @Test func aStackThatIsNamedAndDoesNotRunIsMissing() throws {
            let folder = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
            let end = try CommandLineRun(["doctor", "--runtime-dir", folder.path, "--json"]).end()
            #expect(end.exitStatus == 1, "\(end)")
            #expect(try states(end)["stack"] == "missing")
            #expect(end.outputText.contains("imagebus serve --runtime-dir \(folder.path)"))
        }

        @Test func whereProgramsAreMissingThatIsSaid() throws {
            let folder = TemporaryDirectory()
            let end = try CommandLineRun(
                ["doctor", "--json"], environment: ["IMAGEBUS_PROGRAMS": folder.path]
            ).end().expect(1)
            #expect(try states(end)["programs"] == "missing")
        }

        @Test func aCanaryGoesThrough() async throws {
            try await withStack { stack in
                let end = try stack.run(["health", "--canary", "--within", "60s"])
                #expect(end.exitStatus == 0 && end.errorText == "", "\(end)")
            }
        }

        /// On a busy machine the first limits may be too short, so they are tried in turn.
        private static let limits = ["1s", "4s", "16s", "60s"]

        @Test(arguments: ["decode", "transform"])
        func theStageThatIsNotThereIsNamed(_ kind: String) async throws {
            try await withStack(["--\(kind)", "0"]) { stack in
                var messages: [String] = []
                for limit in Self.limits
                where messages.last?.hasPrefix("\(kind) failed (after") != true {
                    let doctor = try stack.run(["doctor", "--json", "--within", limit]).expect(1)
                    let findings = try doctor.json()["findings"]?.array ?? []
                    let canary = findings.first { $0["name"]?.text == "canary" }
                    messages.append(canary?["says"]?.text ?? "\(doctor)")
                }
                #expect(messages.last?.hasPrefix("\(kind) failed (after") == true, "\(messages)")
            }
        }

        /// The process exists but doesn't do anything. If it is killed for that, its successor is
        /// halted as well.
        @Test(arguments: ["decode", "transform", "cache", "coordinator"])
        func theStageThatHangsIsNamed(_ kind: String) async throws {
            try await withStack(["--decode", "1", "--transform", "1"]) { stack in
                let sentence = "\(kind) failed (after"
                var messages: [String] = []
                for limit in Self.limits where messages.last?.contains(sentence) != true {
                    let processes = stack.processes(kind)
                    for process in processes { try process.halt() }
                    let end = try stack.run(["health", "--canary", "--within", limit])
                    for process in processes { try? process.resume() }
                    messages.append("\(end)")
                }
                #expect(messages.last?.contains(sentence) == true, "\(messages)")
            }
        }
    }
}
