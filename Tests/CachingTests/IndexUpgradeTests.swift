import Linux
import Model
import SQLite
import Testing
import XXHash

@testable import Caching

/// An index of version 4 is upgraded in place: it isn't quarantined, and nothing is lost. The
/// tables are those of version 4.
@Suite struct IndexUpgradeTests {
    private static let tables = """
        PRAGMA journal_mode=WAL;
        PRAGMA auto_vacuum=INCREMENTAL; VACUUM;
        CREATE TABLE entries(
            number INTEGER PRIMARY KEY,
            key TEXT NOT NULL UNIQUE,
            charge INTEGER NOT NULL,
            body_length INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            file_offset INTEGER,
            created INTEGER NOT NULL,
            stored INTEGER NOT NULL,
            accessed INTEGER NOT NULL,
            format INTEGER NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            pages INTEGER NOT NULL,
            has_alpha INTEGER NOT NULL,
            still_of INTEGER NOT NULL,
            samples INTEGER NOT NULL,
            content_type TEXT,
            etag TEXT,
            last_modified TEXT,
            cache_control TEXT,
            expiry TEXT,
            body BLOB
        ) STRICT;
        CREATE TABLE totals(entries INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
        INSERT INTO totals VALUES(0, 0);
        CREATE TRIGGER added AFTER INSERT ON entries BEGIN
            UPDATE totals SET entries = entries + 1, bytes = bytes + NEW.charge;
        END;
        CREATE TRIGGER removed AFTER DELETE ON entries BEGIN
            UPDATE totals SET entries = entries - 1, bytes = bytes - OLD.charge;
        END;
        CREATE INDEX by_accessed ON entries(accessed);
        PRAGMA user_version=4;
        """

    /// On both sides of the threshold between index and files; the last two have files.
    private static let lengths = [0, 1, 500, 16_384, 16_385, 60_000]

    /// The origin data of every other entry.
    private static let properties = StoredMetadata(
        info: ImageInfo(format: .jpeg, size: PixelSize(width: 640, height: 480), pages: 1),
        contentType: "image/jpeg; q=1", etag: "\"a\"",
        lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
        caching: OriginCaching(
            CacheControl("max-age=60"), ResponseAge(bornMilliseconds: 1_700_000_000_123)))

    /// Version 4 had no revisions.
    private func properties(_ number: Int) -> StoredMetadata {
        var properties = number % 2 == 0 ? jpegFacts : Self.properties
        properties.revision = 0
        return properties
    }

    /// Creates a cache directory as version 4 left it.
    private func fill(_ fixture: borrowing DiskFixture) throws {
        do { _ = try fixture.tier() }
        for suffix in ["", "-wal", "-shm"] {
            try? FileDescriptor.openDirectory(fixture.path).unlink("index.sqlite\(suffix)")
        }
        let connection = try Connection(path: fixture.path + "/index.sqlite")
        try connection.execute(Self.tables)
        for (place, length) in Self.lengths.enumerated() {
            try insert(connection, fixture, number: place + 1, length: length)
        }
    }

    private func insert(
        _ connection: borrowing Connection, _ fixture: borrowing DiskFixture, number: Int,
        length: Int
    ) throws {
        let body = sample(length)
        let checksum = Int64(bitPattern: XXH3.hash64(body.span.bytes))
        let isInline = length <= 16_384
        let words =
            number % 2 == 0
            ? "NULL, NULL, NULL, NULL, NULL"
            : "'image/jpeg; q=1', '\"a\"', 'Sun, 06 Nov 1994 08:49:37 GMT', 'max-age=60', "
                + "'1700000000123 60000 0 7000'"
        let moment = { (seconds: Int) in "\(at(Int64(seconds)).milliseconds)" }
        let text = body.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try connection.execute(
            """
            INSERT INTO entries VALUES(\(number), 'k\(length)', \(length + 600), \(length),
                \(checksum), \(isInline ? "NULL" : "100"), \(moment(number)),
                \(moment(10 + number)), \(moment(20 + number)), 0, 640, 480, 1, 0, 0, 0, \(words),
                \(isInline ? "x'\(text)'" : "NULL"))
            """)
        guard !isInline else { return }
        let bucket = "\(fixture.path)/files/0\(number)"
        _ = try? FileDescriptor.openDirectory(fixture.path).makeDirectory("files/0\(number)")
        let file = try FileDescriptor.open(
            "\(bucket)/000000000000000\(number)", [.writeOnly, .create, .truncate])
        // The bytes before the body matter only if the index is lost.
        try file.writeAll([UInt8](repeating: 0, count: 100) + body)
    }

