extension RealProcesses {
    /// Output that can't be written.
    @Suite struct OutputErrorTests {
        private let folder = TemporaryDirectory()

        private func withOrigin(
            _ body: (StackHarness, OriginServer, [String]) throws -> Void
        ) async throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack { stack in
                let line = ["get", origin.url("/a.png"), "--runtime-dir", stack.runtimeDirectory]
                try body(stack, origin, line)
            }
        }

        @Test func whatCannotBeCreatedIsSaidBeforeTheLoad() async throws {
            try await withOrigin { _, origin, line in
                for path in [folder.file("nowhere/a.png"), folder.path] {
                    let end = try CommandLineRun(line + ["-o", path]).end()
                    end.expect(73, "outputFailed: \(path) cannot be created (E")
                    let answer = try CommandLineRun(line + ["-o", path, "--json"]).end().expect(73)
                    #expect(try answer.json()["error"]?["name"]?.text == "outputFailed")
                    #expect(try answer.json()["error"]?["details"]?["path"]?.text == path)
                }
                let closed = try CommandLineRun(line + ["-o", "-"], redirected: ">&-").end()
                closed.expect(74, "standard output cannot be written (EBADF")
                #expect(origin.requests("/a.png").isEmpty)
            }
        }

        @Test(arguments: [["-o", "-"], [], ["--json"]])
        func aFullDiskIsSaid(_ words: [String]) async throws {
            try await withOrigin { stack, _, line in
                let end = try CommandLineRun(line + words, redirected: ">/dev/full").end()
                end.expect(74, "standard output cannot be written (ENOSPC")
                #expect(end.errorText.contains("free some space"), "the error gives advice")
                try CommandLineRun(
                    ["status", "--runtime-dir", stack.runtimeDirectory], redirected: ">/dev/full"
                ).end().expect(74)
            }
        }

        @Test func whoReadsNoMoreHearsNothing() async throws {
            try await withOrigin { _, _, line in
                for words in [["-o", "-"], [], ["--json"]] {
                    let end = try CommandLineRun(unread: line + words).end().expect(141)
                    #expect(end.errorText == "")
                }
            }
        }

        @Test func aMissThatWasToBeWrittenHasAStatusOfItsOwn() async throws {
            try await withOrigin { _, origin, line in
                let miss = line + ["--option", "from-cache-only"]
                for target in [folder.file("a.png"), "-"] {
                    let end = try CommandLineRun(miss + ["-o", target]).end()
                    end.expect(1, "not cached: \(origin.url("/a.png"))", "nothing was written")
                    #expect(end.output == [])
                }
                #expect(FileBytes.read(folder.file("a.png")) == nil)
                let json = try CommandLineRun(miss + ["--json", "-o", folder.file("a.png")]).end()
                #expect(json.exitStatus == 1, "\(json)")
                #expect(try json.json()["status"]?.text == "miss")
                #expect(try CommandLineRun(miss).end().exitStatus == 0, "no output was requested")
            }
        }
    }
}
