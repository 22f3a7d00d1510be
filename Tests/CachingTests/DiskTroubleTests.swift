import Linux
import Model
import SQLite
import Testing

@testable import Caching

/// Disk errors: the cache continues without the disk and recovers by itself.
@Suite struct DiskTroubleTests {
    @Test func aFullIndexDegradesTheTierUntilALaterTry() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("before", sample(1_000))
        try #require(tier.index).connection.execute("PRAGMA max_page_count = 1")
        var results: [DiskWriteResult] = []
        for number in 0..<20 {
            let bytes = sample(16_000)
            results.append(bytes.withUnsafeBytes { tier.write("k\(number)", $0, jpegFacts, at(1)) })
        }
        #expect(results.last != .stored)
        #expect(tier.state.health.reason?.kind == .full)
        #expect(tier.get("before", at(1)) == sample(1_000), "reading continues")
        try #require(tier.index).connection.execute("PRAGMA max_page_count = 1000000")
        let bytes = sample(500)
        #expect(bytes.withUnsafeBytes { tier.write("a", $0, jpegFacts, at(2)) } != .stored)
        tier.put("a", bytes, jpegFacts, at(7))
        #expect(tier.state.health == .healthy)
        #expect(tier.get("a", at(7)) == bytes)
    }

    @Test func filesThatCannotBeWrittenDegradeTheTierAndItRecoversByItself() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.maintainAll()
        let root = try FileDescriptor.openDirectory(fixture.path)
        try root.rename("files", to: "elsewhere")
        _ = try root.open("files", [.create, .writeOnly])
        let bytes = sample(40_000)
        let result = bytes.withUnsafeBytes { tier.write("k", $0, jpegFacts, at(1)) }
        #expect(result.reason?.hasPrefix("disk: failed: cannot write files/") == true)
        #expect(tier.state.health.reason?.kind == .failed)
        #expect(tier.get("k", at(1)) == nil)
        try root.unlink("files")
        try root.rename("elsewhere", to: "files")
        #expect(!tier.maintain(at(2)), "it is left alone for a while")
        #expect(tier.state.health != .healthy)
        tier.maintainAll(at(6))
        #expect(tier.state.health == .healthy)
        tier.put("k", bytes, jpegFacts, at(6))
        #expect(tier.get("k", at(6)) == bytes)
    }

    @Test func aFailedWriteLeavesTheOldEntryWhole() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("k", sample(40_000, seed: 1))
        try #require(tier.index).connection.execute("PRAGMA max_page_count = 1")
        var last = DiskWriteResult.stored
        // One of these needs one page more than is available.
        for number in 0..<200 where last == .stored {
            let key = String(repeating: "k", count: 500) + "\(number)"
            last = sample(20_000).withUnsafeBytes { tier.write(key, $0, jpegFacts, at(1)) }
        }
        #expect(last != .stored)
        #expect(tier.get("k", at(1)) == sample(40_000, seed: 1))
        let usage = try #require(tier.usage(at(1)))
        #expect(try fixture.bodyFiles().count == usage.entries, "no file without its entry")
    }

    @Test func anIndexThatCannotBeOpenedLeavesTheTierDegradedAndItComesBack() throws {
        let fixture = try DiskFixture()
        _ = try CacheDirectory(path: fixture.path)
        try FileDescriptor.makeDirectory(path: fixture.path + "/index.sqlite")
        let tier = try fixture.tier()
        #expect(tier.state.health != .healthy)
        #expect(tier.get("k") == nil)
        let bytes = sample(10)
        let result = bytes.withUnsafeBytes { tier.write("k", $0, jpegFacts, at(0)) }
        #expect(result != .stored)
        try FileDescriptor.openDirectory(fixture.path).removeDirectory("index.sqlite")
        #expect(tier.get("k", at(6)) == nil)
        #expect(tier.state.health == .healthy)
        tier.put("k", bytes, jpegFacts, at(6))
    }

    @Test func theStageServesMemoryWhileTheDiskIsBroken() throws {
        let fixture = try DiskFixture()
        _ = try CacheDirectory(path: fixture.path)
        try FileDescriptor.makeDirectory(path: fixture.path + "/index.sqlite")
        let cache = try StageFixture(fixture.path)
        let report = try cache.put("k", sample(40_000))
        #expect(report.tiers == .memory)
        #expect(report.skipped?.hasPrefix("disk: failed: ") == true)
        #expect(try cache.get("k")?.bytes == sample(40_000))
        #expect(try cache.query("x") == .miss)
        #expect(cache.stage.diskStatus?.health != .healthy)
        #expect(cache.stage.counts.storesSkipped == 1)
        try FileDescriptor.openDirectory(fixture.path).removeDirectory("index.sqlite")
        cache.now = at(10)
        cache.note(cache.stage.tick(now: cache.now))
        try cache.wait { cache.stage.diskStatus?.health == .healthy ? () : nil }
        #expect(try cache.put("k", sample(40_000)).tiers == .all)
    }

    @Test func housekeepingRunsToItsEndByItself() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            for number in 0..<10 {
                tier.put("\(number)", sample(40_000), jpegFacts, at(Int64(number)))
            }
        }
        let policy = CachePolicy(disk: DiskPolicy(bytesMax: 200_000))
        let cache = try StageFixture(fixture.path, policy: policy)
        cache.note(cache.stage.tick(now: cache.now))
        try cache.wait {
            (cache.stage.diskStatus?.usage?.bytes).flatMap { $0 <= 100_000 ? () : nil }
        }
    }

    @Test func useInMemoryIsNotedOnTheDisk() throws {
        let fixture = try DiskFixture()
        do {
            let cache = try StageFixture(fixture.path)
            _ = try cache.put("k", sample(100))
            cache.now = at(500)
            _ = try cache.get("k", .memory)
            cache.note(cache.stage.drain(now: cache.now))
            try cache.wait { cache.actions.contains(.drained) ? () : nil }
        }
        #expect(try fixture.tier(now: at(501)).locate("k", at(501))?.accessed == at(500))
    }
}
