extension RealProcesses {
    /// The memory tier releases memory before the kernel reclaims it (SEMANTICS §5.13); the test
    /// simulates the kernel's files.
    @Suite struct MemoryShortageTests {
        private let folder = TemporaryDirectory()

        init() throws {
            for name in ["groups", "proc", "proc/self"] {
                try FileDescriptor.makeDirectory(path: folder.path + "/" + name)
            }
            _ = folder.write("0::/\n", to: "proc/self/cgroup")
            _ = folder.write("1000000000\n", to: "groups/memory.max")
            use(100_000_000)
        }

        private func use(_ bytes: Int) {
            _ = folder.write("\(bytes)\n", to: "groups/memory.current")
        }

        @Test func theTierShrinksWhereTheGroupIsNearItsLimit() async throws {
            let image = try Images.noise(width: 200, height: 150).png()
            let origin = OriginServer("/*", .bytes(image))
            let line = ["--allow-private-networks", "--memory-limit", "1M", "--low-water", "20"]
            let log = ["--memory-files", folder.path, "--log-format", "json"]
            try await withStack(line + log) { stack in
                for number in 0..<6 {
                    #expect(try stack.get([origin.url("/\(number).png")]).exitStatus == 0)
                }
                let full = try await stack.awaitStatus("entries in memory") {
                    ($0.caches.first?.memoryBytes ?? 0) > 400_000
                }
                #expect(full.caches[0].memoryShrinks == 0)
                use(950_000_000)
                let less = try await stack.awaitStatus("a smaller tier") {
                    $0.caches.first?.memoryShrinks == 1
                }
                #expect(less.caches[0].memoryBytes <= (1 << 20) / 5)
                let lines = try LogLines(stack).saying(
                    "memory pressure: trimming the memory tier to its low-water mark")
                #expect(lines.count == 1)
                #expect(
                    lines.first?["reason"]?.text
                        == "the control group uses 950000000 of 1000000000 bytes")
                // The disk still has them.
                let again = try stack.get([origin.url("/0.png"), "--json"]).json()
                #expect(["memory", "disk"].contains(again["cacheType"]?.text))
            }
        }

        /// A quarter of the cgroup's limit, unless a size is configured.
        @Test func theTierIsMeasuredByTheGroup() async throws {
            try await withStack(["--memory-files", folder.path]) { stack in
                let report = try await stack.awaitStatus("the limit") {
                    ($0.caches.first?.memoryBytesMax ?? 0) > 0
                }
                #expect(report.caches[0].memoryBytesMax == 250_000_000)
            }
        }
    }
}
