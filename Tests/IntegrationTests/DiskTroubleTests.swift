import ImageModel
import Imagebus
import Linux
import Messages
import SQLite
import TestKit
import Testing

extension RealProcesses {
    /// A disk that fails while loads go on: what is said of it, and that it comes back by itself.
    @Suite struct DiskTroubleTests {
        private let origin = OriginServer()
        private let bytes: [[UInt8]]

        /// One so short that it lies in the index, and one with a file.
        init() throws {
            bytes = try [20, 200].map { try Images.noise(width: $0, height: $0).png() }
            for (number, bytes) in bytes.enumerated() {
                origin.route("/\(number).png", .bytes(bytes, contentType: "image/png"))
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

        /// Both are where they were stored before the stack was started again.
        private func expectBothOnTheDisk(_ client: ImagebusClient) async throws {
            for number in bytes.indices {
                let hit = try await load(number, client, options: .fromCacheOnly)
                #expect(hit.cacheType == .disk && hit.bytes?.array == bytes[number], "\(number)")
            }
        }

        /// Without the right to go beyond the mode of a file, which root has.
        private static let bound = ["/usr/bin/setpriv", "--bounding-set=-dac_override"]

        @Test func aDirectoryThatCannotBeWrittenIsSaidAndSoIsItsEnd() async throws {
            try await withStack(launcher: Self.bound) { stack in
                let client = try stack.client()
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
                let admin = try stack.client(asOperator: true)
                for number in bytes.indices {
                    let there = try await admin.entry(origin.url("/\(number).png"), in: .disk)
                    #expect(there?.bytes?.array == bytes[number], "what is there is read")
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

        /// An older program's, and that of a newer one which was taken back.
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
                try await expectBothOnTheDisk(stack.client())
            }
        }

        /// The clock was a day ahead when they were stored, or is now: dates in the index say so.
        @Test(arguments: [86_400_000, -86_400_000])
        func aClockThatIsSetByADayLosesNothing(by milliseconds: Int) async throws {
            try await withStack { stack in
                for number in bytes.indices { _ = try await load(number, stack.client()) }
                try stack.stop()
                try changeIndex(of: stack) { index in
                    let dates = ["created", "stored", "accessed"]
                        .map { "\($0) = \($0) + \(milliseconds)" }
                    try index.execute("UPDATE entries SET " + dates.joined(separator: ", "))
                }
                try stack.start()
                try await expectBothOnTheDisk(stack.client())
                let other = try await load(1, stack.client(), query: "?b")
                #expect(other.storedTiers == .all)
                let report = try await stack.awaitStatus("three entries") {
                    $0.caches.first?.diskEntries == 3
                }
                #expect(report.caches[0].disk == .healthy && report.caches[0].entriesLost == 0)
            }
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
