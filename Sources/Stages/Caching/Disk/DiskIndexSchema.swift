internal import SQLite

extension DiskIndex {
    /// Kept in `user_version`. An index of a version that `upgrades` knows becomes one of this
    /// version as it is opened. Any other one, older or newer, is set aside; a new one takes in the
    /// files, and the bodies that lie in the old one (`SetAsideIndex`).
    static let schemaVersion: Int32 = 5

    /// What makes the next version of an index, by version. Tables are added and none is changed:
    /// no row is lost or rewritten, and a large index is not read through, as SQLite would do for a
    /// new column of a STRICT table.
    private static let upgrades: [Int64: String] = [4: parts]

    /// `number` names the entry and its file. `body` comes last, so that the other columns are
    /// read without its pages. `samples` has the revision of the pipeline above its lowest byte
    /// (`StoredSamples`). `totals` is kept by triggers: whatever changes `entries` in whatever
    /// transaction, the account is right.
    private static let schema = """
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
        """

    /// What an entry carries besides: `extras` in a row of the same number, and its `tags`. Version
    /// 4 had nothing of this. Triggers let it go with its entry.
    static let parts = """
        CREATE TABLE extras(
            number INTEGER PRIMARY KEY,
            digest BLOB,
            media_type TEXT,
            extended BLOB
        ) STRICT;
        CREATE TABLE tags(
            number INTEGER NOT NULL,
            tag TEXT NOT NULL,
            PRIMARY KEY(number, tag)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX by_tag ON tags(tag, number);
        CREATE TRIGGER let_go AFTER DELETE ON entries BEGIN
            DELETE FROM extras WHERE number = OLD.number;
            DELETE FROM tags WHERE number = OLD.number;
        END;
        """

    /// The `application_id` of an index to which the files are not known yet.
    private static let unswept: Int64 = 1

    /// Whether the files that were there when the index was made are taken in.
    func isSwept() throws(DiskError) -> Bool {
        try onIndex { () throws(SQLiteError) in
            var select = try connection.prepare("PRAGMA application_id")
            return try select.first { $0.int64(0) } != Self.unswept
        }
    }

    /// Notes that they are.
    func noteSwept() throws(DiskError) {
        try onIndex { () throws(SQLiteError) in try connection.execute("PRAGMA application_id=0") }
    }

    /// What the log of SQLite may take, bytes: a small part of a small limit.
    private static func logBytesMax(_ policy: DiskPolicy) -> Int {
        policy.bytesMax == 0 ? 4 << 20 : min(max(policy.bytesMax / 32, 64 << 10), 4 << 20)
    }

    /// Makes the tables in a new file, and those that an older one has not; refuses a file of
    /// another version. Answers the version that it was of, where it was an older one.
    static func prepare(
        _ connection: borrowing Connection, _ policy: DiskPolicy
    ) throws(DiskError) -> Int64? {
        let version = try onIndex { () throws(SQLiteError) in try connection.userVersion() }
        switch version {
        case Int64(schemaVersion): break
        case 0:
            try onIndex { () throws(SQLiteError) in
                // The file gives back what a trim frees; to be said before the first table.
                try connection.execute("PRAGMA auto_vacuum=INCREMENTAL; VACUUM;")
                let transaction = try connection.begin()
                try connection.execute(schema)
                try connection.execute(parts)
                try connection.setUserVersion(schemaVersion)
                try connection.execute("PRAGMA application_id=\(unswept)")
                try transaction.commit()
            }
        case let old where upgrades[old] != nil: try upgrade(connection, from: old)
        default:
            throw DiskError(.badIndex, "the index has version \(version), not \(schemaVersion)")
        }
        try onIndex { () throws(SQLiteError) in
            let log = logBytesMax(policy)
            try connection.execute("PRAGMA journal_size_limit=\(log)")
            try connection.execute("PRAGMA wal_autocheckpoint=\(log / 4096)")
            try order(connection, by: column(policy.expireType))
            try prepareCaches(connection, policy)
        }
        return upgrades[version] == nil ? nil : version
    }

    /// One version after the other in one transaction: what is cut short is of the old version.
    private static func upgrade(
        _ connection: borrowing Connection, from version: Int64
    ) throws(DiskError) {
        try onIndex { () throws(SQLiteError) in
            let transaction = try connection.begin()
            for old in version..<Int64(schemaVersion) {
                if let step = upgrades[old] { try connection.execute(step) }
            }
            try connection.setUserVersion(schemaVersion)
            try transaction.commit()
        }
    }

    /// The column of the date that counts.
    static func column(_ type: ExpireType) -> String {
        switch type {
        case .access: "accessed"
        case .modification, .change: "stored"
        case .creation: "created"
        }
    }

    /// An order by the date that counts, and no others: each costs a write.
    private static func order(
        _ connection: borrowing Connection, by wanted: String
    ) throws(SQLiteError) {
        for column in ["accessed", "stored", "created"] where column != wanted {
            try connection.execute("DROP INDEX IF EXISTS by_\(column)")
        }
        try connection.execute("CREATE INDEX IF NOT EXISTS by_\(wanted) ON entries(\(wanted))")
    }
}