    private func expectAll(_ tier: DiskTier) {
        #expect(
            tier.state.rebuilt == 0,
            "it was quarantined: \(String(describing: tier.state.quarantineReason))")
        for (place, length) in Self.lengths.enumerated() {
            let row = tier.locate("k\(length)", at(0))
            #expect(row?.metadata == properties(place + 1), "\(length) bytes")
            #expect(row?.created == at(Int64(place + 1)), "\(length) bytes")
            #expect(row?.stored == at(Int64(place + 11)), "\(length) bytes")
            #expect(row?.accessed == at(Int64(place + 21)), "\(length) bytes")
            #expect(tier.get("k\(length)") == sample(length), "\(length) bytes")
        }
        let usage = tier.usage(at(0))
        #expect(usage?.entries == Self.lengths.count)
        #expect(usage?.bytes == Self.lengths.reduce(0) { $0 + $1 + 600 })
    }

    private func version(_ path: String) throws -> Int64 {
        try Connection(path: path + "/index.sqlite").userVersion()
    }

    @Test func everyEntryIsAnsweredWithItsDates() throws {
        let fixture = try DiskFixture()
        try fill(fixture)
        do {
            let tier = try fixture.tier()
            expectAll(tier)
            // Maintenance removes nothing either, and new entries carry more data.
            tier.put("new", sample(700), carryingFacts, at(60))
            #expect(tier.locate("new", at(60))?.metadata == carryingFacts)
            #expect(tier.remove("new", at(61)))
            tier.maintainAll(at(100))
            tier.flush(at(100))
        }
        #expect(try version(fixture.path) == 5)
        #expect(try fixture.names().filter { $0.contains("bad") } == [])
        let again = try fixture.tier()
        for length in Self.lengths { #expect(again.get("k\(length)") == sample(length)) }
    }

    /// The process is killed before or right after the commit; the directory is then opened as it
    /// is.
    @Test(arguments: [false, true])
    func aKillLeavesTheOldVersionOrTheNewOne(isCommitted: Bool) throws {
        let fixture = try DiskFixture()
        let copy = try DiskFixture()
        try fill(fixture)
        try fill(copy)
        do {
            let connection = try Connection(path: fixture.path + "/index.sqlite")
            // Uncommitted pages are written to the log as well.
            try connection.execute("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE")
            try connection.execute(DiskIndex.parts)
            try connection.execute("PRAGMA user_version=5")
            if isCommitted { try connection.execute("COMMIT") }
            for suffix in ["", "-wal"] {
                let name = "/index.sqlite\(suffix)"
                let bytes = try FileDescriptor.open(fixture.path + name, [.readOnly])
                    .readToEnd(bytesMax: 1 << 24)
                try FileDescriptor.open(copy.path + name, [.writeOnly, .create, .truncate])
                    .writeAll(bytes)
            }
        }
        try? FileDescriptor.openDirectory(copy.path).unlink("index.sqlite-shm")
        #expect(try version(copy.path) == (isCommitted ? 5 : 4))
        expectAll(try copy.tier())
        #expect(try version(copy.path) == 5)
    }

    /// A conflicting table name makes the upgrade fail halfway.
    @Test func anErrorInTheMiddleChangesNothing() throws {
        let fixture = try DiskFixture()
        try fill(fixture)
        do {
            try Connection(path: fixture.path + "/index.sqlite")
                .execute("CREATE TABLE tags(something TEXT)")
        }
        let directory = try CacheDirectory(path: fixture.path)
        #expect(throws: DiskError.self) {
            _ = try DiskIndex("index.sqlite", in: directory, policy: DiskPolicy())
        }
        let connection = try Connection(path: fixture.path + "/index.sqlite")
        #expect(try connection.userVersion() == 4)
        var select = try connection.prepare(
            "SELECT count(*) FROM sqlite_master WHERE name IN ('extras', 'by_tag', 'let_go')")
        #expect(try select.first { $0.int64(0) } == 0)
    }
}
