internal import SQLite

extension DiskIndex {
    /// Stored in `user_version`. An index of a version in `upgrades` is upgraded to this version
    /// when it is opened. An index of any other version, older or newer, is set aside; a new one
    /// imports the files, and the bodies stored in the old index (`QuarantinedIndex`).
    static let schemaVersion: Int32 = 5

    /// The statements that upgrade an index to the next version, by version. They only add tables:
    /// no rows are lost or rewritten, and a large index is not scanned, as SQLite would do to add a
    /// column to a STRICT table.
    private static let upgrades: [Int64: String] = [4: parts]

    /// `number` identifies the entry and its file. `body` comes last, so that other columns can be
    /// read without its pages. The bits of `samples` above the lowest byte contain the revision of
    /// the pipeline (`StoredSamples`). `totals` is maintained by triggers, so it is correct after
    /// every transaction that changes `entries`.
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

    /// Additional data of an entry: a row in `extras` with the same number, and its `tags`. Missing
    /// in version 4. Triggers delete it together with its entry.
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

    /// The `application_id` of an index that has not imported the existing files yet.
    private static let unswept: Int64 = 1

    /// Returns whether the files that existed when the index was created are imported.
    func isSwept() throws(DiskError) -> Bool {
        var select = try prepare("PRAGMA application_id")
        return try select.first([]) { $0.int64(0) } != Self.unswept
    }

    /// Records that they are.
    func noteSwept() throws(DiskError) {
        try execute("PRAGMA application_id=0")
    }

    /// Returns the maximum size of the SQLite log in bytes: a small fraction of a small limit.
    private static func logBytesMax(_ policy: DiskPolicy) -> Int {
        policy.bytesMax == 0 ? 4 << 20 : min(max(policy.bytesMax / 32, 64 << 10), 4 << 20)
    }

    /// Creates the tables of a new file, and those missing from an older one; rejects other
    /// versions. Returns the previous version if it was older.
    static func prepare(_ connection: borrowing Connection, _ policy: DiskPolicy) throws -> Int64? {
        let version = try connection.userVersion()
        switch version {
        case Int64(schemaVersion): break
        case 0:
            // Lets the file shrink after a trim; must precede the first table.
            try connection.execute("PRAGMA auto_vacuum=INCREMENTAL; VACUUM;")
            let transaction = try connection.begin()
            try connection.execute(schema)
            try connection.execute(parts)
            try connection.setUserVersion(schemaVersion)
            try connection.execute("PRAGMA application_id=\(unswept)")
            try transaction.commit()
        case let old where upgrades[old] != nil: try upgrade(connection, from: old)
        default:
            throw DiskError(
                .badIndex, "the index has version \(version) instead of \(schemaVersion)")
        }
        let log = logBytesMax(policy)
        try connection.execute("PRAGMA journal_size_limit=\(log)")
        try connection.execute("PRAGMA wal_autocheckpoint=\(log / 4096)")
        try order(connection, by: [column(policy.expireType)], ofEachCache: false)
        try prepareCaches(connection, policy)
        return upgrades[version] == nil ? nil : version
    }

    /// Upgrades one version at a time in one transaction: an interruption leaves the old version.
    private static func upgrade(
        _ connection: borrowing Connection, from version: Int64
    ) throws(SQLiteError) {
        let transaction = try connection.begin()
        for old in version..<Int64(schemaVersion) {
            if let step = upgrades[old] { try connection.execute(step) }
        }
        try connection.setUserVersion(schemaVersion)
        try transaction.commit()
    }

    /// Returns the column of the relevant date.
    static func column(_ type: ExpireType) -> String {
        switch type {
        case .access: "accessed"
        case .modification, .change: "stored"
        case .creation: "created"
        }
    }

    /// Keeps an index on these dates only, because each index costs a write: `by_` and the date, or
    /// `by_cache_` and the date if the entries of each cache are ordered.
    private static func order(
        _ connection: borrowing Connection, by wanted: [String], ofEachCache: Bool
    ) throws(SQLiteError) {
        let (prefix, first) = ofEachCache ? ("by_cache_", "\(cache(of: "key")), ") : ("by_", "")
        for column in ["accessed", "stored", "created"] {
            try connection.execute(
                wanted.contains(column)
                    ? "CREATE INDEX IF NOT EXISTS \(prefix)\(column) ON entries(\(first)\(column))"
                    : "DROP INDEX IF EXISTS \(prefix)\(column)")
        }
    }
}

// Totals and entry order per named cache (SEMANTICS §5.17). `cache_totals` is maintained by
// triggers, like `totals`. It isn't part of the index version: if it is missing, it is created and
// filled.
extension DiskIndex {
    /// Returns the named cache of a key; empty for the default one.
    static func cache(of key: String) -> String {
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

    /// Creates the totals of named caches if they are missing, and the indexes that limits need.
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
        try order(connection, by: policy.orderedTypes.map(column), ofEachCache: true)
    }

    /// Recomputes the totals of named caches.
    func recountCaches() throws(DiskError) { try execute(Self.count) }

    /// Returns the usage of every named cache.
    func usageByCache() throws(DiskError) -> [String: DiskUsage] {
        var found: [String: DiskUsage] = [:]
        var areSound = true
        var select = try prepare(
            "SELECT cache, entries, bytes FROM cache_totals LIMIT \(DiskPolicy.cachesMax)")
        try select.forEach([]) { row in
            let usage = DiskUsage(entries: row.storedInt64(1), bytes: row.storedInt64(2))
            if let name = row.storedText(0), let usage {
                found[name] = usage
            } else {
                areSound = false
            }
            return areSound
        }
        if areSound { return found }
        try recountCaches()
        return [:]
    }
}