// What each named cache has, and the order of its entries (SEMANTICS §5.17). `cache_totals` is
// kept by triggers, as `totals` is. It belongs to no version of the index: where it is missing it
// is made and filled.
extension DiskIndex {
    /// The named cache of a key; empty for the default one.
    private static func cache(of key: String) -> String {
        "substr(\(key), 1, max(instr(\(key), char(31)) - 1, 0))"
    }

    private static let tables = """
        CREATE TABLE cache_totals(
            cache TEXT PRIMARY KEY,
            entries INTEGER NOT NULL,
            bytes INTEGER NOT NULL
        ) WITHOUT ROWID, STRICT;
        CREATE TRIGGER added_to_cache AFTER INSERT ON entries
        WHEN instr(NEW.key, char(31)) > 0 BEGIN
            INSERT INTO cache_totals VALUES(\(cache(of: "NEW.key")), 1, NEW.charge)
            ON CONFLICT(cache) DO UPDATE SET entries = entries + 1, bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER removed_from_cache AFTER DELETE ON entries
        WHEN instr(OLD.key, char(31)) > 0 BEGIN
            UPDATE cache_totals SET entries = entries - 1, bytes = bytes - OLD.charge
            WHERE cache = \(cache(of: "OLD.key"));
            DELETE FROM cache_totals WHERE cache = \(cache(of: "OLD.key")) AND entries = 0;
        END;
        """

    private static let count = """
        DELETE FROM cache_totals;
        INSERT INTO cache_totals
            SELECT \(cache(of: "key")), count(*), sum(charge) FROM entries
            WHERE instr(key, char(31)) > 0 GROUP BY 1;
        """

    /// Makes the account of named caches where there is none, and the orders that limits need.
    static func prepareCaches(
        _ connection: borrowing Connection, _ policy: DiskPolicy
    ) throws(SQLiteError) {
        var find = try connection.prepare(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cache_totals'")
        if try find.first({ _ in true }) == nil {
            let transaction = try connection.begin()
            try connection.execute(tables)
            try connection.execute(count)
            try transaction.commit()
        }
        let wanted = policy.orderedTypes.map(column)
        for column in ["accessed", "stored", "created"] {
            if wanted.contains(column) {
                try connection.execute(
                    "CREATE INDEX IF NOT EXISTS by_cache_\(column) "
                        + "ON entries(\(cache(of: "key")), \(column))")
            } else {
                try connection.execute("DROP INDEX IF EXISTS by_cache_\(column)")
            }
        }
    }

    /// Counts anew what named caches have.
    func recountCaches() throws(DiskError) {
        try onIndex { () throws(SQLiteError) in try connection.execute(Self.count) }
    }

    /// What every named cache has.
    func usageByCache() throws(DiskError) -> [String: DiskUsage] {
        var found: [String: DiskUsage] = [:]
        var areSound = true
        try onIndex { () throws(SQLiteError) in
            var select = try connection.prepare(
                "SELECT cache, entries, bytes FROM cache_totals LIMIT \(DiskPolicy.cachesMax)")
            try select.forEach { row in
                let usage = DiskUsage(entries: row.storedInt64(1), bytes: row.storedInt64(2))
                if let name = row.storedText(0), let usage {
                    found[name] = usage
                } else {
                    areSound = false
                }
                return areSound
            }
        }
        if areSound { return found }
        try recountCaches()
        return [:]
    }

    /// What one named cache has.
    func usage(of cache: String) throws(DiskError) -> DiskUsage {
        if let usage = try account(of: cache) { return usage }
        try recountCaches()
        guard let usage = try account(of: cache) else {
            throw DiskError(.badIndex, "the index does not know how much a cache holds")
        }
        return usage
    }

    private func account(of cache: String) throws(DiskError) -> DiskUsage? {
        try onIndex { () throws(SQLiteError) in
            var select = try connection.prepare(
                "SELECT entries, bytes FROM cache_totals WHERE cache = ?")
            try select.bind(cache, 0)
            let found = try select.first {
                (DiskUsage(entries: $0.storedInt64(0), bytes: $0.storedInt64(1)), ())
            }
            guard let found else { return DiskUsage(entries: 0, bytes: 0) }
            return found.0
        }
    }

    /// The oldest entries of a cache by that date, those up to `limit` only; empty: of the default
    /// one.
    func oldest(
        of cache: String, by type: ExpireType, upTo limit: UnixTime, count: Int
    ) throws(DiskError) -> [IndexVictim] {
        let date = Self.column(type)
        var victims: [IndexVictim] = []
        var areSound = true
        try onIndex { () throws(SQLiteError) in
            var select = try connection.prepare(
                """
                SELECT number, file_offset IS NOT NULL, charge FROM entries
                WHERE \(Self.cache(of: "key")) = ? AND \(date) <= ? ORDER BY \(date) LIMIT ?
                """)
            try select.bind(cache, 0)
            try select.bind(limit.milliseconds, 1)
            try select.bind(Int64(count), 2)
            try select.forEach { row in
                if let victim = IndexVictim(row) {
                    victims.append(victim)
                } else {
                    areSound = false
                }
                return areSound
            }
        }
        guard areSound else { throw DiskError(.badIndex, "an entry takes what none can take") }
        return victims
    }
}
