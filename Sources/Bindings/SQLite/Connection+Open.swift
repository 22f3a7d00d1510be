internal import CSQLite

extension Connection {
    /// Opens and configures; on failure nothing stays open.
    static func open(
        _ path: String, _ configuration: Configuration
    ) throws(SQLiteError) -> OpaquePointer {
        var opened: OpaquePointer?
        guard GivenPaths.code == SQLITE_OK else { throw SQLiteError(GivenPaths.code, of: nil) }
        let name = configuration.isImmutable ? "file:\(path)?immutable=1" : path
        let code = sqlite3_open_v2(name, &opened, flags(configuration), GivenPaths.name)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError(code, of: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        do throws(SQLiteError) {
            sqlite3_busy_timeout(opened, configuration.busyTimeout)
            if configuration.isImmutable { bound(opened) }
            try execute(pragmas(configuration), on: opened)
        } catch {
            sqlite3_close_v2(opened)
            throw error
        }
        return opened
    }

    private static func flags(_ configuration: Configuration) -> Int32 {
        let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
        if configuration.isImmutable { return flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI }
        return flags | SQLITE_OPEN_READWRITE | (configuration.creates ? SQLITE_OPEN_CREATE : 0)
    }

    /// A file that somebody made may have views in place of tables, and values without end: no
    /// statement takes more than a million steps, and no value more than 1 MiB.
    private static func bound(_ database: OpaquePointer) {
        sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 1 << 20)
        sqlite3_progress_handler(database, 1_000_000, { _ in 1 }, nil)
    }

    static func execute(_ sql: String, on database: OpaquePointer) throws(SQLiteError) {
        let code = sqlite3_exec(database, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: database) }
    }

    private static func pragmas(_ configuration: Configuration) -> String {
        // trusted_schema and cell_size_check: a damaged or planted file must not run functions
        // from its schema, and a wrong page is noticed when it is read.
        let writing = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
        return """
            \(configuration.isImmutable ? "PRAGMA query_only=ON;" : writing)
            PRAGMA trusted_schema=OFF;
            PRAGMA cell_size_check=ON;
            PRAGMA temp_store=MEMORY;
            PRAGMA cache_size=-\(configuration.pageCacheKiB);
            """
    }
}
