extension RealProcesses {
    /// How a stack starts and ends, and what it reports.
    @Suite struct ServeTests {
        @Test func sigtermFinishesWhatWasAdmittedAndAdmitsNothingNew() async throws {
            let slow = try SlowImage()
            try await withStack { stack in
                let load = try await slow.begin(stack)
                try stack.send(.terminate)
                try awaitRefusal(stack, slow.origin.url("/other.jpg"))
                slow.gate.open()
                let end = try load.end().expect(0)
                #expect(try end.json()["width"]?.integer == 100)
                #expect(try stack.awaitEnd() == "exit 0")
                #expect(stack.leftovers == [])
            }
        }

        /// Regardless of the shell's limit.
        @Test func noProcessMayWriteACoreFile() async throws {
            let raise = "ulimit -S -c \"$(ulimit -H -c)\"; exec \"$@\""
            try await withStack(
                ["--gateway", "127.0.0.1:0", "--gateway-unsigned"],
                launcher: ["/bin/sh", "-c", raise, "sh"]
            ) { stack in
                let processes = [stack.processID] + stack.children.map(\.processID)
                #expect(processes.count == 9)
                for process in processes {
                    let limits = try #require(FileBytes.text("/proc/\(process)/limits"))
                    let line =
                        limits.split(separator: "\n")
                        .first { $0.hasPrefix("Max core file size") } ?? ""
                    let words = line.split(separator: " ").dropFirst(4).prefix(2)
                    #expect(words == ["0", "0"], "process \(process): \(line)")
                }
            }
        }

        @Test func aSecondSigtermEndsAllNow() async throws {
            let slow = try SlowImage()
            try await withStack { stack in
                let load = try await slow.begin(stack)
                let children = stack.children
                #expect(children.count == 7)
                try stack.send(.terminate)
                try awaitRefusal(stack, slow.origin.url("/other.jpg"))
                try stack.send(.terminate)
                #expect(try stack.awaitEnd(timeout: .seconds(3)) == "exit 130")
                try stack.expectGone(children, within: .seconds(1))
                try load.send(.kill)
                _ = try load.end()
            }
        }

        @Test func afterItsSupervisorWasKilledNothingRunsAndTheNextStartCleansUp() async throws {
            let source = try Images.photo()
            let origin = OriginServer("/a.jpg", .jpeg(source))
            try await withStack { stack in
                let line = [origin.url("/a.jpg"), "--resize", "100x100", "--json"]
                #expect(try stack.get(line).exitStatus == 0)
                let children = stack.children
                let old = Set(stack.leftovers)
                #expect(children.count == 7)
                #expect(!old.isEmpty)
                try stack.send(.kill)
                #expect(try stack.awaitEnd() == "SIGKILL")
                try stack.expectGone(children, within: .seconds(1))
                try stack.start()
                #expect(old.isDisjoint(with: stack.leftovers))
                #expect(try stack.get(line).exitStatus == 0)
            }
        }

        @Test func aSecondServeInTheSameDirectoryIsRefused() async throws {
            try await withStack { stack in
                let end = try stack.run(["serve", "--cache-dir", stack.cacheDirectory]).expect(75)
                #expect(end.output == [])
            }
        }

        @Test func statusListsEveryProcess() async throws {
            try await withStack(decoders: 2) { stack in
                let answer = try stack.run(["status", "--json"]).json()
                let processes = try #require(answer["processes"]?.array)
                let kinds = processes.compactMap { $0["kind"]?.text }.sorted()
                #expect(
                    kinds == [
                        "cache", "coordinator", "decode", "decode", "download", "transform",
                        "transform",
                    ])
                let pids = Set(processes.compactMap { $0["pid"]?.integer })
                #expect(pids == Set(stack.children.map { Int($0.processID) }))
                #expect(processes.allSatisfy { $0["state"]?.text == "ready" })
                #expect(processes.allSatisfy { $0["restarts"]?.integer == 0 })
            }
        }

        @Test func healthIsZeroOnlyWhereEveryKindServes() async throws {
            try await withStack { stack in
                #expect(try stack.run(["health"]).exitStatus == 0)
                for kind in WorkerKind.allCases {
                    try stack.run(["health", "--only", kind.name]).expect(0)
                }
                try stack.stop()
                #expect(try stack.run(["health", "--only", "decode"]).exitStatus == 1)
                let end = try stack.run(["health"]).expect(1)
                #expect(!end.errorText.isEmpty)
            }
            try await withStack(["--download", "0"]) { stack in
                _ = try stack.run(["health"]).expect(1, "download")
            }
        }

        /// Loads until the stack replies that it is shutting down. This uses the wire protocol,
        /// since the library would keep the load for the next coordinator.
        private func awaitRefusal(_ stack: StackHarness, _ url: String) throws {
            let client = try WireClient(stack)
            var image = ImageRequest(url: url)
            image.options = .fromCacheOnly
            try pollUntil("a load that is refused") {
                try client.send(.load(LoadRequest(token: Token(.random), image: image)))
                let answer = try client.receive(within: defaultTimeout)
                guard case .reply(let reply) = answer, case .failure(let error) = reply.outcome
                else { return false }
                #expect(error.code == .shuttingDown)
                return true
            }
        }
    }
}
