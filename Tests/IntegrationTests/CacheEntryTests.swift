extension RealProcesses {
    /// `imagebus cache`: looking up and removing a single entry while the stack runs.
    @Suite struct CacheEntryTests {
        @Test func anEntryIsInTheTiersThatItWasStoredInUntilItIsRemovedFromThem() async throws {
            let origin = OriginServer("/a.png", .bytes(try Images.quadrants().png()))
            try await withStack(["--allow-address", origin.authority]) { stack in
                let url = origin.url("/a.png")
                let wait = ["--option", "wait-store-cache"]
                #expect(try stack.get([url] + wait).exitStatus == 0)
                func tiers() throws -> String {
                    try stack.run(["cache", "contains", url]).outputText
                }
                #expect(try tiers() == "all\n")
                #expect(
                    try stack.run(["cache", "remove", url, "--type", "memory"]).outputText
                        == "removed 1 entry from memory\n")
                #expect(try tiers() == "disk\n")
                let fromDisk = try stack.get([url, "--json", "--option", "from-cache-only"])
                #expect(try fromDisk.json()["cacheType"]?.text == "disk")
                #expect(try tiers() == "all\n", "promoted to memory again")
                let removed = try stack.run(["cache", "remove", url]).expect(0)
                #expect(removed.outputText == "removed 1 entry from memory and disk\n")
                let nothing = try stack.run(["cache", "remove", url, "--json"])
                #expect(try nothing.json()["removed"]?.text == "none")
                #expect(try tiers() == "none\n")
                let miss = try stack.get([url, "--json", "--option", "from-cache-only"])
                #expect(try miss.json()["status"]?.text == "miss")
                #expect(try stack.get([url]).exitStatus == 0)
                #expect(origin.requestCount("/a.png") == 2)
            }
        }

        @Test func allEntriesAreRemovedFromOneTierOrFromBoth() async throws {
            let origin = OriginServer()
            let urls = ["/a.png", "/b.png"].map { origin.url($0) }
            for path in ["/a.png", "/b.png"] {
                origin.route(path, .bytes(try Images.quadrants().png()))
            }
            let folder = TemporaryDirectory()
            let text = "caches: [other]\nprofiles: {other: {cache: other}}\n"
            try await withStack(folder.configuration(text)) { stack in
                let other = [["--profile", "default"], ["--profile", "other"]]
                func load(_ more: [String]) throws -> [String?] {
                    try zip(urls, other).map { url, profile in
                        try stack.get([url, "--json"] + profile + more).json()["cacheType"]?.text
                    }
                }
                #expect(try load(["--option", "wait-store-cache"]) == ["none", "none"])
                #expect(try load(["--option", "from-cache-only"]) == ["memory", "memory"])
                let memory = try stack.run(["cache", "clear", "--all", "--type", "memory"])
                #expect(memory.outputText == "cleared memory\n", "\(memory)")
                #expect(try load(["--option", "from-cache-only"]) == ["disk", "disk"])
                let all = try stack.run(["cache", "clear", "--all", "--json"])
                #expect(try all.json()["cleared"]?.text == "all", "\(all)")
                #expect(try load(["--option", "from-cache-only"]) == ["none", "none"])
                #expect(try stack.run(["cache", "clear"]).exitStatus == 64)
                #expect(try load([]) == ["none", "none"])
                #expect(origin.requestCount("/a.png") == 2)
            }
        }
    }
}
