import Glibc
import Linux
import Model
import SQLite
import Testing

@testable import Caching

/// Recovery from a kill, a power failure, or files left by an older version.
@Suite struct DiskRecoveryTests {
    @Test func unfinishedFilesAreRemoved() throws {
        let fixture = try DiskFixture()
        do { try fixture.tier().put("a", sample(40_000)) }
        let bucket = try #require(fixture.bodyFiles().first).split(separator: "/")[1]
        _ = try FileDescriptor.open(
            "\(fixture.path)/files/\(bucket)/00000000000000ff.tmp", [.create, .writeOnly])
        let tier = try fixture.tier()
        tier.maintainAll()
        #expect(try fixture.bodyFiles().count == 1)
        #expect(tier.get("a") != nil)
    }

    /// The process was killed between writing a file and its row; the next process gave the number
    /// to a short body before it scanned the files.
    @Test func aFileWhoseNumberWentToAShortBodyIsRemoved() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            tier.put("c", sample(200))
            tier.put("a", sample(40_000))
            tier.maintainAll()
        }
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            try connection.execute("DELETE FROM entries WHERE key = 'a'")
        }
        let tier = try fixture.tier()
        tier.put("b", sample(100))
        tier.maintainAll()
        #expect(try fixture.bodyFiles().isEmpty)
        #expect(tier.get("b") == sample(100))
        #expect(tier.get("a") == nil)
    }

    @Test func whatAKilledProbeLeftIsRemoved() throws {
        let fixture = try DiskFixture()
        do { try fixture.tier().put("a", sample(40_000)) }
        _ = try FileDescriptor.open(
            "\(fixture.path)/files/probe.tmp", [.create, .writeOnly])
        _ = try fixture.tier()
        let names = try FileDescriptor.openDirectory(fixture.path + "/files").entries()
        #expect(!names.contains("probe.tmp"))
    }

    @Test func aMissingFileIsAMissAndItsEntryLeaves() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("a", sample(40_000))
        let file = try #require(fixture.bodyFiles().first)
        try FileDescriptor.openDirectory(fixture.path).unlink(file)
        #expect(tier.get("a") == nil)
        #expect(tier.usage(at(0))?.entries == 0)
        #expect(tier.state.health == .healthy)
    }

    /// Opening a FIFO would block until a writer appears.
    @Test func aFifoInThePlaceOfAFileIsAMissAndItsEntryLeaves() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("a", sample(40_000))
        let file = try #require(fixture.bodyFiles().first)
        try FileDescriptor.openDirectory(fixture.path).unlink(file)
        try #require(mkfifo("\(fixture.path)/\(file)", 0o600) == 0)
        #expect(tier.get("a") == nil)
        #expect(tier.usage(at(0))?.entries == 0)
        #expect(tier.state.health == .healthy)
        tier.put("b", sample(40_000))
        #expect(tier.get("b") == sample(40_000))
    }

    @Test(arguments: [0, 10, 88, 39_999, 40_050])
    func aTruncatedFileIsAMissAndLeaves(length: Int) throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("a", sample(40_000))
        let file = try #require(fixture.bodyFiles().first)
        try fixture.rewrite(file) { $0.removeLast($0.count - length) }
        #expect(tier.get("a") == nil)
        #expect(tier.state.damaged == 1)
        #expect(try fixture.bodyFiles().isEmpty)
    }

    @Test(arguments: [0, 20_000, 39_999])
    func aFlippedByteIsAMissAndLeaves(place: Int) throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        tier.put("a", sample(40_000))
        let file = try #require(fixture.bodyFiles().first)
        try fixture.rewrite(file) { $0[$0.count - 40_000 + place] ^= 1 }
        #expect(tier.get("a") == nil)
        #expect(tier.state.damaged == 1)
        tier.put("a", sample(40_000))
        #expect(tier.get("a") == sample(40_000))
    }

    @Test func aFlippedByteInTheIndexIsAMissToo() throws {
        let fixture = try DiskFixture()
        do { try fixture.tier().put("a", sample(4_000)) }
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            try connection.execute("UPDATE entries SET body = zeroblob(4000)")
        }
        let tier = try fixture.tier()
        #expect(tier.get("a") == nil)
        #expect(tier.state.damaged == 1)
    }

    @Test func aWholeFileWithoutARowIsTakenIn() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            tier.put("b", sample(50_000))
            tier.put("a", sample(40_000), originalFacts, at(7))
            tier.maintainAll()
        }
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            try connection.execute("DELETE FROM entries WHERE key = 'a'")
        }
        let tier = try fixture.tier()
        #expect(tier.get("a") == nil)
        tier.maintainAll()
        #expect(tier.get("a") == sample(40_000))
        let row = try #require(tier.locate("a", at(7)))
        #expect(row.metadata == originalFacts)
        #expect(row.created == at(7))
        #expect(tier.usage(at(0))?.entries == 2)
    }

    /// The process was killed after a newer value was committed and before the older file was
    /// removed. Then the newer entry was trimmed before the files were scanned.
    @Test func anOlderFileIsNotTakenInWhereTheNewerEntryIsGone() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            tier.put("a", sample(40_000, seed: 1))
            tier.maintainAll()
            let file = try #require(fixture.bodyFiles().first)
            let old = try FileDescriptor.open("\(fixture.path)/\(file)").readToEnd(
                bytesMax: 1 << 20)
            tier.put("a", sample(40_000, seed: 2))
            tier.put("b", sample(40_000), jpegFacts, at(5))
            try FileDescriptor.open("\(fixture.path)/\(file)", [.create, .writeOnly])
                .writeAll(old)
        }
        // Trims down to one entry, so there is room for the older file.
        let tier = try fixture.tier(DiskPolicy(countMax: 2, lowWaterPercent: 50))
        tier.trimNow()
        tier.maintainAll()
        #expect(tier.get("a") == nil)
        #expect(tier.get("b") == sample(40_000))
        #expect(try fixture.bodyFiles().count == 1)
    }

    /// The process died during the rebuild; the next one resumes it.
    @Test func aRebuildThatWasBrokenOffGoesOn() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            for number in 0..<40 { tier.put("\(number)", sample(20_000, seed: UInt64(number))) }
            tier.maintainAll()
        }
        for name in try fixture.names() where name.hasPrefix("index.sqlite") {
            try FileDescriptor.openDirectory(fixture.path).unlink(name)
        }
        do {
            let tier = try fixture.tier()
            while tier.usage(at(0))?.entries ?? 0 < 10 { #expect(tier.maintain(at(0))) }
        }
        let tier = try fixture.tier()
        tier.maintainAll()
        for number in 0..<40 {
            #expect(tier.get("\(number)") == sample(20_000, seed: UInt64(number)))
        }
    }

    @Test func anOlderFileOfAKeyIsRemovedAndNotTakenIn() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            tier.put("a", sample(40_000, seed: 1))
            let file = try #require(fixture.bodyFiles().first)
            try fixture.rewrite(file) { _ in }
            let old = try FileDescriptor.open("\(fixture.path)/\(file)").readToEnd(
                bytesMax: 1 << 20)
            tier.put("a", sample(40_000, seed: 2))
            let again = try FileDescriptor.open(
                "\(fixture.path)/\(file)", [.create, .writeOnly])
            try again.writeAll(old)
        }
        let tier = try fixture.tier()
        tier.maintainAll()
        #expect(tier.get("a") == sample(40_000, seed: 2))
        #expect(try fixture.bodyFiles().count == 1)
    }

    @Test func aCorruptIndexIsSetAsideAndRebuiltFromTheFiles() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            for number in 0..<300 {
                tier.put("k\(number)", sample(20_000, seed: UInt64(number)), originalFacts)
            }
        }
        try fixture.rewrite("index.sqlite") { bytes in
            for index in 0..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index) }
        }
        let tier = try fixture.tier()
        #expect(tier.state.health == .healthy)
        #expect(tier.state.rebuilt == 1)
        #expect(try fixture.names().contains("index.sqlite.bad-1"))
        tier.put("new", sample(20_000, seed: 999))
        tier.maintainAll()
        for number in 0..<300 {
            #expect(tier.get("k\(number)") == sample(20_000, seed: UInt64(number)))
        }
        #expect(tier.get("new") == sample(20_000, seed: 999))
        #expect(tier.usage(at(0))?.entries == 301)
        #expect(tier.state.damaged == 0)
    }

    @Test func pagesThatGoBadWhileItIsOpenAreNoticedAndRepaired() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            for number in 0..<2_000 { tier.put("key number \(number)", sample(30)) }
            tier.put("big", sample(40_000))
        }
        // Pages from the third on: the header and the schema stay readable.
        try fixture.rewrite("index.sqlite") { bytes in
            for index in 8_192..<bytes.count { bytes[index] = 0xA5 }
        }
        let tier = try fixture.tier()
        for number in 0..<2_000 { _ = tier.get("key number \(number)") }
        #expect(tier.state.rebuilt >= 1)
        tier.maintainAll()
        #expect(tier.get("big") == sample(40_000))
        tier.put("after", sample(30))
        #expect(tier.get("after") == sample(30))
    }

    @Test(arguments: [1, 99])
    func anIndexOfAnotherVersionIsSetAside(version: Int32) throws {
        let fixture = try DiskFixture()
        do { try fixture.tier().put("a", sample(40_000)) }
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            try connection.setUserVersion(version)
        }
        let tier = try fixture.tier()
        #expect(tier.state.rebuilt == 1)
        let old = try Connection(path: fixture.path + "/index.sqlite.bad-1")
        #expect(try old.userVersion() == Int64(version))
        tier.maintainAll()
        #expect(tier.get("a") == sample(40_000))
        let reason = tier.state.quarantineReason?.text
        #expect(reason == "the index has version \(version) instead of 5")
    }

    @Test func aForeignDatabaseIsSetAside() throws {
        let fixture = try DiskFixture()
        _ = try CacheDirectory(path: fixture.path)
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            try connection.execute("CREATE TABLE entries(x)")
        }
        let tier = try fixture.tier()
        #expect(tier.state.rebuilt == 1)
        tier.put("a", sample(40))
        #expect(tier.get("a") == sample(40))
    }

    @Test func badIndexesDoNotPileUp() throws {
        let fixture = try DiskFixture()
        for _ in 0..<6 {
            do { try fixture.tier().put("a", sample(40)) }
            try fixture.rewrite("index.sqlite") { bytes in
                for index in 0..<bytes.count { bytes[index] = 7 }
            }
        }
        _ = try fixture.tier()
        let bad = try fixture.names().filter { $0.hasPrefix("index.sqlite.bad-") }
        #expect(bad == (1...4).map { "index.sqlite.bad-\($0)" })
    }

    @Test func foreignFilesAmongTheBodiesDoNoHarm() throws {
        let fixture = try DiskFixture()
        do { try fixture.tier().put("a", sample(40_000)) }
        let bucket = "\(fixture.path)/files/07"
        try FileDescriptor.makeDirectory(path: bucket)
        try FileDescriptor.open("\(bucket)/0000000000000007", [.create, .writeOnly])
            .writeAll(sample(500))
        try FileDescriptor.open("\(bucket)/README", [.create, .writeOnly]).writeAll([1])
        let tier = try fixture.tier()
        tier.maintainAll()
        #expect(tier.state.health == .healthy)
        #expect(try fixture.bodyFiles().contains("files/07/README"), "not ours, so not touched")
        #expect(try !fixture.bodyFiles().contains("files/07/0000000000000007"), "no whole body")
    }
}
