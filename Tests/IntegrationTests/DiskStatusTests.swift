extension RealProcesses {
    /// What the stack reports about its disk cache: in the status, as metrics and in the log.
    @Suite struct DiskStatusTests {
        private let arguments = ["--allow-private-networks", "--log-format", "json"]
        private let wait = ["--option", "wait-store-cache"]

        @Test func theStatusCountsWhatTheTiersHold() async throws {
            let image = try Images.noise(width: 120, height: 100).png()
            let origin = OriginServer("/a.png", .bytes(image))
            try await withStack { stack in
                let urls = (0..<3).map { origin.url("/a.png?\($0)") }
                for url in urls { #expect(try stack.get([url] + wait).exitStatus == 0) }
                let full = try await stack.awaitStatus("three entries") { report in
                    report.caches.first?.diskEntries == 3 && report.caches[0].memoryEntries == 3
                }
                let cache = full.caches[0]
                #expect(full.caches.count == 1 && cache.disk == .healthy && cache.diskReason == "")
                for bytes in [cache.diskBytes, cache.memoryBytes] {
                    #expect((3...5).contains(Double(bytes) / Double(image.count)), "\(cache)")
                }
                #expect(try stack.run(["cache", "remove", urls[0]]).exitStatus == 0)
                let kind = ["cache", "remove", urls[1], "--type", "memory"]
                #expect(try stack.run(kind).exitStatus == 0)
                let rest = try await stack.awaitStatus("what was removed to be gone") { report in
                    report.caches.first?.diskEntries == 2 && report.caches[0].memoryEntries == 1
                }
                #expect(rest.caches[0].diskBytes == cache.diskBytes / 3 * 2)
                let json = try stack.run(["status", "--json"]).json()["cacheStores"]?.array?.first
                #expect(json?["disk"]?["entries"]?.integer == 2)
                #expect(json?["memory"]?["entries"]?.integer == 1)
            }
        }

        private static let mebibytes = 64

        @Test(
            .enabled(if: PrivateMount.isWanted, "IMAGEBUS_NO_MOUNTS=1"),
            arguments: [[], ["--disk-limit", "none"]])
        func aDiskTierTakesATenthOfItsFileSystem(unlessTold arguments: [String]) async throws {
            let limit = arguments.isEmpty ? UInt64(Self.mebibytes << 20) / 10 : 0
            let mount = try PrivateMount(bytes: Self.mebibytes << 20)
            try await withStack(arguments, cacheMount: mount) { stack in
                let report = try await stack.awaitStatus("the cache") { !$0.caches.isEmpty }
                #expect(report.caches[0].diskBytesMax == limit)
            }
        }

        @Test(.enabled(if: PrivateMount.isWanted, "IMAGEBUS_NO_MOUNTS=1"))
        func aFullDiskIsSaidAndSoIsItsEnd() async throws {
            let origin = OriginServer()
            origin.route("/a.png", .bytes(try Images.noise(width: 200, height: 200).png()))
            let mount = try PrivateMount(bytes: 4 << 20)
            try await withClient(arguments, cacheMount: mount) { stack, client in
                _ = try await client.load(origin.url("/a.png?0")).response
                _ = try await stack.awaitStatus("an entry on the disk") { report in
                    report.caches.first?.diskEntries == 1 && report.caches[0].disk == .healthy
                }
                let filler = try SpaceFiller(in: stack.cacheDirectory)
                // Loads continue.
                _ = try await client.load(origin.url("/a.png?1")).response
                let full = try await stack.awaitStatus("the full disk to be said") { report in
                    report.caches.first?.disk == .degraded
                        && report.caches[0].storesSkipped > 0
                }
                #expect(full.caches[0].diskReason.hasPrefix("full: "), "\(full.caches)")
                #expect(full.caches[0].degradedSince > 1_700_000_000_000)
                #expect(full.caches[0].diskFailures > 0)
                let hit = try stack.run(["cache", "get", origin.url("/a.png?0")])
                #expect(hit.exitStatus == 0, "existing entries are read")
                let stats = try stack.run(["cache", "stats"]).outputText
                #expect(stats.contains("disk cache: full: ") && stats.contains(", since 20"))
                try expectSaid(stack, "degraded", up: 0)
                #expect(try LogLines(stack).saying(Self.fails).count == 1)
                try filler.remove()
                _ = try await stack.awaitStatus("the disk to work again") { report in
                    report.caches.first?.disk == .healthy && report.caches[0].degradedSince == 0
                }
                try expectSaid(stack, "healthy", up: 1)
                #expect(try LogLines(stack).saying("disk cache recovered").count == 1)
                _ = try await client.load(origin.url("/a.png?2")).response
                _ = try await stack.awaitStatus("the next entry") { report in
                    report.caches.first?.diskEntries == 2
                }
            }
        }

        private static let fails = "disk cache failed; retrying, memory tier remains available"

        private func expectSaid(_ stack: StackHarness, _ state: String, up: Int) throws {
            let json = try stack.run(["status", "--json"]).json()["cacheStores"]?.array?.first
            #expect(json?["disk"]?["state"]?.text == state)
            let text = try stack.run(["status"]).outputText
            #expect(
                text.contains(state) && text.contains("disk cache: full: ") == (up == 0), "\(text)")
            let metrics = try stack.run(["status", "--prometheus"]).outputText
            #expect(metrics.contains("\nimagebus_cache_disk_up \(up)\n"))
        }

        @Test func aDamagedIndexAndLostEntriesAreSaid() async throws {
            let origin = OriginServer()
            origin.route("/a.png", .bytes(try Images.noise(width: 200, height: 200).png()))
            let url = origin.url("/a.png")
            try await withStack(arguments) { stack in
                #expect(try stack.get([url] + wait).exitStatus == 0)
                try stack.stop()
                try damage(stack.cacheDirectory)
                try stack.start()
                _ = try await stack.awaitStatus("the file to be taken in again") { report in
                    report.caches.first?.diskEntries == 1
                }
                let miss = try stack.get([url, "--json", "--option", "from-cache-only"])
                #expect(try miss.json()["status"]?.text == "miss")
                let report = try await stack.awaitStatus("what is lost") { report in
                    report.caches.first?.entriesLost == 1
                }
                #expect(report.caches[0].indexesSetAside == 1)
                #expect(report.caches[0].disk == .healthy)
                let metrics = try stack.run(["status", "--prometheus"]).outputText
                #expect(metrics.contains("\nimagebus_cache_indexes_set_aside_total 1\n"))
                #expect(metrics.contains("\nimagebus_cache_entries_lost_total 1\n"))
                let log = try LogLines(stack)
                let lines = log.saying("disk cache index quarantined; rebuilding")
                #expect(lines.first?["reason"]?.text?.hasPrefix("badIndex: ") == true)
                #expect(
                    log.saying("removed damaged entries from the disk cache")
                        .first?["count"]?.integer == 1)
            }
        }

        /// Corrupts the index file and changes one byte of a body.
        private func damage(_ directory: String) throws {
            // The write-ahead log would repair it.
            let root = try FileDescriptor.openDirectory(directory)
            for suffix in ["-wal", "-shm"] { try? root.unlink("index.sqlite" + suffix) }
            try FileDescriptor.open(directory + "/index.sqlite", [.writeOnly, .truncate])
                .writeAll([UInt8](repeating: 7, count: 8_192))
            let files = try FileDescriptor.openDirectory(directory + "/files")
            for bucket in try files.entries() {
                for name in try files.openDirectory(bucket).entries() {
                    let path = "\(directory)/files/\(bucket)/\(name)"
                    var bytes = try #require(FileBytes.read(path))
                    bytes[bytes.count - 1] ^= 1
                    try FileDescriptor.open(path, [.writeOnly, .truncate]).writeAll(bytes)
                }
            }
        }

        @Test func noOtherWorkerSaysHowACacheIs() async throws {
            try await withStack { stack in
                let worker = try WireWorker(.decode, stack, credit: 1)
                var lie = CacheStatus()
                lie.diskEntries = 4_711
                try worker.send(.cacheStatus(lie))
                #expect(try worker.isRefused())
                let report = try await stack.awaitStatus("the status of the cache") { report in
                    report.caches.count == 1
                }
                #expect(report.caches[0].diskEntries == 0)
                #expect(report.counter("expelledWorkers") == 1)
            }
        }

        @Test func aCacheDirectoryInWhichOthersMayWriteIsRefused() throws {
            let runtime = try Linux.TemporaryDirectory(in: "/dev/shm")
            let cache = try Linux.TemporaryDirectory()
            try FileDescriptor.openDirectory(cache.path).setMode(0o777)
            let places = ["--runtime-dir", runtime.path, "--cache-dir", cache.path]
            let end = try CommandLineRun(["serve", "--decode", "1"] + places).end().expect(78)
            let message = end.errorText
            #expect(
                message.contains("which allows other users to create files there"), "\(message)")
            #expect(message.contains("chmod 700"), "\(message)")
        }

        /// The cache reports the error, not the coordinator because of a key stored there.
        @Test func aCacheDirectoryThatOthersMayReplaceIsRefused() throws {
            let runtime = try Linux.TemporaryDirectory(in: "/dev/shm")
            let place = try Linux.TemporaryDirectory()
            let cache = place.path + "/cache"
            try FileDescriptor.makeDirectory(path: cache)
            try FileDescriptor.open(cache + "/identity.key", [.create, .writeOnly]).writeAll([7])
            try FileDescriptor.openDirectory(place.path).setMode(0o777)
            let places = ["--runtime-dir", runtime.path, "--cache-dir", cache]
            let end = try CommandLineRun(["serve", "--decode", "1"] + places).end().expect(78)
            let message = end.errorText
            #expect(
                message.contains("\(place.path), which leads to the cache directory"), "\(message)")
            #expect(message.contains("chmod go-w \(place.path)"), "\(message)")
            #expect(!message.contains("the key for the identities of users"), "\(message)")
        }
    }
}
