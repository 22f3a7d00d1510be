import Linux
import Model
import SQLite
import Testing

@testable import Caching

/// Bodies stored in one transaction.
@Suite struct GroupCommitTests {
    @Test func aGroupIsStoredWholeInOneTransaction() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let other = try DiskIndex("index.sqlite", in: tier.directory, policy: DiskPolicy())
        let before = try changes(other)
        let samples = (0..<16).map {
            (key: "k\($0)", bytes: sample(1_000 + $0 * 2_500, seed: UInt64($0)))
        }
        #expect(tier.write(samples, at(1)) == Array(repeating: .stored, count: 16))
        #expect(try changes(other) == before + 1, "another connection sees one commit")
        for (key, bytes) in samples { #expect(tier.get(key, at(1)) == bytes) }
        #expect(tier.usage(at(1))?.entries == 16)
    }

    /// `data_version` changes once per commit of another connection, regardless of its size.
    private func changes(_ index: DiskIndex) throws -> Int64 {
        var version = try index.connection.prepare("PRAGMA data_version")
        return try #require(try version.first { $0.int64(0) })
    }

    @Test func olderEntriesAndTheirFilesGoWithTheCommit() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let keys = (0..<8).map { "k\($0)" }
        _ = tier.write(keys.map { ($0, sample(40_000, seed: 1)) }, at(1))
        let old = try fixture.bodyFiles()
        let results = tier.write(keys.map { ($0, sample(30_000, seed: 2)) }, at(2))
        #expect(results.allSatisfy { $0 == .stored })
        for key in keys { #expect(tier.get(key, at(2)) == sample(30_000, seed: 2)) }
        let new = try fixture.bodyFiles()
        #expect(new.count == 8)
        #expect(Set(old).isDisjoint(with: new))
    }

    @Test func aFileThatCannotBeWrittenEndsTheGroupAndLosesNothingBeforeIt() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("third", sample(40_000, seed: 9))
        let root = try FileDescriptor.openDirectory(fixture.path)
        // Short bodies are stored in the index and need no file.
        try root.rename("files", to: "elsewhere")
        _ = try root.open("files", [.create, .writeOnly])
        let results = tier.write(
            [
                ("first", sample(100)), ("second", sample(200)), ("third", sample(50_000)),
                ("fourth", sample(300)),
            ], at(1))
        #expect(results.prefix(2) == [.stored, .stored])
        #expect(results[2].reason?.hasPrefix("disk: failed: cannot write files/") == true)
        #expect(results[3].reason?.hasPrefix("disk: failed") == true)
        #expect(tier.state.health.reason?.kind == .failed)
        try root.unlink("files")
        try root.rename("elsewhere", to: "files")
        #expect(tier.get("first", at(1)) == sample(100))
        #expect(tier.get("second", at(1)) == sample(200))
        #expect(tier.get("third", at(1)) == sample(40_000, seed: 9), "the older one is whole")
        #expect(tier.get("fourth", at(1)) == nil)
        #expect(try fixture.bodyFiles().count == 1)
    }

    @Test func whereTheIndexIsFullNothingOfTheGroupStays() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("old", sample(40_000, seed: 1))
        let files = try fixture.bodyFiles()
        try #require(tier.index).connection.execute("PRAGMA max_page_count = 1")
        let samples =
            [(key: "old", bytes: sample(50_000))] + (0..<15).map { ("k\($0)", sample(16_000)) }
        let results = tier.write(samples, at(1))
        #expect(results.count == 16)
        #expect(results.allSatisfy { $0 != .stored })
        #expect(tier.state.health.reason?.kind == .full)
        #expect(tier.get("old", at(1)) == sample(40_000, seed: 1))
        #expect(try fixture.bodyFiles() == files, "no file without its entry")
    }

    @Test func aGroupOverTheLimitMakesRoomForAllOfIt() throws {
        let fixture = try DiskFixture()
        let limit = 40 * 45_056
        let tier = try fixture.tier(DiskPolicy(bytesMax: limit))
        for round in 0..<10 {
            let samples = (0..<16).map { (key: "\(round)-\($0)", bytes: sample(40_000)) }
            let results = tier.write(samples, at(Int64(round)))
            #expect(results.allSatisfy { $0 == .stored })
            #expect(try #require(tier.usage(at(10))).total <= limit)
        }
        #expect(try fixture.bodyFiles().count == tier.usage(at(10))?.entries)
    }
}
