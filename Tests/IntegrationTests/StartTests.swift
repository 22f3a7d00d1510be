extension RealProcesses {
    /// The environment of the processes that `serve` starts, and failing starts.
    @Suite struct StartTests {
        private let folder = TemporaryDirectory()

        @Test func aBrokenKeyEndsTheStackOnceAndForAll() throws {
            let key = folder.write(Array(repeating: 7, count: 31), to: "identity.key")
            let memory = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
            let end = try CommandLineRun([
                "serve", "--runtime-dir", memory.path, "--cache-dir", folder.file("cache"),
                "--secret-file", key, "--decode", "1", "--transform", "1",
            ]).end().expect(78)
            let fault = "\(key), the key for the identities of users, does not have 32 bytes"
            #expect(end.errorText.contains(fault))
            #expect(end.errorText.contains("restore it, or remove it"), "what to do")
            #expect(end.errorText.split(separator: "cannot continue").count == 2, "started once")
        }

        /// Waiting for a stack that has ended fails at once, not at the timeout.
        @Test func anEarlyEndIsSeenAsAnEnd() throws {
            let stack = try StackHarness(["--no-such-option"])
            let failure = #expect(throws: StackFailure.self) { try stack.start() }
            let text = failure?.description ?? ""
            #expect(text.contains("serve ended before it was ready (exit 64)"), "\(text)")
            #expect(stack.processID == 0)
        }

        @Test func workersGetWhatIsListedOfTheEnvironment() async throws {
            let environment = [
                "VIPS_CONCURRENCY": "3", "https_proxy": "http://127.0.0.1:9", "GLIBC_TUNABLES": "",
                "IMAGEBUS_LOG_LEVEL": "warning", "TZ": "UTC",
            ]
            try await withStack(environment: environment) { stack in
                #expect(stack.children.count == 7)
                for child in stack.children {
                    let text = FileBytes.text("/proc/\(child.processID)/environ") ?? ""
                    let names = text.split(separator: "\0").map { $0.prefix { $0 != "=" } }
                    #expect(names.contains("TZ"), "\(child.name)")
                    #expect(text.split(separator: "\0").contains("OMP_NUM_THREADS=1"))
                    let known: Set<Substring> = [
                        "TZ", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "MALLOC_ARENA_MAX",
                        "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
                        "OMP_NUM_THREADS",
                    ]
                    #expect(
                        names.filter { !known.contains($0) && !$0.hasPrefix("LC_") } == [],
                        "\(child.name)")
                }
            }
        }
    }
}
