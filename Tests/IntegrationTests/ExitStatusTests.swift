extension RealProcesses {
    /// The exit statuses of PROTOCOL §9 and SEMANTICS §15.6; those of loads are in `BadInputTests`.
    @Suite struct ExitStatusTests {
        @Test func usageIs64AndNothingIsPrintedOnStandardOutput() throws {
            for words in [
                ["get", "http://127.0.0.1/a.png", "--frobnicate"], ["get"], ["frobnicate"], [],
                ["get", "http://127.0.0.1/a.png", "--resize", "x"],
                ["get", "http://127.0.0.1/a.png", "--quality", "101"],
                ["serve", "--decode", "-1"], ["status", "extra"],
            ] {
                let end = try CommandLineRun(words).end().expect(64)
                #expect(end.output == [])
                #expect(!end.errorText.isEmpty)
            }
        }

        @Test func anEndpointThatNobodyServesIs69() throws {
            let folder = TemporaryDirectory()
            let run = try CommandLineRun([
                "get", "http://127.0.0.1/a.png", "--json", "--endpoint",
                "ipc://\(folder.path)/front/front.sock",
            ])
            let end = try run.end().expect(69)
            #expect(try end.json()["error"]?["code"]?.integer == 3022)
            // At once, without the five seconds' wait for a coordinator that may come back.
            #expect(try end.json()["error"]?["message"]?.text?.contains("start a stack") == true)
        }

        @Test(arguments: ["get", "status"]) func soIsASocketThatNobodyListensAt(
            _ command: String
        ) throws {
            let memory = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
            let listener = command == "get" ? "front" : "admin"
            try FileDescriptor.makeDirectory(path: "\(memory.path)/\(listener)")
            let socket = "\(memory.path)/\(listener)/\(listener).sock"
            _ = try UnixListener(path: socket, mode: 0o600)
            let end = try CommandLineRun(
                [command] + (command == "get" ? ["http://127.0.0.1/a.png"] : [])
                    + ["--endpoint", socket]
            ).end().expect(69)
            let sentence = "no coordinator serves \(socket): start a stack there"
            #expect(end.errorText.contains(sentence), "\(end)")
        }

        @Test func aCoordinatorWhoseSupervisorRunsIsWaitedFor() throws {
            let memory = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
            let lock = try FileDescriptor.open(
                "\(memory.path)/serve.lock", [.readWrite, .create])
            #expect(try lock.tryLock(.exclusive))
            try CommandLineRun([
                "get", "http://127.0.0.1/a.png", "--timeout", "100ms", "--endpoint",
                "\(memory.path)/front/front.sock",
            ]).end().expect(124)
        }
    }
}
