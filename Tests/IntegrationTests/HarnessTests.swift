extension RealProcesses {
    /// A missing program, or one that ends early, fails a test at once with one line.
    @Suite struct HarnessTests {
        private let folder = TemporaryDirectory()

        private func failure(_ body: () async throws -> Void) async -> String {
            do {
                try await body()
                return "nothing failed"
            } catch {
                return "\(error)"
            }
        }

        private func expectLine(_ text: String, _ parts: String...) {
            #expect(!text.contains("\n"), "\(text)")
            for part in parts { #expect(text.contains(part), "\(text)") }
        }

        /// The arguments of a stack whose pool `mine` runs this command.
        private func arguments(_ command: String) -> [String] {
            let pool = "{kind: decode, trust: external, formats-in: [qoi], command: [\(command)]}"
            return ["--config", folder.write("pools: {mine: \(pool)}\n", to: "a.yaml")]
        }

        @Test func aMissingProgramIsNamed() async {
            let text = await failure { _ = try CommandLineRun(program: "/nowhere/program", []) }
            expectLine(text, "/nowhere/program does not exist: run scripts/setup --test")
        }

        @Test func aProgramThatExitsAtOnceIsQuoted() async throws {
            let script = "echo first >&2; echo second >&2; exit 3"
            let stack = try StackHarness([], launcher: ["/bin/sh", "-c", script])
            let text = await failure { try stack.start() }
            expectLine(text, "imagebus serve ended before it was ready (exit 3): second")
        }

        @Test func aMissingPoolProgramFailsTheStart() async throws {
            let stack = try StackHarness(arguments("/nowhere/coder"))
            let text = await failure { try stack.start() }
            expectLine(text, "(exit 64)", "pools.mine.command: /nowhere/coder does not exist")
        }

        @Test func aPoolProgramThatExitsAtOnceFailsTheWaitForItsWorker() async throws {
            try await withStack(arguments("/bin/false"), decoders: 1) { stack in
                let text = await failure { _ = try await stack.awaitWorker() }
                expectLine(text, "pool mine: /bin/false", "ended before it was ready: exit 1")
            }
        }

        @Test func aWaitForAStatusIsShortAndEndsWithServe() async throws {
            try await withStack(decoders: 1) { stack in
                let late = await failure {
                    _ = try await stack.awaitStatus("nothing", timeout: .zero) { _ in false }
                }
                expectLine(late, "for nothing: ", "coordinator ", " restarts")
                let children = stack.children
                try stack.send(.kill)
                let ended = await failure {
                    _ = try await stack.awaitStatus("nothing") { _ in false }
                }
                expectLine(ended, "imagebus serve ended while a test waited for nothing (SIGKILL)")
                try stack.expectGone(children, within: defaultTimeout)
            }
        }
    }
}
