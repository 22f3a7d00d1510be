import SQLite

extension RealProcesses {
    /// A disk that fails while loads go on: what is reported, and that it recovers by itself.
    @Suite struct DiskTroubleTests {
        private let origin = OriginServer()
        private let bytes: [[UInt8]]

        /// One small enough to be stored in the index, and one stored as a file.
        init() throws {
            bytes = try [20, 200].map { try Images.noise(width: $0, height: $0).png() }
            for (number, bytes) in bytes.enumerated() {
                origin.route("/\(number).png", .bytes(bytes))
            }
        }

        private func load(
            _ number: Int, _ client: ImagebusClient, query: String = "",
            options: RequestOptions = .waitStoreCache
        ) async throws -> ImageResponse {
            var request = ImageRequest(url: origin.url("/\(number).png\(query)"))
            request.options = options
            return try await client.load(request).response
        }

        /// Both entries are still on disk after the restart.
        private func expectBothOnTheDisk(_ client: ImagebusClient) async throws {
            for number in bytes.indices {
                let hit = try await load(number, client, options: .fromCacheOnly)
                #expect(hit.cacheType == .disk && hit.bytes?.array == bytes[number], "\(number)")
            }
        }

        /// Without CAP_DAC_OVERRIDE, with which root ignores file modes.
        private static let bound = ["/usr/bin/setpriv", "--bounding-set=-dac_override"]

        @Test func aDirectoryThatCannotBeWrittenIsSaidAndSoIsItsEnd() async throws {
            try await withClient(launcher: Self.bound) { stack, client in
                for number in bytes.indices { _ = try await load(number, client) }
                let names = DirectoryEntries.names(stack.cacheDirectory + "/files")
                let folders = ["/files"] + names.map { "/files/\($0)" }
                func set(_ mode: UInt32) throws {
                    for folder in folders {
                        try FileDescriptor.openDirectory(stack.cacheDirectory + folder)
                            .setMode(mode)
                    }
                }
                try set(0o500)
                let other = try await load(1, client, query: "?b")
                #expect(other.bytes?.array == bytes[1], "loads go on")
                #expect(other.storedTiers == .memory)
                let report = try await stack.awaitStatus("the disk to be said") {
                    $0.caches.first?.disk == .degraded
                }
                #expect(report.caches[0].diskReason.hasPrefix("readOnly: "), "\(report.caches)")
                let admin = try stack.operatorClient()
                for number in bytes.indices {
                    let there = try await admin.entry(origin.url("/\(number).png"), in: .disk)
                    #expect(there?.bytes?.array == bytes[number], "existing entries are read")
                }
                let metrics = try stack.run(["status", "--prometheus"]).outputText
                #expect(metrics.contains("\nimagebus_cache_disk_up 0\n"))
                try set(0o700)
                _ = try await stack.awaitStatus("the disk to work again") {
                    $0.caches.first?.disk == .healthy
                }
                #expect(try await load(1, client, query: "?c").storedTiers == .all)
            }
        }

        /// An index of an older program, and one of a newer program after a downgrade.
        @Test(arguments: [1, 99] as [Int32])
        func theEntriesOfAnIndexOfAnotherVersionAreThere(version: Int32) async throws {
            try await withStack { stack in
                for number in bytes.indices { _ = try await load(number, stack.client()) }
                try stack.stop()
                try changeIndex(of: stack) { try $0.setUserVersion(version) }
                try stack.start()
                let report = try await stack.awaitStatus("both entries to be taken over") {
                    $0.caches.first?.diskEntries == 2
                }
                #expect(report.caches[0].indexesSetAside == 1)
                #expect(report.caches[0].disk == .healthy && report.caches[0].entriesLost == 0)
                let reason = "the index has version \(version) instead of 5"
                #expect(report.caches[0].indexReason.contains(reason), "\(report.caches)")
                try await expectBothOnTheDisk(stack.client())
            }
        }

