extension RealProcesses {
    /// Plug-in programs started by `serve`.
    @Suite struct ExternalProgramTests {
        private let folder = TemporaryDirectory()

        private func withPhotos(
            _ command: [String], _ body: (StackHarness) async throws -> Void
        ) async throws {
            let text = """
                pools:
                  photos:
                    kind: download
                    trust: external
                    schemes: [photos]
                    command: [\(command.joined(separator: ", "))]
                loaders: {library: {kind: pool, pool: photos}}

                """
            let path = folder.write(text, to: "imagebus.yaml")
            try Tool.run(["mkdir", "-p", folder.file("library/summer")])
            let picture = try Images.quadrants(width: 80, height: 60).png()
            folder.write(picture, to: "library/summer/a.png")
            try await withStack(["--config", path], decoders: 1, body: body)
        }

        private func photos() throws -> [String] {
            try PythonExample.command("photos_loader.py", ["--folder", folder.file("library")])
        }

        private func worker(_ report: StatusReport) -> StatusReport.ProcessStatus? {
            report.processes.first { $0.pool.text == "photos" }
        }

        private func width(_ query: String, _ stack: StackHarness) throws -> Int? {
            let url = "photos://summer/a.png?\(query)"
            return try stack.get([url, "--json"]).json()["width"]?.integer
        }

        /// One process that is killed, and one that is stopped, which is killed because it doesn't
        /// respond.
        @Test func aProgramIsStartedAgainAndDrainedAsOurs() async throws {
            try await withPhotos(try photos()) { stack in
                #expect(try width("first", stack) == 80)
                var report = try await stack.awaitStatus("the worker") { worker($0) != nil }
                for (restarts, signal) in [(1, Signal.kill), (2, .stop)] {
                    let process = try #require(worker(report))
                    #expect(Int(process.restarts) == restarts - 1)
                    try ProcessDescriptor(ProcessID(process.pid)).send(signal)
                    // Checks by `serve` that are late on a busy machine don't count.
                    report = try await stack.awaitStatus("the next worker", timeout: .seconds(90)) {
                        worker($0).map { Int($0.restarts) == restarts } == true
                    }
                    #expect(try width("\(restarts)", stack) == 80)
                }
                let drained = try stack.run(["drain", "download/photos"])
                #expect(drained.outputText == "replaced 1 download/photos process\n", "\(drained)")
                _ = try await stack.awaitStatus("the one after it") {
                    worker($0).map { $0.restarts == 3 } == true
                }
                #expect(try stack.run(["health"]).exitStatus == 0)
            }
        }

        /// The stack is ready without it, reports that it is missing, and handles everything that
        /// doesn't need it.
        @Test(arguments: ["/bin/false", "/bin/cat"])
        func aProgramThatFailsDecidesNothing(program: String) async throws {
            try await withPhotos([program]) { stack in
                try stack.run(["health"]).expect(0, "no worker of the pool 'photos'")
                try stack.get(["photos://summer/a.png", "--timeout", "1s"]).expect(124)
            }
        }

        /// The kernel kills the program when `serve` is killed, which the program isn't notified
        /// of.
        @Test func aProgramEndsWithServe() async throws {
            let file = folder.file("begun")
            let script = "#!/bin/sh\n: >\(file)\nexec sleep 600\n"
            let program = folder.write(script, to: "program")
            try FileDescriptor.open(program).setMode(0o700)
            try await withPhotos([program]) { stack in
                _ = try await stack.awaitStatus("its file") { _ in FileBytes.read(file) != nil }
                let children = stack.children
                #expect(children.count == 6, "\(children)")
                try stack.send(.kill)
                #expect(try stack.awaitEnd() == "SIGKILL")
                try stack.expectGone(children, within: defaultTimeout)
            }
        }
    }
}
