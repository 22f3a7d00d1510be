import Linux
import Model
import SQLite
import Testing

@testable import Caching

/// Older and newer versions on one cache directory keep bodies of every size.
@Suite struct DiskUpgradeTests {
    /// On both sides of the threshold between index and files.
    private static let lengths = [0, 1, 500, 5_000, 16_384, 16_385, 60_000]

    private func fill(_ fixture: borrowing DiskFixture) throws {
        let tier = try fixture.tier()
        for length in Self.lengths {
            tier.put("k\(length)", sample(length), originalFacts, at(Int64(length)))
        }
    }

    private func expectAll(_ tier: DiskTier) {
        for length in Self.lengths {
            #expect(tier.get("k\(length)") == sample(length), "\(length) bytes")
            let row = tier.locate("k\(length)", at(0))
            #expect(row?.created == at(Int64(length)), "\(length) bytes")
            #expect(row?.metadata == originalFacts, "\(length) bytes")
        }
        #expect(tier.usage(at(0))?.entries == Self.lengths.count)
    }

    @Test(arguments: [6, 99, -1])
    func theIndexOfAnotherVersionIsTakenOver(version: Int32) throws {
        let fixture = try DiskFixture()
        try fill(fixture)
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            // A column that another version may have added.
            try connection.execute("ALTER TABLE entries ADD COLUMN colour TEXT")
            try connection.setUserVersion(version)
        }
        do {
            let tier = try fixture.tier()
            tier.maintainAll()
            expectAll(tier)
            #expect(tier.state.rebuilt == 1)
        }
        #expect(try fixture.names().filter { $0.contains("bad") } == [], "it was taken over whole")
        expectAll(try fixture.tier())
    }

    /// An index that lacks columns of this version.
    @Test func theIndexOfAnOlderVersionIsTakenOver() throws {
        let fixture = try DiskFixture()
        try fill(fixture)
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            for column in [
                "cache_control", "last_modified", "has_alpha", "pages", "still_of", "samples",
                "expiry",
            ] {
                try connection.execute("ALTER TABLE entries DROP COLUMN \(column)")
            }
            try connection.setUserVersion(7)
        }
        let tier = try fixture.tier()
        tier.maintainAll()
        for length in Self.lengths { #expect(tier.get("k\(length)") == sample(length)) }
    }

    /// Version 1 didn't distinguish stills, version 2 didn't distinguish sample sizes, and version
    /// 3 had no freshness.
    @Test(arguments: [
        (1, ["still_of", "samples", "expiry"]), (2, ["samples", "expiry"]), (3, ["expiry"]),
    ])
    func theFirstVersionsAreTakenOver(version: Int, columns: [String]) throws {
        let fixture = try DiskFixture()
        try fill(fixture)
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            for column in columns {
                try connection.execute("ALTER TABLE entries DROP COLUMN \(column)")
            }
            try connection.setUserVersion(Int32(version))
        }
        let tier = try fixture.tier()
        tier.maintainAll()
        for length in Self.lengths { #expect(tier.get("k\(length)") == sample(length)) }
        #expect(try fixture.names().filter { $0.contains("bad") } == [], "it was taken over whole")
    }

    @Test func theShortBodiesOfADamagedIndexAreSavedAsFarAsTheyCanBeRead() throws {
        let fixture = try DiskFixture()
        try fill(fixture)
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            try connection.execute(
                "DELETE FROM totals; UPDATE entries SET body = zeroblob(500) WHERE key = 'k500'")
        }
        let tier = try fixture.tier()
        #expect(tier.state.rebuilt == 1)
        tier.maintainAll()
        for length in Self.lengths where length != 500 {
            #expect(tier.get("k\(length)") == sample(length), "\(length) bytes")
        }
        #expect(tier.get("k500") == nil)
        #expect(try fixture.names().contains("index.sqlite.bad-1"), "kept for inspection")
    }

    @Test func whatIsRemovedOrNewerMeanwhileIsNotBroughtBack() throws {
        let fixture = try DiskFixture()
        try fill(fixture)
        do {
            try Connection(path: fixture.path + "/index.sqlite").setUserVersion(3)
        }
        let tier = try fixture.tier()
        for key in ["k500", "k60000"] { #expect(tier.remove(key, at(1))) }
        tier.put("k1", sample(30, seed: 9), jpegFacts, at(2))
        tier.put("k16385", sample(40, seed: 9), jpegFacts, at(2))
        tier.maintainAll(at(3))
        #expect(tier.get("k500", at(3)) == nil)
        #expect(tier.get("k60000", at(3)) == nil)
        #expect(tier.get("k1", at(3)) == sample(30, seed: 9))
        #expect(tier.get("k16385", at(3)) == sample(40, seed: 9))
        #expect(tier.get("k5000", at(3)) == sample(5_000))
    }

    @Test func clearingForgetsTheOldIndexAsWell() throws {
        let fixture = try DiskFixture()
        try fill(fixture)
        do { try Connection(path: fixture.path + "/index.sqlite").setUserVersion(3) }
        let tier = try fixture.tier()
        #expect(tier.clear(at(1)))
        tier.maintainAll(at(2))
        #expect(tier.usage(at(2))?.entries == 0)
        #expect(try fixture.names().filter { $0.contains("bad") } == [])
    }

    @Test func whatIsTakenOverStaysBelowTheLimit() throws {
        let fixture = try DiskFixture()
        do {
            let tier = try fixture.tier()
            for number in 0..<300 { tier.put("\(number)", sample(8_000), jpegFacts, at(1)) }
        }
        do { try Connection(path: fixture.path + "/index.sqlite").setUserVersion(3) }
        let policy = DiskPolicy(bytesMax: 1 << 20)
        let tier = try fixture.tier(policy)
        tier.maintainAll()
        #expect(try fixture.diskBytes() <= policy.bytesMax)
        #expect(try #require(tier.usage(at(2))).entries > 20)
    }
}