        /// The index of the previous version is upgraded: no entry is lost, and the status reports
        /// the upgrade.
        @Test func theIndexOfTheVersionBeforeIsUpgraded() async throws {
            try await withStack { stack in
                for number in bytes.indices { _ = try await load(number, stack.client()) }
                try stack.stop()
                try changeIndex(of: stack) { index in
                    // The schema additions of version 5.
                    try index.execute(
                        "DROP TRIGGER let_go; DROP TABLE tags; DROP TABLE extras")
                    try index.setUserVersion(4)
                }
                try stack.start()
                try await expectBothOnTheDisk(stack.client())
                let report = try await stack.awaitStatus("the upgrade to be said") {
                    $0.caches.first?.indexUpgradedFrom == 4
                }
                #expect(report.caches[0].indexesSetAside == 0 && report.caches[0].entriesLost == 0)
                #expect(report.caches[0].disk == .healthy && report.caches[0].diskEntries == 2)
                let text = try stack.run(["status"]).outputText
                #expect(text.contains("disk cache: index upgraded from version 4\n"))
                let json = try stack.run(["status", "--json"]).json()["cacheStores"]?.array?.first
                #expect(json?["disk"]?["indexUpgradedFrom"]?.integer == 4)
                // An old entry gets a digest when it is read, and tags when it is stored again.
                let hit = try await load(0, stack.client(), options: .fromCacheOnly)
                let hash = try Tool.run(["openssl", "dgst", "-sha256", "-binary"], input: bytes[0])
                #expect(hit.digest?.bytes == hash)
                try stack.run(["cache", "clear", "--all"]).expect(0)
                var tagged = ImageRequest(url: origin.url("/0.png"))
                tagged.context.tags = ["new"]
                tagged.options = .waitStoreCache
                _ = try await stack.client().load(tagged).response
                let count = try await stack.operatorClient().count(
                    EntrySelection(tag: "new"))
                #expect(count.disk.entries == 1)
                try stack.stop()
                try stack.start()
                let later = try await stack.awaitStatus("the index to be known") {
                    $0.caches.first?.diskEntries == 1
                }
                #expect(later.caches[0].indexUpgradedFrom == 0, "once")
            }
        }

        /// A damaged index is quarantined: loads go on, entries with a file are restored, and the
        /// status gives the reason.
        @Test func aDamagedIndexIsSaidAndLoadsGoOn() async throws {
            try await withStack { stack in
                for number in bytes.indices { _ = try await load(number, stack.client()) }
                try stack.stop()
                try? FileDescriptor.openDirectory(stack.cacheDirectory).unlink("index.sqlite-wal")
                try FileDescriptor.open(
                    stack.cacheDirectory + "/index.sqlite", [.writeOnly, .truncate]
                ).writeAll([UInt8](repeating: 0x5A, count: 64 << 10))
                try stack.start()
                let report = try await stack.awaitStatus("the file to be taken in") {
                    $0.caches.first?.indexesSetAside == 1 && $0.caches[0].diskEntries == 1
                }
                #expect(report.caches[0].disk == .healthy)
                for number in bytes.indices {
                    let end = try stack.get([origin.url("/\(number).png"), "-o", "-"])
                    #expect(end.exitStatus == 0 && end.output == bytes[number], "\(number)")
                    // Entries stored in the index are lost, and were fetched from the origin once
                    // more.
                    #expect(origin.requestCount("/\(number).png") == 2 - number)
                }
                let text = try stack.run(["status"]).outputText
                let line = "disk cache: index quarantined and rebuilt: badIndex"
                #expect(text.contains(line), "\(text)")
            }
        }

        /// The clock of the cache is a day ahead or behind after the first restart, and right after
        /// the second.
        @Test(arguments: ["+1d", "-1d"])
        func aClockThatIsSetByADayLosesNothing(by offset: String) async throws {
            let folder = TemporaryDirectory()
            func set(_ offset: String) { folder.write(offset, to: "offset") }
            set("+0")
            let programs = Self.clock(setBy: folder.file("offset"))
            try await withStack(environment: programs.environment) { stack in
                for number in bytes.indices { _ = try await load(number, stack.client()) }
                try stack.stop()
                set(offset)
                try stack.start()
                try await expectBothOnTheDisk(stack.client())
                let other = try await load(1, stack.client(), query: "?b")
                #expect(other.storedTiers == .all)
                let stored = try await stored(origin.url("/1.png?b"), stack)
                let apart = abs(stored - WallClock.seconds() * 1_000)
                #expect(apart > 80_000_000, "the cache's clock is offset")
                try stack.stop()
                set("+0")
                try stack.start()
                try await expectBothOnTheDisk(stack.client())
                let third = try await load(1, stack.client(), query: "?b", options: .fromCacheOnly)
                #expect(third.cacheType == .disk)
                let report = try await stack.awaitStatus("three entries") {
                    $0.caches.first?.diskEntries == 3
                }
                #expect(report.caches[0].disk == .healthy && report.caches[0].entriesLost == 0)
            }
        }

        /// The offset of the cache's clock is what the file contains at startup.
        private static func clock(setBy file: String) -> AlteredPrograms {
            AlteredPrograms(
                "imagebus-cache",
                variables: [
                    "LD_PRELOAD": "/usr/$LIB/faketime/libfaketime.so.1",
                    "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_CACHE_DURATION": "100000",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
                ])
        }

        /// When the entry was stored by the clock of the cache, in milliseconds since 1970.
        private func stored(_ key: String, _ stack: StackHarness) async throws -> Int64 {
            let admin = try stack.operatorClient()
            let page = try await admin.entries(of: EntrySelection(prefix: key), in: .disk)
            return Int64(try #require(page.entries.first).storedMilliseconds)
        }

        private func changeIndex(
            of stack: StackHarness, _ change: (borrowing Connection) throws -> Void
        ) throws {
            let index = try Connection(
                path: stack.cacheDirectory + "/index.sqlite",
                configuration: Connection.Configuration(creates: false))
            try change(index)
        }
    }
}
