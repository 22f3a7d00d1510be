extension RealProcesses {
    /// Named caches with their own limits (SEMANTICS §5.17).
    @Suite struct NamedCacheLimitTests {
        private let folder = TemporaryDirectory()
        private let wait = ["--option", "wait-store-cache"]

        /// One of two caches has limits: it evicts its own entries only, also after a restart of
        /// its process, and the status shows its limits.
        @Test func aNamedCacheKeepsToItsOwnLimits() async throws {
            let image = try Images.noise(width: 120, height: 100).png()
            let origin = OriginServer("/a.png", .bytes(image))
            let text =
                "caches:\n  hot: {memory-entries: 2, disk-entries: 4, low-water: 100}\n  cold:\n"
            try await withStack(folder.configuration(text)) { stack in
                for number in 0..<6 {
                    for cache in ["hot", "cold"] {
                        let url = origin.url("/a.png?\(cache)\(number)")
                        let context = ["--context", "image-cache=\(cache)"]
                        #expect(try stack.get([url] + wait + context).exitStatus == 0)
                    }
                }
                let report = try await stack.awaitStatus("what the caches have") { report in
                    let caches = report.caches.first?.caches ?? []
                    return caches.contains { $0.name == "hot" && $0.disk.entries == 4 }
                        && caches.contains { $0.name == "cold" && $0.disk.entries == 6 }
                }
                let named = report.caches[0].caches
                #expect(named.map(\.name) == ["cold", "hot"])
                #expect(named[1].memory.entries == 2 && named[1].memory.entriesMax == 2)
                #expect(named[1].disk.entriesMax == 4 && named[0].disk.entriesMax == 0)
                #expect(named[0].memory.entries == 6)
                #expect(report.caches[0].diskEntries == 10 && report.caches[0].memoryEntries == 8)
                #expect(named[0].disk.bytes + named[1].disk.bytes == report.caches[0].diskBytes)
                let newest = origin.url("/a.png?hot5")
                #expect(
                    try stack.run(["cache", "contains", newest, "--cache", "hot"]).outputText
                        == "all\n")
                let json = try stack.run(["cache", "stats", "--json"]).json()
                let hot = json["caches"]?.array?.first?["named"]?["hot"]
                #expect(hot?["disk"]?["limitEntries"]?.integer == 4)
                #expect(hot?["memory"]?["entries"]?.integer == 2)
            }
        }
    }
}
