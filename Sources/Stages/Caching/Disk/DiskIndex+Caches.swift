internal import SQLite

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
