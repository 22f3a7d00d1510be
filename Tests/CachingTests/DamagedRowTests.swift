import Linux
import Model
import SQLite
import TestKit
import Testing

@testable import Caching

/// Rows that no version of this program writes: none traps, and none yields a wrong answer.
@Suite struct DamagedRowTests {
    private static let count = CurrentProcess.environment("IMAGEBUS_LONG") == "1" ? 5_000 : 60
    private static let keys = (0..<8).map { "https://a.test/\($0).png" }

    /// Alternates between short and long bodies.
    private static func body(_ key: Int) -> [UInt8] {
        sample(key % 2 == 0 ? 900 * (key + 1) : 20_000 + key, seed: UInt64(key) + 1)
    }

    @Test func whateverStandsInAColumnTheTierGoesOn() throws {
        for seed in 0..<UInt64(Self.count) {
            var random = SeededGenerator(seed: seed)
            let fixture = try DiskFixture()
            do {
                let tier = try fixture.tier()
                for (number, key) in Self.keys.enumerated() {
                    tier.put(
                        key, Self.body(number), number < 4 ? carryingFacts : originalFacts,
                        at(Int64(number)))
                }
            }
            let damage = try damage(fixture, &random)
            try use(fixture, "seed \(seed): \(damage)", &random)
        }
    }

    // MARK: - Damage

    /// Writes values of the wrong type or range into one to three columns. Returns what was
    /// written.
    private func damage(
        _ fixture: borrowing DiskFixture, _ random: inout SeededGenerator
    ) throws -> [String] {
        let connection = try Connection(path: fixture.path + "/index.sqlite")
        try connection.execute(
            """
            PRAGMA writable_schema=ON;
            CREATE TEMP TABLE kept AS SELECT name, sql FROM sqlite_master;
            UPDATE sqlite_master SET sql = replace(replace(sql, ' NOT NULL', ''), ') STRICT', ')')
                WHERE type = 'table';
            PRAGMA writable_schema=RESET;
            """)
        let columns =
            IndexRow.columnNames + IndexRow.partNames
            + ["number", "key", "charge", "body", "totals", "totals"]
        let edits = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            edit(columns.randomElement(using: &random)!, &random)
        }
        for edit in edits { try? connection.execute(edit) }
        try connection.execute(
            """
            PRAGMA writable_schema=ON;
            UPDATE sqlite_master
                SET sql = (SELECT sql FROM kept WHERE kept.name = sqlite_master.name)
                WHERE type = 'table';
            PRAGMA writable_schema=RESET;
            """)
        return edits
    }

    private func edit(_ column: String, _ random: inout SeededGenerator) -> String {
        let value = Self.values.randomElement(using: &random)!
        guard column != "totals" else {
            let part = Bool.random(using: &random) ? "entries" : "bytes"
            return random.happens(10)
                ? "DELETE FROM totals" : "UPDATE totals SET \(part) = \(value)"
        }
        let rows = Int.random(in: 0..<3, using: &random)
        let place =
            rows == 0
            ? "" : " WHERE number % \(rows + 1) = \(Int.random(in: 0...rows, using: &random))"
        if column == "tags" { return "UPDATE OR IGNORE tags SET tag = \(value)\(place)" }
        let table = IndexRow.partNames.contains(column) ? "extras" : "entries"
        return "UPDATE OR IGNORE \(table) SET \(column) = \(value)\(place)"
    }

    private static let values = [
        "NULL", "0", "1", "-1", "7", "88", "4096", "65536", "100000", "1 << 31", "1 << 32",
        "1 << 40", "1 << 48", "1 << 61", "1 << 62", "9223372036854775807",
        "-9223372036854775807 - 1", "random()", "abs(random() / 2)", "1.5", "1e300", "'text'", "''",
        "x''", "x'00ff'", "CAST(x'ff80' AS TEXT)", "'a' || char(0) || 'b'",
        "printf('%.5000c', 'x')", "zeroblob(20000)",
    ]

    // MARK: - Access

    private func use(
        _ fixture: borrowing DiskFixture, _ damage: String, _ random: inout SeededGenerator
    ) throws {
        let policy = DiskPolicy(
            bytesMax: [0, 100_000, 400_000].randomElement(using: &random)!,
            ageMax: [-1, 100_000].randomElement(using: &random)!,
            expireType: ExpireType.allCases.randomElement(using: &random)!)
        let tier = try fixture.tier(policy, now: at(10))
        var order = Array(0..<9)
        order.shuffle(using: &random)
        for step in order {
            let now = at(20 + Int64(step) * 10)
            switch step {
            case 0...3:
                for (number, key) in Self.keys.enumerated() {
                    let found = tier.look(key, now)
                    #expect(found == nil || found == Self.body(number), "\(damage): \(key)")
                }
            case 4: tier.touch(Self.keys, now)
            case 5: tier.maintainAll(now)
            case 6: #expect(tier.remove(Self.keys[2], now), "\(damage)")
            case 7: tier.put(Self.keys[3], Self.body(3), jpegFacts, now)
            default:
                for number in 0..<5 { tier.put("new \(number)", sample(9_000), jpegFacts, now) }
            }
        }
        tier.maintainAll(at(200))
        tier.flush(at(200))
        tier.put("after", sample(5_000), jpegFacts, at(210))
        #expect(tier.look("after", at(210)) == sample(5_000), "\(damage)")
        #expect(tier.state.health == .healthy, "\(damage)")
        let usage = try #require(tier.usage(at(210)), "\(damage)")
        #expect(usage.entries > 0 && usage.bytes >= 512 * usage.entries, "\(damage): \(usage)")
        #expect(policy.bytesMax == 0 || usage.bytes <= policy.bytesMax, "\(damage): \(usage)")
    }
}

extension DiskTier {
    /// The bytes of a key as the disk thread reads them; large ones are located by their row first.
    fileprivate func look(_ key: String, _ now: UnixTime) -> [UInt8]? {
        let home = Body.Home.other(TestSpace(bytesMax: 1 << 20))
        let request = DiskRequest(ticket: 1, work: .look(key, home), now: now)
        switch perform(request).result {
        case .fetched(_, let body): return Array(body.bytes)
        case .located(let row?):
            guard let body = try? Body(in: home, length: row.bodyLength),
                read(key, row, into: body.target, now)
            else { return nil }
            return Array(body.bytes)
        default: return nil
        }
    }
}
